"""Claims about many turns: the credit chain, greedy tree sampling, adaptive mixing of team and local reward."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from reproductions.bench.assigner import Assigner
from reproductions.claims.claim import Check, Claim, Measured
from reproductions.claims.measuring import PROMPTS, ROLLOUTS, credit, gradient_cosine, rng_of
from reproductions.core import Floats
from reproductions.losses import Aggregation, token_weight_of_sequence
from reproductions.registry import get
from reproductions.training import Curve, Training, train
from reproductions.worlds.base import Cost, Episodes, World
from reproductions.worlds.chain import Chain

TRAINING = Training(budget=6000.0, prompts=8, rollouts=8)


def trained(world: World, method: str, seed: int, training: Training = TRAINING, **parameters: Any) -> Curve:
    """Training with a method's default settings, parameters apart."""
    fields = frozenset(get(method).requires)
    return train(world, Assigner(get(method), "paper", parameters), training, rng_of(seed), fields)


def token_scaled(episodes: Episodes, advantage_pknt: Floats, mode: Aggregation) -> Floats:
    """Credit times the weight of one of the action's tokens in the loss: an action's score is the sum of its tokens' scores."""
    acted, length = episodes.batch.acted_pknt, episodes.batch.need("length_pknt")
    weight = np.zeros(acted.shape)
    weight[acted] = token_weight_of_sequence(length[acted].astype(np.float64), mode)
    return advantage_pknt * weight


def _credit_chain(seed: int) -> Measured:
    world = Chain(agents=2, lengths=(100.0, 500.0), skill=(0.7, 0.4), progress=0.3)
    fields = frozenset({"length_pknt", "step_reward_pknt"})
    episodes = world.play(rng_of(seed), PROMPTS, ROLLOUTS, fields=fields)
    plain: Aggregation = "seq-mean-token-mean"
    ways = {
        "chain": token_scaled(episodes, credit(episodes, "credit_chain"), "token-mean"),
        "agent": token_scaled(episodes, credit(episodes, "cad_grpo"), plain),
        "step": token_scaled(episodes, credit(episodes, "gigpo"), plain),
        "token": token_scaled(episodes, credit(episodes, "grpo"), "token-mean"),
        "agent_and_token": token_scaled(episodes, credit(episodes, "cad_grpo"), "token-mean"),
        "step_and_token": token_scaled(episodes, credit(episodes, "gigpo"), "token-mean"),
    }
    found = {f"cosine_{name}": gradient_cosine(episodes, advantage) for name, advantage in ways.items()}
    for name in list(ways)[1:]:
        found[f"gain_over_{name}"] = found["cosine_chain"] - found[f"cosine_{name}"]
    return Measured(found, episodes.cost)


CREDIT_CHAIN = Claim(
    slug="credit-chain",
    statement="The credit chain agent, step, token gives a better gradient than each level alone.",
    statement_zh="智能体、步骤、token 三级信用链的梯度优于任何单一层级。",
    source="weekly notes of 2026-04-19, section 1.2",
    setting=(
        "chain, 2 agents of unlike skill that write 100 and 500 tokens, 0.3 of the reward on the way; 32 prompts x 8 rollouts. Agent alone: CAD-GRPO; step "
        "alone: GiGPO, both with GRPO's mean per sample; token alone: GRPO with the mean over tokens. An action's score is the sum of its tokens'."
    ),
    methods=("credit_chain", "cad_grpo", "gigpo", "grpo"),
    checks=(
        Check("gain_over_agent", "gradient cosine above the agent level alone", "梯度余弦高于仅智能体级", above=0.0),
        Check("gain_over_step", "above the step level alone", "高于仅步骤级", above=0.0),
        Check("gain_over_token", "above the token level alone", "高于仅 token 级", above=0.0),
    ),
    measure=_credit_chain,
)


def _greedy_tree(seed: int) -> Measured:
    spec: dict[str, Any] = {"bait": 0.3, "skill": (0.8,)}
    tree = Chain(sampling="greedy", **spec)
    found, spent = {}, Cost()
    for method, world in (("at_grpo", tree), ("spo", Chain(**spec)), ("reinforce_pp", Chain(**spec))):
        curve = trained(world, method, seed)
        found[f"left_{method}"] = curve.best - float(curve.value_i[-1])
        found[f"start_{method}"] = float(curve.value_i[0])
        spent = spent + curve.spent
    # Policies that always go forward end no episode early, so that every agent acts at every turn until the goal.
    episodes = tree.play(rng_of(seed, 1), 4, ROLLOUTS, policy=tree.forward())
    played = ROLLOUTS * tree.depth * 4
    found["samples_over_formula"] = episodes.hidden["sampled_actions"] / played
    return Measured(found, spent + episodes.cost)


GREEDY_TREE = Claim(
    slug="greedy-tree-local-optimum",
    statement="Greedy tree sampling gets stuck in a local optimum where group-free training does not; it samples K x N x T x E outputs.",
    statement_zh="贪心树采样会陷入局部最优，而无分组训练不会；其采样量为 K × N × T × E。",
    source="landscape notes, gap 1",
    setting=(
        "chain with a bait of 0.3 in front of a goal worth 1, agents that start with 0.8 forward; budget of 6000 rollouts. AT-GRPO with its own sampler; SPO "
        "and REINFORCE++ on independent episodes. The count is taken with policies that reach the goal, N x T positions in all."
    ),
    methods=("at_grpo", "spo", "reinforce_pp"),
    checks=(
        Check(
            "left_at_grpo", "AT-GRPO ends at least 0.3 below the best value", "AT-GRPO 终值比最优低至少 0.3", above=0.3
        ),
        Check("left_spo", "SPO ends within 0.1 of the best value", "SPO 终值与最优相差不到 0.1", below=0.1),
        Check(
            "samples_over_formula",
            "outputs sampled over K x N x T x E",
            "采样量与 K × N × T × E 之比",
            above=0.999,
            below=1.001,
        ),
    ),
    measure=_greedy_tree,
)


def _adaptive(seed: int) -> Measured:
    found: dict[str, float] = {}
    spent = Cost()
    for misleading in (1.0, 0.0):
        world = Chain(misleading=misleading, local=0.3)
        episodes = world.play(rng_of(seed, 1), PROMPTS, ROLLOUTS)
        found |= _mixing(episodes, misleading)
        spent = spent + episodes.cost
        for name, fixed in (("adaptive", None), ("fixed", 1.0)):
            curve = trained(world, "adaptive_mix", seed, fixed=fixed)
            found[f"final_{name}@{misleading:g}"] = float(curve.value_i[-1])
            spent = spent + curve.spent
        found[f"final_gain@{misleading:g}"] = (
            found[f"final_adaptive@{misleading:g}"] - found[f"final_fixed@{misleading:g}"]
        )
    return Measured(found, spent)


def _mixing(episodes: Episodes, misleading: float) -> dict[str, float]:
    of = partial(credit, episodes, "adaptive_mix")
    adaptive, fixed = gradient_cosine(episodes, of()), gradient_cosine(episodes, of("fixed"))
    return {
        f"cosine_adaptive@{misleading:g}": adaptive,
        f"cosine_fixed@{misleading:g}": fixed,
        f"cosine_gain@{misleading:g}": adaptive - fixed,
    }


ADAPTIVE = Claim(
    slug="adaptive-mixing",
    statement="Adaptive mixing of team and local reward beats the fixed weight 1 when local rewards mislead.",
    statement_zh="局部奖励误导时，团队与局部奖励的自适应混合优于固定 α=1。",
    source="landscape notes, gap 3",
    setting="chain, local rewards of 0.3 that pay for falling into dead ends (and, reported beside it, for going forward); 32 x 8; training of 6000 rollouts.",
    methods=("adaptive_mix",),
    checks=(
        Check(
            "cosine_gain@1", "the gradient estimate lies closer to the exact one", "梯度估计更接近精确梯度", above=0.0
        ),
        Check("final_gain@1", "training ends at a higher value", "训练终值更高", above=0.0),
    ),
    measure=_adaptive,
)


def _adaptive_regret(seed: int) -> Measured:
    world = Chain(starts=1, skill=(0.4,), local=0.4, misleading=1.0)
    # Other seeds than those on which this setting was first looked at.
    curves = {
        name: trained(world, "adaptive_mix", 1000 + seed, fixed=fixed)
        for name, fixed in (("adaptive", None), ("fixed", 1.0))
    }
    found = {f"regret_{name}": curve.metrics()["regret"] for name, curve in curves.items()}
    found |= {f"final_{name}": float(curve.value_i[-1]) for name, curve in curves.items()}
    found["regret_saved"] = found["regret_fixed"] - found["regret_adaptive"]
    return Measured(found, curves["adaptive"].spent + curves["fixed"].spent)


ADAPTIVE_REGRET = Claim(
    slug="adaptive-mixing-regret",
    statement="Where agents start weak and local rewards mislead, adaptive mixing has less regret in training than the fixed weight 1.",
    statement_zh="智能体起点较弱且局部奖励误导时，自适应混合训练中的遗憾小于固定 α=1。",
    source="landscape notes, gap 3",
    setting="chain, agents that start with 0.4 forward, local rewards of 0.4 that pay for falling into dead ends; training of 6000 rollouts; regret relative to no learning.",
    methods=("adaptive_mix",),
    checks=(
        Check(
            "regret_saved",
            "regret of the fixed weight less that of adaptive mixing",
            "固定权重的遗憾减去自适应的",
            above=0.0,
        ),
    ),
    measure=_adaptive_regret,
    revisions=(
        "2026-11-30: registered after adaptive-mixing had run. There both trainings end at the best value, so that the end could not tell them apart; the "
        "harder setting had been seen with two other seeds, so this is less of a test than the others.",
    ),
)
CLAIMS = (CREDIT_CHAIN, GREEDY_TREE, ADAPTIVE, ADAPTIVE_REGRET)

"""Claims about the loss: how it aggregates tokens, and what its clip lets a weak agent learn."""

from __future__ import annotations

import numpy as np

from reproductions import metrics
from reproductions.bench.assigner import Assigner
from reproductions.claims.claim import Check, Claim, Measured
from reproductions.claims.measuring import PROMPTS, ROLLOUTS, credit, gradient_cosine, rng_of
from reproductions.core import Floats
from reproductions.losses import Aggregation, token_weight_of_sequence
from reproductions.registry import get
from reproductions.training import Training, train
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.tokens import Tokens

SHORT, LONG = 0, 1


def token_weight(episodes: Episodes, mode: Aggregation) -> Floats:
    """``[p, k, n, t]``: the weight that a loss gives to one token of each output."""
    acted = episodes.batch.acted_pknt
    weight = np.zeros(acted.shape)
    length_b = episodes.batch.need("length_pknt")[acted].astype(np.float64)
    weight[acted] = token_weight_of_sequence(length_b, mode)
    return weight


def _aggregation(seed: int) -> Measured:
    episodes = Tokens().play(rng_of(seed), PROMPTS, ROLLOUTS)
    acted, right = episodes.batch.acted_pknt, episodes.truth.token_weight_pknt
    assert right is not None
    found = {}
    for name, mode in (("sample_mean", "seq-mean-token-mean"), ("token_mean", "token-mean")):
        weight = token_weight(episodes, mode)  # type: ignore[arg-type]
        by_agent = metrics.relative_token_weight_n(weight, right, acted)
        found[f"long_over_short_{name}"] = float(by_agent[LONG] / by_agent[SHORT])
        found[f"weight_error_{name}"] = metrics.token_weight_error(weight, right, acted)
        found[f"cosine_{name}"] = gradient_cosine(episodes, credit(episodes, "grpo") * weight)
    found["cosine_gain"] = found["cosine_token_mean"] - found["cosine_sample_mean"]
    return Measured(found, episodes.cost)


AGGREGATION = Claim(
    slug="token-mean-against-dilution",
    statement="The mean per sample dilutes the tokens of the agent that writes more; the mean over all tokens does not.",
    statement_zh="按样本平均会稀释长输出智能体的 token 权重，按 token 平均不会。",
    source="weekly notes of 2026-04-19, section 1.1 (c)",
    setting="tokens, an agent that writes 100 tokens beside one that writes 500; 32 prompts x 8 rollouts. Weight of a token of the long agent over one of the short.",
    methods=("grpo",),
    checks=(
        Check(
            "long_over_short_sample_mean",
            "mean per sample: at most half the weight",
            "按样本平均：权重不到一半",
            below=0.5,
        ),
        Check(
            "long_over_short_token_mean",
            "mean over tokens: the same weight",
            "按 token 平均：权重相同",
            above=0.95,
            below=1.05,
        ),
        Check("cosine_gain", "the gradient estimate lies closer to the exact one", "梯度估计更接近精确梯度", above=0.0),
    ),
    measure=_aggregation,
)

CLIPS = {"symmetric": (0.2, 0.2), "higher": (0.2, 0.28)}


def _clip_higher(seed: int) -> Measured:
    world = Tokens(game="strong_weak", best_starts=(0.3, 0.03))
    found, spent = {}, Cost()
    for name, clip in CLIPS.items():
        training = Training(budget=4096.0, prompts=8, rollouts=8, rate=0.05, epochs=8, clip=clip)
        curve = train(world, Assigner(get("grpo"), "paper", {}), training, rng_of(seed))
        best_xa = world.table_nxa[LONG] == world.table_nxa[LONG].max(axis=-1, keepdims=True)
        found[f"weak_best_{name}"] = float(curve.policy.probability_nxa[LONG][best_xa].mean())
        found[f"final_{name}"] = float(curve.value_i[-1])
        spent = spent + curve.spent
    found["weak_best_gain"] = found["weak_best_higher"] - found["weak_best_symmetric"]
    found["final_gain"] = found["final_higher"] - found["final_symmetric"]
    return Measured(found, spent)


CLIP_HIGHER = Claim(
    slug="clip-higher-weak-agent",
    statement="Clip-higher (0.28 over 0.2) helps a weak agent to learn a good action that it hardly ever takes.",
    statement_zh="Clip-Higher（上界 0.28）有助于弱智能体学会它几乎不采取的好动作。",
    source="weekly notes of 2026-04-19, section 1.1 (a)",
    setting=(
        "tokens, game strong_weak, the weak agent starts with probability 0.03 for its best action; GRPO, 8 prompts x 8 rollouts a step, 8 epochs each, Adam at "
        "0.05, 4096 rollouts. Probability of that action at the end."
    ),
    methods=("grpo",),
    seeds=200,
    revisions=(
        "2026-11-30: 40 seeds had left it undecided, 0.025 [-0.025, 0.075]; 200 seeds since then, the rule as it was.",
    ),
    checks=(Check("weak_best_gain", "the action is likelier at the end", "该动作最终概率更高", above=0.0),),
    measure=_clip_higher,
)
CLAIMS = (AGGREGATION, CLIP_HIGHER)

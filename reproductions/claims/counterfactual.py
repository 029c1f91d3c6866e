"""Claims about counterfactual credit: what replays cost, whether they win at equal cost, what leave-one-out misses."""

from __future__ import annotations

import numpy as np

from reproductions import metrics
from reproductions.claims.claim import Check, Claim, Measured
from reproductions.claims.measuring import PROMPTS, ROLLOUTS, agreement, credit, gradient_cosine, rng_of
from reproductions.registry import get
from reproductions.worlds.base import Cost
from reproductions.worlds.games import GameName
from reproductions.worlds.team import Team

METHODS = ("sharp", "ccpo", "difference_rewards")
TEAM_SIZES = (2, 3, 5)
GAMES: tuple[GameName, ...] = ("additive", "redundant")


def _needs(method: str) -> frozenset[str]:
    return frozenset(get(method).requires)


def _cost(seed: int) -> Measured:
    found, spent = {}, Cost()
    for agents in TEAM_SIZES:
        for method in METHODS:
            episodes = Team(agents=agents).play(rng_of(seed, agents), 4, ROLLOUTS, fields=_needs(method))
            found[f"cost_{method}_{agents}"] = episodes.cost.in_episodes() / episodes.cost.episodes
            spent = spent + episodes.cost
    return Measured(found, spent)


COST = Claim(
    slug="counterfactual-cost",
    statement="Counterfactual credit costs about twice the rollouts (1.8 to 2.2), whatever the size of the team.",
    statement_zh="无论团队大小，反事实信用分配的轨迹开销约为 2 倍（1.8 到 2.2）。",
    source="weekly notes of 2026-04-12, section 1.2, and of 2026-04-19, to-do (the claim of about 2x, to be verified)",
    setting="team, 2, 3 and 5 agents. Replays keep what the others said; a replay costs the share of the team that takes part in it.",
    methods=METHODS,
    checks=tuple(
        Check(
            f"cost_{method}_{agents}",
            f"{method} with {agents} agents",
            f"{method}，{agents} 个智能体",
            above=1.8,
            below=2.2,
        )
        for method in METHODS
        for agents in TEAM_SIZES
    ),
    measure=_cost,
)


def _equal_cost(seed: int) -> Measured:
    found, spent = {}, Cost()
    for game in GAMES:
        world = Team(agents=3, game=game)
        for method in ("dr_mas", "cad_grpo", *METHODS):
            probe = world.play(rng_of(seed, 1), 2, ROLLOUTS, fields=_needs(method)).cost
            prompts = metrics.prompts_at_equal_cost(PROMPTS * ROLLOUTS, probe.in_episodes() / 2)
            episodes = world.play(rng_of(seed, 2), prompts, ROLLOUTS, fields=_needs(method))
            found[f"cosine_{method}_{game}"] = gradient_cosine(episodes, credit(episodes, method))
            spent = spent + probe + episodes.cost
        for method in METHODS:
            for other in ("dr_mas", "cad_grpo"):
                found[f"{method}_over_{other}_{game}"] = (
                    found[f"cosine_{method}_{game}"] - found[f"cosine_{other}_{game}"]
                )
    return Measured(found, spent)


EQUAL_COST = Claim(
    slug="counterfactual-at-equal-cost",
    statement="At equal total cost, counterfactual methods give a better gradient than Dr.MAS, though they see fewer prompts.",
    statement_zh="总成本相同时，反事实方法虽然看到的题目更少，梯度仍优于 Dr.MAS。",
    source="weekly notes of 2026-04-12, section 1.2 (SHARP's strength against its price)",
    setting="team, 3 agents, games additive and redundant; Dr.MAS and CAD-GRPO get 32 prompts x 8 rollouts, the others as many prompts as that pays for.",
    methods=("dr_mas", "cad_grpo", *METHODS),
    checks=tuple(
        Check(
            f"{method}_over_dr_mas_{game}",
            f"{method} in game {game}: gradient cosine is higher",
            f"博弈 {game} 中 {method} 的梯度余弦更高",
            above=0.0,
        )
        for method in METHODS
        for game in GAMES
    ),
    measure=_equal_cost,
)


def _redundancy(seed: int) -> Measured:
    world = Team(agents=3, game="redundant")
    episodes = world.play(rng_of(seed), PROMPTS, ROLLOUTS, fields=_needs("difference_rewards"))
    shapley, left_out = episodes.truth.shapley_pkn, episodes.truth.leave_one_out_pkn
    assert shapley is not None and left_out is not None
    # Where two agents are perfect the team has full reward and no one of them is missed.
    twice_pk = np.isclose(left_out, 0.0).all(axis=2) & (shapley.sum(axis=2) > 0.5)
    found = {
        "share_of_episodes": float(twice_pk.mean()),
        "given_by_leave_one_out": float(left_out[twice_pk].sum() / shapley[twice_pk].sum()),
        "given_by_leave_one_out_everywhere": float(left_out.sum() / shapley.sum()),
        "pearson_shapley": agreement(episodes, episodes.batch.spread(shapley, "pkn")),
        "pearson_leave_one_out": agreement(episodes, episodes.batch.spread(left_out, "pkn")),
        "pearson_difference_rewards": agreement(episodes, credit(episodes, "difference_rewards")),
    }
    found["pearson_gain"] = found["pearson_shapley"] - found["pearson_leave_one_out"]
    return Measured(found, episodes.cost)


REDUNDANCY = Claim(
    slug="leave-one-out-under-redundancy",
    statement="Where one good agent is enough, exact leave-one-out credit fails and exact Shapley credit does not.",
    statement_zh="只要一个智能体做好就够时，精确的留一法信用失效，而精确的 Shapley 信用不会。",
    source="landscape notes and weekly notes of 2026-04-19 (C3's leave-one-out)",
    setting="team, 3 agents, game redundant; 32 prompts x 8 rollouts. Exact values of each episode's own game, so that noise plays no part.",
    methods=("difference_rewards",),
    checks=(
        Check(
            "given_by_leave_one_out_everywhere",
            "leave-one-out gives less than half of the reward to anybody",
            "留一法分出去的不到奖励的一半",
            below=0.5,
        ),
        Check(
            "pearson_shapley", "Shapley credit agrees with the true advantage", "Shapley 信用与真实优势一致", above=0.8
        ),
        Check("pearson_gain", "leave-one-out agrees less", "留一法的一致性更低", above=0.0),
    ),
    measure=_redundancy,
)
CLAIMS = (COST, EQUAL_COST, REDUNDANCY)

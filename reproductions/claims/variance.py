"""Claims about bias and variance: the size of GRPO's groups, GAE's lambda, Dr.MAS's factor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from reproductions import metrics
from reproductions.claims.claim import Check, Claim, Measured
from reproductions.claims.measuring import credit, estimates
from reproductions.core import Floats
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.chain import Chain
from reproductions.worlds.team import Team

GROUP_SIZES = (2, 4, 8, 16, 32)
LAMBDAS = (0.0, 0.5, 0.8, 0.95, 1.0)
BATCHES = 40
TOTAL = 512


def _group_size(prompts_of: Callable[[int], int]) -> Callable[[int], Measured]:
    def measure(seed: int) -> Measured:
        found, spent = {}, Cost()
        for rollouts in GROUP_SIZES:
            estimate, _, cost = estimates(
                Team(agents=3),
                seed,
                {"grpo": partial(credit, method="grpo")},
                batches=BATCHES,
                prompts=prompts_of(rollouts),
                rollouts=rollouts,
            )
            found[f"variance@{rollouts}"] = metrics.relative_variance(estimate["grpo"])
            spent = spent + cost
        logs = np.log([found[f"variance@{k}"] for k in GROUP_SIZES])
        found["slope"] = float(np.polyfit(np.log(GROUP_SIZES), logs, 1)[0])
        return Measured(found, spent)

    return measure


_SLOPE = Check(
    "slope",
    "the slope of log relative variance against log K is negative",
    "对数相对方差对 log K 的斜率为负",
    below=0.0,
)
GROUP_AT_PROMPTS = Claim(
    slug="grpo-variance-by-group-size",
    statement="The variance of GRPO's gradient falls as the group grows, at a fixed number of prompts.",
    statement_zh="题目数固定时，GRPO 梯度的方差随组大小 K 增大而减小。",
    source="weekly notes of 2026-04-12, section 2.1 (2)",
    setting=f"team, 3 agents, additive; 16 prompts, K from 2 to 32, {BATCHES} batches. Variance relative to the squared expected gradient.",
    methods=("grpo",),
    checks=(_SLOPE,),
    measure=_group_size(lambda rollouts: 16),
)
GROUP_AT_COST = Claim(
    slug="grpo-variance-at-equal-rollouts",
    statement="The variance of GRPO's gradient falls as the group grows, also when the total number of rollouts stays the same.",
    statement_zh="总轨迹数不变时，GRPO 梯度的方差同样随组大小 K 增大而减小。",
    source="weekly notes of 2026-04-12, section 2.1 (2), at equal cost",
    setting=f"team, 3 agents, additive; {TOTAL} rollouts a batch, K from 2 to 32, {BATCHES} batches.",
    methods=("grpo",),
    checks=(_SLOPE,),
    measure=_group_size(lambda rollouts: TOTAL // rollouts),
)


def _gae(seed: int) -> Measured:
    world = Chain(critic_bias=0.3, critic_noise=0.1)
    assign = {f"{lam:g}": _with_lambda(lam) for lam in LAMBDAS}
    fields = frozenset({"value_pknt", "final_value_pkn"})
    estimate, exact, spent = estimates(world, seed, assign, batches=BATCHES, prompts=16, fields=fields)
    found = {}
    for name, rows in estimate.items():
        found[f"bias@{name}"] = float(np.linalg.norm(rows.mean(axis=0) - exact))
        found[f"variance@{name}"] = float(rows.var(axis=0, ddof=1).sum())
    found["bias_fall"] = found["bias@0"] - found["bias@1"]
    found["variance_rise"] = found["variance@1"] - found["variance@0"]
    return Measured(found, spent)


def _with_lambda(lam: float) -> Callable[[Episodes], Floats]:
    return lambda episodes: credit(episodes, "gae", gamma=1.0, lam=lam)


GAE = Claim(
    slug="gae-lambda-bias-variance",
    statement="GAE's lambda trades bias for variance: with a wrong critic, lambda 0 has more bias and less variance than lambda 1.",
    statement_zh="GAE 的 λ 在偏差与方差之间折中：critic 有误差时，λ=0 偏差更大、方差更小，λ=1 相反。",
    source="weekly notes of 2026-04-12, section 3.2",
    setting=f"chain with a critic that is wrong by state (0.3) and by evaluation (0.1); 16 prompts x 8 rollouts, {BATCHES} batches, gamma 1, no normalisation.",
    methods=("gae",),
    checks=(
        Check("bias_fall", "bias of the gradient at lambda 0 less that at 1", "λ=0 的梯度偏差减去 λ=1 的", above=0.0),
        Check("variance_rise", "variance at lambda 1 less that at 0", "λ=1 的方差减去 λ=0 的", above=0.0),
    ),
    measure=_gae,
)
CLAIMS = (GROUP_AT_PROMPTS, GROUP_AT_COST, GAE)

"""The claim about agents of unlike reward: what statistics of the whole team do to an agent's gradient."""

from __future__ import annotations

import numpy as np

from reproductions.claims.claim import Check, Claim, Measured
from reproductions.claims.measuring import credit, rng_of
from reproductions.core import Floats
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.roles import Roles

GROUPS = {"large": (16, 256), "usual": (512, 8)}


def second_moment_n(episodes: Episodes, advantage_pknt: Floats) -> Floats:
    """``[n]``: the mean over an agent's calls of the squared length of score times advantage."""
    acted = episodes.batch.acted_pknt
    chance = episodes.policy.at(episodes.context_pknt)
    taken = np.take_along_axis(chance, episodes.action_pknt[..., None], axis=-1)[..., 0]
    size = (1.0 - taken) ** 2 + (chance**2).sum(axis=-1) - taken**2
    squared = np.where(acted, size * advantage_pknt**2, 0.0)
    return np.asarray(squared.sum(axis=(0, 1, 3)) / acted.sum(axis=(0, 1, 3)))


def _inflation(seed: int) -> Measured:
    world, found, spent = Roles(), {}, Cost()
    factor_n = world.inflation_xn().mean(axis=0)
    for group, (prompts, rollouts) in GROUPS.items():
        episodes = world.play(rng_of(seed, rollouts), prompts, rollouts)
        team_n, own_n = (second_moment_n(episodes, credit(episodes, method)) for method in ("grpo", "dr_mas"))
        for agent, ratio in enumerate(team_n / own_n):
            found[f"measured_over_printed_{group}_{agent}"] = float(ratio / factor_n[agent])
            found[f"factor_{agent}"] = float(factor_n[agent])
        spent = spent + episodes.cost
    return Measured(found, spent)


INFLATION = Claim(
    slug="global-normalisation-inflation",
    statement="Statistics of the whole team inflate the second moment of an agent's gradient by the factor that Dr.MAS prints.",
    statement_zh="用全队统计量归一化，会使智能体梯度的二阶矩按 Dr.MAS 给出的因子放大。",
    source="Dr.MAS (2602.08847), lemma 4.2; weekly notes of 2026-04-19, section 1.4",
    setting="roles, 3 agents, two routes of unlike reward, 16 prompts x 256 rollouts (and, reported beside it, 512 x 8). Measured ratio of second moments over the factor.",
    methods=("grpo", "dr_mas"),
    checks=tuple(
        Check(
            f"measured_over_printed_large_{agent}",
            f"agent {agent + 1}: within a tenth of the factor",
            f"智能体 {agent + 1}：与因子相差不到十分之一",
            above=0.9,
            below=1.1,
        )
        for agent in range(3)
    ),
    measure=_inflation,
)
CLAIMS = (INFLATION,)

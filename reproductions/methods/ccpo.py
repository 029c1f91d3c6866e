r"""CCPO: a thinker's bonus for turning a solver's failure into success, its malus for the reverse.

As printed
    Counterfactual Credit Policy Optimization (2603.21563, the algorithm of v2 and later). The body was not read; what follows is
    the authors' code. For the algorithm of v1 see ``ccpo_v1``, for the second allocator of the same paper ``sepo``.

As computed
    The authors' code (bhai114/ccpo at ea50d3a, ``CCPO/``). Outcomes are -1 or +1. With b the mean outcome of the solver alone on
    the prompt, c = 1[joint > 0 and b < 0] - 1[joint < 0 and b > 0]. The thinker is paid the joint outcome plus 0.2 c, the solver
    the joint outcome; each less the mean of its role on the prompt. Here the last agent is the solver, all others are thinkers.

Differs
    Flags of the code: ``paired`` compares with the solo outcome of the same rollout, ``graded`` pays (joint - b) / 2 instead of an
    event. ``with_std`` divides by the sample deviation + 1e-6, which the shipped scripts turn off. The vendored verl replaces the
    mean by a robust mean unless told otherwise; all shipped scripts tell it, and it is left out here. ``authors_code`` gives a lone
    rollout its raw reward. ``zero_one`` is for batches whose outcomes are 0 and 1.

Evidence
    Abstract read; code read and run.

Traps
    - b = 0 exactly fires neither event.
    - Rewards of 0 and 1 read as signed outcomes never fire the malus: use ``zero_one``.
    - With division by the deviation the bonus is nearly invisible in small groups.

Run
    python -m reproductions run ccpo --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, SingletonRule, Traits, normalise

Bonus = Literal["event", "graded"]


def counterfactual_bonus(joint_pk: Floats, solo_pk: Floats, bonus: Bonus = "event") -> Floats:
    """``[p, k]``: what the thinker adds to a signed joint outcome against the solver's outcome (or mean outcome) alone."""
    if bonus == "graded":
        return 0.5 * (joint_pk - solo_pk)
    saved, spoilt = (joint_pk > 0) & (solo_pk < 0), (joint_pk < 0) & (solo_pk > 0)
    return saved.astype(np.float64) - spoilt.astype(np.float64)


def role_reward(batch: Batch, thinker_pk: Floats, solver_pk: Floats) -> Floats:
    """``[p, k, n]``: the solver's reward for the last agent, the thinker's for all others; 0 where an agent did not act."""
    solver_n = np.arange(batch.shape[2]) == batch.shape[2] - 1
    reward_pkn = np.where(solver_n, solver_pk[:, :, None], thinker_pk[:, :, None])
    return np.where(batch.mask("pkn"), reward_pkn, 0.0)


def assign(
    batch: Batch,
    *,
    lam: float = 0.2,
    bonus: Bonus = "event",
    paired: bool = False,
    outcome: Literal["signed", "zero_one"] = "signed",
    mean_only: bool = True,
    eps: float = 1e-6,
    singleton: SingletonRule = "zero",
) -> Credit:
    """Role rewards less their role's mean on the prompt; they are the diagnostic ``role_reward_pkn``."""
    joint_pk, solo_pk = batch.need("reward_pk"), batch.need("solo_reward_pk")
    if outcome == "zero_one":
        joint_pk, solo_pk = 2.0 * joint_pk - 1.0, 2.0 * solo_pk - 1.0
    alone_pk = solo_pk if paired else batch.group("pk", same="p").mean(solo_pk)
    reward_pkn = role_reward(batch, joint_pk + lam * counterfactual_bonus(joint_pk, alone_pk, bonus), joint_pk)
    groups = batch.group("pkn", same="pn")
    advantage_pkn = normalise(reward_pkn, groups, ddof=1, eps=eps, mean_only=mean_only, singleton=singleton)
    return Credit(batch.spread(advantage_pkn, "pkn"), diagnostics={"role_reward_pkn": reward_pkn})


def example() -> Example:
    """Two prompts, thinker and solver: one the solver alone mostly fails, one it mostly solves."""
    batch = Batch.of(
        acted_pknt=np.ones((2, 4, 2, 1), dtype=bool),
        reward_pk=[[1, 1, -1, -1], [1, -1, -1, 1]],
        solo_reward_pk=[[-1, -1, -1, 1], [1, 1, 1, -1]],
    )
    return Example(batch, source="bhai114/ccpo ea50d3a: thinker +-1.1, solver +-1")


METHOD = Method(
    name="ccpo",
    title="CCPO: counterfactual credit against the solver alone",
    assign=assign,
    paper="2603.21563",
    formula=(
        r"c_{p,k} = \mathbb{1}[R_{p,k} > 0 \wedge b_p < 0] - \mathbb{1}[R_{p,k} < 0 \wedge b_p > 0], \quad "
        r"A_{thinker} = R + \lambda c - \mathrm{mean}_k (R + \lambda c), \quad A_{solver} = R - \mathrm{mean}_k R"
    ),
    evidence=("abstract", "code", "run"),
    requires=("reward_pk", "solo_reward_pk"),
    traits=Traits(
        granularity="agent",
        group="same prompt and role",
        extra_rollouts="1 solo generation per rollout",
        flags=frozenset({"multi_agent", "counterfactual"}),
    ),
    claims=frozenset({"zero_when_equal"}),
    presets={
        "authors_code": {"singleton": "raw"},
        "with_std": {"mean_only": False, "singleton": "raw"},
        "graded": {"bonus": "graded"},
        "paired": {"paired": True},
        "zero_one": {"outcome": "zero_one"},
    },
    example=example,
)

r"""A2C and A3C: n rewards, then the critic's value, less the critic's value of where the action started.

As printed
    Asynchronous methods for deep RL (1602.01783), quoted from code: A_t = sum_{k<n} gamma^k r_{t+k} + gamma^n V(s_{t+n}) - V(s_t).
    A3C lets n shrink towards the end of a segment, so that every step bootstraps from the segment's last state.

As computed
    With ``steps=None`` the A3C form, to the end of the rollout; with a number n, the n-step form, whose last steps use the
    rewards that are left. Order of play; the value after the last action is ``final_value_pkn`` or 0.

Differs
    Nothing in the estimator. The weights of the value loss and of the entropy differ between codebases, so ``loss`` has no
    defaults for them.

Evidence
    rlax 0.1.9 run; the paper's body was not read.

Traps
    - The bootstrap is 0 after a true end and not after a cut.
    - The value is a constant in the policy term: its gradient belongs to the value loss alone.

Run
    python -m reproductions run a2c --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Bools, Credit, Example, Floats, Method, ParameterError, Traits, following
from reproductions.methods import gae


def n_step_return(
    reward: Floats, value: Floats, gamma: float, steps: int, *, final: Floats | float = 0.0, mask: Bools | None = None
) -> Floats:
    """Along the last axis: ``steps`` rewards, then the value; fewer rewards at the end, then ``final``."""
    if steps < 1:
        raise ParameterError(f"steps is {steps}", "a whole number from 1, or None for the whole rollout")
    found = value
    for _ in range(min(steps, max(reward.shape[-1], 1))):
        found = reward + gamma * following(found, mask, final)
    return found


def assign(batch: Batch, *, gamma: float = 0.99, steps: int | None = None) -> Credit:
    """The A3C advantage, or the n-step one with ``steps=n``."""
    if steps is None:
        return Credit(gae.over_actions(batch, gamma, 1.0))
    reward_pkq, value_pkq, acted_pkq = (
        batch.in_play_order(array) for array in (batch.reward_stream_pknt(), batch.need("value_pknt"), batch.acted_pknt)
    )
    target_pkq = n_step_return(reward_pkq, value_pkq, gamma, steps, final=gae.final_value(batch), mask=acted_pkq)
    return Credit(np.where(batch.acted_pknt, batch.from_play_order(target_pkq - value_pkq), 0.0))


def loss(
    logp_t: Floats,
    advantage_t: Floats,
    value_t: Floats,
    target_t: Floats,
    entropy_t: Floats,
    *,
    value_weight: float,
    entropy_weight: float,
) -> float:
    """Mean over steps of -A log pi + value_weight (target - V)^2 - entropy_weight H."""
    per_step = -advantage_t * logp_t + value_weight * (target_t - value_t) ** 2 - entropy_weight * entropy_t
    return float(np.mean(per_step))


def example() -> Example:
    """One rollout of four steps that is cut before its end, two rewards per advantage."""
    return Example(
        gae.example().batch,
        parameters={"gamma": 0.9, "steps": 2},
        source="rlax 0.1.9, n_step_bootstrapped_returns less the value: 0.743, -0.688, 1.081, 1.89",
    )


METHOD = Method(
    name="a2c",
    title="Advantage actor-critic: n-step returns",
    assign=assign,
    paper="1602.01783",
    formula=r"A_t = \sum_{k=0}^{n-1} \gamma^k r_{t+k} + \gamma^n V(s_{t+n}) - V(s_t)",
    evidence=("textbook", "code", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(granularity="action", group="none", critic=True, flags=frozenset({"group_free"})),
    claims=frozenset({"scale_equivariant"}),
    presets={"n_step_5": {"steps": 5}},
    example=example,
)

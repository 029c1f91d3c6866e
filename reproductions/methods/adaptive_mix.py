r"""Adaptive mixing: the agent's own reward counts for as much team reward as it has been worth in the batch.

As printed
    Nothing: the landscape notes name the fixed weight alpha = 1 of team and local reward in AT-GRPO as an open gap. This is a prototype for it.

As computed
    r = R + alpha_n local, where alpha_n is the slope of the team reward on the agent's own reward over all its actions of the batch, both less their
    prompt's mean, shrunk by ``lam`` and never negative. Then Dr.MAS's normalisation per prompt and agent.

Differs
    A local reward that does not move with the team's gets weight 0, which leaves Dr.MAS; ``fixed`` replaces the slope by a constant for all agents.

Evidence
    Own prototype: identities are tested, its worth is not shown.

Traps
    - The slope is a correlation: a local reward that follows success without causing it is priced as if it caused it.
    - The mixture counts what local and team reward share twice.
    - A local reward that is hacked loses its weight only as fast as it loses its slope.

Run
    python -m reproductions run adaptive_mix --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, ParameterError, Traits, normalise


def exchange_rate(batch: Batch, lam: float) -> Floats:
    """``[n]``: team reward per unit of the agent's own, within prompts; 0 where that is not positive."""
    groups = batch.group("pknt", same="pn")
    local = normalise(batch.need("local_reward_pknt"), groups, mean_only=True)
    team = normalise(batch.spread(batch.need("reward_pk"), "pk"), groups, mean_only=True)
    shared_n, own_n = np.einsum("pknt,pknt->n", local, team), np.einsum("pknt,pknt->n", local, local)
    slope_n = np.divide(shared_n, own_n + lam, out=np.zeros_like(own_n), where=own_n + lam > 1e-12)
    return np.asarray(np.maximum(slope_n, 0.0))


def assign(batch: Batch, *, lam: float = 1.0, fixed: float | None = None, ddof: int = 0, eps: float = 1e-6) -> Credit:
    """Normalised mixture; the weights are the diagnostic ``alpha_n``."""
    if lam < 0:
        raise ParameterError(f"lam is {lam}", "a penalty is 0 or more")
    alpha_n = exchange_rate(batch, lam) if fixed is None else np.full(batch.shape[2], fixed)
    mixed = batch.spread(batch.need("reward_pk"), "pk") + alpha_n[:, None] * batch.need("local_reward_pknt")
    advantage = normalise(mixed, batch.group("pknt", same="pn"), ddof=ddof, eps=eps)
    return Credit(advantage, diagnostics={"alpha_n": alpha_n})


def example() -> Example:
    """One prompt, two agents: the first's own reward is half the team's, the second's has nothing to do with it."""
    reward_k = np.array([0.0, 0.0, 1.0, 1.0])
    local_kn = np.stack([reward_k / 2, [0, 1, 0, 1]], axis=1)
    return Example(
        Batch.of(reward_pk=[reward_k], local_reward_pknt=local_kn[None, :, :, None]),
        parameters={"lam": 0.0},
        source="by hand: weights 2 and 0",
    )


METHOD = Method(
    name="adaptive_mix",
    title="Adaptive mixing of team and local reward",
    assign=assign,
    paper="own prototype, landscape notes, gap 3",
    formula=(
        r"\alpha_n = \max(0, \frac{\mathrm{cov}(R, r_n)}{\mathrm{var}(r_n) + \lambda}), \quad "
        r"A = \mathrm{normalise}_{p,n}(R + \alpha_n r_n)"
    ),
    evidence=("own",),
    requires=("reward_pk", "local_reward_pknt"),
    signal=("reward_pk", "local_reward_pknt"),
    traits=Traits(
        granularity="action",
        group="same prompt and agent",
        flags=frozenset({"multi_agent", "process_reward", "regression"}),
    ),
    claims=frozenset({"zero_sum_over_actions", "shift_invariant", "zero_when_equal", "agent_equivariant"}),
    presets={"fixed": {"fixed": 1.0}},
    example=example,
)

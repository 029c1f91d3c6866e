r"""COMA: the critic's value of the joint action, less its expectation over the agent's own actions.

As printed
    Counterfactual multi-agent policy gradients (1705.08926, equation 4): A^a(s, u) = Q(s, u) - sum_{u'} pi^a(u' | tau^a) Q(s, (u^-a, u')), the
    actions of the other agents held fixed.

As computed
    The same. ``action_value_pknta`` is the critic's value of each own action with the others' fixed, ``policy_pknta`` the policy that
    sampled. Policies are divided by their sum, so that rounding in them is no credit.

Differs
    Nothing. How the critic is trained (TD(lambda), a target network) is not part of the credit and is left out.

Evidence
    Textbook formula.

Traps
    - The advantage is as good as the critic: a critic blind to an agent's action gives that agent 0.
    - Its expectation under the agent's policy is 0, so the baseline adds no bias.
    - With R in place of the critic's value of the taken action it is ``difference_rewards`` in its aristocrat form.

Run
    python -m reproductions run coma --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, ParameterError, Traits


def taken(value_a: Floats, batch: Batch) -> Floats:
    """``[p, k, n, t]``: the entry of ``[p, k, n, t, a]`` at the action taken, 0 where nobody acted."""
    action = np.where(batch.acted_pknt, batch.need("action_pknt"), 0)
    if action.size and not 0 <= action.min() <= action.max() < value_a.shape[-1]:
        raise ParameterError(f"action_pknt holds actions outside 0..{value_a.shape[-1] - 1}", "number actions from 0")
    return np.where(batch.acted_pknt, np.take_along_axis(value_a, action[..., None], axis=-1)[..., 0], 0.0)


def expected(value_a: Floats, batch: Batch) -> Floats:
    """``[p, k, n, t]``: the mean of ``[p, k, n, t, a]`` under the agents' policies, 0 where nobody acted."""
    policy = batch.need("policy_pknta")
    total = policy.sum(axis=-1)
    mean = np.einsum("...a,...a->...", policy, value_a)
    return np.asarray(np.divide(mean, total, out=np.zeros_like(mean), where=batch.acted_pknt & (total > 0)))


def assign(batch: Batch) -> Credit:
    """Equation 4 for every action."""
    value = batch.need("action_value_pknta")
    return Credit(taken(value, batch) - expected(value, batch))


def example() -> Example:
    """One rollout, two agents with three actions."""
    batch = Batch.of(
        action_value_pknta=[[[[[1, 2, 4]], [[3, 3, 3]]]]],
        policy_pknta=[[[[[0.5, 0.25, 0.25]], [[0.2, 0.3, 0.5]]]]],
        action_pknt=[[[[2], [0]]]],
    )
    return Example(batch, source="by hand: 4 - (0.5 + 0.5 + 1) = 2, and 0")


METHOD = Method(
    name="coma",
    title="COMA: counterfactual baseline of a central critic",
    assign=assign,
    paper="1705.08926",
    formula=r"A_n = Q(s, u) - \sum_{u'} \pi_n(u' \mid \tau_n) \, Q(s, (u_{-n}, u'))",
    evidence=("textbook",),
    requires=("action_value_pknta", "policy_pknta", "action_pknt"),
    signal=("action_value_pknta",),
    traits=Traits(
        granularity="action",
        group="none",
        critic=True,
        flags=frozenset({"multi_agent", "group_free", "counterfactual"}),
    ),
    claims=frozenset({"shift_invariant", "scale_equivariant", "zero_when_equal", "agent_equivariant"}),
    example=example,
)

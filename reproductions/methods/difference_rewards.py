r"""Difference rewards: what the team earned, less what it would have earned without the agent, or with its usual self.

As printed
    Wolpert and Tumer, Optimal payoff functions for members of collectives (2001): the wonderful life utility D_i = G(z) - G(z_-i, c_i), agent i's
    part replaced by a fixed c_i; and the aristocrat utility AU_i = G(z) - sum_a p_i(a) G(z_-i, a), replaced by its own mixture of actions.

As computed
    The same. ``difference`` reads G(z_-i, c_i) from ``masked_reward_pkn``: what c_i is (silence, a default action) is the replay's choice.
    ``aristocrat`` reads G(z_-i, a) from ``action_value_pknta`` and p_i from ``policy_pknta``.

Differs
    Nothing. Neither form is centred over rollouts: the counterfactual is the baseline.

Evidence
    Textbook formula.

Traps
    - Redundant agents all get 0, agents that are all indispensable each get everything: the sum over agents is not the reward.
    - A masked agent is off-distribution for those who act after it, so the difference also measures their confusion.
    - The aristocrat form needs G for every action; a critic that estimates it makes it COMA.

Run
    python -m reproductions run difference_rewards --example
"""

from __future__ import annotations

from typing import Literal

from reproductions.core import Batch, Credit, Example, Method, Traits
from reproductions.methods import coma


def assign(batch: Batch, *, form: Literal["difference", "aristocrat"] = "difference") -> Credit:
    """``difference`` gives every action of an agent the same number, ``aristocrat`` each action its own."""
    reward_pk = batch.need("reward_pk")
    if form == "aristocrat":
        return Credit(batch.spread(reward_pk, "pk") - coma.expected(batch.need("action_value_pknta"), batch))
    return Credit(batch.spread(reward_pk[:, :, None] - batch.need("masked_reward_pkn"), "pkn"))


def example() -> Example:
    """Three rollouts of two agents: one carries the other, either would do, both are needed."""
    batch = Batch.of(reward_pk=[[1, 1, 1]], masked_reward_pkn=[[[0, 1], [1, 1], [0, 0]]])
    return Example(batch, source="by hand: (1, 0), (0, 0), (1, 1)")


METHOD = Method(
    name="difference_rewards",
    title="Difference rewards and the aristocrat utility",
    assign=assign,
    paper="Wolpert and Tumer 2001",
    formula=r"D_n = G(z) - G(z_{-n}, c_n), \quad AU_n = G(z) - \sum_a \pi_n(a) \, G(z_{-n}, a)",
    evidence=("textbook",),
    requires=("reward_pk", "masked_reward_pkn"),
    optional=("action_value_pknta", "policy_pknta"),
    signal=("reward_pk", "masked_reward_pkn"),
    traits=Traits(
        granularity="agent",
        group="none",
        extra_rollouts="1 evaluation per agent and rollout",
        flags=frozenset({"multi_agent", "group_free", "counterfactual"}),
    ),
    claims=frozenset({"shift_invariant", "scale_equivariant", "zero_when_equal", "agent_equivariant"}),
    presets={"aristocrat": {"form": "aristocrat"}},
    example=example,
)

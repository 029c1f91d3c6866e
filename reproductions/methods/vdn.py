r"""VDN: the team's value is the sum of the agents' values, so that an agent's credit is its own utility.

As printed
    Value-decomposition networks (1706.05296): Q_tot(s, u) = sum_a Q_a(tau_a, u_a). The body was not read; the rule is as in the code.

As computed
    The same. ``utility_pknt`` is each agent's Q of the action it took; the credit of an action is that number, and the diagnostic
    ``total_pkt`` is Q_tot of each turn, over the agents that acted.

Differs
    Nothing (oxwhirl/pymarl at c971afd, ``VDNMixer``). VDN learns utilities by TD on Q_tot and acts greedily; that training is
    not part of the credit. Reading the summands as credit is this project's use of it.

Evidence
    Code read and run.

Traps
    - A utility is a value, not an advantage: it has no baseline, and a good prompt makes all of its actions look good.
    - Only the sum is trained: a constant may move from one agent to another without any change of the loss.
    - A sum cannot hold synergy: where agents matter only together, no utilities fit (see ``qmix``, which bends the sum).

Run
    python -m reproductions run vdn --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Method, Traits


def assign(batch: Batch) -> Credit:
    """Every agent's utility; the turn's sum is the diagnostic ``total_pkt``."""
    utility = np.where(batch.acted_pknt, batch.need("utility_pknt"), 0.0)
    return Credit(utility, diagnostics={"total_pkt": utility.sum(axis=2)})


def example() -> Example:
    """Two rollouts of one turn, three agents."""
    batch = Batch.of(utility_pknt=[[[[0.5], [-0.2], [1.0]], [[0.1], [0.4], [-0.6]]]])
    return Example(batch, source="oxwhirl/pymarl c971afd, VDNMixer: Q_tot 1.3 and -0.1")


METHOD = Method(
    name="vdn",
    title="VDN: the team value as a sum of utilities",
    assign=assign,
    paper="1706.05296",
    formula=r"Q_{tot}(s, u) = \sum_n Q_n(\tau_n, u_n), \quad A_n = Q_n(\tau_n, u_n)",
    evidence=("code", "run"),
    requires=("utility_pknt",),
    signal=("utility_pknt",),
    traits=Traits(
        granularity="action",
        group="none",
        critic=True,
        flags=frozenset({"multi_agent", "group_free", "value_decomposition"}),
    ),
    claims=frozenset({"scale_equivariant", "agent_equivariant"}),
    example=example,
)

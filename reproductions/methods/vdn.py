r"""VDN: the team's value is the sum of the agents' values, so that an agent's credit is its own utility.

As printed
    Value-decomposition networks (1706.05296): Q_tot(s, u) = sum_a Q_a(tau_a, u_a). The body was not read; the rule is as in the code.

As computed
    ``utility_pknt`` is each agent's Q of the action it took; the diagnostic ``total_pkt`` is Q_tot of each turn, the sum over the
    agents that acted. The credit of an action is its utility less the mean of the same agent and turn over the prompt's rollouts.

Differs
    The sum is that of the code (oxwhirl/pymarl at c971afd, ``VDNMixer``). VDN prints no advantage, it acts greedily: reading the
    summands as credit, and centring them so that they compare rollouts, is this file's choice. ``uncentred`` gives the summands.

Evidence
    Code read and run.

Traps
    - Uncentred, a utility is a value: a good prompt makes all of its actions look good.
    - Only the sum is trained: a constant may move from one agent to another without any change of the loss. Centring removes it.
    - A sum cannot hold synergy: where agents matter only together, no utilities fit (see ``qmix``, which bends the sum).

Run
    python -m reproductions run vdn --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Method, Traits, normalise


def assign(batch: Batch, *, centre: bool = True) -> Credit:
    """Every agent's utility, centred over the prompt's rollouts unless told otherwise."""
    utility = np.where(batch.acted_pknt, batch.need("utility_pknt"), 0.0)
    centred = normalise(utility, batch.group("pknt", same="pnt"), mean_only=True) if centre else utility
    return Credit(centred, diagnostics={"total_pkt": utility.sum(axis=2)})


def example() -> Example:
    """Two rollouts of one turn, three agents."""
    batch = Batch.of(utility_pknt=[[[[0.5], [-0.2], [1.0]], [[0.1], [0.4], [-0.6]]]])
    return Example(batch, source="oxwhirl/pymarl c971afd, VDNMixer: Q_tot 1.3 and -0.1")


METHOD = Method(
    name="vdn",
    title="VDN: the team value as a sum of utilities",
    assign=assign,
    paper="1706.05296",
    formula=r"Q_{tot} = \sum_n Q_n, \quad A_{k,n,t} = Q_{k,n,t} - \mathrm{mean}_k Q_{n,t}",
    evidence=("code", "run"),
    requires=("utility_pknt",),
    signal=("utility_pknt",),
    traits=Traits(
        granularity="action",
        group="same prompt, agent and turn",
        critic=True,
        flags=frozenset({"multi_agent", "value_decomposition"}),
    ),
    claims=frozenset(
        {"zero_sum_over_actions", "shift_invariant", "scale_equivariant", "zero_when_equal", "agent_equivariant"}
    ),
    presets={"uncentred": {"centre": False}},
    example=example,
)

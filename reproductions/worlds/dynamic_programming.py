"""Exact answers in a deterministic graph through which agents move one after another: values, visits, gradient, optimum.

Axis ``q`` is the position in the order of play: agent ``q % n`` acts at turn ``q // n``. ``x`` is a state, the agent's whole
context. A reward that is paid after q actions is worth ``discount ** q``; values are in money of their own position.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reproductions.core import Floats, Ints


@dataclass(frozen=True, eq=False)
class Graph:
    """Where every agent's action leads and what the team is paid for it. ``end`` leads to itself and pays nothing."""

    following_nxa: Ints
    paid_nxa: Floats
    end: int
    turns: int
    discount: float = 1.0

    @property
    def agents(self) -> int:
        """The number of agents, who act in this order in every turn."""
        return len(self.following_nxa)

    @property
    def positions(self) -> int:
        """The number of actions in the longest episode."""
        return self.turns * self.agents

    @cached_property
    def worth_q(self) -> Floats:
        """What a reward paid at each position is worth at the start."""
        return np.asarray(self.discount ** np.arange(self.positions))


def evaluate(graph: Graph, probability_nxa: Floats, silent: Collection[int] = ()) -> tuple[Floats, Floats]:
    """``(V [q + 1, x], Q [q, x, a])`` by backward induction. A silent agent passes: the state stays, time goes on."""
    states, actions = graph.following_nxa.shape[1:]
    value = np.zeros((graph.positions + 1, states))
    action_value = np.zeros((graph.positions, states, actions))
    for q in range(graph.positions - 1, -1, -1):
        agent, later = q % graph.agents, graph.discount * value[q + 1]
        if agent in silent:
            action_value[q], value[q] = later[:, None], later
            continue
        action_value[q] = graph.paid_nxa[agent] + later[graph.following_nxa[agent]]
        value[q] = (probability_nxa[agent] * action_value[q]).sum(axis=1)
    return value, action_value


def optimum(graph: Graph) -> Floats:
    """``V [q + 1, x]`` of the best policies, which may look at the time: a bound for those that look at the state alone."""
    value = np.zeros((graph.positions + 1, graph.following_nxa.shape[1]))
    for q in range(graph.positions - 1, -1, -1):
        agent = q % graph.agents
        ways = graph.paid_nxa[agent] + graph.discount * value[q + 1][graph.following_nxa[agent]]
        value[q] = ways.max(axis=1)
    return value


def visits(graph: Graph, probability_nxa: Floats, start_x: Floats) -> Floats:
    """``[q, x]``: the probability of standing at each state before each position, from a distribution of starts."""
    reached = np.zeros((graph.positions, len(start_x)))
    here = np.asarray(start_x, dtype=np.float64)
    for q in range(graph.positions):
        reached[q], agent = here, q % graph.agents
        flow_xa = here[:, None] * probability_nxa[agent]
        arrived_x = np.bincount(graph.following_nxa[agent].ravel(), flow_xa.ravel(), len(start_x))
        here = np.asarray(arrived_x, dtype=np.float64)
    return reached


def advantages(graph: Graph, probability_nxa: Floats) -> Floats:
    """``[q, x, a]``: Q - V, in money of the start."""
    value, action_value = evaluate(graph, probability_nxa)
    return np.asarray((action_value - value[:-1, :, None]) * graph.worth_q[:, None, None])


def gradient(graph: Graph, probability_nxa: Floats, start_x: Floats, advantage_qxa: Floats) -> Floats:
    """``[n, x, a]``: the derivative of the expected return by the logits of softmax policies with these probabilities.

    The policy-gradient theorem with exact parts: visits times pi times ``advantages``, summed over the positions of an agent.
    """
    weighted_qxa = visits(graph, probability_nxa, start_x)[:, :, None] * advantage_qxa
    by_agent = weighted_qxa.reshape(graph.turns, graph.agents, *weighted_qxa.shape[1:]).sum(axis=0)
    return np.asarray(probability_nxa * by_agent)

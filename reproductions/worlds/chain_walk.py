"""Episodes in a graph: fresh ones, branches of a tree that share a beginning, and the greedy walk of AT-GRPO.

Arrays are ``[q, p, k]``, position first, so that every step of the loop writes one contiguous block.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from reproductions.core import Bools, Floats, Ints
from reproductions.worlds.base import Policy
from reproductions.worlds.dynamic_programming import Graph


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """States before each action, actions, who acted, what was paid (in money of the start), and the last state ``[p, k]``."""

    state_qpk: Ints
    action_qpk: Ints
    acted_qpk: Bools
    paid_qpk: Floats
    last_pk: Ints

    @property
    def return_pk(self) -> Floats:
        """All that was paid in each rollout."""
        return np.asarray(self.paid_qpk.sum(axis=0))


def walk(
    rng: np.random.Generator,
    graph: Graph,
    policy: Policy,
    start_pk: Ints,
    *,
    first: int = 0,
    silent: Collection[int] = (),
    forced: int | None = None,
    owner_qk: Ints | None = None,
) -> Walk:
    """Play from position ``first`` on. Silent agents pass, ``forced`` is the first action instead of a drawn one.

    ``owner_qk`` names for every rollout the one whose action it takes over, which makes a tree of paths.
    """
    shape = (graph.positions, *start_pk.shape)
    state, action, paid = np.full(shape, graph.end), np.zeros(shape, dtype=np.int64), np.zeros(shape)
    acted, here = np.zeros(shape, dtype=bool), start_pk
    for q in range(first, graph.positions):
        agent, state[q] = q % graph.agents, here
        if agent in silent:
            continue
        acted[q] = here != graph.end
        if forced is not None and q == first:
            action[q] = forced
        else:
            drawn = policy.draw(rng, agent, here)
            action[q] = drawn if owner_qk is None else drawn[:, owner_qk[q]]
        paid[q] = graph.worth_q[q] * graph.paid_nxa[agent][here, action[q]]
        here = graph.following_nxa[agent][here, action[q]]
    return Walk(state, action, acted, paid, here)


def greedy_walk(
    rng: np.random.Generator,
    graph: Graph,
    policy: Policy,
    start_p: Ints,
    own_nxa: Floats,
    own_noise_qpk: Floats,
    alpha: float,
) -> tuple[Walk, Ints]:
    """K candidates from one state at every position; the one with the largest ``alpha * team + own`` reward moves the world on.

    Returns the candidates and which was chosen ``[q, p]``, the first of equals.
    """
    shape = own_noise_qpk.shape
    state, action, paid = np.full(shape, graph.end), np.zeros(shape, dtype=np.int64), np.zeros(shape)
    chosen, here_p, prompts = np.zeros(shape[:2], dtype=np.int64), start_p, np.arange(shape[1])
    for q in range(graph.positions):
        agent = q % graph.agents
        here = np.broadcast_to(here_p[:, None], shape[1:])
        state[q], action[q] = here, policy.draw(rng, agent, here)
        paid[q] = graph.worth_q[q] * graph.paid_nxa[agent][here, action[q]]
        mixed = alpha * paid[q] + own_nxa[agent][here, action[q]] + own_noise_qpk[q]
        chosen[q] = mixed.argmax(axis=1)
        here_p = graph.following_nxa[agent][here_p, action[q, prompts, chosen[q]]]
    last_pk = np.broadcast_to(here_p[:, None], shape[1:])
    return Walk(state, action, state != graph.end, paid, last_pk), chosen


def branch_owners(positions: int, rollouts: int, branching: int) -> Ints:
    """``[q, k]``: a tree with ``branching`` ways at each position until all rollouts are apart, as the first path of each node."""
    owner = np.empty((positions, rollouts), dtype=np.int64)
    nodes, index = 1, np.arange(rollouts)
    for q in range(positions):
        nodes = min(rollouts, nodes * branching)
        node = index * nodes // rollouts
        owner[q] = np.searchsorted(node, node)
    return owner

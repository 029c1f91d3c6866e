"""A sampled tree, read from its root-to-leaf paths in a batch.

Node arrays end in ``u``. A path visits its nodes in the order of play. Every rollout that is present is one visit of its leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core.batch import Batch
from reproductions.core.errors import BatchError
from reproductions.core.fields import Bools, Floats, Ints
from reproductions.core.groups import dense_codes

ROOT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Nodes of all prompts. ``index_pknt`` names each action's node (ROOT where nobody acted), ``parent_u`` the node before
    it on the path (ROOT for the first), ``prompt_u`` and ``agent_u`` where it belongs, ``visits_u`` the paths through it."""

    index_pknt: Ints
    parent_u: Ints
    prompt_u: Ints
    agent_u: Ints
    visits_u: Floats
    is_leaf_u: Bools

    @classmethod
    def of(cls, batch: Batch) -> Tree:
        """Raises MissingField without ``node_pknt``, BatchError where a node has two parents, prompts or agents."""
        acted = batch.acted_pknt
        names = batch.need("node_pknt")[acted]
        _, code = np.unique(names, return_inverse=True)
        count = int(code.max(initial=-1)) + 1
        index = np.full(acted.shape, ROOT, dtype=np.int64)
        index[acted] = code
        before = batch.from_play_order(_previous(batch.in_play_order(index)))[acted]
        prompt, _, agent, _ = np.nonzero(acted)
        parent_u = _one_each(code, before, count, names, "parents")
        prompt_u = _one_each(code, prompt, count, names, "prompts")
        agent_u = _one_each(code, agent, count, names, "agents")
        visits_u = np.bincount(code, minlength=count).astype(np.float64)
        return cls(index, parent_u, prompt_u, agent_u, visits_u, ~np.isin(np.arange(count), parent_u))

    def mean_below_u(self, batch: Batch, reward_pk: Floats) -> Floats:
        """The mean reward of the paths through each node."""
        acted = batch.acted_pknt
        total = np.bincount(self.index_pknt[acted], batch.spread(reward_pk, "pk")[acted], minlength=len(self.visits_u))
        return np.asarray(total / self.visits_u)

    def sibling_key_u(self) -> Ints:
        """A group key: nodes sampled from the same history, that is of the same parent, or first nodes of one prompt."""
        first = self.parent_u == ROOT
        return dense_codes(np.where(first, self.prompt_u, self.parent_u + self.prompt_u.max(initial=-1) + 1))[0]

    def spread(self, array_u: Floats) -> Floats:
        """A number per node given to every action that is the node ``[p, k, n, t]``, 0 where nobody acted."""
        return np.asarray(np.append(array_u, 0.0)[self.index_pknt])


def _previous(index_pkq: Ints) -> Ints:
    """The node before each position of a path, gaps skipped; ROOT before the first."""
    position = np.where(index_pkq == ROOT, -1, np.arange(index_pkq.shape[-1]))
    latest = np.maximum.accumulate(position, axis=-1)
    before = np.concatenate([np.full((*latest.shape[:-1], 1), -1), latest[..., :-1]], axis=-1)
    found = np.take_along_axis(index_pkq, np.maximum(before, 0), axis=-1)
    return np.where(before < 0, ROOT, found)


def _one_each(code: Ints, owner: Ints, count: int, names: Ints, what: str) -> Ints:
    result = np.full(count, ROOT, dtype=np.int64)
    result[code] = owner
    wrong = np.flatnonzero(result[code] != owner)
    if len(wrong):
        raise BatchError(
            f"node {names[wrong[0]]} of node_pknt has several {what}", "give every sampled output its own id"
        )
    return result

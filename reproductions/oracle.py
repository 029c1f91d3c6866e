"""Exact credit of cooperative games: Shapley, Banzhaf and leave-one-out, by enumeration and in closed form.

A game is a table of 2^n values: entry ``s`` is the value of the coalition whose members are the bits of ``s``. A game
that is a sum of few interaction terms (Harsanyi dividends) needs no table and has exact credit for any number of agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np

from reproductions.core import BatchError, Floats


def shapley(value_s: Floats) -> Floats:
    """Shapley values ``[agent]`` of a table of ``2**n`` coalition values. 20 agents take a fraction of a second."""
    value, agents = _table(value_s)
    size = _sizes(agents)
    # Weight of a marginal by the size of the coalition that is joined.
    weight = np.array([1.0 / (agents * comb(agents - 1, s)) for s in range(agents)])
    joined = value * weight[np.maximum(size - 1, 0)]
    left = value * weight[np.minimum(size, agents - 1)]
    return np.array([_half(joined, i, 1).sum() - _half(left, i, 0).sum() for i in range(agents)])


def banzhaf(value_s: Floats) -> Floats:
    """Banzhaf values ``[agent]``: the mean marginal over all coalitions of the others."""
    value, agents = _table(value_s)
    return np.array([_half(value, i, 1).sum() - _half(value, i, 0).sum() for i in range(agents)]) / 2 ** (agents - 1)


def leave_one_out_credit(value_s: Floats) -> Floats:
    """What the full team loses without each agent."""
    value, agents = _table(value_s)
    full = len(value) - 1
    return np.array([value[full] - value[full ^ (1 << i)] for i in range(agents)])


def dividends_to_table(dividends: Mapping[frozenset[int], float], agents: int) -> Floats:
    """The table of the game whose value of a coalition is the sum of the dividends of its subsets."""
    coalition = np.arange(1 << agents)
    value = np.zeros(1 << agents)
    for members, amount in dividends.items():
        bits = sum(1 << member for member in members)
        value += amount * ((coalition & bits) == bits)
    return value


def shapley_of_dividends(dividends: Mapping[frozenset[int], float], agents: int) -> Floats:
    """Closed form: each dividend is shared equally by its members. Linear in the number of terms."""
    return _share(dividends, agents, lambda size: 1.0 / size)


def banzhaf_of_dividends(dividends: Mapping[frozenset[int], float], agents: int) -> Floats:
    """Closed form: each member gets the dividend over ``2**(size - 1)``."""
    return _share(dividends, agents, lambda size: 0.5 ** (size - 1))


def leave_one_out_of_dividends(dividends: Mapping[frozenset[int], float], agents: int) -> Floats:
    """Closed form: each member gets the whole dividend."""
    return _share(dividends, agents, lambda size: 1.0)


def _share(dividends: Mapping[frozenset[int], float], agents: int, part: object) -> Floats:
    assert callable(part)
    credit = np.zeros(agents)
    for members, amount in dividends.items():
        for member in members:
            credit[member] += amount * part(len(members))
    return credit


def _table(value_s: Floats) -> tuple[Floats, int]:
    value = np.asarray(value_s, dtype=np.float64)
    agents = len(value).bit_length() - 1
    if len(value) != 1 << agents or agents < 1:
        raise BatchError(f"a game's table has 2**n entries, this one has {len(value)}")
    return value, agents


def _sizes(agents: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    size = np.zeros(1, np.int8)
    for _ in range(agents):
        size = np.concatenate([size, size + 1]).astype(np.int8)
    return size


def _half(value: Floats, agent: int, present: int) -> Floats:
    """The entries of coalitions with (1) or without (0) an agent."""
    return value.reshape(-1, 2, 1 << agent)[:, present, :]

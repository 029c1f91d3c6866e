"""Exact credit of cooperative games, two ways: by enumeration of coalitions and in closed form from dividends.

A game is a table ``value_s`` of ``2**n`` numbers: entry ``s`` is the value of the coalition of the agents whose bits are set in
``s``. Leading axes are games of their own (one per prompt, say). A game that is a sum of few interactions, given by its
Harsanyi dividends ``{members: amount}`` with ``v(S) = sum of d_T over T within S``, has exact credit for any number of agents.
A game whose value is a multilinear function of one number per agent (inside the coalition or outside it) has exact credit by a few
evaluations of that function's slope, for many games at once.

What the three disagree on: with full redundancy (OR) leave-one-out gives everybody 0 and Shapley an equal share; with full
complements (AND) leave-one-out gives everybody everything. Only Shapley adds up to ``v(all) - v(nobody)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb

import numpy as np

from reproductions.core import Floats, Ints, ParameterError

Dividends = Mapping[frozenset[int], float]
Slope = Callable[[Floats], Floats]


def shapley(value_s: Floats) -> Floats:
    """Shapley values ``[..., n]``: marginal contributions averaged over all orders in which the team can form."""
    value, agents = _game(value_s)
    size_s = coalition_sizes(agents)
    # A marginal that joins a coalition of size c has weight c! (n - c - 1)! / n!.
    weight_c = np.array([1.0 / (agents * comb(agents - 1, c)) for c in range(agents)])
    as_joined = value * weight_c[np.maximum(size_s - 1, 0)]
    as_left = value * np.append(weight_c, 0.0)[size_s]
    both = as_joined + as_left
    return np.asarray(_with_agent(both, agents) - as_left.sum(axis=-1, keepdims=True))


def banzhaf(value_s: Floats) -> Floats:
    """Banzhaf values ``[..., n]``: marginal contributions averaged over all coalitions of the others."""
    value, agents = _game(value_s)
    return np.asarray(2.0 * _with_agent(value, agents) - value.sum(axis=-1, keepdims=True)) / 2.0 ** (agents - 1)


def leave_one_out(value_s: Floats) -> Floats:
    """``v(all) - v(all but i)``, ``[..., n]``."""
    value, agents = _game(value_s)
    everyone = (1 << agents) - 1
    return value[..., [everyone]] - value[..., [everyone ^ (1 << agent) for agent in range(agents)]]


def shapley_of_orders(value_s: Floats, order_bn: Ints) -> Floats:
    """Shapley estimated from given orders of joining ``[order, n]``: unbiased for random orders, efficient for every one."""
    value, agents = _game(value_s)
    order = np.asarray(order_bn)
    after = np.cumsum(1 << order, axis=1)
    marginal = value[..., after] - value[..., after - (1 << order)]
    by_agent = np.take_along_axis(marginal, np.broadcast_to(np.argsort(order, axis=1), marginal.shape), axis=-1)
    return np.asarray(by_agent.mean(axis=-2)).reshape(*value.shape[:-1], agents)


def shapley_of_dividends(dividends: Dividends, agents: int) -> Floats:
    """Closed form ``[n]``: the members of an interaction share its dividend equally."""
    return _shared(dividends, agents, lambda members: 1.0 / members)


def banzhaf_of_dividends(dividends: Dividends, agents: int) -> Floats:
    """Closed form ``[n]``: every member gets the dividend over ``2 ** (members - 1)``."""
    return _shared(dividends, agents, lambda members: 0.5 ** (members - 1))


def leave_one_out_of_dividends(dividends: Dividends, agents: int) -> Floats:
    """Closed form ``[n]``: every member gets the whole dividend."""
    return _shared(dividends, agents, lambda members: 1.0)


def shapley_of_multilinear(slope: Slope, inside: Floats, outside: Floats, degree: int) -> Floats:
    """Shapley values ``[..., n]`` of games f(x), f multilinear of a degree and x_i ``inside`` or ``outside`` as i is in S.

    The mean slope along the diagonal from nobody to everybody (Owen 1972), times the way that each agent has to go. Along it the
    slope is a polynomial of degree - 1, for which Gauss's rule is exact. ``slope`` gives the partial derivatives of f.
    """
    way = inside - outside
    return np.asarray(sum(weight * slope(outside + place * way) for place, weight in _quadrature(degree)) * way)


def banzhaf_of_multilinear(slope: Slope, inside: Floats, outside: Floats) -> Floats:
    """Banzhaf values ``[..., n]``: the slope where everybody is in with chance one half."""
    return (inside - outside) * slope(0.5 * (inside + outside))


def leave_one_out_of_multilinear(slope: Slope, inside: Floats, outside: Floats) -> Floats:
    """``v(all) - v(all but i)``, ``[..., n]``: the slope where everybody is in."""
    return (inside - outside) * slope(inside)


def table_of_dividends(dividends: Dividends, agents: int) -> Floats:
    """The game as a table ``[2**n]``."""
    value_s = np.zeros(1 << agents)
    for members, amount in dividends.items():
        value_s[bitmask(members)] += amount
    for agent in range(agents):
        halves = value_s.reshape(-1, 2, 1 << agent)
        halves[:, 1] += halves[:, 0]
    return value_s


def dividends_of_table(value_s: Floats) -> Floats:
    """Harsanyi dividends ``[..., 2**n]`` of a table (the Moebius transform, inverse of ``table_of_dividends``)."""
    value, agents = _game(value_s)
    dividend = value.copy()
    for agent in range(agents):
        halves = dividend.reshape(*value.shape[:-1], -1, 2, 1 << agent)
        halves[..., 1, :] -= halves[..., 0, :]
    return dividend


def bitmask(members: Sequence[int] | frozenset[int]) -> int:
    """The index of a coalition in a table."""
    return sum(1 << member for member in set(members))


def coalition_sizes(agents: int) -> Ints:
    """The number of members of every coalition ``[2**n]``."""
    size_s = np.zeros(1, dtype=np.int64)
    for _ in range(agents):
        size_s = np.concatenate([size_s, size_s + 1])
    return size_s


@cache
def _quadrature(degree: int) -> list[tuple[float, float]]:
    """Places between 0 and 1 and their weights, exact for polynomials below the degree."""
    node_g, weight_g = np.polynomial.legendre.leggauss(max((degree + 1) // 2, 1))
    return list(zip((0.5 * (node_g + 1.0)).tolist(), (0.5 * weight_g).tolist(), strict=True))


def _with_agent(array_s: Floats, agents: int) -> Floats:
    """For every agent the sum over the coalitions it belongs to ``[..., n]``."""
    lead = array_s.shape[:-1]
    # Plain sums over strided halves; the innermost axis stays contiguous for every agent but the first few.
    return np.stack(
        [array_s.reshape(*lead, -1, 2, 1 << i)[..., 1, :].sum(axis=(-2, -1)) for i in range(agents)], axis=-1
    )


def _shared(dividends: Dividends, agents: int, share: Callable[[int], float]) -> Floats:
    credit_n = np.zeros(agents)
    for members, amount in dividends.items():
        for member in members:
            credit_n[member] += amount * share(len(members))
    return credit_n


def _game(value_s: Floats) -> tuple[Floats, int]:
    value = np.asarray(value_s, dtype=np.float64)
    entries = value.shape[-1] if value.ndim else 0
    if entries < 2 or entries & (entries - 1):
        raise ParameterError(f"a game of n agents has 2**n values, this table has {entries}")
    return value, entries.bit_length() - 1

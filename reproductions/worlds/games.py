"""How the agents' qualities make the team's reward: multilinear games, so that every expectation over independent agents is exact.

A game is a sum of terms over some members: ``all`` pays its amount times the product of their qualities (all are needed),
``any`` its amount times one minus the product of what they lack (each would do). A term of one member is a weight. With the agents
outside a coalition at their masked quality, every vector of qualities is a cooperative game of its own.

A multilinear function of independent variables has the function of their means as its mean, and its partial derivatives are those by
which one agent's quality counts, the others' being what they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Literal, get_args

import numpy as np

from reproductions import oracle
from reproductions.core import Bools, Floats, ParameterError

GameName = Literal["additive", "strong_weak", "lazy", "bottleneck", "redundant", "synergy"]


@dataclass(frozen=True, slots=True)
class Term:
    """``amount`` times the product of the members' qualities, or, with ``kind`` any, times 1 - prod (1 - quality)."""

    amount: float
    members: tuple[int, ...]
    kind: Literal["all", "any"] = "all"


@dataclass(frozen=True)
class Game:
    """A sum of terms among ``agents`` agents; qualities are arrays ``[..., n]``."""

    agents: int
    terms: tuple[Term, ...]

    @cached_property
    def weight_n(self) -> Floats:
        """The terms of one member, where both kinds are the same."""
        weight_n = np.zeros(self.agents)
        for term in self.terms:
            if len(term.members) == 1:
                weight_n[term.members[0]] += term.amount
        return weight_n

    @cached_property
    def joint(self) -> tuple[Term, ...]:
        """The terms of several members."""
        return tuple(term for term in self.terms if len(term.members) > 1)

    @property
    def degree(self) -> int:
        """The largest number of members of a term."""
        return max((len(term.members) for term in self.terms), default=0)

    @property
    def lazy_n(self) -> Bools:
        """The agents that are in no term: nothing they do counts."""
        busy = {member for term in self.terms if term.amount for member in term.members}
        return np.array([agent not in busy for agent in range(self.agents)])

    def value(self, quality: Floats) -> Floats:
        """``[...]``: the team reward."""
        total = quality @ self.weight_n
        for term in self.joint:
            if term.kind == "all":
                total = total + term.amount * quality[..., term.members].prod(axis=-1)
            else:
                total = total + term.amount * (1.0 - (1.0 - quality[..., term.members]).prod(axis=-1))
        return np.asarray(total)

    def slope(self, quality: Floats) -> Floats:
        """``[..., n]``: the partial derivatives, what a unit of each agent's quality is worth beside the others'."""
        slope = np.broadcast_to(self.weight_n, quality.shape).copy()
        for term in self.joint:
            factors = quality[..., term.members]
            slope[..., term.members] += term.amount * _product_of_others(
                factors if term.kind == "all" else 1.0 - factors
            )
        return slope

    def variance(self, mean_n: Floats, variance_n: Floats) -> float:
        """Of the reward, when the qualities are independent with these means and variances."""
        sign = [1.0 if term.kind == "all" else -1.0 for term in self.terms]
        mean = [mean_n if term.kind == "all" else 1.0 - mean_n for term in self.terms]
        total = 0.0
        for i, one in enumerate(self.terms):
            for j, two in enumerate(self.terms):
                shared = list(set(one.members) & set(two.members))
                if not shared:
                    continue
                apart = [*(set(one.members) - set(two.members))], [*(set(two.members) - set(one.members))]
                beside = mean[i][apart[0]].prod() * mean[j][apart[1]].prod()
                of_means = mean[i][shared] * mean[j][shared]
                joint = of_means + sign[i] * sign[j] * variance_n[shared]
                total += sign[i] * one.amount * sign[j] * two.amount * beside * (joint.prod() - of_means.prod())
        return float(total)

    def dividends(self, quality_n: Floats, masked: float = 0.0) -> oracle.Dividends:
        """Harsanyi dividends of one vector of qualities as a cooperative game: exact, ``2 ** degree`` of them at most."""
        found: dict[frozenset[int], float] = {}
        for term in self.terms:
            inside = [quality_n[m] if term.kind == "all" else 1.0 - quality_n[m] for m in term.members]
            outside = masked if term.kind == "all" else 1.0 - masked
            amount = term.amount if term.kind == "all" else -term.amount
            for size in range(len(term.members) + 1):
                for chosen in combinations(range(len(term.members)), size):
                    members = frozenset(term.members[i] for i in chosen)
                    gained = prod(float(inside[i]) - outside for i in chosen) * outside ** (len(term.members) - size)
                    found[members] = found.get(members, 0.0) + amount * gained
            if term.kind == "any":
                found[frozenset()] += term.amount
        return found

    def shapley(self, quality: Floats, masked: float = 0.0) -> Floats:
        """``[..., n]``: Shapley values of each vector of qualities, masked agents at ``masked``."""
        return oracle.shapley_of_multilinear(self.slope, quality, np.full_like(quality, masked), self.degree)

    def banzhaf(self, quality: Floats, masked: float = 0.0) -> Floats:
        """``[..., n]``: Banzhaf values."""
        return oracle.banzhaf_of_multilinear(self.slope, quality, np.full_like(quality, masked))

    def leave_one_out(self, quality: Floats, masked: float = 0.0) -> Floats:
        """``[..., n]``: what is lost when one agent is masked."""
        return oracle.leave_one_out_of_multilinear(self.slope, quality, np.full_like(quality, masked))

    def extremes(self, low_n: Floats, high_n: Floats) -> tuple[float, float]:
        """The least and the largest reward with qualities between bounds: a multilinear function has them at corners."""
        corners = self.value(np.array(list(product(*zip(low_n, high_n, strict=True)))))
        return float(corners.min()), float(corners.max())


def game_of(
    name: GameName,
    agents: int,
    *,
    weights: tuple[float, ...] | None = None,
    weak: float = 0.2,
    synergy: float = 0.5,
) -> Game:
    """A named game, worth 1 when every quality is 1 and 0 when every quality is 0.

    ``strong_weak``: agents in turn strong and weak, a weak one counts ``weak`` times a strong one. ``lazy``: the last agent counts
    nothing. ``synergy``: this share of the reward is paid to neighbours (0, 1), (2, 3), ... for being good together. ``weights``
    replaces the agents' own weights in additive, strong_weak, lazy and synergy games; the sum is then theirs.
    """
    if name not in get_args(GameName):
        raise ParameterError(f"there is no game {name!r}", "one of " + ", ".join(get_args(GameName)))
    if name == "lazy" and agents < 2:
        raise ParameterError("the only agent of a team is not lazy", "give two agents or more")
    everyone = tuple(range(agents))
    if name in ("bottleneck", "redundant"):
        if weights is not None:
            raise ParameterError(f"a {name} game has no weights", "leave weights out")
        return Game(agents, (Term(1.0, everyone, "all" if name == "bottleneck" else "any"),))
    pairs = [(i, i + 1) for i in range(0, agents - 1, 2)] if name == "synergy" else []
    if weights is None:
        share_n = {"strong_weak": [weak if i % 2 else 1.0 for i in everyone], "lazy": [1.0] * (agents - 1) + [0.0]}
        plain_n = np.array(share_n.get(name, [1.0] * agents))
        weights = tuple((plain_n / plain_n.sum() * (1.0 - synergy * bool(pairs))).tolist())
    if len(weights) != agents:
        raise ParameterError(f"{len(weights)} weights for {agents} agents", "give one weight for each agent")
    own = tuple(Term(float(weight), (agent,)) for agent, weight in zip(everyone, weights, strict=True))
    return Game(agents, own + tuple(Term(synergy / len(pairs), pair) for pair in pairs))


def _product_of_others(factor: Floats) -> Floats:
    """``[..., m]``: for every entry of the last axis the product of the other entries, without a division."""
    if factor.shape[-1] == 2:
        return factor[..., ::-1]
    ones = np.ones((*factor.shape[:-1], 1))
    before = np.cumprod(np.concatenate([ones, factor[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, factor[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return np.asarray(before * after)

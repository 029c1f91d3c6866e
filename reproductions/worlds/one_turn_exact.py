"""Exact answers of worlds of one decision per agent: R = offset + scale v(q) + noise, v a multilinear game of the mean qualities.

Agents choose without seeing each other, so that the expectation of v is v of the expectations, and every answer below is a closed
form for any number of agents. Kinds of episode (``Case``) differ in offset, scale, noise and in how often each agent is called.

Axis ``c`` here is a case.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from reproductions.core import Floats
from reproductions.worlds.base import Policy
from reproductions.worlds.games import Game


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of episode: how likely it is, what it adds to the reward, how the game counts, its noise, each agent's calls."""

    probability: float
    offset: float
    scale: float
    noise: float
    calls: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Exact:
    """``table_nxa`` is the quality of every action, ``masked`` that of an agent that is masked or not called."""

    game: Game
    table_nxa: Floats
    masked: float
    cases: tuple[Case, ...]

    def mean_quality_xn(self, policy: Policy) -> Floats:
        """The expected quality of a call of each agent in each context."""
        return np.asarray(np.einsum("nxa,nxa->xn", policy.probability_nxa, self.table_nxa))

    def variance_xn(self, policy: Policy) -> Floats:
        """The variance of the quality of one call."""
        above_nxa = self.table_nxa - self.mean_quality_xn(policy).T[..., None]
        return np.asarray(np.einsum("nxa,nxa->xn", policy.probability_nxa, above_nxa**2))

    def in_case(self, case: Case, quality: Floats) -> Floats:
        """Qualities ``[..., n]`` as the game sees them: masked where the case does not call the agent."""
        return np.where(np.array(case.calls) > 0, quality, self.masked)

    def value_x(self, policy: Policy) -> Floats:
        """The expected team reward in each context."""
        return self._of_qualities(self.mean_quality_xn(policy))

    def slope_cxn(self, policy: Policy) -> Floats:
        """What a unit of an agent's mean quality adds to the expected reward, by case and context; 0 where it is not called."""
        mean_xn = self.mean_quality_xn(policy)
        slope = [case.scale * self.game.slope(self.in_case(case, mean_xn)) for case in self.cases]
        called_cn = np.array([case.calls for case in self.cases]) > 0
        return np.where(called_cn[:, None], slope, 0.0)

    def worth_xn(self, policy: Policy) -> Floats:
        """The same over all cases: what a unit of the agent's quality adds to the expected reward."""
        return np.asarray(np.einsum("c,cxn->xn", [case.probability for case in self.cases], self.slope_cxn(policy)))

    def gradient(self, policy: Policy) -> Floats:
        """``[n, x, a]`` of the expected reward in the logits; contexts are equally likely."""
        above_nxa = self.table_nxa - self.mean_quality_xn(policy).T[..., None]
        worth_nx1 = self.worth_xn(policy).T[..., None] / self.table_nxa.shape[1]
        return np.asarray(worth_nx1 * policy.probability_nxa * above_nxa)

    def advantage_nxa(self, policy: Policy) -> Floats:
        """E[R | context, one call's action] - E[R | context], over the calls of the agent."""
        calls_n = sum(case.probability * np.array(case.calls, dtype=np.float64) for case in self.cases)
        above_nxa = self.table_nxa - self.mean_quality_xn(policy).T[..., None]
        per_call_xn = self.worth_xn(policy) / np.maximum(calls_n, np.finfo(float).tiny)
        return np.asarray(per_call_xn.T[..., None] * above_nxa)

    def beta_n(self, policy: Policy) -> Floats:
        """Coefficients of the best linear prediction of the reward from the mean true qualities, prompts and kinds of episode apart.

        Agents are independent, so an agent's coefficient is the mean worth of its quality, weighted by how much that varies.
        """
        variance_xn = self.variance_xn(policy)
        shared, own = np.zeros(self.game.agents), np.zeros(self.game.agents)
        for case, slope_xn in zip(self.cases, self.slope_cxn(policy), strict=True):
            calls_n = np.array(case.calls)
            varied_xn = case.probability * np.where(calls_n > 0, variance_xn / np.maximum(calls_n, 1), 0.0)
            shared += (varied_xn * slope_xn).sum(axis=0)
            own += varied_xn.sum(axis=0)
        return np.divide(shared, own, out=np.zeros_like(own), where=own > 0)

    def best_value(self) -> float:
        """The expected reward of the best policies. They are deterministic, and take each agent's best or worst action."""
        bounds_xn = zip(self.table_nxa.min(axis=-1).T, self.table_nxa.max(axis=-1).T, strict=True)
        best = [
            self._of_qualities(np.array(list(product(*zip(low_n, high_n, strict=True))))).max()
            for low_n, high_n in bounds_xn
        ]
        return float(np.mean(best))

    def _of_qualities(self, quality: Floats) -> Floats:
        values = [
            case.probability * (case.offset + case.scale * self.game.value(self.in_case(case, quality)))
            for case in self.cases
        ]
        return np.asarray(sum(values))

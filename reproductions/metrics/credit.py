"""Credit against the truth: which truth, centred how; what the lazy get; what leaks in from others; the error of beta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core import AxisGroups, Bools, Floats, Ints, normalise
from reproductions.metrics.correlation import UNDEFINED


def above_prompt_mean(credit_pknt: Floats, acted_pknt: Bools) -> Floats:
    """Credit less its mean over the same agent's actions on the same prompt, 0 where nobody acted.

    A constant per prompt and agent moves no gradient in expectation, so that credits with and without a baseline compare.
    """
    return normalise(credit_pknt, AxisGroups(acted_pknt, (1, 3)), mean_only=True)


def lazy_share(credit_pknt: Floats, acted_pknt: Bools, lazy_n: Bools) -> float:
    """The part of all credit, by absolute value, that goes to agents who contribute nothing. Right is 0.

    A team-wide advantage gives them their share of the actions. The sign of the credit does not matter here.
    """
    size_n = np.where(acted_pknt, np.abs(credit_pknt), 0.0).sum(axis=(0, 1, 3))
    total = float(size_n.sum())
    return float(size_n[lazy_n].sum()) / total if total > 0.0 and lazy_n.any() else UNDEFINED


def beta_error(beta_n: Floats, true_beta_n: Floats) -> float:
    """The distance of estimated coefficients from the true ones, relative to the length of these. Right is 0; all 0 gives 1."""
    length = float(np.linalg.norm(true_beta_n))
    return float(np.linalg.norm(beta_n - true_beta_n)) / length if length > 0.0 else UNDEFINED


@dataclass(frozen=True, slots=True, eq=False)
class OthersActions:
    """For each agent, what everybody did, as a design to regress credits on: made once, used for the credit of many methods.

    ``own_n`` groups an agent's actions by context and action; ``basis_n`` spans what the others did in the rollout (how often
    each took each action), given the own action.
    """

    acted_pknt: Bools
    own_n: tuple[Ints, ...]
    basis_n: tuple[Floats, ...]

    @classmethod
    def of(cls, context_pknt: Ints, action_pknt: Ints, acted_pknt: Bools) -> OthersActions:
        """From what the world knows of its episodes."""
        agents, actions = acted_pknt.shape[2], int(action_pknt.max(initial=0)) + 1
        taken_pknta = (action_pknt[..., None] == np.arange(actions)) & acted_pknt[..., None]
        often_pkna = taken_pknta.sum(axis=3).astype(np.float64)
        own, basis = [], []
        for agent in range(agents):
            acted = acted_pknt[:, :, agent]
            key = context_pknt[:, :, agent][acted] * actions + action_pknt[:, :, agent][acted]
            code = np.unique(key, return_inverse=True)[1].reshape(-1)
            others = np.delete(often_pkna, agent, axis=2).reshape(*acted.shape[:2], -1)
            rows = np.broadcast_to(others[:, :, None], (*acted.shape, others.shape[-1]))[acted]
            own.append(code)
            basis.append(_orthonormal(_within(rows, code)))
        return cls(acted_pknt, tuple(own), tuple(basis))

    def leakage_n(self, credit_pknt: Floats) -> Floats:
        """For each agent the part of its credit's variance that the others' actions explain beyond its own action.

        Right is 0: the best credit of an action, E[R | action] - E[R], does not depend on what the others did. Variances
        are divided by their degrees of freedom, so that credit which is noise gets 0 on average (and sometimes less). NaN for
        an agent whose credit does not vary or that has too few actions.
        """
        found = [
            _explained(credit_pknt[:, :, agent][self.acted_pknt[:, :, agent]], own, basis)
            for agent, (own, basis) in enumerate(zip(self.own_n, self.basis_n, strict=True))
        ]
        return np.array(found)

    def leakage(self, credit_pknt: Floats) -> float:
        """The mean over the agents for which it is defined."""
        found = self.leakage_n(credit_pknt)
        return float(np.nanmean(found)) if np.isfinite(found).any() else UNDEFINED


def _explained(credit: Floats, own: Ints, basis: Floats) -> float:
    groups = int(own.max(initial=-1)) + 1
    freedom = (len(credit) - 1, len(credit) - groups, len(credit) - groups - basis.shape[1])
    if min(freedom) < 1:
        return UNDEFINED
    above = credit - credit.mean()
    given_own = _within(credit[:, None], own)[:, 0]
    along = basis.T @ given_own
    squares = (above @ above, given_own @ given_own, given_own @ given_own - along @ along)
    total, without, left = (float(square) / free for square, free in zip(squares, freedom, strict=True))
    return (without - left) / total if total > 1e-24 * float(credit @ credit) / len(credit) else UNDEFINED


def _within(rows: Floats, code: Ints) -> Floats:
    """Rows less the mean of their group."""
    count = np.bincount(code).astype(np.float64)
    columns = [np.bincount(code, column) / count for column in rows.T]
    return np.asarray(rows - np.stack(columns, axis=1)[code]) if columns else rows


def _orthonormal(columns: Floats) -> Floats:
    """A basis of the columns' span; directions that rounding alone tells apart are left out."""
    if not columns.size:
        return np.zeros((len(columns), 0))
    square, direction = np.linalg.eigh(columns.T @ columns)
    kept = square > 1e-10 * max(float(square[-1]), 1e-300)
    return np.asarray(columns @ (direction[:, kept] / np.sqrt(square[kept])))

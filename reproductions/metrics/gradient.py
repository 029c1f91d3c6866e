"""Gradient estimates against the exact gradient, independent of scale.

Methods normalise differently: one divides by a deviation, another does not. An optimiser with its own step size (Adam) or a
learning rate takes that out again, so that only direction and noise are compared here. ``estimate_bd`` holds one estimate per
independent batch ``b``, ``exact_d`` the exact gradient, both flattened over agents, contexts and actions.
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Floats
from reproductions.metrics.correlation import UNDEFINED


def cosine(estimate_d: Floats, exact_d: Floats) -> float:
    """The cosine of the angle between an estimate and the exact gradient: 1 right, -1 opposite. NaN if either is 0."""
    return mean_cosine(estimate_d[None], exact_d)


def mean_cosine(estimate_bd: Floats, exact_d: Floats) -> float:
    """The mean over batches; a batch whose estimate is 0 learns nothing and counts 0. NaN if all are, or the exact gradient is."""
    length = float(np.sqrt(exact_d @ exact_d))
    length_b = np.sqrt(np.einsum("bd,bd->b", estimate_bd, estimate_bd))
    if not length > 0.0 or not length_b.any():
        return UNDEFINED
    cosine_b = np.divide(estimate_bd @ exact_d, length_b * length, out=np.zeros_like(length_b), where=length_b > 0.0)
    return float(np.clip(cosine_b, -1.0, 1.0).mean())


def cosine_by_agent(estimate_bnd: Floats, exact_nd: Floats) -> float:
    """The mean over agents of their own cosines: how the scale is shared out between agents does not matter.

    Agents whose exact gradient is 0 (the lazy, the converged) have no right direction and are left out.
    """
    size_n = np.sqrt(np.einsum("nd,nd->n", exact_nd, exact_nd))
    told = np.flatnonzero(size_n > 1e-9 * size_n.max(initial=0.0))
    if not len(told) or not estimate_bnd.any():
        return UNDEFINED
    found = [mean_cosine(estimate_bnd[:, agent], exact_nd[agent]) for agent in told]
    return float(np.mean([0.0 if np.isnan(value) else value for value in found]))


def relative_bias(estimate_bd: Floats, exact_d: Floats) -> float:
    """The part of the *expected* estimate's squared length that the best scalar >= 0 times the exact gradient leaves over.

    0 is the right direction, 1 a right angle or worse: one less the squared cosine of the angle. Estimated from products of
    different batches, so that noise does not count as bias; an estimate without bias comes out around 0, also below it. NaN
    where the batches are too noisy to tell, or fewer than two.
    """
    if len(estimate_bd) < 2 or not np.any(exact_d):
        return UNDEFINED
    squared = _squared_mean(estimate_bd)
    along_b = estimate_bd @ exact_d / np.linalg.norm(exact_d)
    if not squared > 0.0:
        return UNDEFINED
    return 1.0 - _squared_mean(along_b[:, None]) / squared if along_b.mean() > 0.0 else 1.0


def signal_to_noise(estimate_bd: Floats, exact_d: Floats) -> float:
    """The mean estimate along the exact gradient over the root of the total variance of one batch's estimate.

    Negative where the mean points the other way. It grows with the root of the number of prompts in a batch. From few batches
    it comes out high on average, as one over a deviation does: from four by 1 to 14 percent, most where few directions carry the noise.
    """
    if len(estimate_bd) < 2 or not np.any(exact_d):
        return UNDEFINED
    noise = float(estimate_bd.var(axis=0, ddof=1).sum())
    return _mean_along(estimate_bd, exact_d) / float(np.sqrt(noise)) if noise > 0.0 else UNDEFINED


def relative_variance(estimate_bd: Floats) -> float:
    """The total variance of one batch's estimate over the squared length of the expected estimate."""
    squared = _squared_mean(estimate_bd) if len(estimate_bd) > 1 else 0.0
    return float(estimate_bd.var(axis=0, ddof=1).sum()) / squared if squared > 0.0 else UNDEFINED


def prompts_at_equal_cost(budget: float, cost_per_prompt: float) -> int:
    """How many prompts a budget of team rollouts pays for, at least one."""
    return max(1, int(budget / cost_per_prompt + 1e-9))


def _mean_along(estimate_bd: Floats, exact_d: Floats) -> float:
    length = float(np.linalg.norm(exact_d))
    return float(estimate_bd.mean(axis=0) @ exact_d) / length if length > 0.0 else 0.0


def _squared_mean(estimate_bd: Floats) -> float:
    """The squared length of the expectation, unbiased: the mean product of estimates from different batches."""
    batches = len(estimate_bd)
    total = estimate_bd.sum(axis=0)
    return float(total @ total - (estimate_bd**2).sum()) / max(batches * (batches - 1), 1)

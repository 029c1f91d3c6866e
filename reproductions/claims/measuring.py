"""What the measurements of several claims have in common: play, assign, compare, count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from reproductions import metrics
from reproductions.core import Floats
from reproductions.registry import get
from reproductions.worlds.base import Cost, Episodes, World

PROMPTS, ROLLOUTS = 32, 8


def rng_of(seed: int, *stream: int) -> np.random.Generator:
    """A generator of its own for every part of a measurement."""
    return np.random.default_rng([seed, *stream])


def credit(episodes: Episodes, method: str, preset: str = "paper", **parameters: Any) -> Floats:
    """``[p, k, n, t]``: what a method assigns."""
    return get(method).run(episodes.batch, preset, **parameters).advantage_pknt


def agreement(episodes: Episodes, advantage_pknt: Floats) -> float:
    """Pearson's correlation of credit with the true advantage over all actions of all agents, both less their prompt's mean."""
    acted, truth = episodes.batch.acted_pknt, episodes.truth.advantage_pknt
    assert truth is not None
    given = metrics.above_prompt_mean(advantage_pknt, acted)[acted]
    return metrics.pearson(given, metrics.above_prompt_mean(truth, acted)[acted])


def gradient_cosine(episodes: Episodes, advantage_pknt: Floats) -> float:
    """Cosine of the batch's gradient estimate with the exact gradient; an estimate of 0 learns nothing and counts 0."""
    exact = episodes.truth.gradient_nxa
    assert exact is not None
    found = metrics.cosine(episodes.gradient(advantage_pknt).ravel(), exact.ravel())
    return 0.0 if np.isnan(found) else found


def estimates(
    world: World,
    seed: int,
    assign: Mapping[str, Callable[[Episodes], Floats]],
    *,
    batches: int,
    prompts: int = PROMPTS,
    rollouts: int = ROLLOUTS,
    fields: frozenset[str] = frozenset(),
) -> tuple[dict[str, Floats], Floats, Cost]:
    """Gradient estimates ``[b, d]`` of independent batches by each way of assigning credit, the exact one ``[d]``, and the cost."""
    found: dict[str, list[Floats]] = {name: [] for name in assign}
    spent, exact = Cost(), np.zeros(0)
    for batch in range(batches):
        episodes = world.play(rng_of(seed, batch, prompts, rollouts), prompts, rollouts, fields=fields)
        spent = spent + episodes.cost
        assert episodes.truth.gradient_nxa is not None
        exact = episodes.truth.gradient_nxa.ravel()
        for name, of in assign.items():
            found[name].append(episodes.gradient(of(episodes)).ravel())
    return {name: np.stack(rows) for name, rows in found.items()}, exact, spent


def crossing_of(x: Sequence[float], difference: Sequence[float]) -> float:
    """Where a difference changes from negative to positive for good, on straight lines between points.

    The lowest x where it is positive everywhere, infinity where it is not positive at the end.
    """
    if difference[-1] <= 0.0:
        return float("inf")
    last = max((i for i, value in enumerate(difference) if value <= 0.0), default=-1)
    if last < 0:
        return float(x[0])
    low, high = difference[last], difference[last + 1]
    return float(x[last] + (x[last + 1] - x[last]) * (-low) / (high - low))

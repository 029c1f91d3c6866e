"""Estimates over seeds with their 95% intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

BOOTSTRAPS = 4000
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate over ``n`` seeds with its 95% interval."""

    value: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean and Student's interval; a single value has an infinite one."""
    array = np.asarray(values, dtype=np.float64)
    mean, n = float(array.mean()), len(array)
    if n < 2:
        return Interval(mean, -np.inf, np.inf, n)
    half = float(_quantile(n - 1) * array.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)


@cache
def _quantile(freedom: int) -> float:
    """Of Student's t; kept, since a suite asks for the same one for every cell."""
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def bootstrap_interval(rows: Sequence[Row], statistic: Callable[[Sequence[Row]], float]) -> Interval:
    """A statistic of all seeds together, with the percentile interval of 4,000 resamples of the seeds (fixed draws)."""
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(rows), (BOOTSTRAPS, len(rows)))
    values = np.sort([statistic([rows[i] for i in draw]) for draw in draws])
    # Order statistics, not interpolation: a statistic may be infinite.
    low, high = values[int(0.025 * BOOTSTRAPS)], values[int(0.975 * BOOTSTRAPS)]
    return Interval(float(statistic(rows)), float(low), float(high), len(rows))

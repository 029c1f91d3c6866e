"""Estimates over seeds with their 95% intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from reproductions.core import Floats

BOOTSTRAPS = 4000


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


def bootstrap_interval(values_sc: Floats, statistic: Callable[[Floats], float]) -> Interval:
    """A statistic of column means ``[c]`` over seeds ``[s, c]``, with the percentile interval of 4,000 resamples of the seeds."""
    values = np.asarray(values_sc, dtype=np.float64)
    draws = np.random.default_rng(0).integers(0, len(values), (BOOTSTRAPS, len(values)))
    # How often each seed was drawn, times the values: all means at once.
    often = np.stack([np.bincount(draw, minlength=len(values)) for draw in draws])
    found = np.sort([statistic(mean_c) for mean_c in often @ values / len(values)])
    # Order statistics, not interpolation: a statistic may be infinite.
    low, high = found[int(0.025 * BOOTSTRAPS)], found[int(0.975 * BOOTSTRAPS)]
    return Interval(float(statistic(values.mean(axis=0))), float(low), float(high), len(values))

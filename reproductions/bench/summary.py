"""Rows over seeds: a mean with Student's 95% interval for every (method, preset, situation, metric), and how many seeds are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reproductions.metrics.interval import mean_interval

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Summary:
    """``n`` seeds out of ``wanted`` gave a number. With ``n < wanted`` the mean is of an unfinished cell: draw it faint."""

    mean: float
    low: float
    high: float
    n: int
    wanted: int

    @property
    def finished(self) -> bool:
        """Whether every seed is in."""
        return self.n >= self.wanted


def summaries(rows: Iterable[Mapping[str, Any]], wanted: int) -> dict[Key, Summary]:
    """By (method, preset, situation, metric). Rows with an error or a missing field have no numbers and count as missing.

    Of two rows of one cell the later counts. A metric that is null in every row of a cell has no entry.
    """
    latest = {(row["method"], row["preset"], row["world"], row["seed"]): row["metrics"] for row in rows}
    values: dict[Key, list[float]] = defaultdict(list)
    for (method, preset, world, _), found in latest.items():
        for name, value in found.items():
            if value is not None:
                values[method, preset, world, name].append(value)
    result = {}
    for key, numbers in values.items():
        interval = mean_interval(numbers)
        result[key] = Summary(interval.value, interval.low, interval.high, interval.n, wanted)
    return result

"""Agreement of two lists of numbers: linear, by rank, by pairs, by sign. NaN where one of them does not vary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core import AnyArray, Floats, Ints

UNDEFINED = float("nan")


def pearson(x: Floats, y: Floats) -> float:
    """The correlation coefficient, from -1 to 1."""
    u, v = _above_mean(x), _above_mean(y)
    length = float(np.sqrt((u @ u) * (v @ v)))
    return float(np.clip((u @ v) / length, -1.0, 1.0)) if length > 0.0 else UNDEFINED


def spearman(x: Floats, y: Floats) -> float:
    """Pearson's coefficient of the ranks; equal numbers share the mean of their ranks."""
    return spearman_of(Ranked.of(x), Ranked.of(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b: concordant less discordant pairs, over the geometric mean of the pairs that are no ties in x and in y."""
    return kendall_of(Ranked.of(x), Ranked.of(y))


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """A list by its order alone: which of the distinct numbers, from the smallest, each entry is; and how often each occurs.

    Numbers whose first twelve digits (of the largest) agree are equal: true ties must not be broken by rounding.
    """

    code: Ints
    count: Ints

    @classmethod
    def of(cls, x: Floats) -> Ranked:
        """Made once for a list that is compared with many."""
        largest = np.abs(x).max(initial=0.0) or 1.0
        _, code, count = np.unique(np.round(x / largest, 12), return_inverse=True, return_counts=True)
        return cls(code.reshape(-1), count)

    @property
    def ranks(self) -> Floats:
        """From 1; equal numbers get the mean of the ranks they take up."""
        return np.asarray((np.cumsum(self.count) - 0.5 * (self.count - 1.0))[self.code])


def spearman_of(x: Ranked, y: Ranked) -> float:
    """``spearman`` of lists that are ranked already."""
    return pearson(x.ranks, y.ranks)


def kendall_of(x: Ranked, y: Ranked) -> float:
    """``kendall`` of lists that are ranked already; time n log n."""
    distinct = max(len(y.count), 1)
    by_x_then_y = np.sort(x.code * distinct + y.code)
    both = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(by_x_then_y) != 0, [True]])))
    pairs, tied_x, tied_y = _pairs(np.array([len(by_x_then_y)])), _pairs(x.count), _pairs(y.count)
    discordant = inversions(by_x_then_y % distinct)
    size = float(np.sqrt(float(pairs - tied_x) * float(pairs - tied_y)))
    return (pairs - tied_x - tied_y + _pairs(both) - 2 * discordant) / size if size > 0.0 else UNDEFINED


def sign_agreement(credit: Floats, truth: Floats) -> float:
    """The share of entries with a true sign whose credit has the same; a credit of 0 says nothing and counts half."""
    told = np.abs(truth) > 1e-12 * np.abs(truth).max(initial=0.0)
    if not told.any():
        return UNDEFINED
    return float(0.5 + 0.5 * np.mean(np.sign(credit[told]) * np.sign(truth[told])))


def inversions(code: Ints) -> int:
    """Pairs whose earlier member is larger. The numbers are small and not negative; time n log n.

    Two numbers are compared at the highest bit where they differ: bit by bit, the list is kept in the order of the higher
    bits, and inside each block of equal higher bits every 0 has an inversion with every 1 before it.
    """
    highest = int(code.max(initial=0))
    # Sorting short integers takes linear time.
    values: AnyArray = code.astype(np.uint16 if highest < 1 << 16 else np.int64)
    found = 0
    for bit in reversed(range(highest.bit_length())):
        one = ((values >> bit) & 1).astype(np.int64)
        before = np.cumsum(one) - one
        block = values >> (bit + 1)
        first = np.flatnonzero(np.concatenate([[True], block[1:] != block[:-1]]))
        before -= np.repeat(before[first], np.diff(np.append(first, len(values))))
        found += int(before @ (1 - one))
        values = values[np.argsort(values >> bit, kind="stable")]
    return found


def _pairs(count: Ints) -> int:
    return int((count * (count - 1) // 2).sum())


def _above_mean(x: Floats) -> Floats:
    above = x - x.mean() if x.size else x
    # What rounding leaves of a constant is no spread.
    varied = np.abs(above).max(initial=0.0) > 1e-12 * np.abs(x).max(initial=0.0)
    return np.asarray(above if varied else np.zeros_like(above))

"""Agreement of two lists of numbers: linear, by rank, by pairs, by sign. NaN where one of them does not vary."""

from __future__ import annotations

import numpy as np

from reproductions.core import Floats, Ints

UNDEFINED = float("nan")


def pearson(x: Floats, y: Floats) -> float:
    """The correlation coefficient, from -1 to 1."""
    u, v = _above_mean(x), _above_mean(y)
    length = float(np.sqrt((u @ u) * (v @ v)))
    return float(np.clip((u @ v) / length, -1.0, 1.0)) if length > 0.0 else UNDEFINED


def spearman(x: Floats, y: Floats) -> float:
    """Pearson's coefficient of the ranks; equal numbers share the mean of their ranks."""
    return pearson(ranks(x), ranks(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b: concordant less discordant pairs, over the geometric mean of the pairs that are no ties in x and in y."""
    x_code, y_code = _codes(x), _codes(y)
    order = np.lexsort((y_code, x_code))
    pairs = _pairs(np.array([len(order)]))
    tied_x, tied_y = _pairs(np.bincount(x_code)), _pairs(np.bincount(y_code))
    _, both = np.unique(x_code * (int(y_code.max(initial=0)) + 1) + y_code, return_counts=True)
    concordant_less_discordant = pairs - tied_x - tied_y + _pairs(both) - 2 * inversions(y_code[order])
    size = float(np.sqrt(float(pairs - tied_x) * float(pairs - tied_y)))
    return concordant_less_discordant / size if size > 0.0 else UNDEFINED


def sign_agreement(credit: Floats, truth: Floats) -> float:
    """The share of entries with a true sign whose credit has the same; a credit of 0 says nothing and counts half."""
    told = np.abs(truth) > 1e-12 * np.abs(truth).max(initial=0.0)
    if not told.any():
        return UNDEFINED
    return float(0.5 + 0.5 * np.mean(np.sign(credit[told]) * np.sign(truth[told])))


def ranks(x: Floats) -> Floats:
    """Ranks from 1; equal numbers get the mean of the ranks they take up."""
    _, code, count = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - 0.5 * (count - 1.0))[code.reshape(x.shape)])


def inversions(code: Ints) -> int:
    """Pairs whose earlier member is larger. The numbers are small and not negative; time n log n.

    Two numbers are compared at the highest bit where they differ: bit by bit, the list is kept in the order of the higher
    bits, and inside each block of equal higher bits every 0 has an inversion with every 1 before it.
    """
    highest = int(code.max(initial=0))
    # Sorting short integers takes linear time.
    values = code.astype(np.uint16 if highest < 1 << 16 else np.int64)
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


def _codes(x: Floats) -> Ints:
    return np.unique(x, return_inverse=True)[1].reshape(-1)


def _pairs(count: Ints) -> int:
    return int((count * (count - 1) // 2).sum())


def _above_mean(x: Floats) -> Floats:
    above = x - x.mean() if x.size else x
    # What rounding leaves of a constant is no spread.
    varied = np.abs(above).max(initial=0.0) > 1e-12 * np.abs(x).max(initial=0.0)
    return np.asarray(above if varied else np.zeros_like(above))

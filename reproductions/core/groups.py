"""Comparison groups and the statistics over them: one definition of ddof, epsilon, zero spread and singletons.

These four conventions are where published code and papers part most often, so that every one of them is a parameter.

    ddof        0 divides the squares by the number of members, 1 by one less
    eps_rule    ``std_plus``: (x - mean) / (std + eps);  ``var_plus``: / sqrt(var + eps);  ``var_floor``: / sqrt(max(var, eps))
    zero spread members that are all equal get exactly 0, also with eps = 0; rounding does not count as spread
    singleton   a group of one gets 0 (``zero``), or its own value as if mean were 0 and spread 1 (``raw``, as verl)
"""

from __future__ import annotations

import abc
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reproductions.core.errors import ParameterError
from reproductions.core.fields import Bools, Floats, Ints

EpsRule = Literal["std_plus", "var_plus", "var_floor"]
SingletonRule = Literal["zero", "raw"]


class Groups(abc.ABC):
    """A partition of the real entries of an array. ``mask`` says which entries are real."""

    def __init__(self, mask: Bools) -> None:
        self.mask = mask
        self.complete = bool(mask.all())

    @abc.abstractmethod
    def _totals(self, array: Floats) -> Floats:
        """Group totals in a shape that broadcasts to the array's; masked entries of ``array`` are 0 or never read."""

    @abc.abstractmethod
    def squares(self, array: Floats, weight: Floats | None = None) -> Floats:
        """Group totals of ``weight * array ** 2``; ``array`` is 0 where masked."""

    def total(self, array: Floats) -> Floats:
        """The sum over each entry's group, broadcastable to the array's shape."""
        return self._totals(self.zeroed(array))

    @property
    def members(self) -> Floats:
        """The number of real entries in each entry's group."""
        return self._totals(self.mask.astype(np.float64))

    def zeroed(self, array: Floats) -> Floats:
        """The array with 0 at masked entries."""
        return array if self.complete else np.where(self.mask, array, 0.0)

    def mean(self, array: Floats, weight: Floats | None = None) -> Floats:
        """The (weighted) mean of each entry's group; 0 for a group without members."""
        if weight is None:
            return _divide(self.total(array), self.members)
        return _divide(self.total(array * weight), self.total(weight))


class AxisGroups(Groups):
    """Entries that differ along ``axes`` only are one group: plain reductions, no keys."""

    def __init__(self, mask: Bools, axes: tuple[int, ...]) -> None:
        super().__init__(mask)
        every = "abcdefgh"[: mask.ndim]
        kept = "".join(letter for axis, letter in enumerate(every) if axis not in axes)
        self._total = f"{every}->{kept}"
        self._squares = f"{every},{every}->{kept}"
        self._weighted = f"{every},{every},{every}->{kept}"
        self._shape = tuple(1 if axis in axes else length for axis, length in enumerate(mask.shape))

    def _totals(self, array: Floats) -> Floats:
        # einsum sums short contiguous axes several times faster than ndarray.sum.
        return np.asarray(np.einsum(self._total, array)).reshape(self._shape)

    def squares(self, array: Floats, weight: Floats | None = None) -> Floats:
        if weight is None:
            return np.asarray(np.einsum(self._squares, array, array)).reshape(self._shape)
        return np.asarray(np.einsum(self._weighted, array, array, weight)).reshape(self._shape)

    @property
    def members(self) -> Floats:
        if self.complete:
            return np.full(self._shape, float(self.mask.size // max(int(np.prod(self._shape)), 1)))
        return super().members


class KeyGroups(Groups):
    """Entries with equal integer keys are one group: ``np.bincount``, linear in the number of entries."""

    def __init__(self, key: npt.NDArray[np.integer[Any]], mask: Bools) -> None:
        if key.shape != mask.shape:
            raise ParameterError(f"keys have shape {key.shape}, the entries {mask.shape}")
        super().__init__(mask)
        code, self._count = dense_codes(key[mask])
        # Masked entries share one bin of their own, behind the groups.
        self._code = np.full(mask.size, self._count, dtype=np.int64)
        self._code[mask.ravel()] = code

    def _totals(self, array: Floats) -> Floats:
        total = np.bincount(self._code, np.broadcast_to(array, self.mask.shape).ravel(), minlength=self._count + 1)
        # bincount answers in integers where there is nothing to count.
        return np.asarray(total[self._code].reshape(self.mask.shape), dtype=np.float64)

    def squares(self, array: Floats, weight: Floats | None = None) -> Floats:
        return self._totals(array * array if weight is None else array * array * weight)


def dense_codes(key: npt.NDArray[np.integer[Any]]) -> tuple[Ints, int]:
    """``(codes, bound)``: integers below ``bound``, equal where the keys are. Small keys are kept as they are."""
    if key.size and int(key.min()) >= 0 and int(key.max()) < 4 * key.size:
        return key.astype(np.int64), int(key.max()) + 1
    values, code = np.unique(key, return_inverse=True)
    return code.reshape(key.shape).astype(np.int64), len(values)


def normalise(
    array: Floats,
    groups: Groups,
    *,
    ddof: int = 1,
    eps: float = 0.0,
    eps_rule: EpsRule = "std_plus",
    mean_only: bool = False,
    singleton: SingletonRule = "zero",
    weight: Floats | None = None,
) -> Floats:
    """``(x - group mean) / group spread``; without the division if ``mean_only``. Conventions: the module docstring.

    ``weight`` (for instance tokens per action) counts an entry that many times, in the mean, in the variance and for ddof.
    Returns float64 in the array's shape, 0 at masked entries.
    """
    members = groups.members
    count = members if weight is None else groups.total(weight)
    mean = _divide(groups.total(array if weight is None else array * weight), count)
    result = groups.zeroed(array - mean)
    if not mean_only:
        variance = _divide(groups.squares(result, weight), count - ddof)
        rounding = (members + 8.0) * np.finfo(np.float64).eps * mean
        varied = variance > rounding * rounding
        result *= np.divide(1.0, _spread(variance, eps, eps_rule), out=np.zeros_like(variance), where=varied)
    if singleton == "raw":
        alone = members == 1
        if alone.any():
            unit = 1.0 if mean_only else float(_spread(np.ones(()), eps, eps_rule))
            result = np.where(alone & groups.mask, array / unit, result)
    return result


def leave_one_out(array: Floats, groups: Groups, *, singleton: SingletonRule = "zero") -> Floats:
    """``x`` minus the mean of the other members, which is ``n / (n - 1)`` times ``x`` minus the mean of all."""
    members = groups.members
    result = groups.zeroed(array - groups.mean(array)) * _divide(members, members - 1.0)
    return np.where((members == 1) & groups.mask, array, result) if singleton == "raw" else result


def _spread(variance: Floats, eps: float, rule: EpsRule) -> Floats:
    if rule == "std_plus":
        return np.sqrt(variance) + eps
    if rule == "var_plus":
        return np.sqrt(variance + eps)
    if rule == "var_floor":
        return np.sqrt(np.maximum(variance, eps))
    raise ParameterError(f"no eps_rule {rule!r}", "std_plus, var_plus or var_floor")


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    """0 where the denominator is not positive: empty groups, and spreads that cannot be estimated."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)

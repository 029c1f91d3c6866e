"""What a batch's field is, and the checks every array passes on its way into a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reproductions.core.axes import AXIS_NAMES, BATCH_AXES, SAME_LENGTH_AS, axes_of, described_shape
from reproductions.core.errors import BatchError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
Kind = Literal["float", "int", "bool", "any"]
_DTYPES: Mapping[Kind, type] = {"float": np.float64, "int": np.int64, "bool": np.bool_}


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """What a field holds, in which type, and which world or option provides it."""

    kind: Kind
    meaning: str
    provider: str


ACTED = FieldInfo("bool", "who acted when", "every world")


def info(kind: Kind, meaning: str, provider: str) -> dict[str, FieldInfo]:
    """Metadata of a dataclass field."""
    return {"info": FieldInfo(kind, meaning, provider)}


def converted(name: str, value: Any, kind: Kind) -> AnyArray:
    """An array of the field's type. Raises BatchError where the value or its number of axes does not fit the name."""
    try:
        array: AnyArray = np.asarray(value) if kind == "any" else np.asarray(value, dtype=_DTYPES[kind])
    except (TypeError, ValueError) as error:
        raise BatchError(f"{name} cannot be read as {kind} {described_shape(name)}: {error}") from error
    axes = axes_of(name)
    if array.ndim != len(axes):
        raise BatchError(f"{name} has {array.ndim} axes, its name says {len(axes)}: {described_shape(name)}")
    return array


def axis_lengths(arrays: Mapping[str, AnyArray]) -> dict[str, int]:
    """The length of every axis. Raises BatchError where two fields disagree, naming both."""
    seen: dict[str, tuple[int, str]] = {}
    for name, array in arrays.items():
        for letter, length in zip(axes_of(name), array.shape, strict=True):
            axis = SAME_LENGTH_AS.get(letter, letter)
            expected, witness = seen.setdefault(axis, (length, name))
            if length != expected:
                raise BatchError(f"{name} has {length} {AXIS_NAMES[axis]}, {witness} has {expected}")
    return {axis: length for axis, (length, _) in seen.items()}


def real_entries(acted_pknt: Bools, axes: str) -> Bools:
    """Which entries of an array over some of the axes p, k, n, t have any action behind them."""
    reduced = tuple(i for i, axis in enumerate(BATCH_AXES) if axis not in axes)
    kept = [acted_pknt.shape[i] for i in range(len(BATCH_AXES)) if i not in reduced]
    if all(acted_pknt.shape[i] == 1 for i in reduced):
        return acted_pknt.reshape(kept)
    return np.asarray(acted_pknt.any(axis=reduced))


def finite(name: str, array: AnyArray, acted_pknt: Bools) -> AnyArray:
    """The array, padding that is not finite set to 0. Raises BatchError naming the first real entry that is not finite."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array
    real = real_entries(acted_pknt, axes_of(name))
    real = real.reshape(real.shape + (1,) * (array.ndim - real.ndim))
    bad = np.argwhere(~np.isfinite(array) & real)
    if len(bad):
        where = ", ".join(f"{AXIS_NAMES[axis][:-1]} {at}" for axis, at in zip(axes_of(name), bad[0], strict=True))
        more = f" (and {len(bad) - 1} more entries)" if len(bad) > 1 else ""
        raise BatchError(
            f"{name} is {array[tuple(bad[0])]} at {where}{more}",
            "score these rollouts, or mask them with acted_pknt; nothing is dropped in silence",
        )
    return np.where(np.isfinite(array), array, 0.0)


def read_only(array: AnyArray) -> AnyArray:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view

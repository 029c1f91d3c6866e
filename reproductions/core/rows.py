"""Batches from rows, one row per action: the layout of training logs and of reference code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from reproductions.core.axes import BATCH_AXES, axes_of
from reproductions.core.batch import Batch, field_info
from reproductions.core.errors import BatchError
from reproductions.core.fields import Ints

Index = tuple[Ints, Ints, Ints, Ints]


def from_rows(
    prompt: Sequence[Any],
    rollout: Sequence[Any],
    agent: Sequence[Any] | None = None,
    turn: Sequence[int] | None = None,
    **columns: Sequence[Any],
) -> tuple[Batch, Index]:
    """``(batch, at)``: ``advantage_pknt[at]`` gives the rows' advantages back, in their order.

    ``prompt``, ``rollout`` and ``agent`` are labels of any kind, numbered as they first appear (rollouts inside their prompt).
    Without ``turn`` an agent's rows of one rollout are its turns in order. ``columns`` are batch fields by name, one value per
    row; a field of whole rollouts repeats its value in every row. Raises BatchError where two rows contradict each other.
    """
    p = _numbered(prompt)
    n = np.zeros(len(p), dtype=np.int64) if agent is None else _numbered(agent)
    k = _numbered_within(p, _numbered(rollout))
    t = _occurrences(np.stack([p, k, n])) if turn is None else np.asarray(turn, dtype=np.int64)
    at = (p, k, n, t)
    shape = tuple(int(index.max(initial=-1)) + 1 for index in at)
    acted = np.zeros(shape, dtype=bool)
    acted[at] = True
    if int(acted.sum()) != len(p):
        raise BatchError("two rows have the same prompt, rollout, agent and turn", "give every action its own turn")
    fields = {name: _scattered(name, column, at, shape) for name, column in columns.items()}
    return Batch.of(acted_pknt=acted, **fields), at


def _scattered(name: str, column: Sequence[Any], at: Index, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    axes = axes_of(name)
    inner = axes.rstrip("".join(set(axes) - set(BATCH_AXES)))
    values = np.asarray(column, dtype=object if field_info(name).kind == "any" else None)
    place = tuple(at[BATCH_AXES.index(axis)] for axis in inner)
    full = np.zeros((*(shape[BATCH_AXES.index(axis)] for axis in inner), *values.shape[1:]), dtype=values.dtype)
    full[place] = values
    same = np.equal(full[place], values) | (values != values)
    if not np.all(same):
        row = int(np.argwhere(~np.asarray(same, dtype=bool))[0][0])
        raise BatchError(f"{name} of row {row} contradicts another row of the same {'/'.join(inner)}")
    return full


def _numbered(labels: Sequence[Any]) -> Ints:
    seen: dict[Any, int] = {}
    return np.fromiter((seen.setdefault(label, len(seen)) for label in labels), np.int64, len(labels))


def _numbered_within(outer: Ints, inner: Ints) -> Ints:
    """Numbers of ``inner`` counted anew inside each value of ``outer``."""
    seen: dict[int, dict[int, int]] = {}
    pairs = zip(outer.tolist(), inner.tolist(), strict=True)
    return np.fromiter(
        (scope.setdefault(i, len(scope)) for o, i in pairs for scope in [seen.setdefault(o, {})]), np.int64
    )


def _occurrences(keys: Ints) -> Ints:
    """How often each column's key has been seen before it."""
    count: dict[tuple[int, ...], int] = {}
    result = np.empty(keys.shape[1], dtype=np.int64)
    for row, key in enumerate(map(tuple, keys.T.tolist())):
        result[row] = count[key] = count.get(key, -1) + 1
    return result

"""Backward recurrences over time, the shared kernel of returns, GAE and their relatives.

Time is the last axis. A masked position is skipped: what follows it is carried across it, as verl does with tool output
inside a response, and its own result is 0.
"""

from __future__ import annotations

import numpy as np

from reproductions.core.fields import Bools, Floats

# Rows handled together: their columns then lie side by side in memory while the loop walks through time.
_BLOCK = 256


def backward_sum(array: Floats, decay: Floats | float, mask: Bools | None = None) -> Floats:
    """``y[t] = x[t] + decay[t] * y[t + 1]`` with ``y[T] = 0``, along the last axis.

    ``decay`` is a number or broadcasts to the array; with gamma it gives discounted returns-to-go, on TD errors with
    gamma * lambda it gives GAE. Returns float64 in the array's shape and memory layout. An array that lies time-major in memory
    (``np.moveaxis(x_tpkn, 0, -1)``) is several times faster: otherwise transposing costs more than the sum.
    """
    if mask is not None and not mask.all():
        return np.where(mask, backward_sum(np.where(mask, array, 0.0), np.where(mask, decay, 1.0)), 0.0)
    decays = None if np.ndim(decay) == 0 else np.broadcast_to(decay, array.shape)
    x_t, decay_t = np.moveaxis(array, -1, 0), decay if decays is None else np.moveaxis(decays, -1, 0)
    if x_t.flags.c_contiguous:
        return np.moveaxis(_recur(np.array(x_t, dtype=np.float64), decay_t), 0, -1)
    length = array.shape[-1]
    x_bt, y_bt = array.reshape(-1, length), np.empty((array.size // max(length, 1), length))
    decay_bt = None if decays is None else decays.reshape(-1, length)
    for start in range(0, len(y_bt), _BLOCK):
        rows = slice(start, start + _BLOCK)
        block_tb = np.array(x_bt[rows].T, dtype=np.float64, order="C")
        y_bt[rows] = _recur(block_tb, decay if decay_bt is None else decay_bt[rows].T).T
    return y_bt.reshape(array.shape)


def _recur(y_t: Floats, decay_t: Floats | float) -> Floats:
    """The recurrence in place, time first."""
    each = np.broadcast_to(decay_t, (len(y_t),)) if np.ndim(decay_t) == 0 else np.asarray(decay_t)
    carried = np.empty(y_t.shape[1:])
    for t in range(len(y_t) - 2, -1, -1):
        np.multiply(y_t[t + 1], each[t], out=carried)
        y_t[t] += carried
    return y_t


def following(array: Floats, mask: Bools | None = None, final: Floats | float = 0.0) -> Floats:
    """``x[t + 1]``, skipping masked positions; ``final`` (one number per row, or one for all) after the last."""
    length = array.shape[-1]
    shifted = np.empty(array.shape)
    shifted[..., :-1] = array[..., 1:]
    shifted[..., -1:] = np.expand_dims(np.asarray(final), -1) if np.ndim(final) else final
    if mask is None or mask.all():
        return shifted
    position = np.where(mask, np.arange(length), length)
    nearest = np.minimum.accumulate(position[..., ::-1], axis=-1)[..., ::-1]
    after = np.concatenate([nearest[..., 1:], np.full((*array.shape[:-1], 1), length)], axis=-1)
    padded = np.concatenate([array, shifted[..., -1:]], axis=-1)
    return np.take_along_axis(padded, after, axis=-1)

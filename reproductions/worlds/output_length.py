"""How many tokens outputs have."""

from __future__ import annotations

import numpy as np

from reproductions.core import Floats, Ints


def draw_lengths(rng: np.random.Generator, mean: Floats, spread: float, shape: tuple[int, ...]) -> Ints:
    """Log-normal around ``mean``, which broadcasts to ``shape``; ``spread`` is the deviation of the logarithm, 1 token the least."""
    factor = np.exp(spread * rng.standard_normal(shape) - 0.5 * spread**2)
    return np.maximum(1, np.rint(mean * factor)).astype(np.int64)

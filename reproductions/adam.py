"""Adam with its usual constants (Kingma and Ba 2015), for arrays of any shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core import Floats


@dataclass(slots=True)
class Adam:
    """``step(gradient)`` gives the change to make; add it to ascend, subtract it to descend."""

    rate: float
    _mean: Floats | float = 0.0
    _square: Floats | float = 0.0
    _steps: int = 0

    def step(self, gradient: Floats) -> Floats:
        """``rate`` times the gradient's running mean over the root of its running square, both corrected for their start at 0."""
        self._steps += 1
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.999 * self._square + 0.001 * gradient**2
        mean, square = self._mean / (1.0 - 0.9**self._steps), self._square / (1.0 - 0.999**self._steps)
        return np.asarray(self.rate * mean / (np.sqrt(square) + 1e-8))

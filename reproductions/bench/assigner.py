"""A method as the benchmark runs it: preset and parameters chosen, memory carried from batch to batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from reproductions.core import Batch, Credit, Method
from reproductions.worlds.base import Episodes


class Assigner:
    """Call it with one batch after the other; ``seconds`` is the time that the method took in all of them."""

    def __init__(self, method: Method, preset: str, parameters: Mapping[str, Any]) -> None:
        self.method = method
        self.seconds = 0.0
        self._preset = preset
        self._parameters = dict(parameters)
        self._remembers = "stateful" in method.traits.flags

    def __call__(self, batch: Batch) -> Credit:
        begun = perf_counter()
        credit = self.method.run(batch, self._preset, **self._parameters)
        self.seconds += perf_counter() - begun
        if self._remembers:
            self._parameters["memory"] = credit.memory
        return credit

    def each(self, batches: Sequence[Episodes]) -> list[Credit]:
        """The credit of every batch, in order."""
        return [self(episodes.batch) for episodes in batches]

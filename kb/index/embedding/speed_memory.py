"""Which engine or precision embeds fastest on this machine: timed once on real passages, then remembered."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from kb.errors import KbError
from kb.index.embedding.protocol import FloatArray
from kb.workspace import cache_dir, write_atomic

SAMPLE_PASSAGES = 8
# A change of engine has to win by more than the noise of a timing.
_CLEAR_WIN = 0.8


def remembered(key: str) -> str | None:
    """The winner of an earlier timing under this key, or None."""
    entry = _read().get(_place(key))
    return str(entry["winner"]) if isinstance(entry, dict) and "winner" in entry else None


def remember(key: str, seconds: dict[str, float]) -> str:
    """Store the winner, which is the first (the default) unless another is clearly faster. Returns it."""
    default = next(iter(seconds))
    best = min(seconds, key=lambda name: seconds[name])
    winner = best if seconds[best] < _CLEAR_WIN * seconds[default] else default
    entry = {"winner": winner, "seconds": {name: round(value, 3) for name, value in seconds.items()}}
    path = cache_dir() / "embedding-speed.json"
    with suppress(KbError):  # a cache that cannot be written costs a timing in each process, not the vectors
        write_atomic(path, json.dumps({**_read(), _place(key): entry}, indent=1, ensure_ascii=False))
    return winner


def sample_of(texts: Sequence[str]) -> list[str]:
    """Up to eight passages, spread over the lengths that occur."""
    ordered = sorted(texts, key=len)
    step = max(1, len(ordered) // SAMPLE_PASSAGES)
    return ordered[step // 2 :: step][:SAMPLE_PASSAGES]


def timed(
    encode: Callable[[Sequence[str]], FloatArray],
    sample: Sequence[str],
    clock: Callable[[], float] = time.process_time,
) -> tuple[float, FloatArray]:
    """Seconds of the better of two rounds, and the vectors. The first round also compiles kernels.

    CPU time by default: other jobs on the machine spoil it less than they spoil the wall clock.
    """
    best = float("inf")
    for _ in range(2):
        start = clock()
        vectors = encode(sample)
        best = min(best, clock() - start)
    return best, vectors


def _place(key: str) -> str:
    # Home folders are shared between the machines of a cluster.
    return f"{key} on {platform.node()}"


def _read() -> dict[str, Any]:
    try:
        stored = json.loads((cache_dir() / "embedding-speed.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # only a memory: it is timed again
    return stored if isinstance(stored, dict) else {}

"""One brake for everything this process asks of arXiv: at most one request at a time, three seconds apart."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

DEFAULT_INTERVAL = 3.0


class Limiter:
    """Spaces requests. ``interval`` is in seconds from the end of one request to the start of the next."""

    def __init__(self, interval: float = DEFAULT_INTERVAL) -> None:
        self.interval = interval
        self._lock = threading.Lock()
        self._free_at = 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn and hold it while the request runs."""
        with self._lock:
            wait = self._free_at - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            try:
                yield
            finally:
                self._free_at = max(self._free_at, time.monotonic() + self.interval)

    def pause(self, seconds: float) -> None:
        """Let nobody pass for a while: the server asked for it."""
        self._free_at = max(self._free_at, time.monotonic() + seconds)


_shared = Limiter()


def shared_limiter(interval: float) -> Limiter:
    """The limiter of this process, whoever asks. The interval asked for last holds."""
    _shared.interval = interval
    return _shared

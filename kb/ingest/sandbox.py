"""Foreign files are read in a child process with limits on time and memory; one that hangs or swells is killed.

The child serves one document after another, so that a batch pays its imports once.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from kb.errors import BadDocument, KbError

CPU_SECONDS = 60
WALL_SECONDS = 180.0
MEMORY_BYTES = 2 << 30

Result = TypeVar("Result")


class ReaderFailed(BadDocument):
    """The reader broke a limit or has a fault; another reader may still manage another file of the same paper."""


class Sandbox:
    """A child process that runs module-level functions for us. Not shared between threads; ``close`` it at the end."""

    def __init__(
        self, cpu_seconds: int = CPU_SECONDS, wall_seconds: float = WALL_SECONDS, memory: int = MEMORY_BYTES
    ) -> None:
        self._cpu, self._wall, self._memory = cpu_seconds, wall_seconds, memory
        self._process: Any = None
        self._pipe: Connection | None = None

    def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """The function's value. Raises its KbError, or ReaderFailed when it broke a limit or failed in another way."""
        pipe = self._ready()
        try:
            pipe.send((function, arguments, self._cpu))
            if not pipe.poll(self._wall):
                self.close()
                raise ReaderFailed(f"gave up after {self._wall:.0f} s")
            kind, value = pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            code = self._exit_code()
            self.close()
            raise ReaderFailed(_death(code, self._cpu)) from None
        if kind == "value":
            return value  # type: ignore[no-any-return]
        if isinstance(value, ReaderFailed):
            # After running out of memory a C library may be in any state.
            self.close()
        if isinstance(value, KbError):
            raise value
        # A fault of the reader, not of the file: a later version may read it.
        raise ReaderFailed(f"cannot be read: {value}", transient=True)

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _ready(self) -> Connection:
        if self._pipe is None or self._process is None or not self._process.is_alive():
            self.close()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._memory), daemon=True)
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        return self._pipe

    def _exit_code(self) -> int | None:
        self._process.join(5)
        code: int | None = self._process.exitcode
        return code


def _death(code: int | None, cpu_seconds: int) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"gave up: it took more than {cpu_seconds} s of processor time, or too much memory"
    return f"its reader died (exit {code})"


def _serve(pipe: Connection, memory: int) -> None:
    # Ctrl-C reaches the whole process group; the parent decides what becomes of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        import resource
    except ImportError:  # no such limits on this system: the wall clock still holds
        resource = None  # type: ignore[assignment]
    else:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    while True:
        try:
            function, arguments, cpu = pipe.recv()
        except EOFError:
            return
        if resource is not None:
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime) + cpu + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        try:
            answer: tuple[str, Any] = ("value", function(*arguments))
        except KbError as error:
            answer = ("error", error)
        except MemoryError:
            answer = ("error", ReaderFailed("gave up: it needs too much memory"))
        except Exception as error:
            answer = ("error", f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:200])
        try:
            pipe.send(answer)
        except OSError:  # the parent is gone
            return

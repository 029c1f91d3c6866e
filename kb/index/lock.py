"""One writer at a time, over processes; who holds the lock is told to whoever has to wait."""

from __future__ import annotations

import datetime as dt
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kb.errors import KbError
from kb.workspace import Workspace


@contextmanager
def writing(workspace: Workspace, command: str, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the workspace's write lock. Raises KbError that names the holder when it is taken."""
    from filelock import FileLock, Timeout

    try:
        workspace.derived.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KbError(
            f"cannot write {workspace.derived}: {error.strerror}", "fix its permissions; nothing was changed"
        ) from None
    owner = workspace.derived / "write.owner"
    lock = FileLock(workspace.lock)
    try:
        lock.acquire(timeout=wait_seconds)
    except Timeout:
        holder = owner.read_text(encoding="utf-8").strip() if owner.exists() else "another process"
        raise KbError(
            f"{workspace.root} is being written by {holder}", "wait for it to end, then run this again"
        ) from None
    except OSError as error:
        raise KbError(
            f"cannot write {workspace.lock}: {error.strerror}", "fix its permissions; nothing was changed"
        ) from None
    try:
        now = dt.datetime.now().strftime("%Y-%m-%d %H:%M")
        owner.write_text(f"{command} (process {os.getpid()} on {socket.gethostname()}, since {now})", encoding="utf-8")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()

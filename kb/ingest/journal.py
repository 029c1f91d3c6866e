"""What was ingested and what failed, by source: so that a second run is quick and a failure is not forgotten.

The journal lies in ``.kb/`` and can be deleted: papers are known by their own files, only failures are forgotten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kb.errors import KbError
from kb.workspace import Workspace

NAME = "ingest.sqlite"
_SCHEMA = """
create table if not exists sources (
  source text primary key, size integer, mtime_ns integer, sha256 text, slug text,
  reason text, transient integer, tries integer not null default 1
)
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be read: ``transient`` ones may work later."""

    source: str
    reason: str
    transient: bool
    tries: int


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal says of a source whose file has not changed since."""

    slug: str | None
    reason: str | None
    transient: bool


class Journal:
    """Open for one run. Every outcome is written as it comes."""

    def __init__(self, workspace: Workspace) -> None:
        workspace.derived.mkdir(parents=True, exist_ok=True)
        self._path = workspace.derived / NAME
        with _told(self._path):
            self._db = sqlite3.connect(self._path, timeout=30)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute(_SCHEMA)

    def close(self) -> None:
        self._db.close()

    def known(self, source: str, path: Path | None) -> Known | None:
        """The outcome of an earlier run, if the file is as it was then. Papers are known by ``slug``."""
        with _told(self._path):
            row = self._db.execute(
                "select size, mtime_ns, slug, reason, transient from sources where source = ?", (source,)
            ).fetchone()
        if row is None:
            return None
        if path is not None:
            stamp = _stamp(path)
            if (row[0], row[1]) != stamp:
                return None
        return Known(row[2], row[3], bool(row[4]))

    def success(self, source: str, path: Path | None, sha256: str, slug: str) -> None:
        size, mtime = _stamp(path) if path else (None, None)
        with _told(self._path), self._db:
            self._db.execute(
                "insert or replace into sources values (?, ?, ?, ?, ?, null, 0, 1)", (source, size, mtime, sha256, slug)
            )

    def failure(self, source: str, path: Path | None, reason: str, transient: bool) -> None:
        size, mtime = _stamp(path) if path and path.exists() else (None, None)
        with _told(self._path), self._db:
            self._db.execute(
                "insert into sources values (?, ?, ?, '', null, ?, ?, 1) on conflict (source) do update set "
                "size = excluded.size, mtime_ns = excluded.mtime_ns, reason = excluded.reason, slug = null, "
                "transient = excluded.transient, tries = tries + 1",
                (source, size, mtime, reason, int(transient)),
            )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite complains of into a message: a damaged file, a full disk."""
    try:
        yield
    except sqlite3.Error as error:
        raise KbError(
            f"{path}: {error}", "make room, or delete that file: it holds only the list of failures"
        ) from None


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file; of a folder, those of its newest member and the sum of sizes."""
    if path.is_dir():
        stats = [item.stat() for item in path.rglob("*") if item.is_file()]
        return sum(stat.st_size for stat in stats), max((stat.st_mtime_ns for stat in stats), default=0)
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def failures(workspace: Workspace) -> list[Failure]:
    """Every source that failed in its last run, without making a journal where there is none."""
    path = workspace.derived / NAME
    if not path.is_file():
        return []
    with _told(path), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "select source, reason, transient, tries from sources where reason is not null order by source"
        ).fetchall()
    return [Failure(source, reason, bool(transient), tries) for source, reason, transient, tries in rows]

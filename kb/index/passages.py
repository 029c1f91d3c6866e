"""``passages.sqlite``: the text of every passage, what is known of it, and the keyword index over it. The write side.

Tables: ``documents`` (a paper or a note), ``files`` (what was read, to see what changed), ``passages``, ``keyword``
(FTS5 over pre-tokenised text), ``failures`` (documents that could not be read), ``meta``. A document is replaced
whole in one transaction, so that a killed process leaves either its old passages or its new ones.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kb.errors import KbError
from kb.model import Passage
from kb.search.tokens import index_text

DATABASE = "passages.sqlite"
# A hit in the title says more than one in the heading, and that more than one in the body.
_WEIGHTS = "bm25(3.0, 2.0, 1.0)"
_SCHEMA = f"""
CREATE TABLE documents(owner TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, date TEXT NOT NULL);
CREATE TABLE tags(owner TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(owner, tag)) WITHOUT ROWID;
CREATE TABLE files(
  path TEXT PRIMARY KEY, owner TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE passages(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
  section_kind TEXT NOT NULL, language TEXT NOT NULL, heading TEXT NOT NULL, path TEXT NOT NULL,
  start INTEGER NOT NULL, stop INTEGER NOT NULL, page INTEGER, anchor TEXT NOT NULL, latex TEXT NOT NULL,
  hash TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX passages_owner ON passages(owner, position);
CREATE INDEX passages_filter ON passages(kind, language, section_kind, owner, heading, id);
CREATE INDEX passages_hash ON passages(hash, kind);
CREATE TABLE failures(owner TEXT PRIMARY KEY, reason TEXT NOT NULL);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIRTUAL TABLE keyword USING fts5(title, heading, body, tokenize = 'ascii');
INSERT INTO keyword(keyword, rank) VALUES('rank', '{_WEIGHTS}');
"""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when its document was indexed. ``mtime_ns`` 0 means: hash it again before trusting it."""

    path: str
    mtime_ns: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DocumentPassages:
    """Everything the index holds of one paper or note."""

    owner: str
    kind: str
    title: str
    date: str
    tags: tuple[str, ...]
    files: tuple[FileState, ...]
    passages: tuple[Passage, ...]


def check_sqlite() -> None:
    """Raise KbError when this Python's SQLite has no FTS5."""
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(body)")
    except sqlite3.OperationalError as error:
        raise KbError(
            f"the SQLite {sqlite3.sqlite_version} of this Python cannot hold the keyword index: {error}",
            "use a Python whose SQLite has FTS5 (python.org, conda and distribution builds have it)",
        ) from None


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that say which file it is and what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise KbError(f"{path}: {error}", "if it stays so: kb doctor --repair") from error
    except sqlite3.DatabaseError as error:
        raise KbError(f"{path} is damaged: {error}", "kb doctor --repair makes it anew; vectors are kept") from error


def read_files(connection: sqlite3.Connection) -> dict[str, dict[str, FileState]]:
    """By owner, the files that its passages were made from, by path."""
    found: dict[str, dict[str, FileState]] = {}
    for owner, *values in connection.execute("SELECT owner, path, mtime_ns, size, sha256 FROM files"):
        state = FileState(*values)
        found.setdefault(owner, {})[state.path] = state
    return found


class PassageStore:
    """The write side of ``passages.sqlite``. Only the holder of the write lock opens it."""

    def __init__(self, folder: Path) -> None:
        check_sqlite()
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / DATABASE
        with reported(self.path):
            self.connection = sqlite3.connect(self.path, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")
            made = self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'keyword'").fetchone()
            if not made:
                with self.transaction():
                    for statement in _SCHEMA.split(";\n"):
                        self.connection.execute(statement)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> PassageStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; a killed process leaves nothing of it."""
        with reported(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def replace(self, document: DocumentPassages) -> None:
        """Put one document in the place of what was there of it."""
        with self.transaction():
            self._delete(document.owner)
            write = self.connection
            write.execute(
                "INSERT INTO documents VALUES(?, ?, ?, ?)",
                (document.owner, document.kind, document.title, document.date),
            )
            write.executemany("INSERT OR IGNORE INTO tags VALUES(?, ?)", [(document.owner, tag) for tag in document.tags])
            self.set_files(document.owner, document.files)
            for position, passage in enumerate(document.passages):
                self._insert(position, passage)
            self.set_views_behind()

    def fail(self, owner: str, reason: str) -> None:
        """Note that a document cannot be read now. What the index held of it goes, as in an index made anew."""
        with self.transaction():
            self._delete(owner)
            self.connection.execute("INSERT INTO failures VALUES(?, ?)", (owner, reason))
            self.set_views_behind()

    def remove(self, owner: str) -> None:
        with self.transaction():
            self._delete(owner)
            self.set_views_behind()

    def _delete(self, owner: str) -> None:
        execute = self.connection.execute
        execute("DELETE FROM keyword WHERE rowid IN (SELECT n FROM passages WHERE owner = ?)", (owner,))
        for table in ("passages", "documents", "tags", "files", "failures"):
            execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))

    def _insert(self, position: int, passage: Passage) -> None:
        heading = json.dumps(passage.heading, ensure_ascii=False)
        row = self.connection.execute(
            "INSERT INTO passages(id, owner, position, kind, section_kind, language, heading, path, start, stop, page,"
            " anchor, latex, hash, text) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                passage.id, passage.paper, position, str(passage.kind), passage.section_kind, passage.language, heading,
                passage.path, *passage.span, passage.page, passage.anchor, passage.latex, passage.hash, passage.text,
            ),
        )  # fmt: skip
        self.connection.execute(
            "INSERT INTO keyword(rowid, title, heading, body) VALUES(?, ?, ?, ?)",
            (row.lastrowid, index_text(passage.title), index_text(" ".join(passage.heading)), index_text(passage.text)),
        )

    def set_files(self, owner: str, files: Sequence[FileState]) -> None:
        self.connection.executemany(
            "INSERT OR REPLACE INTO files VALUES(?, ?, ?, ?, ?)",
            [(file.path, owner, file.mtime_ns, file.size, file.sha256) for file in files],
        )

    def files(self) -> dict[str, dict[str, FileState]]:
        """As ``read_files``."""
        return read_files(self.connection)

    def count(self) -> int:
        """The number of passages, references among them."""
        return int(self.connection.execute("SELECT count(*) FROM passages").fetchone()[0])

    def failures(self) -> dict[str, str]:
        return dict(self.connection.execute("SELECT owner, reason FROM failures ORDER BY owner"))

    def set_views_behind(self) -> None:
        """Part of every change: the vector views have to be compared with the passages again."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES('views', 'behind')")

    def set_views_current(self, kinds: str) -> None:
        """``kinds`` names the views, so that a view that is switched on later is seen to be missing."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES('views', ?)", (kinds,))

    def views(self) -> str:
        row = self.connection.execute("SELECT value FROM meta WHERE key = 'views'").fetchone()
        return str(row[0]) if row else "behind"

"""``Index``: what a search reads. Light to open (SQLite alone; numpy when vectors are asked for), and never writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.errors import KbError, UsageError
from kb.index.filters import Filters
from kb.index.passages import DATABASE, FileState, read_files, reported
from kb.index.recipe import (
    CHUNKER_VERSION,
    SCHEMA_VERSION,
    TOKENIZER_VERSION,
    NoIndexError,
    Recipe,
    current_folder,
    read_manifest,
)
from kb.index.stores import views_exist
from kb.model import Kind, Passage
from kb.workspace import Workspace

if TYPE_CHECKING:
    from kb.index.embedding.protocol import FloatArray
    from kb.index.store import VectorStore

_COLUMNS = (
    "p.id, p.owner, p.kind, p.text, p.heading, p.section_kind, p.language, p.path, p.start, p.stop, d.title, p.page,"
    " p.anchor, p.latex, d.date, p.hash"
)
_SOURCE = "passages p JOIN documents d ON d.owner = p.owner"
_MOST_PARAMETERS = 900  # SQLite's own limit was 999 for long


class Index:
    """One index folder, read-only. A writer may work on it at the same time: each call sees a whole state of it."""

    def __init__(self, workspace: Workspace, folder: Path, recipe: Recipe) -> None:
        self.workspace = workspace
        self.folder = folder
        self.recipe = recipe
        self._connection = open_readonly(folder / DATABASE)

    @classmethod
    def open(cls, workspace: Workspace) -> Index:
        """The index in use.

        Raises NoIndexError (a KbError) when there is none yet, and KbError when another version of kb made it in a
        form that this one cannot read.
        """
        folder = current_folder(workspace)
        if folder is None:
            raise NoIndexError(f"{workspace.root} has no search index yet", "kb index makes it")
        recipe = read_manifest(folder)
        if recipe.schema != SCHEMA_VERSION:
            raise KbError(
                f"another version of kb made the index (form {recipe.schema}, this version reads {SCHEMA_VERSION})",
                "kb index builds it anew; papers, notes and cached vectors are kept",
            )
        return cls(workspace, folder, recipe)

    def close(self) -> None:
        self._connection.close()
        if "vectors" in self.__dict__:
            self.vectors.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def remarks(self) -> list[str]:
        """What a person should know before they trust the answers; empty for an index that is as it should be."""
        found = []
        if (self.recipe.chunker, self.recipe.tokenizer) != (CHUNKER_VERSION, TOKENIZER_VERSION):
            found.append("an older version of kb made this index; kb index renews it and keeps the vectors")
        behind = self._one("SELECT value FROM meta WHERE key = 'views'") in (None, "behind")
        if behind or not views_exist(self.workspace, self.folder):
            found.append("the vectors are behind the texts; kb index goes on where it stopped")
        return found

    def keyword(
        self, expression: str, n: int = 100, filters: Filters | None = None
    ) -> list[tuple[str, float]]:
        """``(passage id, BM25 score)``, best first, a higher score is better.

        ``expression`` is in FTS5's language over the tokens of ``kb.search.tokens`` (see ``any_of``); it may name the
        columns ``title`` (weight 3), ``heading`` (2) and ``body`` (1). Raises UsageError when FTS5 cannot parse it.
        """
        condition, values = (filters or Filters()).condition()
        query = (
            "SELECT p.id, -k.rank FROM keyword k JOIN passages p ON p.n = k.rowid"
            f" WHERE keyword MATCH ? AND {condition} ORDER BY k.rank LIMIT ?"
        )
        try:
            rows = self._connection.execute(query, [expression, *values, n]).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                raise UsageError(f"the keyword index cannot read {expression!r}: {error}") from None
            with reported(self.folder / DATABASE):
                raise
        # Equal scores in a fixed order, whatever order the passages were written in.
        return sorted(((str(row[0]), float(row[1])) for row in rows), key=lambda hit: (-hit[1], hit[0]))

    def dense(
        self, vector: FloatArray, n: int = 100, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """``(passage id, cosine)`` of the nearest passages, best first; ``vector`` is ``float32 [dimension]``.

        ``allowed`` restricts to these ids (see ``allowed``). References have no vectors. Empty while there are none.
        Raises KbError when the vector has another dimension than the index, naming both models' sides.
        """
        if len(vector) != self.recipe.model.dimension:
            raise KbError(
                f"the question has {len(vector)} dimensions, the index {self.recipe.model.dimension}"
                f" (model {self.recipe.model.name})",
                "kb index makes the index with the model that kb.toml names",
            )
        return self.vectors.query(vector, n, allowed)

    def allowed(self, filters: Filters) -> frozenset[str] | None:
        """The ids that pass; None when every passage with a vector does, which is the quick case."""
        if not filters.restricts_vectors:
            return None
        condition, values = filters.condition()
        rows = self._connection.execute(f"SELECT p.id FROM passages p WHERE {condition}", values)
        return frozenset(str(row[0]) for row in rows)

    def passage(self, passage_id: str) -> Passage:
        """One passage. Raises KbError when it is not there (any more)."""
        found = self.passages([passage_id])
        if not found:
            raise KbError(f"the index has no passage {passage_id}", "it may have changed since; search again")
        return found[0]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids in this order; ids that are gone since are left out."""
        found: dict[str, Passage] = {}
        for start in range(0, len(ids), _MOST_PARAMETERS):
            part = list(ids[start : start + _MOST_PARAMETERS])
            marks = ", ".join("?" * len(part))
            for passage in self._read(f"WHERE p.id IN ({marks})", part):
                found[passage.id] = passage
        return [found[passage_id] for passage_id in ids if passage_id in found]

    def around(self, passage: Passage, count: int) -> list[Passage]:
        """The passage with up to ``count`` passages of the same file before and after it, in reading order."""
        row = self._connection.execute("SELECT position FROM passages WHERE id = ?", (passage.id,)).fetchone()
        if row is None:
            return [passage]
        return self._read(
            "WHERE p.owner = ? AND p.path = ? AND p.position BETWEEN ? AND ? ORDER BY p.position",
            [passage.paper, passage.path, row[0] - count, row[0] + count],
        )

    def equations(self, filters: Filters | None = None) -> list[tuple[str, str]]:
        """``(passage id, LaTeX)`` of every equation whose LaTeX is known, of papers and notes, in a fixed order."""
        condition, values = (filters or Filters()).condition()
        rows = self._connection.execute(
            f"SELECT p.id, p.latex FROM passages p WHERE p.kind = 'equation' AND p.latex <> '' AND {condition}"
            " ORDER BY p.owner, p.position",
            values,
        )
        return [(str(row[0]), str(row[1])) for row in rows]

    def files(self) -> dict[str, dict[str, FileState]]:
        """By owner, the files that its passages were made from, by path."""
        return read_files(self._connection)

    def counts(self) -> dict[str, int]:
        """Numbers of ``papers``, ``notes`` and ``passages`` (with references) in the index."""
        kinds = dict(self._connection.execute("SELECT kind, count(*) FROM documents GROUP BY kind"))
        return {
            "papers": int(kinds.get("paper", 0)),
            "notes": int(kinds.get("note", 0)),
            "passages": int(self._one("SELECT count(*) FROM passages") or 0),
        }

    @cached_property
    def vectors(self) -> VectorStore:
        """The store that answers: exact vectors from a memory-mapped file, or Chroma (see ``kb.index.stores``)."""
        from kb.index.stores import open_for_search

        embedded = int(self._one(f"SELECT count(*) FROM passages WHERE kind <> '{Kind.REFERENCE}'") or 0)
        return open_for_search(self.workspace, self.folder, self.recipe, embedded)

    def _one(self, query: str) -> Any:
        with reported(self.folder / DATABASE):
            row = self._connection.execute(query).fetchone()
        return row[0] if row else None

    def _read(self, clause: str, values: Sequence[Any]) -> list[Passage]:
        with reported(self.folder / DATABASE):
            rows = self._connection.execute(f"SELECT {_COLUMNS} FROM {_SOURCE} {clause}", list(values)).fetchall()
        return [_passage(row, self._tags.get(row[1], ())) for row in rows]

    @cached_property
    def _tags(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for owner, tag in self._connection.execute("SELECT owner, tag FROM tags ORDER BY owner, tag"):
            found[owner] = (*found.get(owner, ()), tag)
        return found


def any_of(tokens: Iterable[str]) -> str:
    """The FTS5 expression that asks for at least one of the tokens."""
    return " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens)


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open a database to read. Raises KbError when it is missing or damaged."""
    if not path.is_file():
        raise KbError(f"{path} is missing", "kb index makes it; papers, notes and cached vectors are kept")
    address = path.resolve().as_uri() + "?mode=ro"
    with reported(path):
        connection = sqlite3.connect(address, uri=True)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # A folder that we may not write to has no place for SQLite's shared memory file.
            connection.close()
            connection = sqlite3.connect(address + "&immutable=1", uri=True)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection


def _passage(row: Sequence[Any], tags: tuple[str, ...]) -> Passage:
    (identifier, owner, kind, text, heading, section_kind, language, path, start, stop, title, page, anchor, latex,
     date, digest) = row  # fmt: skip
    return Passage(
        id=identifier, paper=owner, kind=Kind(kind), text=text, heading=tuple(json.loads(heading)),
        section_kind=section_kind, language=language, path=path, span=(start, stop), title=title, page=page,
        anchor=anchor, latex=latex, date=date, tags=tags, hash=digest,
    )  # fmt: skip

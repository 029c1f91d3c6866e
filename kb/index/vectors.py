"""``.kb/vectors.sqlite``: every vector that was ever computed here, by the hash of its text and by model.

Whatever else of the index is lost or made anew, nothing is embedded twice while this file is there. Vectors are kept in
half precision: ``notes/decisions/2026-11-30-vector-store.md`` has the measurement that says it costs no recall.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kb.index.embedding.protocol import EmbedderIdentity
from kb.index.passages import reported
from kb.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from kb.index.embedding.protocol import FloatArray

_SCHEMA = """
CREATE TABLE IF NOT EXISTS models(n INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors(model INTEGER NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS vectors_key ON vectors(model, hash);
"""
_AT_ONCE = 500


def cache_path(workspace: Workspace) -> Path:
    return workspace.derived / "vectors.sqlite"


class VectorCache:
    """The vectors of one model. A hash is the hexadecimal SHA-256 of the text that was embedded."""

    def __init__(self, workspace: Workspace, model: EmbedderIdentity) -> None:
        self.path = cache_path(workspace)
        self.dimension = model.dimension
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with reported(self.path):
            self._connection = sqlite3.connect(self.path, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_SCHEMA)
            self._connection.execute(
                "INSERT OR IGNORE INTO models(fingerprint, name) VALUES(?, ?)", (model.fingerprint, model.name)
            )
            row = self._connection.execute("SELECT n FROM models WHERE fingerprint = ?", (model.fingerprint,)).fetchone()
        self._model = int(row[0])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put(self, hashes: Sequence[str], vectors: FloatArray) -> None:
        """Keep ``float32 [hash, dimension]``, all of them or none. Vectors that are not finite raise ValueError."""
        import numpy as np

        if vectors.shape != (len(hashes), self.dimension):
            raise ValueError(f"{vectors.shape} vectors for {len(hashes)} texts and {self.dimension} dimensions")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector is not finite")
        rows = zip(hashes, vectors.astype("<f2"), strict=True)
        with reported(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)",
                [(self._model, bytes.fromhex(digest), vector.tobytes()) for digest, vector in rows],
            )
            self._connection.execute("COMMIT")

    def known(self) -> set[str]:
        """The hashes that have a vector."""
        with reported(self.path):
            rows = self._connection.execute("SELECT hash FROM vectors WHERE model = ?", (self._model,))
            return {row[0].hex() for row in rows}

    def get(self, hashes: Sequence[str]) -> Iterator[tuple[list[str], FloatArray]]:
        """Batches of known hashes, each with its vectors ``float32 [hash, dimension]`` of length 1; others are left out."""
        import numpy as np

        for start in range(0, len(hashes), _AT_ONCE):
            part = [bytes.fromhex(digest) for digest in hashes[start : start + _AT_ONCE]]
            marks = ", ".join("?" * len(part))
            with reported(self.path):
                rows = self._connection.execute(
                    f"SELECT hash, vector FROM vectors WHERE model = ? AND hash IN ({marks})", [self._model, *part]
                ).fetchall()
            if not rows:
                continue
            vectors = np.frombuffer(b"".join(row[1] for row in rows), "<f2").reshape(len(rows), -1).astype(np.float32)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
            yield [row[0].hex() for row in rows], vectors

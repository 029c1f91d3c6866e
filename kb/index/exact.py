"""The exact vector store: one file of ids and float32 rows, memory-mapped; every query looks at every row.

It is the reference that other stores are compared with, and what a single search reads: opening it costs no more than
numpy does. The file is replaced whole at ``commit``, so that it is never half of one state and half of another:
a header line padded to 64 bytes, the ids joined by line feeds, padding to 64 bytes, the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.workspace import write_atomic

if TYPE_CHECKING:
    from kb.index.embedding.protocol import FloatArray

EXACT_FILE = "vectors.f32"
_MAGIC = "kb-vectors-1"
_ALIGN = 64
_ROWS_AT_ONCE = 16_384
_DECIMALS = 6  # equal rows may differ in the last bits of their products; ties are broken by id instead


class ExactStore:
    """See the module. Raises KbError when the file is damaged; ``fresh`` starts with an empty store instead.

    Changes are kept beside the mapped rows until ``commit``, so that adding many vectors copies them once.
    """

    def __init__(self, path: Path, dimension: int, fresh: bool = False) -> None:
        self.path = path
        self.dimension = dimension
        self._ids: list[str] = []
        self._matrix = _no_rows(dimension)
        self._row_of: dict[str, int] | None = None
        self._deleted: set[int] = set()
        self._added: dict[str, FloatArray] = {}
        self._changed = fresh
        if not fresh and path.is_file():
            self._ids, self._matrix = _load(path, dimension)

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """As in VectorStore. Raises ValueError for another dimension and for vectors that are not finite."""
        import numpy as np

        if vectors.shape != (len(ids), self.dimension):
            raise ValueError(f"{vectors.shape} vectors for {len(ids)} ids of {self.dimension} dimensions")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector is not finite")
        self.delete(ids)
        self._added.update(zip(ids, vectors.astype(np.float32), strict=True))
        self._changed = self._changed or bool(ids)

    def delete(self, ids: Collection[str]) -> None:
        """As in VectorStore."""
        rows = self._rows()
        for identifier in ids:
            row = rows.pop(identifier, None)
            if row is not None:
                self._deleted.add(row)
            if row is not None or self._added.pop(identifier, None) is not None:
                self._changed = True

    def query(self, vector: FloatArray, n: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """As in VectorStore."""
        import numpy as np

        self._merge()
        query = np.asarray(vector, np.float32)
        if allowed is None:
            rows = np.arange(len(self._ids))
        else:
            known = self._rows()
            rows = np.array([known[identifier] for identifier in allowed if identifier in known], np.int64)
        if n < 1 or len(rows) == 0:
            return []
        # Picking rows out costs about four times as much as multiplying them.
        picked = 4 * len(rows) < len(self._ids)
        products = self._matrix[rows] @ query if picked else (self._matrix @ query)[rows]
        scores = np.round(products, _DECIMALS)
        least = np.partition(scores, -n)[-n] if n < len(scores) else -np.inf
        places = np.flatnonzero(scores >= least)
        hits = [(self._ids[rows[place]], float(scores[place])) for place in places]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:n]

    def count(self) -> int:
        return len(self._ids) - len(self._deleted) + len(self._added)

    def ids(self) -> set[str]:
        return self._rows().keys() | self._added.keys()

    def commit(self) -> None:
        """Replace the file, if anything changed."""
        if not self._changed:
            return
        rows = self._rows()
        pieces = _pieces([*rows, *self._added], self._matrix, list(rows.values()), self._added.values())
        write_atomic(self.path, pieces)
        self._ids, self._matrix = _load(self.path, self.dimension)
        self._forget()
        self._changed = False

    def close(self) -> None:
        self._ids, self._matrix = [], _no_rows(self.dimension)
        self._forget()

    def _forget(self) -> None:
        self._row_of, self._deleted, self._added = None, set(), {}

    def _merge(self) -> None:
        """Put changes that are not committed among the rows, in memory."""
        import numpy as np

        if not (self._deleted or self._added):
            return
        rows = self._rows()
        self._matrix = np.concatenate([self._matrix[list(rows.values())], *(row[None] for row in self._added.values())])
        self._ids = [*rows, *self._added]
        self._forget()

    def _rows(self) -> dict[str, int]:
        """The row of every id among the mapped rows."""
        if self._row_of is None:
            self._row_of = {identifier: row for row, identifier in enumerate(self._ids)}
        return self._row_of


def _no_rows(dimension: int) -> FloatArray:
    import numpy as np

    return np.zeros((0, dimension), np.float32)


def _pieces(ids: list[str], kept: FloatArray, rows: list[int], added: Iterable[FloatArray]) -> Iterator[bytes]:
    listed = "\n".join(ids).encode("utf-8")
    header = f"{_MAGIC} {len(ids)} {kept.shape[1]} {len(listed)}\n".encode("ascii")
    yield header.ljust(_ALIGN)
    yield listed
    yield b"\0" * (-len(listed) % _ALIGN)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        yield kept[rows[start : start + _ROWS_AT_ONCE]].astype("<f4").tobytes()
    for vector in added:
        yield vector.astype("<f4").tobytes()


def _load(path: Path, dimension: int) -> tuple[list[str], FloatArray]:
    import numpy as np

    with path.open("rb") as stream:
        words = stream.read(_ALIGN).decode("ascii", "replace").split()
        if len(words) != 4 or words[0] != _MAGIC or not all(word.isdigit() for word in words[1:]):
            raise _damaged(path, "its header cannot be read")
        count, width, length = (int(word) for word in words[1:])
        listed = stream.read(length)
    begin = _ALIGN + length + (-length % _ALIGN)
    ids = listed.decode("utf-8", "replace").split("\n") if count else []
    if path.stat().st_size != begin + 4 * count * width or len(ids) != count:
        raise _damaged(path, "its size does not fit its header")
    if width != dimension:
        raise _damaged(path, f"it has {width} dimensions where the model has {dimension}")
    if not count:
        return [], _no_rows(dimension)
    return ids, np.memmap(path, "<f4", "r", begin, (count, width))


def _damaged(path: Path, why: str) -> KbError:
    return KbError(f"{path} is damaged: {why}", "kb doctor --repair makes it anew from the cached vectors")

"""What a vector store is. The store never embeds: vectors go in, ids and cosines come out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kb.index.embedding.protocol import FloatArray


class VectorStore(Protocol):
    """A view of the vectors of one recipe, by passage id. It can be thrown away and filled from the vector cache."""

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """Add vectors or replace them; ``vectors`` is ``float32 [id, dimension]``, each of length 1."""
        ...

    def delete(self, ids: Collection[str]) -> None:
        """Take vectors out; ids that are not there are no error."""
        ...

    def query(self, vector: FloatArray, n: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """``(id, cosine)`` of the nearest vectors, best first, ties by id; at most n, only ``allowed`` if given."""
        ...

    def count(self) -> int: ...

    def ids(self) -> set[str]: ...

    def commit(self) -> None:
        """Changes since the last commit are kept whole or not at all (a store may keep them earlier)."""
        ...

    def close(self) -> None: ...

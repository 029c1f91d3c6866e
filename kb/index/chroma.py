"""Chroma as a view of the vectors: embedded below ``.kb/``, or on a server that a group shares.

The only file that names chromadb. Chroma never embeds here and is never the truth: SQLite holds the text, the vector
cache holds the vectors, and a collection that lost some is filled again from there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kb.errors import KbError, NetworkError, OfflineError
from kb.index.recipe import Recipe
from kb.workspace import Workspace, is_offline

if TYPE_CHECKING:
    from kb.index.embedding.protocol import FloatArray
    from kb.index.stores import StoreConfig

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_DELETE_AT_ONCE = 4000  # more values than this and its SQLite has too many variables


class ChromaStore:
    """A VectorStore over one collection. One process at a time may write to an embedded one: the write lock sees to it."""

    def __init__(self, workspace: Workspace, config: StoreConfig, recipe: Recipe) -> None:
        self._dimension = recipe.model.dimension
        self._name = config.collection or recipe.fingerprint
        self._metadata = {"hnsw:space": "cosine", "model": recipe.model.name, "revision": recipe.model.revision}
        self._where = config.url or str(workspace.derived / "chroma")
        self._client = _open_client(workspace, config.url)
        self._batch = 5000
        with self._reported():
            self._collection: Any = self._client.get_or_create_collection(
                self._name, metadata=self._metadata, embedding_function=None
            )
            self._batch = min(int(self._client.get_max_batch_size()), self._batch)
        made_by = self._collection.metadata or {}
        if made_by.get("revision") not in (None, recipe.model.revision):
            raise KbError(
                f"the collection {self._name} in {self._where} was made with another model ({made_by.get('model')})",
                "name another one with collection below [store] in kb.toml",
            )

    @contextlib.contextmanager
    def _reported(self) -> Any:
        try:
            yield
        except KbError:
            raise
        except Exception as error:  # chromadb raises its own, httpx's and SQLite's errors
            kind = NetworkError if "://" in self._where else KbError
            first = (str(error).splitlines() or [type(error).__name__])[0][:160]
            raise kind(f"Chroma in {self._where}: {first}", "kb doctor --repair fills it again from the cached vectors") from error

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """As in VectorStore."""
        if vectors.shape != (len(ids), self._dimension):
            raise ValueError(f"{vectors.shape} vectors for {len(ids)} ids of {self._dimension} dimensions")
        with self._reported():
            for start in range(0, len(ids), self._batch):
                part = slice(start, start + self._batch)
                self._collection.upsert(ids=list(ids[part]), embeddings=vectors[part])

    def delete(self, ids: Collection[str]) -> None:
        """As in VectorStore."""
        listed = list(ids)
        with self._reported():
            for start in range(0, len(listed), _DELETE_AT_ONCE):
                self._collection.delete(ids=listed[start : start + _DELETE_AT_ONCE])

    def query(self, vector: FloatArray, n: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """As in VectorStore, as far as an approximate index finds them; filters are applied to a longer list."""
        count = self.count()
        wanted = min(count, n if allowed is None else max(20 * n, 1000))
        if wanted < 1:
            return []
        with self._reported():
            found = self._collection.query(query_embeddings=[vector.tolist()], n_results=wanted, include=["distances"])
        hits = [
            (str(identifier), round(1.0 - float(distance), 6))
            for identifier, distance in zip(found["ids"][0], found["distances"][0], strict=True)
            if allowed is None or identifier in allowed
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:n]

    def count(self) -> int:
        with self._reported():
            return int(self._collection.count())

    def ids(self) -> set[str]:
        with self._reported():
            return set(self._collection.get(include=[])["ids"])

    def reachable(self) -> int:
        """How many vectors a query for all of them returns: fewer than ``count`` when Chroma lost some."""
        count = self.count()
        if not count:
            return 0
        probe = [1.0] + [0.0] * (self._dimension - 1)
        with self._reported():
            found = self._collection.query(query_embeddings=[probe], n_results=count, include=["distances"])
        return len(set(found["ids"][0]))

    def clear(self) -> None:
        """Drop the collection and make it anew, empty."""
        with self._reported():
            self._client.delete_collection(self._name)
            self._collection = self._client.get_or_create_collection(
                self._name, metadata=self._metadata, embedding_function=None
            )

    def commit(self) -> None:
        """Chroma keeps every batch as it comes."""

    def close(self) -> None:
        close = getattr(self._client, "close", None)
        if close is not None:
            with contextlib.suppress(Exception):
                close()


def _open_client(workspace: Workspace, url: str) -> Any:
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if not url:
        path = workspace.derived / "chroma"
        try:
            return chromadb.PersistentClient(path=str(path), settings=settings)
        except Exception as error:
            raise KbError(f"Chroma cannot open {path}: {error}", f"delete {path}; kb index fills it again without embedding") from error
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if is_offline() and parts.hostname not in _LOOPBACK:
        raise OfflineError(f"offline: the Chroma server {url} was not asked", "leave out --offline, or take [store] url out")
    port = parts.port or (443 if parts.scheme == "https" else 8000)
    try:
        return chromadb.HttpClient(host=str(parts.hostname), port=port, ssl=parts.scheme == "https", settings=settings)
    except Exception as error:
        raise NetworkError(f"the Chroma server {url} does not answer", "start it with: chroma run --path DIR") from error

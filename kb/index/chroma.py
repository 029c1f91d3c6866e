"""Chroma as a view of the vectors: embedded below ``.kb/``, or on a server that a group shares.

The only file that names chromadb. Chroma never embeds here and is never the truth: SQLite holds the text, the vector
cache holds the vectors, and a collection that lost some is filled again from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kb.errors import KbError, NetworkError, OfflineError
from kb.index.recipe import Recipe
from kb.workspace import Workspace, is_offline

if TYPE_CHECKING:
    from kb.index.embedding.protocol import FloatArray
    from kb.index.stores import StoreConfig

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_IDS_AT_ONCE = 4000  # with many more its SQLite has too many variables
_ROWS_AT_ONCE = 5000
_DECIMALS = 6


class ChromaStore:
    """A VectorStore over the collection of one recipe.

    Only one process may write to an embedded one at a time, and one that is open does not see what another adds: the
    write lock sees to the first, opening it for each command to the second. Raises NetworkError when a server does
    not answer, KbError when an embedded store cannot be opened.
    """

    def __init__(self, workspace: Workspace, config: StoreConfig, recipe: Recipe) -> None:
        self._dimension = recipe.model.dimension
        self._name = f"{_scope(workspace, config)}-{recipe.fingerprint}"
        self._metadata = {"model": recipe.model.name, "revision": recipe.model.revision, "dimension": self._dimension}
        self._where = config.url or str(chroma_folder(workspace))
        self._client = _open_client(workspace, config)
        with self._reported():
            self._collection = self._open_collection()
            self._batch = min(int(self._client.get_max_batch_size()), _ROWS_AT_ONCE)

    def _open_collection(self) -> Any:
        # Without embedding_function=None Chroma would make its own, which wants to download a model.
        return self._client.get_or_create_collection(
            self._name,
            metadata=self._metadata,
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=None,
        )

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        with _reported(self._where):
            yield

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """As in VectorStore. Raises ValueError for another dimension and for vectors that are not finite."""
        import numpy as np

        if vectors.shape != (len(ids), self._dimension):
            raise ValueError(f"{vectors.shape} vectors for {len(ids)} ids of {self._dimension} dimensions")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector is not finite")
        with self._reported():
            for start in range(0, len(ids), self._batch):
                part = slice(start, start + self._batch)
                self._collection.upsert(ids=list(ids[part]), embeddings=vectors[part])

    def delete(self, ids: Collection[str]) -> None:
        """As in VectorStore."""
        listed = list(ids)
        with self._reported():
            for start in range(0, len(listed), _IDS_AT_ONCE):
                self._collection.delete(ids=listed[start : start + _IDS_AT_ONCE])

    def query(self, vector: FloatArray, n: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """As in VectorStore, but approximate.

        Chroma's own filters cost many times a query and fail on an id that is not there. So few allowed ids are compared
        here, exactly; many are picked out of ever longer lists.
        """
        count = self.count()
        if n < 1 or count == 0:
            return []
        if allowed is not None and len(allowed) <= _IDS_AT_ONCE:
            return self._compared(vector, list(allowed))[:n]
        wanted = n if allowed is None else 4 * n
        while True:
            hits = self._nearest(vector, min(wanted, count))
            kept = hits if allowed is None else [hit for hit in hits if hit[0] in allowed]
            if allowed is None or len(kept) >= n or wanted >= count:
                return kept[:n]
            wanted *= 8

    def _nearest(self, vector: FloatArray, n: int) -> list[tuple[str, float]]:
        with self._reported():
            found = self._collection.query(query_embeddings=[vector.tolist()], n_results=n, include=["distances"])
        return _ranked(found["ids"][0], [1.0 - float(distance) for distance in found["distances"][0]])

    def _compared(self, vector: FloatArray, ids: list[str]) -> list[tuple[str, float]]:
        if not ids:
            return []
        with self._reported():
            found = self._collection.get(ids=ids, include=["embeddings"])
        return _ranked(found["ids"], (found["embeddings"] @ vector).tolist() if found["ids"] else [])

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
            self._collection = self._open_collection()

    def commit(self) -> None:
        """Chroma keeps every batch as it comes."""

    def close(self) -> None:
        _close(self._client)


def _ranked(ids: Sequence[str], cosines: Sequence[float]) -> list[tuple[str, float]]:
    pairs = zip(ids, cosines, strict=True)
    hits = [(str(identifier), round(cosine, _DECIMALS)) for identifier, cosine in pairs]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def chroma_folder(workspace: Workspace) -> Path:
    """Where the embedded store lies."""
    return workspace.derived / "chroma"


def drop_collections(workspace: Workspace, config: StoreConfig, keep: str) -> None:
    """Delete this workspace's collections of all recipes but ``keep``. Raises as ChromaStore does."""
    client = _open_client(workspace, config)
    scope = _scope(workspace, config)
    try:
        with _reported(config.url or str(chroma_folder(workspace))):
            names = [str(collection.name) for collection in client.list_collections()]
            for name in names:
                if name.startswith(f"{scope}-") and name != f"{scope}-{keep}":
                    client.delete_collection(name)
    finally:
        _close(client)


def _scope(workspace: Workspace, config: StoreConfig) -> str:
    """What collection names begin with. A server may hold several workspaces, which must not clear each other's."""
    if config.collection or not config.url:
        return config.collection or "kb"
    return "kb-" + hashlib.sha256(str(workspace.root).encode("utf-8")).hexdigest()[:8]


@contextlib.contextmanager
def _reported(where: str) -> Iterator[None]:
    """Turn whatever chromadb raises (its own errors, httpx's, SQLite's) into one that says what to do."""
    try:
        yield
    except KbError:
        raise
    except Exception as error:
        cause: BaseException = error
        while cause.__context__ is not None:  # what comes last is often chromadb failing to tidy up
            cause = cause.__context__
        first = (str(cause).splitlines() or [type(cause).__name__])[0][:160]
        if "://" in where:
            raise NetworkError(f"the Chroma server {where}: {first}", "see that it runs; kb index then goes on") from error
        raise KbError(f"Chroma in {where}: {first}", "kb doctor --repair fills it again from the cached vectors") from error


def _open_client(workspace: Workspace, config: StoreConfig) -> Any:
    if not config.url:
        chromadb, settings = _import_chroma()
        path = chroma_folder(workspace)
        with _reported(str(path)):
            try:
                return chromadb.PersistentClient(path=str(path), settings=settings)
            except Exception:
                # chromadb keeps the broken client for this path, also when the folder is made anew.
                chromadb.api.client.SharedSystemClient.clear_system_cache()
                raise
    parts = urlsplit(config.url)
    if is_offline() and parts.hostname not in _LOOPBACK:
        raise OfflineError(f"offline: the Chroma server {config.url} was not asked", "leave --offline out, or remove store.url")
    chromadb, settings = _import_chroma()
    secure = parts.scheme == "https"
    try:
        port = parts.port or (443 if secure else 8000)
        return chromadb.HttpClient(host=str(parts.hostname), port=port, ssl=secure, settings=settings)
    except Exception as error:
        raise NetworkError(
            f"the Chroma server {config.url} does not answer", "start it: chroma run --path DIR --host HOST --port PORT"
        ) from error


def _import_chroma() -> tuple[Any, Any]:
    # chromadb reads the variable at import, before it sees any settings.
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    import chromadb
    from chromadb.config import Settings

    return chromadb, Settings(anonymized_telemetry=False)


def _close(client: Any) -> None:
    """Let go of the folder: a client that stays open makes a folder that is remade read-only."""
    with contextlib.suppress(Exception):
        client.close()

"""The views of the vectors, filled from the cache: each holds just the passages there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kb.errors import KbError
from kb.index.passages import PassageStore
from kb.index.recipe import Recipe
from kb.index.store import VectorStore
from kb.index.stores import open_exact
from kb.index.vectors import VectorCache
from kb.model import Kind

_AT_ONCE = 5000


def wanted_vectors(store: PassageStore) -> dict[str, str]:
    """The hash of the text of every passage that has a vector, by passage id."""
    rows = store.connection.execute("SELECT id, hash FROM passages WHERE kind <> ?", (str(Kind.REFERENCE),))
    return {str(identifier): str(digest) for identifier, digest in rows}


def fill_exact(folder: Path, recipe: Recipe, wanted: Mapping[str, str], cache: VectorCache) -> None:
    """Bring the exact file in step; a damaged one is written anew."""
    try:
        view = open_exact(folder, recipe)
    except KbError:
        view = open_exact(folder, recipe, fresh=True)
    fill(view, wanted, cache)


def fill(view: VectorStore, wanted: Mapping[str, str], cache: VectorCache) -> None:
    """Bring a view in step by what it holds now, and close it. A passage whose vector is not cached is left out."""
    try:
        held = view.ids()
        view.delete(held - wanted.keys())
        missing = sorted(wanted.keys() - held)
        for start in range(0, len(missing), _AT_ONCE):
            _add(view, {identifier: wanted[identifier] for identifier in missing[start : start + _AT_ONCE]}, cache)
        view.commit()
    finally:
        view.close()


def _add(view: VectorStore, part: Mapping[str, str], cache: VectorCache) -> None:
    by_hash: dict[str, list[str]] = {}
    for identifier, digest in part.items():
        by_hash.setdefault(digest, []).append(identifier)
    for digests, vectors in cache.get(list(by_hash)):
        ids = [identifier for digest in digests for identifier in by_hash[digest]]
        view.upsert(ids, vectors[[row for row, digest in enumerate(digests) for _ in by_hash[digest]]])

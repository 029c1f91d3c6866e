"""``kb doctor``: whether the index still holds what it should, and putting it right without embedding anything again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kb.errors import KbError
from kb.index.passages import DATABASE, PassageStore
from kb.index.reconcile import fill_views
from kb.index.recipe import NoIndexError, Recipe, current_folder, read_manifest
from kb.index.stores import open_chroma, open_exact, store_config, view_names
from kb.index.vectors import VectorCache
from kb.model import Kind
from kb.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, and whether a repair needs embedding."""

    where: str
    what: str
    needs_index: bool = False


def examine(workspace: Workspace) -> list[Finding]:
    """Everything that is wrong. Reads only. Raises NoIndexError where there is no index."""
    folder = current_folder(workspace)
    if folder is None:
        raise NoIndexError(f"{workspace.root} has no search index yet", "kb index makes it")
    recipe = read_manifest(folder)
    damaged = _database_fault(folder)
    if damaged:
        return [Finding(DATABASE, damaged, needs_index=True)]
    with PassageStore(folder) as store:
        rows = store.connection.execute("SELECT id, hash FROM passages WHERE kind <> ?", (str(Kind.REFERENCE),)).fetchall()
    wanted = {str(identifier): str(digest) for identifier, digest in rows}
    return [
        *_cache_faults(workspace, recipe, wanted),
        *_exact_faults(folder, recipe, set(wanted)),
        *_chroma_faults(workspace, recipe, set(wanted)),
    ]


def _database_fault(folder: Path) -> str:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True) as connection:
            answer = str(connection.execute("PRAGMA quick_check").fetchone()[0])
            connection.execute("SELECT count(*) FROM passages").fetchone()
    except sqlite3.DatabaseError as error:
        return f"damaged: {error}"
    return "" if answer == "ok" else f"damaged: {answer.splitlines()[0]}"


def _cache_faults(workspace: Workspace, recipe: Recipe, wanted: dict[str, str]) -> Iterator[Finding]:
    try:
        with VectorCache(workspace, recipe.model) as cache:
            lost = set(wanted.values()) - cache.known()
    except KbError as error:
        yield Finding("vector cache", error.message, needs_index=True)
        return
    if lost:
        yield Finding("vector cache", f"{len(lost)} texts have no vector", needs_index=True)


def _exact_faults(folder: Path, recipe: Recipe, wanted: set[str]) -> Iterator[Finding]:
    try:
        store = open_exact(folder, recipe)
    except KbError as error:
        yield Finding("exact vectors", error.message)
        return
    held = store.ids()
    store.close()
    if held != wanted:
        yield Finding("exact vectors", f"{len(wanted - held)} missing, {len(held - wanted)} too many")


def _chroma_faults(workspace: Workspace, recipe: Recipe, wanted: set[str]) -> Iterator[Finding]:
    if not store_config(workspace).chroma:
        return
    try:
        store = open_chroma(workspace, recipe)
        held, reachable = store.ids(), store.reachable()  # type: ignore[attr-defined]
        store.close()
    except KbError as error:
        yield Finding("Chroma", error.message)
        return
    if held != wanted:
        yield Finding("Chroma", f"{len(wanted - held)} missing, {len(held - wanted)} too many")
    elif reachable < len(held):
        yield Finding("Chroma", f"{len(held) - reachable} of {len(held)} vectors are counted but cannot be found")


def repair(workspace: Workspace) -> None:
    """Fill the views again from the cached vectors. What needs reading or embedding is left to ``kb index``."""
    folder = current_folder(workspace)
    if folder is None:
        return
    recipe = read_manifest(folder)
    if _database_fault(folder):
        shutil.rmtree(folder)
        return
    if store_config(workspace).chroma:
        _clear_chroma(workspace, recipe)
    with PassageStore(folder) as store, VectorCache(workspace, recipe.model) as cache:
        exact = open_exact(folder, recipe, fresh=True)
        exact.commit()
        exact.close()
        fill_views(workspace, folder, recipe, store, cache)
        store.set_views_current(view_names(workspace))


def _clear_chroma(workspace: Workspace, recipe: Recipe) -> None:
    """An embedded store that cannot even be opened is deleted: all of it is in the cache."""
    try:
        store = open_chroma(workspace, recipe)
        store.clear()  # type: ignore[attr-defined]
        store.close()
    except KbError:
        if store_config(workspace).url:
            raise
        shutil.rmtree(workspace.derived / "chroma", ignore_errors=True)

"""``kb doctor``: whether the index still holds what it should, and putting it right without embedding anything again."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.index.passages import DATABASE, PassageStore
from kb.index.reader import open_readonly
from kb.index.recipe import NoIndexError, Recipe, current_folder, index_root, read_manifest
from kb.index.stores import open_chroma, open_exact, store_config
from kb.index.vectors import VectorCache, cache_path
from kb.index.views import wanted_vectors
from kb.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be. ``mend`` takes away what is wrong, so that ``kb index`` makes it anew."""

    where: str
    what: str
    mend: Callable[[], None]


def examine(workspace: Workspace) -> list[Finding]:
    """Everything that is wrong, the gravest first. The caller holds the write lock.

    Raises NoIndexError where there is no index.
    """
    try:
        folder = current_folder(workspace)
        if folder is None:
            raise NoIndexError(f"{workspace.root} has no search index yet", "kb index makes it")
        recipe = read_manifest(folder)
    except NoIndexError:
        raise
    except KbError as error:
        return [Finding("index", error.message, lambda: _remove(index_root(workspace)))]
    fault = _database_fault(folder / DATABASE, "SELECT count(*) FROM passages")
    if fault:
        # The views of a database that is made anew are compared with it then.
        return [Finding(DATABASE, fault, lambda: _remove(folder))]
    with PassageStore(folder) as store:
        wanted = wanted_vectors(store)
    return [
        *_cache_faults(workspace, recipe, wanted),
        *_exact_faults(folder, recipe, wanted),
        *_chroma_faults(workspace, recipe, wanted),
    ]


def repair(workspace: Workspace, findings: list[Finding]) -> None:
    """Take away what is damaged and mark the views as behind; ``kb index`` then fills them from the cache."""
    for finding in findings:
        finding.mend()
    for database in index_root(workspace).glob(f"*/{DATABASE}"):
        with PassageStore(database.parent) as store, store.transaction():
            store.set_views_behind()


def _database_fault(path: Path, probe: str) -> str:
    try:
        with closing(open_readonly(path)) as connection:
            answer = str(connection.execute("PRAGMA quick_check").fetchone()[0])
            connection.execute(probe).fetchone()
    except KbError as error:
        return error.message
    except sqlite3.DatabaseError as error:
        return f"{path} is damaged: {error}"
    return "" if answer == "ok" else f"{path} is damaged: {answer.splitlines()[0]}"


def _cache_faults(workspace: Workspace, recipe: Recipe, wanted: Mapping[str, str]) -> Iterator[Finding]:
    path = cache_path(workspace)
    fault = _database_fault(path, "SELECT count(*) FROM vectors") if path.exists() else ""
    if fault:
        yield Finding("vector cache", f"{fault}; its texts have to be embedded again", lambda: _remove(path))
        return
    with VectorCache(workspace, recipe.model) as cache:
        lost = set(wanted.values()) - cache.known()
    if lost:
        yield Finding("vector cache", f"{len(lost)} texts have no vector and have to be embedded", lambda: None)


def _exact_faults(folder: Path, recipe: Recipe, wanted: Mapping[str, str]) -> Iterator[Finding]:
    from kb.index.exact import EXACT_FILE

    path = folder / EXACT_FILE
    try:
        store = open_exact(folder, recipe)
    except KbError as error:
        yield Finding("exact vectors", error.message, lambda: _remove(path))
        return
    with closing(store):
        difference = _difference(store.ids(), wanted)
    if difference:
        yield Finding("exact vectors", difference, lambda: _remove(path))


def _chroma_faults(workspace: Workspace, recipe: Recipe, wanted: Mapping[str, str]) -> Iterator[Finding]:
    if not store_config(workspace).chroma:
        return
    try:
        with closing(open_chroma(workspace, recipe)) as store:
            held, reachable = store.ids(), store.reachable()
    except KbError as error:
        yield Finding("Chroma", error.message, lambda: _clear_chroma(workspace, recipe))
        return
    difference = _difference(held, wanted)
    if not difference and reachable < len(held):
        difference = f"{len(held) - reachable} of {len(held)} vectors are counted but no query finds them"
    if difference:
        yield Finding("Chroma", difference, lambda: _clear_chroma(workspace, recipe))


def _difference(held: set[str], wanted: Mapping[str, str]) -> str:
    missing, extra = len(wanted.keys() - held), len(held - wanted.keys())
    return f"{missing} vectors are missing, {extra} too many" if missing or extra else ""


def _clear_chroma(workspace: Workspace, recipe: Recipe) -> None:
    """Empty the collection; an embedded store that cannot even be opened is deleted. All of it is in the cache."""
    try:
        with closing(open_chroma(workspace, recipe)) as store:
            store.clear()
    except KbError:
        if store_config(workspace).url:
            raise
        from kb.index.chroma import chroma_folder

        _remove(chroma_folder(workspace))


def _remove(path: Path) -> None:
    """Delete a file with SQLite's two beside it, or a folder."""
    if path.is_dir():
        shutil.rmtree(path)
        return
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)

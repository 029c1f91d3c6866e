"""``kb index``: bring passages, vectors and views in step with the files, by as little work as that takes.

Three steps, each safe to be killed in: passages (a transaction a document), vectors (a transaction a batch, into the
cache), views (compared with the passages as a whole). What a step has to do is found by comparing states, never by a
note of what was begun, so that the next run goes on where one ended.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.index.documents import changed_files, read_document, scan
from kb.index.embedding_step import Progress, embed_missing
from kb.index.passages import PassageStore
from kb.index.recipe import (
    Recipe,
    current_folder,
    has_manifest,
    index_root,
    make_current,
    read_manifest,
    recipe_folder,
    write_manifest,
)
from kb.index.stores import open_chroma, store_config, view_names, views_exist
from kb.index.vectors import VectorCache
from kb.index.views import fill, fill_exact, wanted_vectors
from kb.workspace import Workspace

if TYPE_CHECKING:
    from kb.index.embedding.protocol import Embedder


@dataclass(slots=True)
class IndexReport:
    """What a run did. ``failures`` names documents that cannot be read or embedded, with the reason."""

    read: int = 0
    removed: int = 0
    embedded: int = 0
    passages: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    replaced_recipe: tuple[str, ...] = ()
    views_filled: bool = False

    @property
    def is_noop(self) -> bool:
        return not (self.read or self.removed or self.embedded or self.replaced_recipe or self.views_filled)


def _silent(_step: str, _done: int, _total: int, _name: str) -> None:
    pass


def reconcile(
    workspace: Workspace, embedder: Embedder, progress: Progress = _silent, keep_old: bool = False
) -> IndexReport:
    """Bring the index in step. The caller holds the write lock.

    Another recipe than that of the index in use is built beside it and put in use when it is whole; the old one is
    deleted then unless ``keep_old``. Raises KbError when embedding fails as a whole; what is done by then is kept.
    """
    recipe = Recipe(embedder.identity)
    folder = recipe_folder(workspace, recipe)
    _remove_torn_writes(workspace)
    in_use, differences = _in_use(workspace, recipe, folder)
    report = IndexReport(replaced_recipe=differences)
    with PassageStore(folder) as store:
        if not has_manifest(folder):
            write_manifest(folder, recipe)
        _read_changed(workspace, store, report, progress)
        report.passages = store.count()
        report.failures = store.failures()
        if in_use is None:
            # There is nothing to fall back on, so keywords can be searched while vectors are still made.
            make_current(workspace, folder)
        if store.views() != view_names(workspace) or not views_exist(workspace, folder):
            _fill_vectors(workspace, store, recipe, embedder, report, progress)
        elif in_use != folder:
            make_current(workspace, folder)
    if not keep_old:
        _remove_others(workspace, folder)
    return report


def forget_passages(workspace: Workspace) -> None:
    """Delete all indexes, so that the next reconcile reads every file. Cached vectors stay. The caller holds the lock."""
    shutil.rmtree(index_root(workspace), ignore_errors=True)


def _in_use(workspace: Workspace, recipe: Recipe, folder: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The folder in use, if any, and how its recipe differs."""
    try:
        current = current_folder(workspace)
        if current is None or current == folder:
            return current, ()
        return current, tuple(recipe.differences(read_manifest(current)))
    except KbError as error:
        return None, (error.message,)


def _fill_vectors(
    workspace: Workspace, store: PassageStore, recipe: Recipe, embedder: Embedder, report: IndexReport, progress: Progress
) -> None:
    """Embed what is missing and fill the views. The exact one answers by itself, so the index is in use before Chroma is full."""
    folder = recipe_folder(workspace, recipe)
    with VectorCache(workspace, recipe.model) as cache:
        embedded = embed_missing(store, cache, embedder, progress)
        report.embedded = embedded.count
        report.failures |= embedded.failures
        wanted = wanted_vectors(store)
        progress("storing", 0, len(wanted), "")
        fill_exact(folder, recipe, wanted, cache)
        make_current(workspace, folder)
        if store_config(workspace).chroma:
            fill(open_chroma(workspace, recipe), wanted, cache)
        progress("storing", len(wanted), len(wanted), "")
    report.views_filled = True
    if not embedded.failures:
        with store.transaction():
            store.set_views_current(view_names(workspace))


def _read_changed(workspace: Workspace, store: PassageStore, report: IndexReport, progress: Progress) -> None:
    """Read the documents whose files changed, by time and size first and by content then."""
    found = scan(workspace)
    known = store.files()
    for owner in sorted({*known, *store.failures()} - found.keys()):
        store.remove(owner)
        report.removed += 1
    changed = []
    for owner, files in found.items():
        is_changed, fresh = changed_files(workspace.root, files, known.get(owner))
        if is_changed:
            changed.append(owner)
        elif fresh:
            with store.transaction():
                store.set_files(owner, fresh)
    for done, owner in enumerate(changed):
        progress("reading", done, len(changed), owner)
        try:
            store.replace(read_document(workspace.root, owner, found[owner]))
            report.read += 1
        except Exception as error:  # whatever is wrong with one file must not stop the others
            store.fail(owner, _reason(error))
    if changed:
        progress("reading", len(changed), len(changed), "")


def _reason(error: Exception) -> str:
    if isinstance(error, KbError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return f"this is a fault in kb: {type(error).__name__}: {error}"


def _remove_torn_writes(workspace: Workspace) -> None:
    """A process that was killed while it replaced a file leaves the new one under a hidden name; some are large."""
    root = index_root(workspace)
    for path in (*root.glob(".*"), *root.glob("*/.*")):
        path.unlink()


def _remove_others(workspace: Workspace, folder: Path) -> None:
    """Take away what other recipes left: an index that was replaced, or one that was never finished."""
    others = [other for other in index_root(workspace).iterdir() if other.is_dir() and other != folder]
    for other in others:
        shutil.rmtree(other, ignore_errors=True)
    if others and store_config(workspace).chroma:
        from kb.index.chroma import drop_collections

        drop_collections(workspace, store_config(workspace), keep=folder.name)

"""``kb index``: bring passages, vectors and views in step with the files, by as little work as that takes.

Three steps, each safe to be killed in: passages (a transaction a document), vectors (a transaction a batch, into the
cache), views (compared with the passages as a whole). The next run goes on where one ended.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.index.documents import Stat, hash_file, read_document, scan
from kb.index.drafts import embedded_text
from kb.index.passages import FileState, PassageStore
from kb.index.recipe import Recipe, current_folder, index_root, make_current, recipe_folder, write_manifest
from kb.index.stores import open_chroma, open_exact, store_config, view_names
from kb.index.vectors import VectorCache
from kb.model import Kind
from kb.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from kb.index.embedding.protocol import Embedder
    from kb.index.store import VectorStore

BATCH = 64
Progress = Callable[[str, int, int, str], None]


@dataclass(slots=True)
class IndexReport:
    """What a run did. ``failures`` names documents that cannot be read, with the reason."""

    read: int = 0
    removed: int = 0
    embedded: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    replaced_recipe: tuple[str, ...] = ()

    @property
    def is_noop(self) -> bool:
        return not (self.read or self.removed or self.embedded or self.replaced_recipe)


def _silent(_step: str, _done: int, _total: int, _name: str) -> None:
    pass


def reconcile(workspace: Workspace, embedder: Embedder, progress: Progress = _silent) -> IndexReport:
    """Bring the index in step. The caller holds the write lock. Raises KbError when embedding fails as a whole."""
    recipe = Recipe(embedder.identity)
    folder = recipe_folder(workspace, recipe)
    report = IndexReport(replaced_recipe=_differences(workspace, recipe, folder))
    with PassageStore(folder) as store:
        _read_changed(workspace, store, report, progress)
        report.failures = store.failures()
        if store.views() != view_names(workspace):
            with VectorCache(workspace, recipe.model) as cache:
                report.embedded = embed_missing(store, cache, embedder, progress)
                fill_views(workspace, folder, recipe, store, cache, progress)
            store.set_views_current(view_names(workspace))
    _swap(workspace, folder, recipe)
    return report


def _differences(workspace: Workspace, recipe: Recipe, folder: Path) -> tuple[str, ...]:
    """What changed in the recipe since the index in use was made; empty for the same recipe or a first index."""
    from kb.index.recipe import read_manifest

    try:
        current = current_folder(workspace)
        if current is None or current == folder:
            return ()
        return tuple(recipe.differences(read_manifest(current))) or ("recipe",)
    except KbError as error:
        return (error.message,)


def _read_changed(workspace: Workspace, store: PassageStore, report: IndexReport, progress: Progress) -> None:
    """Read the documents whose files changed, by time and size first and by content then."""
    found = scan(workspace)
    known = store.files()
    for owner in [owner for owner in {*known, *store.failures()} if owner not in found]:
        store.remove(owner)
        report.removed += 1
    changed = [(owner, files) for owner, files in found.items() if _has_changed(workspace, store, owner, files, known)]
    for done, (owner, files) in enumerate(changed):
        progress("reading", done, len(changed), owner)
        try:
            store.replace(read_document(workspace.root, owner, files))
            report.read += 1
        except (KbError, OSError) as error:
            store.fail(owner, error.message if isinstance(error, KbError) else str(error))


def _has_changed(
    workspace: Workspace, store: PassageStore, owner: str, files: dict[str, Stat], known: dict[str, dict[str, FileState]]
) -> bool:
    before = known.get(owner)
    if before is None or set(before) != set(files):
        return True
    if all((state.mtime_ns, state.size) == files[path] for path, state in before.items()):
        return False
    fresh = [FileState(path, mtime, size, hash_file(workspace.root, path)) for path, (mtime, size) in files.items()]
    if any(state.sha256 != before[state.path].sha256 for state in fresh):
        return True
    with store.transaction():
        store.set_files(owner, fresh)
    return False


def embed_missing(store: PassageStore, cache: VectorCache, embedder: Embedder, progress: Progress = _silent) -> int:
    """Embed every text that has no vector yet, short ones first, a batch at a time. Returns how many.

    One text is tried alone first, so that a model that cannot work says so before hours have gone.
    """
    known = cache.known()
    missing = {digest: text for digest, text in _texts(store) if digest not in known}
    todo = sorted(missing.items(), key=lambda item: len(item[1]))
    starts = [0, *range(1, len(todo), BATCH)]
    for start in starts if todo else []:
        part = todo[start : 1 if start == 0 else start + BATCH]
        progress("embedding", start, len(todo), "")
        cache.put([digest for digest, _ in part], embedder.embed_passages([text for _, text in part]))
    return len(todo)


def _texts(store: PassageStore) -> Iterable[tuple[str, str]]:
    import json

    rows = store.connection.execute(
        "SELECT p.hash, d.title, p.heading, p.text FROM passages p JOIN documents d ON d.owner = p.owner"
        " WHERE p.kind <> ? GROUP BY p.hash",
        (str(Kind.REFERENCE),),
    )
    for digest, title, heading, text in rows:
        yield str(digest), embedded_text(str(title), json.loads(heading), str(text))


def fill_views(
    workspace: Workspace,
    folder: Path,
    recipe: Recipe,
    store: PassageStore,
    cache: VectorCache,
    progress: Progress = _silent,
) -> None:
    """Make the exact file, and Chroma if it is asked for, hold just the passages there are."""
    rows = store.connection.execute("SELECT id, hash FROM passages WHERE kind <> ?", (str(Kind.REFERENCE),)).fetchall()
    wanted = {str(identifier): str(digest) for identifier, digest in rows}
    progress("storing", 0, len(wanted), "vectors")
    exact = _exact(folder, recipe)
    _fill(exact, wanted, cache)
    if store_config(workspace).chroma:
        _fill(open_chroma(workspace, recipe), wanted, cache)


def _exact(folder: Path, recipe: Recipe) -> VectorStore:
    try:
        return open_exact(folder, recipe)
    except KbError:
        return open_exact(folder, recipe, fresh=True)


def _fill(view: VectorStore, wanted: dict[str, str], cache: VectorCache) -> None:
    try:
        held = view.ids()
        view.delete(held - wanted.keys())
        by_hash: dict[str, list[str]] = {}
        for identifier in sorted(wanted.keys() - held):
            by_hash.setdefault(wanted[identifier], []).append(identifier)
        _add(view, by_hash, cache)
        view.commit()
    finally:
        view.close()


def _add(view: VectorStore, by_hash: dict[str, list[str]], cache: VectorCache) -> None:
    import numpy as np

    ids: list[str] = []
    parts = []
    for digests, vectors in cache.get(list(by_hash)):
        rows: Sequence[int] = [row for row, digest in enumerate(digests) for _ in by_hash[digest]]
        ids += [identifier for digest in digests for identifier in by_hash[digest]]
        parts.append(vectors[rows])
    if ids:
        view.upsert(ids, np.concatenate(parts))


def _swap(workspace: Workspace, folder: Path, recipe: Recipe) -> None:
    """Put a complete index in use, and take away the folders of other recipes."""
    try:
        if current_folder(workspace) == folder:
            return
    except KbError:
        pass
    write_manifest(folder, recipe)
    make_current(workspace, folder)
    for other in index_root(workspace).iterdir():
        if other.is_dir() and other != folder:
            shutil.rmtree(other, ignore_errors=True)

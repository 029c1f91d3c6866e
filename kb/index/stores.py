"""Which vector stores a workspace has: the exact one always, Chroma beside it unless ``kb.toml`` says otherwise.

A single search reads the exact file, because it opens in no time and is always right. Chroma answers when a server is
named or when there are so many passages that looking at each takes longer than opening Chroma does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kb.errors import UsageError
from kb.index.recipe import Recipe
from kb.index.store import VectorStore
from kb.workspace import Workspace

if TYPE_CHECKING:
    from kb.index.chroma import ChromaStore

CHROMA_SEARCH_FROM = 1_000_000  # passages; notes/decisions/2026-11-30-vector-store.md has the measurement


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """The ``[store]`` table of ``kb.toml``."""

    chroma: bool
    url: str = ""
    collection: str = ""


def store_config(workspace: Workspace) -> StoreConfig:
    """Raises UsageError for a kind that there is not, or an address that is none."""
    kind = str(workspace.option("store.kind", "chroma"))
    url = str(workspace.option("store.url", ""))
    if kind not in ("chroma", "exact"):
        raise UsageError(f'kb.toml: store.kind is "{kind}"', 'it can be "chroma" or "exact"')
    if kind == "exact" and url:
        raise UsageError("kb.toml: store.url names a Chroma server, but store.kind is exact", "leave one of them out")
    if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
        raise UsageError(f'kb.toml: store.url is "{url}"', 'write it as "http://127.0.0.1:8000"')
    return StoreConfig(kind == "chroma", url, str(workspace.option("store.collection", "")))


def view_names(workspace: Workspace) -> str:
    """The views that the configuration asks for, as one word that is kept with the index."""
    config = store_config(workspace)
    return "exact" if not config.chroma else f"exact+chroma {config.url}".strip()


def views_exist(workspace: Workspace, folder: Path) -> bool:
    """Whether the files of the views are there; a person may have deleted some. A server is not asked."""
    from kb.index.exact import EXACT_FILE

    config = store_config(workspace)
    embedded_chroma = config.chroma and not config.url
    return (folder / EXACT_FILE).is_file() and (not embedded_chroma or (workspace.derived / "chroma").is_dir())


def open_exact(folder: Path, recipe: Recipe, fresh: bool = False) -> VectorStore:
    from kb.index.exact import EXACT_FILE, ExactStore

    return ExactStore(folder / EXACT_FILE, recipe.model.dimension, fresh)


def open_chroma(workspace: Workspace, recipe: Recipe) -> ChromaStore:
    """The collection of this recipe, on the server that ``kb.toml`` names or embedded in ``.kb/chroma``."""
    from kb.index.chroma import ChromaStore

    return ChromaStore(workspace, store_config(workspace), recipe)


def open_for_search(workspace: Workspace, folder: Path, recipe: Recipe, embedded: int) -> VectorStore:
    """The store that answers questions over this many embedded passages."""
    config = store_config(workspace)
    if config.chroma and (config.url or embedded > CHROMA_SEARCH_FROM):
        return open_chroma(workspace, recipe)
    return open_exact(folder, recipe)

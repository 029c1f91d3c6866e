"""How an index was made: its recipe names its folder, so that two recipes never share one.

``.kb/index/current`` names the folder that is in use; a new recipe is built beside it and ``current`` is then
written anew in one step.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kb.errors import KbError
from kb.index.embedding.protocol import EmbedderIdentity
from kb.workspace import Workspace, write_atomic

SCHEMA_VERSION = 1  # of passages.sqlite; raise it with every change of a table
CHUNKER_VERSION = 2  # raise it when the same file gives other passages
TOKENIZER_VERSION = 1  # raise it when kb.search.tokens.index_text gives other tokens for the same text
_MANIFEST = "manifest.json"


class NoIndexError(KbError):
    """There is nothing to search in yet."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what the same files become: the model with its prefixes, and the versions of our own steps."""

    model: EmbedderIdentity
    schema: int = SCHEMA_VERSION
    chunker: int = CHUNKER_VERSION
    tokenizer: int = TOKENIZER_VERSION

    @property
    def fingerprint(self) -> str:
        """``<model name>-<12 hex digits>``, fit for a folder and for a collection name."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode("utf-8")).hexdigest()[:12]
        name = "".join(char if char.isascii() and char.isalnum() else "-" for char in Path(self.model.name).name)
        return f"{name.strip('-')[:32] or 'model'}-{digest}"

    def differences(self, other: Recipe) -> list[str]:
        """What differs, as ``model: a -> b``, from ``other`` to this one."""
        found = [
            f"{name}: {getattr(other, name)} -> {getattr(self, name)}"
            for name in ("schema", "chunker", "tokenizer")
            if getattr(other, name) != getattr(self, name)
        ]
        if self.model != other.model:
            found.insert(0, f"model: {_short(other.model)} -> {_short(self.model)}")
        return found


def _short(model: EmbedderIdentity) -> str:
    return f"{model.name} ({model.revision[:12]}, {model.dimension} dimensions)"


def index_root(workspace: Workspace) -> Path:
    return workspace.derived / "index"


def recipe_folder(workspace: Workspace, recipe: Recipe) -> Path:
    return index_root(workspace) / recipe.fingerprint


def write_manifest(folder: Path, recipe: Recipe) -> None:
    write_atomic(folder / _MANIFEST, json.dumps({"recipe": asdict(recipe)}, ensure_ascii=False, indent=1) + "\n")


def has_manifest(folder: Path) -> bool:
    return (folder / _MANIFEST).is_file()


def read_manifest(folder: Path) -> Recipe:
    """The recipe of an index folder. Raises KbError when it is missing or of a form that this version cannot read."""
    try:
        values: dict[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["recipe"]
        return Recipe(**(values | {"model": EmbedderIdentity(**values["model"])}))
    except (OSError, ValueError, KeyError, TypeError):
        raise KbError(
            f"the index in {folder} has no manifest that this version of kb can read",
            "kb index builds it anew; papers, notes and cached vectors are kept",
        ) from None


def current_folder(workspace: Workspace) -> Path | None:
    """The folder of the index in use; None when none was ever made.

    Raises KbError when the folder that is named is gone.
    """
    try:
        name = (index_root(workspace) / "current").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    folder = index_root(workspace) / name
    if not name or not folder.is_dir():
        raise KbError(f"the index folder {folder} is gone", "kb index builds it anew; papers and notes are kept")
    return folder


def make_current(workspace: Workspace, folder: Path) -> None:
    write_atomic(index_root(workspace) / "current", folder.name + "\n")

"""The workspace: where it is, what it holds, and every path in it named once.

A workspace is a folder with a ``kb.toml``. It is found by ``--workspace``, then ``KB_WORKSPACE``, then by walking
up from the current folder. Caches and models live in the user's own folders, never in a workspace or the package.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb.errors import FileFormatError, KbError, UsageError

CONFIG_NAME = "kb.toml"


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace root, its parsed ``kb.toml``, and the paths below it."""

    root: Path
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def papers(self) -> Path:
        return self.root / "papers"

    @property
    def notes(self) -> Path:
        return self.root / "notes"

    @property
    def reports(self) -> Path:
        return self.notes / "reports"

    @property
    def queue(self) -> Path:
        return self.notes / "queue.md"

    @property
    def glossary(self) -> Path:
        """The user's own terms; the built-in glossary ships with the package."""
        return self.notes / "glossary.tsv"

    @property
    def templates(self) -> Path:
        return self.root / "templates"

    @property
    def derived(self) -> Path:
        """Everything below can be deleted at any time; ``kb index`` makes it again."""
        return self.root / ".kb"

    @property
    def lock(self) -> Path:
        return self.derived / "write.lock"

    def paper_dir(self, slug: str) -> Path:
        return self.papers / slug

    def option(self, dotted: str, default: Any = None) -> Any:
        """A value of ``kb.toml`` by dotted name, as ``store.url``."""
        value: Any = self.config
        for part in dotted.split("."):
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value


def find_workspace(given: str | Path | None = None) -> Workspace:
    """The workspace that ``given``, ``KB_WORKSPACE`` or a parent of the current folder names.

    Raises UsageError when there is none, FileFormatError when its ``kb.toml`` cannot be read.
    """
    named = given or os.environ.get("KB_WORKSPACE")
    if named:
        root = Path(named).expanduser().resolve()
        if not (root / CONFIG_NAME).is_file():
            raise UsageError(f"{root} is not a workspace: it has no {CONFIG_NAME}", f"kb init {root}")
        return load_workspace(root)
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if (folder / CONFIG_NAME).is_file():
            return load_workspace(folder)
    raise UsageError(
        f"no workspace: neither {here} nor a folder above it has a {CONFIG_NAME}",
        "kb init DIR makes one; or name one with --workspace DIR or KB_WORKSPACE",
    )


def load_workspace(root: Path) -> Workspace:
    """Read ``root/kb.toml``."""
    path = root / CONFIG_NAME
    try:
        return Workspace(root=root, config=tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise FileFormatError(path, _line_of(error), str(error), f"correct {path}") from None
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8") from None


def _line_of(error: tomllib.TOMLDecodeError) -> int:
    words = str(error).rsplit("line ", 1)
    digits = words[-1].split(",")[0].strip() if len(words) == 2 else ""
    return int(digits) if digits.isdigit() else 1


def cache_dir() -> Path:
    """The user's cache folder for models and downloads (``KB_CACHE_DIR``, else the system's place for caches)."""
    given = os.environ.get("KB_CACHE_DIR")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("kb", appauthor=False))


def is_offline() -> bool:
    """Whether the offline switch (``--offline`` or ``KB_OFFLINE=1``) is on."""
    return os.environ.get("KB_OFFLINE", "") not in ("", "0", "false", "no")


def write_atomic(path: Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file whole or not at all; a full disk or a killed process leaves the old one as it was.

    Content that is too large for one piece comes as an iterable of pieces.
    Raises KbError on a full disk or a folder that cannot be written.
    """
    if isinstance(content, str):
        content = content.encode("utf-8")
    pieces = [content] if isinstance(content, bytes) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes files that only the owner reads; a workspace is shared as its folder is.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise cannot_write(path, error) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cannot_write(path: Path, error: OSError) -> KbError:
    """The message for a full disk or a folder without permission."""
    reason = error.strerror or str(error)
    return KbError(f"cannot write {path}: {reason}", "nothing was changed there; make room or fix permissions")

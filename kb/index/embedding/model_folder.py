"""Model folders in the user's cache: made whole or not at all, by one process at a time, checked when opened."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from kb.errors import KbError
from kb.workspace import cache_dir, write_atomic

_MANIFEST = "kb-files.json"
_WAIT_SECONDS = 300


def models_dir() -> Path:
    """Where unpacked models lie."""
    return cache_dir() / "models"


def installed(name: str, fill: Callable[[Path], None]) -> Path:
    """The folder ``models_dir()/name``; when it is absent or damaged, ``fill(empty folder)`` makes it first.

    A killed or failed run leaves only a temporary folder, which the next run removes. Raises KbError on a full
    disk, a folder that cannot be written, or another process that takes too long.
    """
    folder = models_dir() / name
    if _is_whole(folder):
        return folder
    from filelock import FileLock, Timeout

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{name}.lock"), timeout=_WAIT_SECONDS):
            if not _is_whole(folder):
                _make(folder, fill)
    except Timeout:
        raise KbError(
            f"another process has been unpacking {name} for {_WAIT_SECONDS} s", "try again when it is done"
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "nothing was left half done; make room there, or set KB_CACHE_DIR to a folder with 500 MB free"
        raise KbError(f"cannot unpack the model into {folder}: {reason}", hint) from None
    return folder


def _make(folder: Path, fill: Callable[[Path], None]) -> None:
    building = folder.with_name(f".{folder.name}.building")
    for stale in (building, folder):
        if stale.exists():
            shutil.rmtree(stale)
    building.mkdir()
    try:
        fill(building)
        sizes = {str(path.relative_to(building)): path.stat().st_size for path in _files(building)}
        write_atomic(building / _MANIFEST, json.dumps(sizes, indent=1))
        os.replace(building, folder)  # noqa: PTH105 - Path.replace says nothing of folders
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def _is_whole(folder: Path) -> bool:
    """Every file that was written is there with its size; digests were checked on the way in."""
    try:
        sizes: dict[str, int] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())

"""Files that Python packages carry, found and checked without importing the package."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kb.errors import KbError


def package_file(distribution: str, file: str, install: str) -> Path:
    """The path of ``file`` inside an installed distribution.

    Raises KbError that says to type ``install`` when the package or the file is missing.
    """
    from importlib import metadata

    try:
        path = Path(str(metadata.distribution(distribution).locate_file(file)))
    except metadata.PackageNotFoundError:
        raise KbError(f"the package {distribution}, which carries the model, is not installed", install) from None
    if not path.is_file():
        raise KbError(f"the package {distribution} has lost its file {file}", f"{install} --force-reinstall")
    return path


def require_digest(path: Path, sha256: str, install: str) -> None:
    """Raises KbError unless the file's SHA-256 is the one pinned: kb opens no weights that it does not know."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        message = f"{path} is damaged or another version (SHA-256 {found[:12]}, not {sha256[:12]})"
        raise KbError(message, f"{install} --force-reinstall")

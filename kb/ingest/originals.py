"""The files of a paper as they came, kept below ``papers/<slug>/files/`` by version, and where each came from.

``files/v2/`` holds what belongs to version 2; ``files/local/`` what names no version. ``originals.json`` beside the
files has the SHA-256 of each, its address or path, and the day. Files are added, never changed or removed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kb.errors import FileFormatError
from kb.workspace import cannot_write, write_atomic

LEDGER = "originals.json"
SOURCE_SUFFIXES = (".tar.gz", ".tgz", ".tar", ".gz", ".zip", ".tex", ".ltx", ".src")


@dataclass(frozen=True, slots=True)
class PaperFiles:
    """The originals of one version. Any may be missing."""

    html: Path | None = None
    source: Path | None = None
    pdf: Path | None = None


def place_of(folder: Path, version: int | None) -> Path:
    """Where the originals of a version of the paper in ``folder`` lie."""
    return folder / "files" / (f"v{version}" if version else "local")


def files_of(folder: Path, version: int | None, with_loose: bool = False) -> PaperFiles:
    """The originals of a version. ``with_loose`` lets originals that name no version fill its gaps."""
    own = _listed(place_of(folder, version))
    loose = _listed(place_of(folder, None)) if with_loose else PaperFiles()
    return PaperFiles(own.html or loose.html, own.source or loose.source, own.pdf or loose.pdf)


def _listed(place: Path) -> PaperFiles:
    html = source = pdf = None
    for path in sorted(place.iterdir()) if place.is_dir() else ():
        name = path.name.lower()
        if name.startswith("."):
            continue
        if path.is_dir() or name.endswith(SOURCE_SUFFIXES):
            source = source or path
        elif name.endswith(".pdf"):
            pdf = pdf or path
        elif name.endswith(".html"):
            html = html or path
    return PaperFiles(html, source, pdf)


def keep_copy(place: Path, path: Path, digest: str, day: str) -> Path:
    """Copy a file or folder that a person has to its place, unless it is there already; returns the copy."""
    target = place / path.name
    if path.resolve().is_relative_to(place.resolve()):
        return path
    if target.exists() and _read(place).get(target.name, {}).get("sha256") != digest:
        target = place / f"{digest[:8]}-{path.name}"
    if not target.exists():
        partial = target.with_name(f".{target.name}.part")
        try:
            place.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, partial, dirs_exist_ok=True, symlinks=True)
            else:
                shutil.copyfile(path, partial)
            partial.replace(target)
        except OSError as error:
            raise cannot_write(target, error) from None
    enter(place, target.name, digest, str(path), day)
    return target


def enter(place: Path, name: str, digest: str, source: str, day: str) -> None:
    """Write down where an original came from."""
    entries = _read(place)
    entries[name] = {"sha256": digest, "source": source, "day": day}
    write_atomic(place / LEDGER, json.dumps(entries, ensure_ascii=False, indent=1) + "\n")


def entry_of(path: Path) -> dict[str, str]:
    """What was written down of an original; empty for one that a person put there."""
    return _read(path.parent).get(path.name, {})


def _read(place: Path) -> dict[str, dict[str, str]]:
    path = place / LEDGER
    if not path.is_file():
        return {}
    try:
        entries: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise FileFormatError(path, error.lineno, "not valid JSON", f"delete {path}; it is written again") from None
    return entries


def digests(papers: Path) -> Iterator[tuple[str, str]]:
    """``(sha256, slug)`` of every original in the workspace: how a file is known again without the journal."""
    for ledger in sorted(papers.glob(f"*/files/*/{LEDGER}")):
        for entry in _read(ledger.parent).values():
            yield entry.get("sha256", ""), ledger.parents[2].name


def digest_of(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder."""
    if path.is_file():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    digest = hashlib.sha256()
    for item in sorted(path.rglob("*")):
        if item.is_file():
            digest.update(item.relative_to(path).as_posix().encode("utf-8") + b"\0" + item.read_bytes())
    return digest.hexdigest()

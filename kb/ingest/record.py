"""The files of a paper: its record for people, and its text by version. What people wrote is never rewritten."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.ingest.originals import place_of
from kb.library import RECORD_NAME, TEXT_NAME, read_metadata
from kb.model import Document, Metadata
from kb.textfile import is_edited, write
from kb.workspace import write_atomic

_BODY = """\
## 摘要 Summary

## 方法 Method

## 笔记 Notes
"""
_ALWAYS_SHOWN = ("aliases", "tags")


def write_record(folder: Path, metadata: Metadata, added: str, sha256: str = "", tags: tuple[str, ...] = ()) -> bool:
    """Create ``paper.md``; False when there is one already, which then stays as it is."""
    path = folder / RECORD_NAME
    if path.exists():
        return False
    fields: dict[str, Any] = {
        "id": metadata.arxiv_id,
        "sha256": None if metadata.arxiv_id else sha256,
        "title": metadata.title,
        "authors": list(metadata.authors),
        "published": metadata.published,
        "updated": metadata.updated,
        "version": metadata.version,
        "categories": list(metadata.categories),
        "comment": metadata.comment,
        "doi": metadata.doi,
        "journal_ref": metadata.journal_ref,
        "withdrawn": metadata.withdrawn or None,
        "aliases": [],
        "tags": list(tags),
        "added": added,
    }
    kept = {key: value for key, value in fields.items() if value not in (None, "", []) or key in _ALWAYS_SHOWN}
    write_atomic(path, frontmatter.dump(kept, _BODY))
    return True


def write_metadata(folder: Path, metadata: Metadata) -> None:
    """Keep arXiv's record of a version beside its files."""
    path = place_of(folder, metadata.version) / "metadata.json"
    write_atomic(path, json.dumps(dataclasses.asdict(metadata), ensure_ascii=False, indent=1) + "\n")


def metadata_of(folder: Path, version: int | None) -> Metadata | None:
    """What arXiv said of this version, if it was asked."""
    path = place_of(folder, version) / "metadata.json"
    return read_metadata(path) if version and path.is_file() else None


def write_text(folder: Path, document: Document) -> tuple[Path, str]:
    """Write the text of a version; returns the file and a remark for people (often empty).

    ``text.md`` is always the newest version: an older one that comes later gets a name with its version, and so does
    the present one when a newer one comes. A text that a person edited is kept, and ours is put beside it.
    """
    current = folder / TEXT_NAME
    version = document.version or 0
    text = write(document)
    if not current.exists():
        write_atomic(current, text)
        return current, ""
    old = current.read_text(encoding="utf-8")
    held = _version_of(old, current)
    if version and held and version < held:
        return _write_beside(folder / f"text.v{version}.md", text, version)
    if version and held and version > held:
        # The copy comes first, so that a process killed in between leaves both.
        write_atomic(folder / f"text.v{held}.md", old)
        write_atomic(current, text)
        return current, f"version {held} is kept as text.v{held}.md"
    return _write_beside(current, text, version)


def _write_beside(target: Path, text: str, version: int) -> tuple[Path, str]:
    """Write ``target`` unless a person edited it; then the new text becomes a file of its own."""
    if target.exists() and is_edited(target.read_text(encoding="utf-8"), target):
        fresh = target.with_name(f"text.v{version}.fresh.md")
        write_atomic(fresh, text)
        return fresh, f"{target.name} was edited by hand and stays; the new reading is {fresh.name}"
    write_atomic(target, text)
    return target, ""


def _version_of(text: str, path: Path) -> int:
    fields, _ = frontmatter.parse(text, path)
    value = fields.get("version")
    return value if isinstance(value, int) else 0


def versions(folder: Path) -> list[int]:
    """The versions whose text is here, newest first; 0 stands for a text that names none."""
    found = {
        int(match[1]) for path in folder.glob("text.v*.md") if (match := re.fullmatch(r"text\.v(\d+)\.md", path.name))
    }
    current = folder / TEXT_NAME
    if current.exists():
        found.add(_version_of(current.read_text(encoding="utf-8"), current))
    return sorted(found, reverse=True)

"""Papers and notes as the index sees them: which files each has, and their passages as a pure function of those.

``read_document`` takes a workspace root and a name and returns a value; processes or a cluster can map it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from kb.errors import KbError
from kb.index.chunk import text_drafts
from kb.index.chunk_markdown import markdown_drafts
from kb.index.chunk_record import abstract_drafts, record_drafts
from kb.index.drafts import Draft, Owner, finish
from kb.index.passages import DocumentPassages, FileState
from kb.library import RECORD_NAME, TEXT_NAME, newest_metadata, read_paper
from kb.model import Kind
from kb.notes import parse_note
from kb.textfile import read as read_text
from kb.workspace import Workspace

Stat = tuple[int, int]  # mtime in ns, size in bytes

# A file may be written again within the same tick of the file system's clock, with the same size.
_YOUNG_NS = 2_000_000_000


def scan(workspace: Workspace) -> dict[str, dict[str, Stat]]:
    """By owner (slug of a paper, path of a note), the files its passages are made from, with their stat."""
    found: dict[str, dict[str, Stat]] = {}
    for record in sorted(workspace.papers.glob(f"*/{RECORD_NAME}")):
        folder = record.parent
        files = [record, folder / TEXT_NAME, newest_metadata(folder)]
        found[folder.name] = dict(_stats(workspace.root, files))
    for note in sorted(workspace.notes.rglob("*.md")):
        found[_relative(workspace.root, note)] = dict(_stats(workspace.root, [note]))
    return {owner: files for owner, files in found.items() if files}


def _stats(root: Path, files: list[Path | None]) -> Iterator[tuple[str, Stat]]:
    for path in files:
        if path is None or not path.is_file():
            continue
        found = path.stat()
        yield _relative(root, path), (found.st_mtime_ns, found.st_size)


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def changed_files(
    root: Path, files: Mapping[str, Stat], before: Mapping[str, FileState] | None
) -> tuple[bool, tuple[FileState, ...]]:
    """Whether a document's files have another content than before; if not, their states where the times are others."""
    if before is None or before.keys() != files.keys():
        return True, ()
    if all((state.mtime_ns, state.size) == files[path] for path, state in before.items()):
        return False, ()
    try:
        fresh = tuple(
            FileState(path, settled(mtime), size, hashlib.sha256((root / path).read_bytes()).hexdigest())
            for path, (mtime, size) in files.items()
        )
    except OSError:
        return True, ()
    return any(state.sha256 != before[state.path].sha256 for state in fresh), fresh


def settled(mtime_ns: int) -> int:
    """The time to remember a file by; 0, so that the next run looks into it, when it was written just now."""
    return 0 if time.time_ns() - mtime_ns < _YOUNG_NS else mtime_ns


def read_document(root: Path, owner: str, files: Mapping[str, Stat]) -> DocumentPassages:
    """The passages of a paper or note.

    Raises KbError (or OSError) when one of its files cannot be read.
    """
    texts: dict[str, str] = {}
    states = []
    for path, (mtime_ns, size) in files.items():
        data = (root / path).read_bytes()
        texts[path] = _decode(path, data)
        states.append(FileState(path, settled(mtime_ns), size, hashlib.sha256(data).hexdigest()))
    if owner.endswith(".md"):
        return _note(owner, texts[owner], tuple(states))
    return _paper(root, owner, texts, tuple(states))


def _decode(path: str, data: bytes) -> str:
    """As text files are read everywhere: UTF-8, line ends as line feeds. Spans are ranges of this."""
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8") from None


def _paper(root: Path, slug: str, texts: Mapping[str, str], files: tuple[FileState, ...]) -> DocumentPassages:
    record = f"papers/{slug}/{RECORD_NAME}"
    paper = read_paper(root / record)
    tags = (*paper.tags, "withdrawn") if paper.withdrawn else paper.tags
    owner = Owner(slug, paper.title, paper.date, tuple(dict.fromkeys(tags)))
    raw = texts[record]
    drafts: list[Draft] = list(record_drafts(paper.fields, raw, record))
    drafts += markdown_drafts(raw, len(raw) - len(paper.body), record, Kind.PROSE, paper.title)
    text_path = f"papers/{slug}/{TEXT_NAME}"
    has_abstract = False
    if text_path in texts:
        file = read_text(texts[text_path], root / text_path)
        drafts += text_drafts(file, texts[text_path], text_path)
        has_abstract = bool(file.document.abstract.strip())
    if not has_abstract:
        for path in texts:
            if path.endswith(".json"):
                drafts += abstract_drafts(texts[path], path)
    return DocumentPassages(slug, "paper", paper.title, paper.date, owner.tags, files, finish(owner, drafts))


def _note(path: str, raw: str, files: tuple[FileState, ...]) -> DocumentPassages:
    note = parse_note(path, raw)
    owner = Owner(path, note.title, note.date, note.tags)
    passages = finish(owner, markdown_drafts(raw, len(raw) - len(note.body), path, Kind.NOTE, note.title))
    return DocumentPassages(path, "note", note.title, note.date, note.tags, files, passages)

"""What the words on the command line name: arXiv ids, files, folders of files, lists of ids."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kb.errors import UsageError
from kb.ingest.ids import ArxivId, try_arxiv_id

ARCHIVES = (".tar.gz", ".tgz", ".tar", ".gz", ".zip")
LIBRARY_EXPORTS = (".bib", ".ris", ".rdf")


@dataclass(frozen=True, slots=True)
class Source:
    """One paper to be ingested. ``name`` is what messages and the journal call it."""

    kind: Literal["arxiv", "pdf", "latex"]
    name: str
    id: ArxivId | None = None
    path: Path | None = None


def read_sources(words: Iterable[str]) -> list[Source]:
    """The sources that words name, each once, in order. Raises UsageError for a word that names nothing."""
    found: dict[str, Source] = {}
    for word in words:
        for source in _of_word(word):
            found.setdefault(source.name, source)
    return list(found.values())


def _of_word(word: str) -> Iterator[Source]:
    if word == "-":
        yield from _of_lines(sys.stdin.read().splitlines(), "standard input")
        return
    path = Path(word).expanduser()
    if path.exists():
        yield from _of_path(path.resolve())
        return
    identifier = try_arxiv_id(word)
    if identifier is None:
        raise UsageError(
            f"{word!r} is neither an arXiv id nor a file that exists",
            "an id looks like 2503.14476 or math/0309136; quote paths that have spaces",
        )
    yield Source("arxiv", str(identifier), id=identifier)


def _of_path(path: Path) -> Iterator[Source]:
    if path.is_dir():
        if _is_latex_folder(path):
            yield Source("latex", str(path), id=_named(path.name), path=path)
            return
        for child in sorted(path.iterdir()):
            if not child.name.startswith(".") and (child.is_dir() or _is_paper_file(child)):
                yield from _of_path(child)
        return
    yield _of_file(path) if _is_paper_file(path) else _not_a_paper(path)
    return


def _of_file(path: Path) -> Source:
    lower = path.name.lower()
    if lower.endswith(".txt"):
        raise UsageError(f"{path} is a list of ids, not a paper")
    kind: Literal["pdf", "latex"] = "pdf" if lower.endswith(".pdf") else "latex"
    return Source(kind, str(path), id=_named(path.name), path=path)


def _named(name: str) -> ArxivId | None:
    """The id that a file or folder is named after."""
    for end in (".tar.gz", ".tgz", ".tar", ".gz", ".pdf", ".tex"):
        name = name.removesuffix(end)
    return try_arxiv_id(name)


def _is_latex_folder(path: Path) -> bool:
    return any(child.suffix.lower() in (".tex", ".ltx") for child in path.iterdir() if child.is_file())


def _is_paper_file(path: Path) -> bool:
    lower = path.name.lower()
    return path.is_file() and lower.endswith((".pdf", ".tex", ".ltx", *ARCHIVES))


def _not_a_paper(path: Path) -> Source:
    lower = path.name.lower()
    if lower.endswith(LIBRARY_EXPORTS):
        raise UsageError(
            f"{path.name}: reading BibTeX and Zotero exports is not built yet",
            "put the arXiv ids in a text file, one to a line, and ingest that",
        )
    if lower.endswith((".md", ".markdown")):
        raise UsageError(f"{path.name} is a note, not a paper", f"kb import {path} brings notes in")
    raise UsageError(f"{path.name} is no PDF, LaTeX source or list of ids", "kb ingest --help names what can be read")


def expand_lists(words: Iterable[str]) -> Iterator[str]:
    """The words with every text file of ids replaced by the ids in it; ``-`` is left for standard input."""
    for word in words:
        path = Path(word).expanduser()
        if path.is_file() and path.suffix.lower() in (".txt", ".lst", ".list", ".ids"):
            for line in path.read_text(encoding="utf-8-sig").splitlines():
                yield from _list_entry(line, str(path))
        else:
            yield word


def _list_entry(line: str, where: str) -> Iterator[str]:
    entry = line.split("#")[0].split()
    if not entry:
        return
    if try_arxiv_id(entry[0]) is None and not Path(entry[0]).exists():
        raise UsageError(f"{where}: {entry[0]!r} is not an arXiv id", "one id to a line; # begins a comment")
    yield entry[0]


def _of_lines(lines: Iterable[str], where: str) -> Iterator[Source]:
    for line in lines:
        for word in _list_entry(line, where):
            yield from _of_word(word)

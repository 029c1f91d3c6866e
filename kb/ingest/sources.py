"""What the words on the command line name: arXiv ids, files, folders of files, lists of ids.

A reader of exports of reference managers (BibTeX, RIS, RDF, CSL-JSON) belongs beside this module and is called from
``_of_file``: it turns an export into Sources.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kb.errors import UsageError
from kb.ingest.ids import ArxivId, try_arxiv_id
from kb.ingest.originals import SOURCE_SUFFIXES

ID_LISTS = (".txt", ".lst", ".list", ".ids")
LIBRARY_EXPORTS = (".bib", ".ris", ".rdf", ".json", ".csv")
TEX_SUFFIXES = (".tex", ".ltx")


@dataclass(frozen=True, slots=True)
class Source:
    """One paper to be ingested. ``name`` is what messages and the journal call it."""

    kind: Literal["arxiv", "pdf", "latex"]
    name: str
    id: ArxivId | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class NotASource:
    """A word that names nothing which can be ingested, and why."""

    name: str
    error: UsageError


def read_sources(words: Iterable[str]) -> tuple[list[Source], list[NotASource]]:
    """The sources that words name, each once, in order; and the words that name none."""
    found: dict[str, Source] = {}
    problems: list[NotASource] = []
    for word in words:
        for item in _of_word(word):
            if isinstance(item, Source):
                found.setdefault(item.name, item)
            else:
                problems.append(item)
    return list(found.values()), problems


def _of_word(word: str) -> Iterator[Source | NotASource]:
    if word == "-":
        yield from _of_lines(sys.stdin.read(), "standard input")
        return
    path = Path(word).expanduser()
    # A name with a NUL or of absurd length is no path on any system.
    if len(word) < 4096 and "\0" not in word and os.path.lexists(path):
        yield from _of_path(path.absolute())
    elif identifier := try_arxiv_id(word):
        yield Source("arxiv", str(identifier), id=identifier)
    else:
        yield NotASource(word, _nothing_there(word))


def _nothing_there(word: str) -> UsageError:
    if re.match(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?10\.\d{4,9}/", word, re.IGNORECASE):
        return UsageError(f"{word} is not a DOI of arXiv", "give the arXiv id, or fetch the PDF and ingest the file")
    if re.match(r"https?://", word, re.IGNORECASE):
        return UsageError(f"{word} is not an address of arXiv", "fetch the PDF and ingest the file")
    return UsageError(
        f"{word!r} is neither an arXiv id nor a file that exists",
        "an id looks like 2503.14476 or math/0309136; quote paths that have spaces",
    )


def _of_path(path: Path) -> Iterator[Source | NotASource]:
    try:
        if not path.is_dir():
            yield from _of_file(path)
            return
        inside = list(_of_folder(path))
        yield from inside
        if not inside:
            yield NotASource(str(path), UsageError(f"{path} holds no PDF and no LaTeX source"))
    except OSError as error:
        yield NotASource(str(path), UsageError(f"{path} cannot be read: {error.strerror}", "look at its permissions"))


def _of_folder(folder: Path) -> Iterator[Source]:
    """A LaTeX project is one source; any other folder is walked. Links to folders are not followed."""
    if _is_latex_project(folder):
        yield Source("latex", str(folder), id=_named(folder.name), path=folder)
        return
    for child in sorted(folder.iterdir()):
        if child.name.startswith("."):
            continue
        if child.is_dir() and not child.is_symlink():
            yield from _of_folder(child)
        elif child.is_file() and (source := _paper_file(child)):
            yield source


def _is_latex_project(folder: Path) -> bool:
    if any(child.suffix.lower() in TEX_SUFFIXES and child.is_file() for child in folder.iterdir()):
        return True
    # A folder with the name of a paper is that paper, wherever in it the TeX lies.
    return _named(folder.name) is not None and any(item.suffix.lower() in TEX_SUFFIXES for item in folder.rglob("*"))


def _paper_file(path: Path) -> Source | None:
    lower = path.name.lower()
    if lower.endswith(".pdf"):
        return Source("pdf", str(path), id=_named(path.name), path=path)
    if lower.endswith(SOURCE_SUFFIXES):
        return Source("latex", str(path), id=_named(path.name), path=path)
    return None


def _named(name: str) -> ArxivId | None:
    """The id that a file or folder is named after."""
    for end in (*SOURCE_SUFFIXES, ".pdf"):
        name = name.removesuffix(end)
    return try_arxiv_id(name)


def _of_file(path: Path) -> Iterator[Source | NotASource]:
    lower = path.name.lower()
    if source := _paper_file(path):
        yield source
    elif lower.endswith(ID_LISTS):
        try:
            yield from _of_lines(path.read_text(encoding="utf-8-sig"), str(path))
        except UnicodeDecodeError:
            yield NotASource(str(path), UsageError(f"{path} is not UTF-8 text", "a list has one arXiv id to a line"))
    else:
        yield NotASource(str(path), _not_a_paper(path, lower))


def _not_a_paper(path: Path, lower: str) -> UsageError:
    if lower.endswith(LIBRARY_EXPORTS):
        return UsageError(
            f"{path.name}: kb ingest does not read exports of reference managers",
            "put the arXiv ids in a text file, one to a line, and ingest that",
        )
    if lower.endswith((".md", ".markdown")):
        return UsageError(f"{path.name} is a note, not a paper", f"kb import {path} brings notes in")
    return UsageError(f"{path.name} is no PDF, LaTeX source or list of ids", "kb ingest --help names what can be read")


def _of_lines(text: str, where: str) -> Iterator[Source | NotASource]:
    """One id or path to a line; what follows a ``#`` that stands apart is a comment."""
    for number, line in enumerate(text.splitlines(), start=1):
        entry = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()
        if not entry:
            continue
        for item in _of_word(entry) if entry != "-" else ():
            if isinstance(item, NotASource):
                yield NotASource(f"{where}:{number}", item.error)
            else:
                yield item

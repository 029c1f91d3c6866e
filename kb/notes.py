"""The reader of notes: what people wrote below ``notes/``, with or without front matter, as values.

Front matter may give ``title``, ``date``, ``end`` (the last day of a span), ``kind``, ``papers`` and ``tags``. What it
leaves out is read from the file's place, its name and its first lines; never from file times.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.errors import KbError, UsageError
from kb.library import Library
from kb.links import Link, Names
from kb.markup import Markup, markup_of

KINDS = ("reading", "idea", "project", "study", "question", "decision")
_CHINESE_KINDS = {
    "阅读": "reading", "精读": "reading", "想法": "idea", "项目": "project", "学习": "study", "概念": "study",
    "问题": "question", "问答": "question", "决定": "decision",
}  # fmt: skip
_FOLDER_KINDS = {"reports": "report", "experiments": "experiment", "decisions": "decision"}
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t\r]*$", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(\d{4})[-./年](\d{1,2})[-./月](\d{1,2})(?!\d)")
_SENTENCE_END = ("。", "！", "？", ".", "!", "?", "；", ";", "，", "：", ":")
_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class Note:
    """One note. ``path`` is relative to the workspace; ``body`` is all behind the front matter, as it is written.

    ``date`` is an ISO day or empty; ``end`` is the last day of a note about a span, else the same day.
    ``papers`` are slugs, or the names as written where no paper of that name is here. ``links`` are places in ``body``.
    Notes below ``reports/`` and ``experiments/`` have the kinds ``report`` and ``experiment``.
    """

    path: str
    title: str
    kind: str
    date: str
    end: str
    papers: tuple[str, ...]
    tags: tuple[str, ...]
    body: str
    fields: Mapping[str, Any]
    links: tuple[Link, ...] = ()

    @property
    def text(self) -> str:
        """The body without the heading that is the note's title."""
        bare = self.body.strip()
        first, _, rest = bare.partition("\n")
        match = _HEADING.fullmatch(first.rstrip())
        return rest.strip() if match and match[2] == self.title else bare

    def names(self, target: str) -> bool:
        """Whether the note names this slug or path, in its front matter or its text."""
        return target in self.papers or any(link.target == target for link in self.links)


def read_notes(library: Library) -> tuple[list[Note], list[KbError]]:
    """All notes but the queue, by path, with their links; and what is wrong with those that cannot be read."""
    notes: list[Note] = []
    problems: list[KbError] = []
    names = Names(library)
    workspace = library.workspace
    for path in library.notes():
        if path == workspace.queue:
            continue
        try:
            note = parse_note(path.relative_to(workspace.root).as_posix(), _text(path))
        except KbError as error:
            problems.append(error)
            continue
        papers = tuple(dict.fromkeys(names.resolve(name).target for name in note.papers))
        notes.append(replace(note, papers=papers, links=names.links(note.body)))
    return notes, problems


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8, or bring it in with kb import {path}") from None


@dataclass(frozen=True, slots=True)
class Backlink:
    """A note that names something, and the lines that do: line number in the body, from 1, and text."""

    note: Note
    lines: tuple[tuple[int, str], ...]


def backlinks(notes: Sequence[Note], target: str) -> list[Backlink]:
    """The notes that name a slug, an arXiv id or a note's path; one that has it in its front matter alone has no lines."""
    found = []
    for note in notes:
        if note.path == target or not note.names(target):
            continue
        numbers = dict.fromkeys(note.body.count("\n", 0, link.start) for link in note.links if link.target == target)
        lines = note.body.split("\n")
        found.append(Backlink(note, tuple((number + 1, lines[number].strip()) for number in numbers)))
    return found


def find_note(notes: Sequence[Note], name: str) -> Note:
    """The note with this path, file name or title, or whose name or title alone has these words.

    Raises UsageError when none or several fit.
    """
    bare = name.removesuffix(".md").casefold()
    for fits in (_is_called, _has_words):
        found = [note for note in notes if fits(note, bare)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(note.path for note in found[:5])
            raise UsageError(f"{name!r} fits {len(found)} notes: {listed}", "name one by its path")
    raise UsageError(f"no note {name!r}", "kb note list shows what is there; kb note new PAPER makes one")


def _is_called(note: Note, bare: str) -> bool:
    path = note.path.removesuffix(".md").casefold()
    return bare in (path, path.removeprefix("notes/"), path.rpartition("/")[2], note.title.casefold())


def _has_words(note: Note, bare: str) -> bool:
    return bare in note.path.casefold() or bare in note.title.casefold()


def parse_note(path: str, raw: str) -> Note:
    """The note of a file's text, its papers and links not looked up. Raises FileFormatError for bad front matter."""
    found, body = frontmatter.parse(raw, Path(path))
    fields = {key.strip(" :：").casefold(): value for key, value in found.items()}
    title = str(fields.get("title") or "").strip() or title_of(body) or Path(path).stem
    papers = _words(fields.get("papers") or fields.get("paper"))
    date = _day(str(fields.get("date") or ""), Path(path).name, title)
    end = _day(str(fields.get("end") or "")) or date
    return Note(path, title, _kind(path, fields, papers), date, end, papers, _tags(path, fields), body, fields)


def title_of(body: str) -> str:
    """The first heading of level 1, else the heading or the short line that the text begins with; may be empty."""
    markup = markup_of(body)
    first = next((line for line in body.splitlines() if line.strip(" \t*-_=")), "").strip()
    for match in _HEADING.finditer(body):
        if len(match[1]) == 1 and match[2] and not markup.form_at(match.start()):
            return match[2]
    heading = _HEADING.fullmatch(first)
    if heading:
        return heading[2][:_LONGEST_TITLE]
    is_text = (
        first
        and not first.startswith((">", "|", "!", "<", "`", "$", "- ", "* ", "┌"))
        and first[-1] not in _SENTENCE_END
    )
    return first[:_LONGEST_TITLE] if is_text else ""


def headings(body: str, markup: Markup | None = None) -> list[tuple[int, str, int, int]]:
    """The Markdown headings outside code and maths: level, text, and the place of the line."""
    markup = markup or markup_of(body)
    return [
        (len(match[1]), match[2], match.start(), match.end())
        for match in _HEADING.finditer(body)
        if not markup.form_at(match.start())
    ]


def _kind(path: str, fields: Mapping[str, Any], papers: tuple[str, ...]) -> str:
    given = str(fields.get("kind") or "").strip().casefold()
    if given:
        return _CHINESE_KINDS.get(given, given)
    return _FOLDER_KINDS.get(_folder(path)) or ("reading" if papers else "study")


def _folder(path: str) -> str:
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def _day(*texts: str) -> str:
    """The first day named, as an ISO string: of the front matter, else of the file's name, else of the title."""
    for text in texts:
        for match in _DAY.finditer(text):
            try:
                return dt.date(int(match[1]), int(match[2]), int(match[3])).isoformat()
            except ValueError:
                continue
    return ""


def _words(value: Any) -> tuple[str, ...]:
    """A field that is names with commas, or a list; Obsidian's ``[[name]]`` is read by YAML as lists in lists."""
    if isinstance(value, list | tuple):
        return tuple(
            word for item in value for word in (_words(item) if isinstance(item, list) else (str(item).strip(),))
        )
    return tuple(word for part in re.split(r"[,，、]", str(value or "")) if (word := part.strip()))


def _tags(path: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    given = fields.get("tags")
    tags = given.replace(",", " ").split() if isinstance(given, str) else list(_words(given))
    if _folder(path) in _FOLDER_KINDS:
        tags.append(_FOLDER_KINDS[_folder(path)])
    return tuple(dict.fromkeys(tag.lstrip("#") for tag in tags))

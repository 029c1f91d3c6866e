"""A weekly report taken apart: a piece per paper, question, project and study, the to-do list, and what is left.

Every character behind the title goes into exactly one of these, as it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kb.importing.dates import Span, find_span
from kb.importing.outline import Outline, Section, bare_title
from kb.importing.recognise import NO_PAPER, About, about_title
from kb.links import Names
from kb.notes import Note

Role: TypeAlias = Literal["todo", "list", "question", "reading", "project", "study"]

# Where several words are in a heading, the first one says what the section is.
_ROLES: dict[Role, str] = {
    "todo": r"to-?\s?do\b|待办|下周|下一步|plans?\s+(?:of|for)\s+next|next\s+(?:week|steps)",
    "list": r"清单|目录|本周概览|^overview|^this week",
    "question": r"q\s*&\s*a|问答|答疑|追问|^疑问|^问题|^questions?\b",
    "reading": r"阅读|读论文|论文|精读|文献|survey|\bpapers?\b|\breading\b",
    "project": r"开发|项目|实现|部署|实验|复现|\bprojects?\b|implement|experiment",
    "study": r"学习|概念|理解|笔记|\bstud(?:y|ies)\b|concept|\bnotes\b",
}
_REPORT_WORDS = re.compile(r"周报|周记|周总结|回顾|weekly|week(?:ly)?[ _-]?report", re.IGNORECASE)
_GENERIC = re.compile(r"^(?:启发|总结|小结|对比|参考|资料|takeaways?|summary|references?)", re.IGNORECASE)
_QUESTION = re.compile(r"^(?:\*\*)?(?:Q\d*|问)\s*[:：.、].*$", re.MULTILINE | re.IGNORECASE)
_LONGEST_QUESTION = 60


@dataclass(frozen=True)
class Piece:
    """A part of a report that becomes a note. ``ref`` is its place in the outline; ``body`` its text."""

    ref: str
    kind: str
    title: str
    body: str
    about: About = NO_PAPER


@dataclass
class Parts:
    """A report taken apart. ``rest`` is the report without its pieces; a Piece stands where its text was."""

    pieces: list[Piece] = field(default_factory=list)
    todo: list[tuple[str, str]] = field(default_factory=list)  # heading (or empty) and text
    rest: list[str | Piece] = field(default_factory=list)


def report_span(outline: Outline, note: Note, file_name: str, year: int | None) -> Span | None:
    """The days of a weekly report; None when the text is none.

    It is one with a range of days and either its word or a to-do list, or with its word and one day.
    """
    says_so = any(_REPORT_WORDS.search(text) for text in (outline.title, note.title, file_name))
    span = find_span((outline.title, note.title, file_name), year)
    if span is None:
        return Span(note.date, note.date, note.date) if says_so and note.date and outline.sections else None
    return span if says_so or any(_role(section) == "todo" for section in outline.sections) else None


def take_apart(text: str, outline: Outline, names: Names) -> Parts:
    """The pieces of a report, in order."""
    parts = Parts()
    parts.rest.append(text[outline.body : outline.lead])
    for section in outline.sections:
        _Taker(text, names, parts).take(section)
    return parts


@dataclass
class _Taker:
    text: str
    names: Names
    parts: Parts

    def take(self, section: Section) -> None:
        self._keep(section.start, section.body)
        role = role_of(section)
        if role == "todo":
            self._take_todo(section)
        elif role == "list":
            self._keep(section.body, section.stop)
        elif section.parts and self._is_split(section, role):
            self._keep(section.body, section.lead)
            for part in section.parts:
                self._keep(part.start, part.body)
                if _role(part) == "todo":
                    self._take_todo(part)
                else:
                    self._piece(part, role)
        elif role == "question" and len(list(_QUESTION.finditer(self.text, section.body, section.stop))) > 1:
            self._questions(section)
        else:
            self._piece(section, role)

    def _is_split(self, section: Section, role: Role) -> bool:
        """Papers and questions stand for themselves; concepts too, where nothing binds them together."""
        if role in ("reading", "question"):
            return True
        generic = any(_GENERIC.match(bare_title(part.title)) for part in section.parts)
        return _role(section) == "study" and not generic and not self.text[section.body : section.lead].strip()

    def _piece(self, section: Section, role: Role) -> None:
        body = ""
        at = section.body
        todos = [part for part in _below(section) if _role(part) == "todo"]
        for todo in todos:
            body += self.text[at : todo.start]
            at = todo.stop
        body += self.text[at : section.stop]
        title = bare_title(section.title)
        about = about_title(self.names, title, is_paper=True) if role == "reading" else NO_PAPER
        kind = "study" if role == "reading" and not about.papers and section.level > 1 else role
        if role == "reading" and not about.papers and not section.parts:
            links = [link for link in self.names.links(body) if link.how == "arxiv"]
            about = About(tuple(dict.fromkeys(link.target for link in links)))
        if body.strip():
            self._add(Piece(section.number, kind, title or section.number, body, about))
        else:
            self.parts.rest.append(body)
        for todo in todos:
            self._keep(todo.start, todo.body)
            self._take_todo(todo)

    def _questions(self, section: Section) -> None:
        places = [match.start() for match in _QUESTION.finditer(self.text, section.body, section.stop)]
        self._keep(section.body, places[0])
        for count, (start, stop) in enumerate(zip(places, [*places[1:], section.stop], strict=True), start=1):
            line = self.text[start:stop].split("\n", 1)[0]
            words = re.sub(r"^(?:\*\*)?(?:Q\d*|问)\s*[:：.、]\s*|\*\*", "", line, flags=re.IGNORECASE).strip()
            title = re.split(r"(?<=[？?])", words)[0][:_LONGEST_QUESTION]
            self._add(Piece(f"{section.number}.q{count}", "question", title, self.text[start:stop]))

    def _take_todo(self, section: Section) -> None:
        """A to-do list is quoted in the rest as well: the queue has one line for each of its points."""
        self._keep(section.body, section.stop)
        self.parts.todo.append(("", self.text[section.body : section.lead]))
        for part in section.parts:
            self.parts.todo.append((bare_title(part.title), self.text[part.body : part.stop]))

    def _add(self, piece: Piece) -> None:
        self.parts.pieces.append(piece)
        self.parts.rest.append(piece)

    def _keep(self, start: int, stop: int) -> None:
        self.parts.rest.append(self.text[start:stop])


def role_of(section: Section) -> Role:
    """What a section of a report is, by its heading."""
    return _role(section) or ("reading" if _names_a_paper(section) else "study")


def _role(section: Section) -> Role | None:
    title = bare_title(section.title)
    found = [
        (match.start(), role) for role, words in _ROLES.items() if (match := re.search(words, title, re.IGNORECASE))
    ]
    return min(found, key=lambda place: place[0])[1] if found else None


def _names_a_paper(section: Section) -> bool:
    return any(re.search(r"\d{4}\.\d{4,5}", part.title) for part in (section, *section.parts))


def _below(section: Section) -> list[Section]:
    """All sections below one that lie in no to-do list, and the to-do lists themselves, in order."""
    found: list[Section] = []
    for part in section.parts:
        found.append(part)
        if _role(part) != "todo":
            found += _below(part)
    return found

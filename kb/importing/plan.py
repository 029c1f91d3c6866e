"""What an import would make, as a value: notes with their text, tasks, pictures. Nothing is written here."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from kb import frontmatter
from kb.errors import FileFormatError, KbError, UsageError
from kb.importing.dates import Span
from kb.importing.decode import decode
from kb.importing.images import Images
from kb.importing.outline import outline_of
from kb.importing.recognise import Unknown, about_note, unknown_papers
from kb.importing.todo import mark_of, tasks_of
from kb.importing.weekly import Parts, Piece, report_span, take_apart
from kb.ingest.slug import clean, make_slug
from kb.library import Library
from kb.links import Names
from kb.notes import Note, parse_note
from kb.queue import Task
from kb.workspace import Workspace

State: TypeAlias = Literal["new", "known", "kept"]
_SUFFIXES = (".md", ".markdown", ".txt")
_LONGEST_NAME = 48  # bytes of a title in a file name


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import: ``key`` names it in front matter, ``folder`` is where a whole note goes, ``root`` what was given."""

    path: Path
    key: str
    folder: str
    root: Path


@dataclass(frozen=True, slots=True)
class PlannedNote:
    """A note to be made. ``known`` is there from an earlier import; ``kept`` is there and its source reads differently."""

    path: str
    state: State
    kind: str
    title: str
    date: str
    papers: tuple[str, ...]
    source: str
    text: str


@dataclass
class Plan:
    """All that an import would make. ``problems`` are files that cannot be read; ``remarks`` what a person should know.

    ``settled`` are tasks that an earlier import of the same text queued, whatever people made of them since.
    """

    notes: list[PlannedNote] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    settled: list[Task] = field(default_factory=list)
    images: Images = field(default_factory=Images)
    problems: list[KbError] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def sources_of(workspace: Workspace, given: Sequence[Path]) -> list[Source]:
    """The files that paths name. Raises UsageError for a path that is not there or lies in the workspace's notes."""
    found: list[Source] = []
    for path in given:
        place = path.expanduser().resolve()
        if not place.exists():
            raise UsageError(f"there is no {path}", "kb import FILE or kb import FOLDER")
        if place.is_relative_to(workspace.notes.resolve()):
            raise UsageError(f"{path} is among the notes of this workspace already", "kb note list shows them")
        if place.is_dir():
            found += _in_folder(workspace, place)
        else:
            found.append(Source(place, place.name, "notes", place.parent))
    if not found:
        raise UsageError("nothing to import", f"files that end in {', '.join(_SUFFIXES)}")
    return found


def _in_folder(workspace: Workspace, root: Path) -> Iterator[Source]:
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        hidden = any(part.startswith(".") for part in relative.parts)
        ours = any(path.is_relative_to(place) for place in (workspace.notes, workspace.papers, workspace.templates))
        if path.suffix.casefold() in _SUFFIXES and path.is_file() and not hidden and not ours:
            folder = PurePosixPath("notes", clean(root.name) or "imported", *relative.parent.parts)
            yield Source(path, (PurePosixPath(root.name) / relative.as_posix()).as_posix(), folder.as_posix(), root)


def make_plan(library: Library, sources: Sequence[Source], year: int | None, day: str) -> Plan:
    """Plan the import of some files. ``day`` dates what has no day of its own in the queue."""
    planner = _Planner(library, Names(library), Plan(), year, day)
    for source in sources:
        try:
            planner.add(source)
        except KbError as error:
            planner.plan.problems.append(error)
    return planner.plan


@dataclass(frozen=True, slots=True)
class _Read:
    """A source as it was read: its own front matter as it stands, and a digest of the whole text."""

    source: Source
    head: str
    note: Note
    sha: str


class _Planner:
    def __init__(self, library: Library, names: Names, plan: Plan, year: int | None, day: str) -> None:
        self.names = names
        self.plan = plan
        self._year = year
        self._day = day
        self._known: dict[str, str] = {}  # path by digest of the imported text
        self._sources: dict[str, str] = {}  # path by source
        self._taken: set[str] = set()
        self._ending = "\n"
        for path in library.notes():
            relative = path.relative_to(library.workspace.root).as_posix()
            self._taken.add(relative.casefold())
            try:
                fields = frontmatter.read(path)[0]
            except KbError:
                continue
            if fields.get("imported_from"):
                self._sources[str(fields["imported_from"])] = relative
                self._known[str(fields.get("imported_sha"))] = relative

    def add(self, source: Source) -> None:
        text, encoding = decode(source.path.read_bytes(), source.path.name)
        text = text.removeprefix("\ufeff")
        if not encoding.startswith("utf-8"):
            self.plan.remarks.append(f"{source.path.name}: read as {encoding}, written as UTF-8")
        self._ending = "\r\n" if "\r\n" in text else "\n"
        head, body, _ = frontmatter.split(text)
        try:
            note = parse_note(source.path.name, text)
        except FileFormatError as error:
            self.plan.remarks.append(f"{source.path.name}: its front matter is kept as text ({error.message})")
            head, body = "", text
            note = replace(parse_note(source.path.name, f"\n{text}"), body=text)
        read = _Read(source, head, note, _digest(text))
        outline = outline_of(text, len(text) - len(body))
        span = report_span(outline, note, source.path.name, self._year)
        if span is None:
            self._whole(read)
        else:
            self._report(read, take_apart(text, outline, self.names), outline.title or note.title, span)

    def _whole(self, read: _Read) -> None:
        note, key = read.note, read.source.key
        about = about_note(self.names, note)
        kind = note.kind if note.fields.get("kind") else "reading" if about.papers else "study"
        path = f"{read.source.folder}/{PurePosixPath(read.source.path.name).stem}.md"
        path, state = self._place(path, key, read.sha)
        body = self._bring(note.body, read.source, path, state)
        fields = _fields(note.date, "", kind, about.papers, key, read.sha)
        written = self._with_fields(read.head, _without(fields, note), body)
        self.plan.notes.append(PlannedNote(path, state, kind, note.title, note.date, about.papers, key, written))
        self._queue([], (*about.unknown, *unknown_papers(self.names, note.body)), note.date or self._day, state)

    def _report(self, read: _Read, parts: Parts, title: str, span: Span) -> None:
        if not span.first:
            name = read.source.path.name
            self.plan.remarks.append(f"{name}: {span.label} has no year, so its notes have no day; --year 2026")
        paths = {piece.ref: self._piece(read, piece, span) for piece in parts.pieces}
        state = self._rest(read, parts, paths, title, span)
        tasks = tasks_of(self.names, parts.todo, span.first)
        unknown = [paper for piece in parts.pieces for paper in piece.about.unknown]
        self._queue(tasks, (*unknown, *unknown_papers(self.names, read.note.body)), span.first or self._day, state)

    def _piece(self, read: _Read, piece: Piece, span: Span) -> str:
        key, sha, papers = f"{read.source.key}#{piece.ref}", _digest(piece.body), piece.about.papers
        path = f"{read.source.folder}/{_prefix(span)}-{_short(self.names, piece)}.md"
        path, state = self._place(path, key, sha)
        body = self._bring(self._headed(piece.title, piece.body), read.source, path, state)
        written = self._with_fields("", _fields(span.first, span.last, piece.kind, papers, key, sha), body)
        self.plan.notes.append(PlannedNote(path, state, piece.kind, piece.title, span.first, papers, key, written))
        return path

    def _rest(self, read: _Read, parts: Parts, paths: dict[str, str], title: str, span: Span) -> State:
        """What is left of a report: its lead, its headings, the to-do list, and links to the notes made of the rest."""
        key = read.source.key
        path, state = self._place(f"notes/reports/{_prefix(span)}-imported.md", key, read.sha)
        rest = "".join(part if isinstance(part, str) else self._link(paths[part.ref]) for part in parts.rest)
        body = self._bring(self._headed(title, rest), read.source, path, state)
        fields = _without(_fields(span.first, span.last, "", (), key, read.sha), read.note)
        written = self._with_fields(read.head, fields, body)
        self.plan.notes.append(PlannedNote(path, state, "report", title, span.first, (), key, written))
        return state

    def _link(self, path: str) -> str:
        return f"{self._ending}→ [[{PurePosixPath(path).stem}]]{self._ending * 2}"

    def _headed(self, title: str, body: str) -> str:
        """A title and the words below it, without the empty lines at their ends; a first line keeps its indent."""
        lines = body.split("\n")
        while lines and not lines[0].strip():
            del lines[0]
        return f"# {title}{self._ending * 2}" + "\n".join(lines).rstrip() + self._ending

    def _with_fields(self, head: str, fields: dict[str, Any], body: str) -> str:
        """A note's text: the front matter that was there, then ours, and the body, all with the source's line ends."""
        ours = frontmatter.dump(fields, "").removeprefix(f"{frontmatter.FENCE}\n")
        if head:
            # The body that was there begins right behind the fence.
            ours = ours.removesuffix("\n")
        return f"{frontmatter.FENCE}{self._ending}{head}{ours.replace(chr(10), self._ending)}{body}"

    def _place(self, path: str, key: str, sha: str) -> tuple[str, State]:
        """Where a note goes, or where it is from an earlier import, whatever it is called by now."""
        if sha in self._known:
            return self._known[sha], "known"
        for other, place in self._sources.items():
            if other == key or other.endswith(f"/{key}") or key.endswith(f"/{other}"):
                self.plan.remarks.append(
                    f"{place} is kept as it is: {key} reads differently now (remove the note to import it)"
                )
                return place, "kept"
        stem, number = path.removesuffix(".md"), 2
        while path.casefold() in self._taken:
            path, number = f"{stem}-{number}.md", number + 1
        self._taken.add(path.casefold())
        self._known[sha] = path
        return path, "new"

    def _bring(self, body: str, source: Source, path: str, state: State) -> str:
        return self.plan.images.bring(body, source.path, source.root, path) if state == "new" else body

    def _queue(self, tasks: Sequence[Task], papers: Sequence[Unknown], day: str, state: State) -> None:
        place = self.plan.settled if state == "known" else self.plan.tasks
        place += tasks
        queued = {paper for task in place for paper in task.papers or (task.text,)}
        for paper in papers:
            name = paper.id or paper.name
            if name not in queued:
                queued.add(name)
                task = Task(paper.text, "open", (paper.id,) if paper.id else (), day, marks=(mark_of(name),))
                place.append(task)


def _fields(date: str, end: str, kind: str, papers: tuple[str, ...], key: str, sha: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "date": dt.date.fromisoformat(date) if date else None,
        "end": dt.date.fromisoformat(end) if end and end != date else None,
        "kind": kind,
        "papers": list(papers),
        "imported_from": key,
        "imported_sha": sha,
    }
    return {name: value for name, value in found.items() if value}


def _without(fields: dict[str, Any], note: Note) -> dict[str, Any]:
    """The fields that the note's own front matter does not have."""
    return {key: value for key, value in fields.items() if key not in note.fields}


def _prefix(span: Span) -> str:
    return span.first or span.label.replace(" ", "").replace("/", ".")


def _short(names: Names, piece: Piece) -> str:
    """What a piece is called in its file's name: its paper, else its title."""
    papers = piece.about.papers
    if len(papers) == 1 and papers[0] in names.library.papers:
        return papers[0]
    name = make_slug(piece.title, (), "", (), piece.ref) if papers else clean(piece.title)
    while len(name.encode("utf-8")) > _LONGEST_NAME:
        name = name[:-1]
    return name.strip("_") or clean(piece.ref)


def _digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode("utf-8")).hexdigest()[:12]

"""What a week's report is made of, gathered from text alone: never from file times, and never in our words for theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kb import frontmatter
from kb.compare import compare
from kb.errors import KbError
from kb.facts import Record, formulas, read_record
from kb.library import Library, Paper
from kb.table_formats import render_table
from kb.weeks import Week

_DATE_IN_NAME = re.compile(r"(\d{4})[-.](\d{2})[-.](\d{2})")
_TASK = re.compile(r"^\s*[-*] \[( |x|X)\] (.*?)(?:\s*<!-- (.*?) -->)?\s*$")


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A note of the week: its body is quoted whole."""

    path: str
    title: str
    kind: str
    papers: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """A paper of the week."""

    slug: str
    name: str
    citation: str
    idea: str
    formulas: tuple[str, ...]
    withdrawn: bool
    notes: tuple[NoteEntry, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A line of the queue."""

    text: str
    done: bool
    remark: str


@dataclass(frozen=True, slots=True)
class WeekReport:
    """Everything that the template prints."""

    week: Week
    language: str
    papers: tuple[PaperEntry, ...]
    comparison: str
    projects: tuple[NoteEntry, ...]
    studies: tuple[NoteEntry, ...]
    questions: tuple[NoteEntry, ...]
    open_tasks: tuple[Task, ...]
    done_tasks: tuple[Task, ...]
    problems: tuple[str, ...]


def gather(library: Library, week: Week, language: str) -> WeekReport:
    """The report of a week. Notes that cannot be read are named, and stop nothing."""
    notes, problems = _notes(library, week)
    records = [read_record(paper) for paper in library.papers.values()]
    names = {name for note in notes for name in note.papers}
    mentioned = {paper.slug for name in names if (paper := _find(library, name)) is not None}
    chosen = [r for r in records if week.holds(str(r.paper.fields.get("added") or "")) or r.paper.slug in mentioned]
    papers = tuple(_paper(library, record, notes, language) for record in chosen)
    table = ""
    if len(chosen) > 1:
        table = render_table(compare(library, chosen, table="credit", language=language), "md", "marks")
    tasks = _tasks(library.workspace.queue)
    return WeekReport(
        week, language, papers, table,
        tuple(note for note in notes if note.kind == "project"),
        tuple(note for note in notes if note.kind in ("study", "idea") and not note.papers),
        tuple(note for note in notes if note.kind == "question"),
        tuple(task for task in tasks if not task.done), tuple(task for task in tasks if task.done),
        tuple(problems),
    )  # fmt: skip


def _find(library: Library, name: str) -> Paper | None:
    try:
        return library.find(name)
    except KbError:
        return None


def _paper(library: Library, record: Record, notes: Sequence[NoteEntry], language: str) -> PaperEntry:
    paper = record.paper
    name = paper.aliases[0] if paper.aliases else paper.title
    own = tuple(note for note in notes if any(_find(library, other) is paper for other in note.papers))
    identifier = f" (arXiv:{paper.arxiv_id})" if paper.arxiv_id else ""
    idea = record.facts["idea"].value(language) if "idea" in record.facts else ""
    return PaperEntry(paper.slug, name, f"{paper.title}{identifier}", idea, tuple(formulas(paper)), paper.withdrawn, own)


def _notes(library: Library, week: Week) -> tuple[list[NoteEntry], list[str]]:
    found, problems = [], []
    for path in library.notes():
        relative = path.relative_to(library.workspace.root).as_posix()
        if relative.startswith(("notes/reports/", "notes/decisions/", "notes/experiments/")) or path == library.workspace.queue:
            continue
        try:
            fields, body = frontmatter.read(path)
        except KbError as error:
            problems.append(error.message)
            continue
        if not week.holds(str(fields.get("date") or "") or _date_in(path)):
            continue
        papers = fields.get("papers") or ()
        papers = (papers,) if isinstance(papers, str) else tuple(str(name) for name in papers)
        title = str(fields.get("title") or _first_heading(body) or path.stem)
        kind = str(fields.get("kind") or ("reading" if papers else "study"))
        found.append(NoteEntry(relative, title, kind, papers, _without_title(body, title)))
    return found, problems


def _date_in(path: Path) -> str:
    match = _DATE_IN_NAME.search(path.name)
    return "-".join(match.groups()) if match else ""


def _first_heading(body: str) -> str:
    return next((line.lstrip("# ").strip() for line in body.splitlines() if line.startswith("# ")), "")


def _without_title(body: str, title: str) -> str:
    lines = body.strip().splitlines()
    if lines and lines[0].lstrip("# ").strip() == title:
        lines = lines[1:]
    return "\n".join(lines).strip()


def _tasks(path: Path) -> list[Task]:
    if not path.is_file():
        return []
    matches = (_TASK.match(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [Task(match[2], match[1].lower() == "x", match[3] or "") for match in matches if match]

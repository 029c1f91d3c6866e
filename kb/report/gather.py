"""A week's report gathered from text alone: never from file times, and never in our words for theirs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from kb.compare import compare
from kb.errors import KbError
from kb.facts import Record, read_record
from kb.library import Library
from kb.links import Names
from kb.notes import Note, read_notes
from kb.queue import read_queue
from kb.report import tasks
from kb.report.news import version_news
from kb.report.papers import paper_entries
from kb.report.quotes import quote
from kb.report.suggestions import suggestions
from kb.report.values import Quote, VersionNews, WeekReport
from kb.table_formats import legend, render_table
from kb.weeks import Week

_OWN_SECTION = ("reading", "question", "project", "study", "idea")
_NEVER_QUOTED = ("report", "experiment")


def gather(library: Library, week: Week, language: str, folder: Path | None = None) -> WeekReport:
    """The report of a week. ``folder`` is where it will stand, for the addresses of pictures; files that cannot be read
    are named in ``problems``, and stop nothing.
    """
    workspace = library.workspace
    folder = folder or workspace.reports
    notes, unread = read_notes(library)
    notes = [_with_subject(note, library) for note in notes if _in_week(note, week) and note.kind not in _NEVER_QUOTED]
    records, broken = _records(library)
    queue = read_queue(library)
    told = _earlier_reports(workspace.reports, week)
    added = {slug for slug, record in records.items() if week.holds(str(record.paper.fields.get("added") or ""))}
    reading = [(_subject(note), quote(workspace, note, 4, folder)) for note in notes if note.kind == "reading"]
    papers, listed = paper_entries(records, reading, added, tasks.read_papers(queue, week, told), language)
    here = [library.papers[entry.slug] for entry in papers if entry.slug]
    queued = {identifier for task in queue.tasks for identifier in task.papers}
    news, broken_news = _news(library, week)

    def quotes(wanted: Iterable[Note]) -> tuple[Quote, ...]:
        return tuple(quote(workspace, note, 4, folder) for note in wanted)

    return WeekReport(
        week=week,
        language=language,
        papers=tuple(papers),
        added=tuple(listed),
        comparison=_comparison(library, [records[entry.slug] for entry in papers if entry.slug], language),
        claims=(),
        questions=quotes(note for note in notes if note.kind == "question"),
        projects=quotes(note for note in notes if note.kind == "project"),
        studies=quotes(note for note in notes if note.kind == "study"),
        ideas=quotes(note for note in notes if note.kind == "idea"),
        others=quotes(note for note in notes if note.kind not in _OWN_SECTION),
        done=tuple(tasks.done_in(queue, week, told)),
        dropped=tuple(tasks.dropped_in(queue, week)),
        todo=tuple(tasks.open_after(queue, week, library, language)),
        suggestions=tuple(suggestions(library, here, queued)),
        without_text=tuple(entry.name for entry in papers if entry.slug and not library.papers[entry.slug].references),
        news=tuple(news),
        problems=tuple(error.message for error in (*library.problems, *unread, *broken, *broken_news)),
    )


def _in_week(note: Note, week: Week) -> bool:
    """Whether the days that a note speaks of touch the week."""
    return bool(note.date) and note.date <= week.last.isoformat() and (note.end or note.date) >= week.first.isoformat()


def _with_subject(note: Note, library: Library) -> Note:
    """A note that says neither kind nor papers is a reading note when its title names a paper."""
    if note.kind != "study" or note.fields.get("kind") or note.papers:
        return note
    named = [link.target for link in Names(library).links(note.title) if link.target in library.papers]
    return replace(note, kind="reading", papers=tuple(dict.fromkeys(named))) if named else note


def _subject(note: Note) -> str:
    """The paper that a reading note is about: the first that it names, else its own title."""
    return note.papers[0] if note.papers else note.title


def _records(library: Library) -> tuple[dict[str, Record], list[KbError]]:
    records, problems = {}, []
    for slug, paper in library.papers.items():
        try:
            records[slug] = read_record(paper)
        except KbError as error:
            problems.append(error)
    return records, problems


def _news(library: Library, week: Week) -> tuple[list[VersionNews], list[KbError]]:
    try:
        return version_news(library, week), []
    except KbError as error:
        return [], [error]


def _comparison(library: Library, records: Sequence[Record], language: str) -> str:
    """The week's papers side by side, with the meaning of the signs; empty for fewer than two."""
    if len(records) < 2:
        return ""
    table = compare(library, records, table="credit", language=language).transposed()
    return f"{render_table(table, 'md', 'marks').strip()}\n\n{legend(table)}"


def _earlier_reports(folder: Path, week: Week) -> str:
    """The text of the reports of earlier weeks."""
    first = week.first.isoformat()
    paths = sorted(path for path in folder.glob("*.md") if path.name[:10] < first) if folder.is_dir() else []
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)

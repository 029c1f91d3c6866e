"""A week's report gathered from text alone: never from file times, and never in our words for theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from kb.blocks import contents
from kb.compare import compare
from kb.errors import KbError
from kb.facts import Record, read_record
from kb.library import Library
from kb.links import Names
from kb.notes import Note, read_notes
from kb.queue import read_queue
from kb.report.claims import checked_claims
from kb.report.experiments import experiments
from kb.report.news import version_news
from kb.report.papers import paper_entries
from kb.report.quotes import quote
from kb.report.suggestions import suggestions
from kb.report.tasks import WeekQueue, reason
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
    notes = [_with_subject(note, library) for note in notes if note.kind not in _NEVER_QUOTED]
    noted = _days_of_reading(notes)
    notes = [note for note in notes if _in_week(note, week)]
    notes.sort(key=_place)
    records, broken = _records(library)
    queue = WeekQueue(read_queue(library), week, noted, _told(workspace.reports, week))
    done = queue.done()
    added = {slug for slug, record in records.items() if week.holds(str(record.paper.fields.get("added") or ""))}
    reading = [(_subject(note), quote(workspace, note, 4, folder)) for note in notes if note.kind == "reading"]
    papers, listed = paper_entries(records, reading, added, {slug for task in done for slug in task.papers}, language)
    here = [library.papers[entry.slug] for entry in papers if entry.slug]
    queued = {identifier for task in queue.queue.tasks for identifier in task.papers}
    news, broken_news = _news(library, week)
    ran, unread_runs = experiments(workspace, week, language, folder)
    claims, unchecked = checked_claims(library, notes, language)

    def quotes(wanted: Iterable[Note]) -> tuple[Quote, ...]:
        return tuple(quote(workspace, note, 4, folder) for note in wanted)

    return WeekReport(
        week=week,
        language=language,
        papers=tuple(papers),
        added=tuple(listed),
        comparison=_comparison(library, [records[entry.slug] for entry in papers if entry.slug], language),
        claims=tuple(claims),
        experiments=tuple(ran),
        questions=quotes(note for note in notes if note.kind == "question"),
        projects=quotes(note for note in notes if note.kind == "project"),
        studies=quotes(note for note in notes if note.kind == "study"),
        ideas=quotes(note for note in notes if note.kind == "idea"),
        others=quotes(note for note in notes if note.kind not in _OWN_SECTION),
        done=tuple(map(queue.entry, done)),
        dropped=tuple(map(queue.entry, queue.dropped())),
        todo=tuple(queue.entry(task, reason(task, library, language)) for task in queue.open()),
        suggestions=tuple(suggestions(library, here, queued)),
        without_text=tuple(entry.name for entry in papers if entry.slug and not library.papers[entry.slug].references),
        news=tuple(news),
        problems=tuple(
            error.message for error in (*library.problems, *unread, *broken, *broken_news, *unread_runs, *unchecked)
        ),
    )


def _in_week(note: Note, week: Week) -> bool:
    """Whether the days that a note speaks of touch the week."""
    return bool(note.date) and note.date <= week.last.isoformat() and (note.end or note.date) >= week.first.isoformat()


def _days_of_reading(notes: Sequence[Note]) -> dict[str, list[str]]:
    """The days of reading notes by the slugs that they name."""
    days: dict[str, list[str]] = {}
    for note in notes:
        for slug in note.papers if note.kind == "reading" and note.date else ():
            days.setdefault(slug, []).append(note.date)
    return days


def _with_subject(note: Note, library: Library) -> Note:
    """A note that says neither kind nor papers is a reading note when its title names a paper."""
    if note.kind != "study" or note.fields.get("kind") or note.papers:
        return note
    named = [link.target for link in Names(library).links(note.title) if link.target in library.papers]
    return replace(note, kind="reading", papers=tuple(dict.fromkeys(named))) if named else note


def _place(note: Note) -> tuple[str, list[tuple[int, str]], str]:
    """Notes by day; those that came out of one report in the order that they had there, section 2 before section 10."""
    source = str(note.fields.get("imported_from") or "")
    return (
        note.date,
        [(int(part or 0), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", source)],
        note.path,
    )


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


def _told(folder: Path, week: Week) -> str:
    """What the drafts of earlier weeks told to be done."""
    first = week.first.isoformat()
    paths = sorted(path for path in folder.glob("*.md") if path.name[:10] < first) if folder.is_dir() else []
    return "\n".join(
        contents(path.read_text(encoding="utf-8", errors="replace")).get("queue:done", "") for path in paths
    )

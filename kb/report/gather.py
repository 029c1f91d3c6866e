"""A week's report gathered from text alone: never from file times, and never in our words for theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from kb.report.experiments import claims_pictures, experiments
from kb.report.news import version_news
from kb.report.own_words import own_words
from kb.report.papers import paper_entries
from kb.report.quotes import quote
from kb.report.suggestions import suggestions
from kb.report.tasks import WeekQueue, reason
from kb.report.values import VersionNews, WeekReport
from kb.table_formats import legend, render_table
from kb.weeks import Week

HEADING_LEVEL = 4
_NEVER_QUOTED = ("report", "experiment")


def gather(library: Library, week: Week, language: str, folder: Path | None = None) -> WeekReport:
    """The report of a week. ``folder`` is where it will stand, for the addresses of pictures; files that cannot be read
    are named in ``problems``, and stop nothing.
    """
    workspace = library.workspace
    folder = folder or workspace.reports
    everything, unread = read_notes(library)
    every = [_with_subject(note, library) for note in everything if note.kind not in _NEVER_QUOTED]
    notes = sorted((note for note in every if _in_week(note, week)), key=_place)
    quotes = [(note, quote(workspace, note, HEADING_LEVEL, folder)) for note in notes]
    records, broken = _records(library)
    names = Names(library)
    own, own_tasks = own_words(library, names, everything, week, language, folder)
    queue = WeekQueue(
        read_queue(library, names), week, _days_of_reading(every), _told(workspace.reports, week), own_tasks
    )
    added = {slug for slug, record in records.items() if week.holds(str(record.paper.fields.get("added") or ""))}
    reading = [(note.papers or (note.title,), text) for note, text in quotes if note.kind == "reading"]
    papers, listed = paper_entries(records, reading, added, queue.read_papers(), language)
    here = [library.papers[entry.slug] for entry in papers if entry.slug]
    news, broken_news = _news(library, week, every)
    ran, unread_runs = experiments(workspace, week, language, folder)
    claims, unchecked = checked_claims(library, notes, language)
    problems = (*library.problems, *unread, *broken, *broken_news, *unread_runs, *unchecked)
    return WeekReport(
        week=week,
        language=language,
        papers=tuple(papers),
        added=tuple(listed),
        comparison=_comparison(library, [records[paper.slug] for paper in here if paper.slug in records], language),
        claims=tuple(claims),
        experiments=tuple(ran),
        claims_pictures=tuple(claims_pictures(workspace, folder)) if any(entry.is_claim for entry in ran) else (),
        notes=tuple(text for note, text in quotes if note.kind != "reading"),
        done=tuple(map(queue.entry, queue.done())),
        dropped=tuple(map(queue.entry, queue.dropped())),
        todo=tuple(queue.entry(task, reason(task, library, language)) for task in queue.open()),
        suggestions=tuple(suggestions(library, here, queue.papers())),
        without_text=tuple(entry.name for entry in papers if entry.slug and not library.papers[entry.slug].references),
        news=tuple(news),
        problems=tuple(dict.fromkeys(f"not read: {error.message}" for error in problems)),
        own=own,
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


def _records(library: Library) -> tuple[dict[str, Record], list[KbError]]:
    records, problems = {}, []
    for slug, paper in library.papers.items():
        try:
            records[slug] = read_record(paper)
        except KbError as error:
            problems.append(error)
    return records, problems


def _news(library: Library, week: Week, notes: Sequence[Note]) -> tuple[list[VersionNews], list[KbError]]:
    try:
        return version_news(library, week, notes), []
    except KbError as error:
        return [], [error]


def _comparison(library: Library, records: Sequence[Record], language: str) -> str:
    """The week's papers side by side, with the meaning of the signs; only what somebody looked up, empty if that is nothing."""
    table = compare(library, records, table="credit", language=language).transposed()
    rows = tuple(row for row in table.rows if any(cell.state != "not checked" for cell in row[1:]))
    if len(records) < 2 or not rows:
        return ""
    table = replace(table, rows=rows)
    return f"{render_table(table, 'md', 'marks').strip()}\n\n{legend(table)}"


def _told(folder: Path, week: Week) -> str:
    """What the drafts of earlier weeks told to be done."""
    first = week.first.isoformat()
    paths = sorted(path for path in folder.glob("*.md") if path.name[:10] < first) if folder.is_dir() else []
    return "\n".join(
        contents(path.read_text(encoding="utf-8", errors="replace")).get("queue:done", "") for path in paths
    )

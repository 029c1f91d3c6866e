"""The queue as a week left it: done, dropped, open, with age; from the days that are written in it."""

from __future__ import annotations

import re

from kb.facts import read_record
from kb.library import Library
from kb.queue import Queue, Task
from kb.report.values import TaskEntry
from kb.weeks import Week

_REASON = re.compile(r"[:：—]|--|\bfor\b|\bto\b", re.IGNORECASE)


def done_in(queue: Queue, week: Week, told: str) -> list[TaskEntry]:
    """Tasks done in the week. One without a day counts until a report tells of it; ``told`` is the earlier reports' text."""
    tasks = [task for task in queue.tasks if task.done and not task.depth and _began(task, week)]
    return [
        _entry(task, week) for task in tasks if week.holds(task.closed) or (not task.closed and task.text not in told)
    ]


def dropped_in(queue: Queue, week: Week) -> list[TaskEntry]:
    """Tasks dropped in the week."""
    return [
        _entry(task, week)
        for task in queue.tasks
        if task.state == "dropped" and not task.depth and week.holds(task.closed)
    ]


def open_after(queue: Queue, week: Week, library: Library, language: str) -> list[TaskEntry]:
    """Tasks that were open when the week ended: oldest first, those of the same day as they stand in the file."""
    last = week.last.isoformat()
    tasks = [
        task
        for task in queue.tasks
        if not task.depth and _began(task, week) and (task.state == "open" or task.closed > last)
    ]
    tasks.sort(key=lambda task: task.added or "0")
    return [_entry(task, week, _why(task, library, language)) for task in tasks]


def read_papers(queue: Queue, week: Week, told: str) -> set[str]:
    """Slugs of papers whose reading task was done in the week."""
    done = {entry.text for entry in done_in(queue, week, told)}
    return {slug for task in queue.tasks if task.text in done for slug in task.papers}


def _began(task: Task, week: Week) -> bool:
    return not task.added or task.added <= week.last.isoformat()


def _entry(task: Task, week: Week, why: str = "") -> TaskEntry:
    carried = bool(task.added) and task.added < week.first.isoformat()
    return TaskEntry(task.text, task.below, task.age_days(week.last), carried, bool(task.papers), why)


def _why(task: Task, library: Library, language: str) -> str:
    """What the record says that its paper is for, where the task itself says nothing."""
    known = [library.papers[slug] for slug in task.papers if slug in library.papers]
    if len(known) != 1 or task.below or _REASON.search(re.sub(r"[(（][^)）]*[)）]", "", task.text)):
        return ""
    facts = read_record(known[0]).facts
    return next((facts[key].value(language) for key in ("problem", "idea") if key in facts), "")

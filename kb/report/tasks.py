"""The queue as a week left it: done, dropped, open, with age; from the days that are written in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.facts import read_record
from kb.library import Library
from kb.queue import Queue, Task
from kb.report.values import TaskEntry
from kb.weeks import Week

_DATED_LINE = re.compile(r"\s*[-*+]\s+(\d{4}-\d{2}-\d{2})(?!\d)")
_REASON = re.compile(r"[:：—]|--|\bfor\b|\bto\b", re.IGNORECASE)


@dataclass(frozen=True)
class WeekQueue:
    """The queue as the week left it.

    ``noted`` are the days of reading notes by slug: a task that somebody ticked without a day was done when the first
    note on its paper was written. Without one, it counts until a report tells of it; ``told`` is what earlier ones tell.
    """

    queue: Queue
    week: Week
    noted: Mapping[str, Sequence[str]]
    told: str

    def done(self) -> list[Task]:
        """Tasks done in the week."""
        return [task for task in self._tasks() if task.done and self._closed_in_week(task)]

    def read_papers(self) -> set[str]:
        """Papers whose task was done on a day of the week."""
        return {slug for task in self.done() if self._closed(task) for slug in task.papers}

    def papers(self) -> set[str]:
        """Papers that stand in the queue, done or not."""
        return {name for task in self.queue.tasks for name in task.papers}

    def dropped(self) -> list[Task]:
        """Tasks dropped in the week."""
        return [task for task in self._tasks() if task.state == "dropped" and self.week.holds(task.closed)]

    def open(self) -> list[Task]:
        """Tasks that were open when the week ended: oldest first, those of the same day as they stand in the file."""
        last = self.week.last.isoformat()
        tasks = [task for task in self._tasks() if task.state == "open" or self._closed(task) > last]
        return sorted(tasks, key=lambda task: task.added or "0")

    def entry(self, task: Task, why: str = "") -> TaskEntry:
        """A task as the report has it; lines below it of later days are not known yet."""
        last = self.week.last.isoformat()
        below = tuple(line for line in task.below if not (day := _DATED_LINE.match(line)) or day[1] <= last)
        carried = bool(task.added) and task.added < self.week.first.isoformat()
        undated = task.done and not self._closed(task)
        return TaskEntry(task.text, below, task.age_days(self.week.last), carried, bool(task.papers), undated, why)

    def _tasks(self) -> list[Task]:
        last = self.week.last.isoformat()
        return [task for task in self.queue.tasks if not task.depth and (not task.added or task.added <= last)]

    def _closed(self, task: Task) -> str:
        """The day a task was closed; empty where nothing tells."""
        days = [day for slug in task.papers for day in self.noted.get(slug, ()) if day >= task.added]
        return task.closed or min(days, default="")

    def _closed_in_week(self, task: Task) -> bool:
        day = self._closed(task)
        return self.week.holds(day) if day else task.text not in self.told


def reason(task: Task, library: Library, language: str) -> str:
    """What the record says that its paper is for, where the task itself says nothing."""
    known = [library.papers[slug] for slug in task.papers if slug in library.papers]
    if len(known) != 1 or task.below or _REASON.search(re.sub(r"[(（][^)）]*[)）]", "", task.text)):
        return ""
    facts = read_record(known[0]).facts
    return next((facts[key].value(language) for key in ("problem", "idea") if key in facts), "")

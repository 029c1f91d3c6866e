"""The queue as a week left it: done, dropped, open, with age; from the days that are written in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.facts import read_record
from kb.importing.tasks import is_same
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
    ``own`` are the tasks of the author's own list of the week.
    """

    queue: Queue
    week: Week
    noted: Mapping[str, Sequence[str]]
    told: str
    own: Sequence[Task] = ()

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
        """A task as the report has it, without the lines below it that are of other times."""
        carried = bool(task.added) and task.added < self.week.first.isoformat()
        undated = task.done and not self._closed(task)
        age = task.age_days(self.week.last)
        told = any(is_same(task, own) or set(own.marks) <= set(task.marks) for own in self.own)
        return TaskEntry(task.text, self._below(task), age, carried, bool(task.papers), undated, why, told)

    def _below(self, task: Task) -> tuple[str, ...]:
        """Lines without a day, and those of the week; where the week has none and the task waits, those of the last day before."""
        days = [match[1] for line in task.below if (match := _DATED_LINE.match(line))]
        last = self.week.last.isoformat()
        wanted = {day for day in days if self.week.holds(day)}
        if not wanted and not self._is_closed(task):
            wanted = {max((day for day in days if day <= last), default="")}
        found, is_wanted = [], True
        outer = min(map(_indent, task.below), default=0)
        for line in task.below:
            # What is indented deeper belongs to the line before.
            if _indent(line) == outer:
                dated = _DATED_LINE.match(line)
                is_wanted = not dated or dated[1] in wanted
            found += [line] if is_wanted else []
        return tuple(found)

    def _is_closed(self, task: Task) -> bool:
        return task.state != "open" and self._closed(task) <= self.week.last.isoformat()

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


def _indent(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def reason(task: Task, library: Library, language: str) -> str:
    """What the record says that its paper is for, where the task itself says nothing."""
    known = [library.papers[slug] for slug in task.papers if slug in library.papers]
    if len(known) != 1 or task.below or _REASON.search(re.sub(r"[(（][^)）]*[)）]", "", task.text)):
        return ""
    facts = read_record(known[0]).facts
    return next((facts[key].value(language) for key in ("problem", "idea") if key in facts), "")

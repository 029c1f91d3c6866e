"""Imported tasks into the queue: nothing twice, one entry for one paper, and what was read since is ticked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from kb.importing.todo import mark_of
from kb.queue import Queue, Task

Fate: TypeAlias = Literal["added", "joined", "ticked", "known"]


@dataclass(frozen=True, slots=True)
class Queued:
    """What became of a task: added, joined to an open one of the same paper, ticked because it was read, or known."""

    fate: Fate
    task: Task


def put(queue: Queue, tasks: Iterable[Task], read_on: Mapping[str, set[str]]) -> tuple[Queue, list[Queued]]:
    """The queue with these tasks in it. ``read_on`` has the days of reading notes by paper."""
    fates: list[Queued] = []
    for task in tasks:
        queue, fate = _put_one(queue, task)
        fates.append(Queued(fate, task))
    for task in queue.open:
        day = _read_since(task, read_on)
        written = {mark_of(task.text, task.below[:count]) for count in range(len(task.below) + 1)}
        if day and written & set(task.marks):
            # Only a line that still has the words of its import: what a person wrote is theirs to tick.
            queue = queue.with_state(task, "done", day)
            fates.append(Queued("ticked", replace(task, state="done", closed=day)))
    return queue, fates


def _put_one(queue: Queue, task: Task) -> tuple[Queue, Fate]:
    marks = set(task.marks)
    if any(marks <= set(other.marks) for other in queue.tasks):
        return queue, "known"
    for other in queue.tasks:
        is_over = other.closed and task.added and other.closed < task.added
        if is_same(other, task) and not is_over:
            joined = _joined(other, task)
            return (queue, "known") if joined == other else (queue.with_changed(joined), "joined")
    return queue.with_task(task), "added"


def is_same(other: Task, task: Task) -> bool:
    """Whether two tasks are about the same papers, or, where neither names one, have the same words."""
    if task.papers or other.papers:
        return other.papers == task.papers
    return _folded(other.text) == _folded(task.text)


def _joined(other: Task, task: Task) -> Task:
    """A task that takes in the words of another about the same thing, with their day, and if open the earlier of their days.

    The comment of a line that a person wrote gets no marks of ours.
    """
    said = _folded("\n".join((other.text, *other.below)))
    words = (task.text, *(line.strip().removeprefix("- ") for line in task.below))
    new = tuple(f"  - {_dated(task.added, line)}" for line in words if _folded(line) not in said)
    days = [day for day in (other.added, task.added) if day]
    added = min(days, default="") if other.state == "open" else other.added
    marks = (*other.marks, *task.marks) if other.marks else ()
    return replace(other, below=(*other.below, *new), added=added, marks=marks)


def _dated(day: str, words: str) -> str:
    colon = "：" if re.search(r"[\u3400-\u9fff]", words) else ": "
    return f"{day}{colon}{words}" if day else words


def _read_since(task: Task, read_on: Mapping[str, set[str]]) -> str:
    """The first day after it was added on which the one paper of a task was read."""
    if len(task.papers) != 1 or not task.added:
        return ""
    return min((day for day in read_on.get(task.papers[0], ()) if day > task.added), default="")


def _folded(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()

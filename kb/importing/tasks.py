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
        if day and {mark_of(task.text), mark_of(task.text, task.below)} & set(task.marks):
            # Only a line that still has the words of its import: what a person wrote is theirs to tick.
            queue = queue.with_state(task, "done", day)
            fates.append(Queued("ticked", replace(task, state="done", closed=day)))
    return queue, fates


def _put_one(queue: Queue, task: Task) -> tuple[Queue, Fate]:
    marks = set(task.marks)
    if any(marks <= set(other.marks) for other in queue.tasks):
        return queue, "known"
    for other in queue.tasks:
        if not _is_same(other, task):
            continue
        if other.state == "open":
            return queue.with_changed(_joined(other, task)), "joined"
        if not other.closed or not task.added or other.closed >= task.added:
            return queue, "known"
    return queue.with_task(task), "added"


def _is_same(other: Task, task: Task) -> bool:
    if task.papers or other.papers:
        return other.papers == task.papers
    return _folded(other.text) == _folded(task.text)


def _joined(other: Task, task: Task) -> Task:
    """An open task that takes in the words of another about the same thing, and the earlier of their days."""
    below = list(other.below)
    if _folded(task.text) != _folded(other.text) and not _says_no_more(task, other):
        below.append(f"  - {task.added + '：' if task.added else ''}{task.text}")
    below += [line for line in task.below if line not in below]
    days = [day for day in (other.added, task.added) if day]
    return replace(other, below=tuple(below), added=min(days, default=""), marks=(*other.marks, *task.marks))


def _says_no_more(task: Task, other: Task) -> bool:
    return _folded(other.text).startswith(_folded(task.text))


def _read_since(task: Task, read_on: Mapping[str, set[str]]) -> str:
    """The first day after it was added on which the one paper of a task was read."""
    if len(task.papers) != 1 or not task.added:
        return ""
    return min((day for day in read_on.get(task.papers[0], ()) if day > task.added), default="")


def _folded(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()

"""The reading queue: ``notes/queue.md``, a Markdown task list that people edit by hand, read and edited line by line.

    - [ ] CCPO (2603.21563): verify the 2x claim  <!-- added 2026-04-19 -->
    - [x] Dr.MAS (2602.08847)  <!-- added 2026-04-12, done 2026-04-24 -->
    - [-] MHGPO  <!-- added 2026-04-12, dropped 2026-04-20 -->

An edit changes its own line; every other byte of the file stays. Lines indented below a task belong to it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from kb.errors import KbError, UsageError
from kb.library import Library, Paper
from kb.links import Names
from kb.markup import markup_of
from kb.workspace import Workspace, write_atomic

State: TypeAlias = Literal["open", "done", "dropped"]

_TASK = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+]|\d+[.)])[ \t]+\[(?P<box>[ xX-])\][ \t]+(?P<text>.*?)"
    r"(?P<comment>[ \t]*<!--(?P<remark>(?:(?!<!--|-->).)*)-->)?(?P<end>[ \t]*\r?)$"
)
_STATES: dict[str, State] = {" ": "open", "x": "done", "-": "dropped"}
_DATED = re.compile(r"^(added|done|dropped)\s+(\d{4}-\d{2}-\d{2})$")
_SEPARATORS = " \t,，;；"
_MARKED = re.compile(r"^imported((?:\s+[0-9a-f]{8})+)$")


@dataclass(frozen=True, slots=True)
class Task:
    """One task. ``line`` is its place in the file, from 0; ``depth`` is 0 for a task that is part of no other.

    ``papers`` are slugs, or arXiv ids of papers that are not here. ``added`` and ``closed`` are ISO days or empty.
    ``remark`` is what else the comment says; ``below`` are the lines that belong to the task, as they are written.
    ``marks`` tell an import which lines of its sources this task came from.
    """

    text: str
    state: State
    papers: tuple[str, ...] = ()
    added: str = ""
    closed: str = ""
    remark: str = ""
    below: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    depth: int = 0
    line: int = -1

    @property
    def done(self) -> bool:
        return self.state == "done"

    def age_days(self, day: dt.date) -> int | None:
        """How long the task has waited on a day; None when nobody wrote when it was added, or it was added later."""
        if not self.added:
            return None
        age = (day - dt.date.fromisoformat(self.added)).days
        return age if age >= 0 else None

    def age_weeks(self, day: dt.date) -> int | None:
        """Full weeks that the task has waited on a day."""
        days = self.age_days(day)
        return None if days is None else days // 7

    def as_dict(self, day: dt.date) -> dict[str, Any]:
        return asdict(self) | {"age_days": self.age_days(day)}


@dataclass(frozen=True)
class Queue:
    """The queue's text and the tasks in it. Edits return another queue."""

    text: str
    names: Names

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(_parse(self.text, self.names))

    @property
    def open(self) -> list[Task]:
        return [task for task in self.tasks if task.state == "open"]

    def find(self, words: str) -> Task:
        """The open task with this number (as listed), paper, or part of its text.

        Raises UsageError when none or several fit.
        """
        if words.isdigit() and 1 <= int(words) <= len(self.open):
            return self.open[int(words) - 1]
        for among in (self.open, [task for task in self.tasks if task.state != "open"]):
            found = self._fitting(among, words)
            if len(found) == 1:
                return found[0]
            if found:
                listed = "; ".join(task.text[:40] for task in found)
                raise UsageError(f"{words!r} fits {len(found)} tasks: {listed}", "kb queue list numbers them")
        raise UsageError(f"no task {words!r} in the queue", "kb queue list shows what is there")

    def _fitting(self, tasks: list[Task], words: str) -> list[Task]:
        target = self.names.resolve(words).target
        return [task for task in tasks if target in task.papers] or [
            task for task in tasks if words.casefold() in task.text.casefold()
        ]

    def with_task(self, task: Task) -> Queue:
        """A new task behind the last open one, else at the end."""
        lines = self.text.split("\n")
        last = max((other.line + len(other.below) for other in self.open), default=-1) + 1
        if last == 0:
            last = len(lines) - 1 if lines[-1] == "" else len(lines)
        while last and last < len(lines) and lines[last][:1] in (" ", "\t") and lines[last].strip():
            last += 1
        ending = "\r" if "\r\n" in self.text else ""
        written = [line + ending for line in (_line_of(task), *task.below)]
        if last == len(lines):
            # The file has no line feed at its end.
            lines[-1] += ending
            written.append("")
        return self._with(lines[:last] + written + lines[last:])

    def with_state(self, task: Task, state: State, day: str) -> Queue:
        """A task ticked, dropped or opened again, with the day."""
        box = next(box for box, name in _STATES.items() if name == state)
        closed = "" if state == "open" else day
        return self.with_changed(replace(task, state=state, closed=closed), box)

    def with_changed(self, task: Task, box: str | None = None) -> Queue:
        """The queue with a task's box, comment and lines below written anew; its text stays."""
        lines = self.text.split("\n")
        match = _TASK.match(lines[task.line])
        assert match is not None
        start = lines[task.line][: match.end("text")]
        if box is not None:
            start = start[: match.start("box")] + box + start[match.end("box") :]
        old = next(other for other in self.tasks if other.line == task.line)
        lines[task.line] = start + _comment_of(task) + match["end"]
        first = task.line + 1
        lines[first : first + len(old.below)] = task.below
        return self._with(lines)

    def _with(self, lines: list[str]) -> Queue:
        return Queue("\n".join(lines), self.names)


def read_queue(library: Library, names: Names | None = None) -> Queue:
    """The queue of a workspace; empty when there is no file. Raises KbError when it is not UTF-8."""
    path = library.workspace.queue
    try:
        text = path.read_bytes().decode("utf-8") if path.is_file() else ""
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8; nothing was changed") from None
    return Queue(text, names or Names(library))


@contextmanager
def writing_queue(library: Library) -> Iterator[list[Queue]]:
    """The queue under the write lock, as a list of one; what is put into the list is written at the end."""
    from kb.index.lock import writing

    with writing(library.workspace, "kb queue", wait_seconds=10):
        held = [read_queue(library)]
        before = held[0].text
        yield held
        save_queue(library.workspace, held[0], before)


def save_queue(workspace: Workspace, queue: Queue, before: str) -> None:
    """Write the file if it changed; a new one gets a heading."""
    if queue.text == before:
        return
    heading = "" if before else f"# {'阅读队列' if workspace.option('language') == 'zh' else 'Reading queue'}\n\n"
    write_atomic(workspace.queue, heading + queue.text)


def paper_text(paper: Paper) -> str:
    """How a paper is called in the queue: its short name and its id."""
    name = paper.aliases[0] if paper.aliases else paper.title
    return f"{name} ({paper.arxiv_id})" if paper.arxiv_id else name


def papers_to_fetch(library: Library, queue: Queue) -> list[str]:
    """The arXiv ids of papers in open tasks whose text is not here, in the order of the file."""
    found: dict[str, None] = {}
    for target in (target for task in queue.open for target in task.papers):
        paper = library.papers.get(target)
        identifier = target if paper is None else paper.arxiv_id
        if identifier and (paper is None or paper.text_path is None):
            found[identifier] = None
    return list(found)


def papers_of(names: Names, text: str) -> tuple[str, ...]:
    """The papers that a task is about: those whose ids it gives, else those that it names."""
    links = names.links(text)
    ids = dict.fromkeys(link.target for link in links if link.how == "arxiv")
    return tuple(ids) or tuple(dict.fromkeys(link.target for link in links if link.known))


def _parse(text: str, names: Names) -> Iterator[Task]:
    markup = markup_of(text)
    lines = text.split("\n")
    position = 0
    outer: list[int] = []
    for number, line in enumerate(lines):
        match = _TASK.match(line)
        if match and markup.form_at(position) not in ("fence", "comment"):
            indent = len(match["indent"].expandtabs(4))
            outer = [width for width in outer if width < indent]
            task = _task(match, names)
            yield replace(task, below=_below(lines, number, indent), depth=len(outer), line=number)
            outer.append(indent)
        position += len(line) + 1


def _task(match: re.Match[str], names: Names) -> Task:
    found: dict[str, str] = {}
    marks: tuple[str, ...] = ()
    rest = ""
    for part in re.split(r"(?<=[,，;；])", match["remark"] or ""):
        words = part.strip(_SEPARATORS)
        if (dated := _DATED.match(words)) and _is_day(dated[2]):
            found[dated[1]] = dated[2]
        elif marked := _MARKED.match(words):
            marks += tuple(marked[1].split())
        else:
            rest += part
    closed = found.get("done") or found.get("dropped") or ""
    state = _STATES[match["box"].lower()]
    return Task(
        match["text"],
        state,
        papers_of(names, match["text"]),
        found.get("added", ""),
        closed,
        rest.strip(_SEPARATORS),
        marks=marks,
    )


def _is_day(text: str) -> bool:
    try:
        return bool(dt.date.fromisoformat(text))
    except ValueError:
        return False


def _below(lines: list[str], number: int, indent: int) -> tuple[str, ...]:
    found: list[str] = []
    for line in lines[number + 1 :]:
        width = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        if not line.strip() or width <= indent or _TASK.match(line):
            break
        found.append(line)
    return tuple(found)


def _line_of(task: Task) -> str:
    return f"- [{next(box for box, name in _STATES.items() if name == task.state)}] {task.text}{_comment_of(task)}"


def _comment_of(task: Task) -> str:
    parts = [f"added {task.added}"] if task.added else []
    if task.closed:
        parts.append(f"{task.state} {task.closed}")
    if task.marks:
        parts.append(f"imported {' '.join(task.marks)}")
    if task.remark:
        parts.append(task.remark)
    return f"  <!-- {', '.join(parts)} -->" if parts else ""

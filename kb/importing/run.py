"""Carry out an import: write what is new, keep everything that is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb.importing.plan import Plan, make_plan, sources_of
from kb.importing.tasks import Queued, put
from kb.index.lock import writing
from kb.library import Library
from kb.notes import read_notes
from kb.queue import Queue, read_queue, save_queue
from kb.workspace import Workspace, write_atomic


@dataclass(frozen=True)
class Imported:
    """A plan, what becomes of its tasks, and how many pictures are new."""

    plan: Plan
    queued: tuple[Queued, ...]
    new_images: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "notes": [
                {name: getattr(note, name) for name in ("path", "state", "kind", "title", "date", "papers", "source")}
                for note in self.plan.notes
            ],
            "tasks": [
                {
                    "fate": queued.fate,
                    "text": queued.task.text,
                    "papers": queued.task.papers,
                    "added": queued.task.added,
                }
                for queued in self.queued
            ],
            "images": list(self.new_images),
            "images_missing": self.plan.images.missing,
            "problems": [problem.message for problem in self.plan.problems],
            "remarks": self.plan.remarks,
        }


def import_notes(workspace: Workspace, given: Sequence[Path], *, year: int | None, day: str, dry_run: bool) -> Imported:
    """Import files and folders. With ``dry_run`` nothing is written, and the answer is the same."""
    sources = sources_of(workspace, given)
    if dry_run:
        library = Library.load(workspace)
        return _looked_through(workspace, library, make_plan(library, sources, year, day))[0]
    with writing(workspace, "kb import", wait_seconds=10):
        library = Library.load(workspace)
        plan = make_plan(library, sources, year, day)
        imported, queue, before = _looked_through(workspace, library, plan)
        # The queue first: a note that is there tells the next import that its tasks were queued.
        save_queue(workspace, queue, before)
        for copy in imported.new_images:
            write_atomic(workspace.root / copy, plan.images.copies[copy].read_bytes())
        for note in plan.notes:
            if note.state == "new":
                write_atomic(workspace.root / note.path, note.text)
    return imported


def _looked_through(workspace: Workspace, library: Library, plan: Plan) -> tuple[Imported, Queue, str]:
    """The plan against what is there: the queue as it would be, and the queue's text before."""
    queue = read_queue(library)
    read_on: dict[str, set[str]] = {}
    there = [(note.kind, note.date, note.papers) for note in read_notes(library)[0]]
    for kind, date, papers in (*there, *((note.kind, note.date, note.papers) for note in plan.notes)):
        if kind == "reading" and date:
            for paper in papers:
                read_on.setdefault(paper, set()).add(date)
    after, fates = put(queue, plan.tasks, read_on)
    fates += [Queued("known", task) for task in plan.settled]
    new_images = tuple(copy for copy in plan.images.copies if not (workspace.root / copy).exists())
    return Imported(plan, tuple(fates), new_images), after, queue.text

"""``kb import``: notes and weekly reports in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.days import day_of
from kb.cli.output import JsonOption, print_json, say
from kb.errors import ERROR, PARTIAL
from kb.workspace import find_workspace

if TYPE_CHECKING:
    from kb.importing.run import Imported


def import_notes(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|DIR...", help="Markdown or plain text, or folders of it.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be made and make nothing.")] = False,
    year: Annotated[
        int | None, typer.Option(min=1990, max=2100, help="The year of reports whose title has days without one.")
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Dates unknown papers in the queue; today if left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring notes and weekly reports in.

    A report becomes a note per paper, question, project and study, and its to-do list goes into the queue.
    Nothing that is there is changed, and importing again makes nothing twice.
    """
    from kb.importing.run import import_notes as run

    done = run(find_workspace(), paths, year=year, day=day_of(date).isoformat(), dry_run=dry_run)
    if as_json:
        print_json(done.as_dict())
    else:
        _print(done, dry_run)
    _finish(done)


def _print(done: Imported, dry_run: bool) -> None:
    plan = done.plan
    new = [note for note in plan.notes if note.state == "new"]
    for note in new:
        papers = f"  {', '.join(note.papers)}" if note.papers else ""
        print(f"{note.path}  {note.kind}{papers}")
    queued = [one for one in done.queued if one.fate != "known"]
    for one in queued:
        print(f"queue: {one.fate} {one.task.text}")
    for copy in done.new_images:
        print(copy)
    for remark in plan.remarks:
        say(remark)
    if missing := len(plan.images.missing):
        say(f"{_count(missing, 'picture')} not found beside the sources, as {plan.images.missing[0]}")
    there = sum(note.state == "known" for note in plan.notes)
    counts = (
        _count(len(new), "note"),
        _count(len(queued), "change") + " of the queue",
        _count(len(done.new_images), "picture"),
    )
    say(f"{', '.join(counts)} {'would be made' if dry_run else 'made'}; there already: {_count(there, 'note')}")


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _finish(done: Imported) -> None:
    for problem in done.plan.problems:
        say(f"not imported: {problem.message}; {problem.hint}")
    if done.plan.problems:
        raise typer.Exit(PARTIAL if done.plan.notes else ERROR)

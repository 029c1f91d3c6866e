"""``kb note new``, ``list``, ``show``, ``links``."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.choices import LangOption, chosen_language
from kb.cli.days import day_of
from kb.cli.output import JsonOption, print_json, say
from kb.errors import KbError
from kb.library import Library
from kb.workspace import find_workspace

if TYPE_CHECKING:
    from kb.notes import Note

app = typer.Typer(no_args_is_help=True, help="Notes: Markdown files below notes/, with or without front matter.")

_LONGEST_LINE = 110


@app.command()
def new(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="Slug, alias, title or arXiv id.")] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="K", help="reading, idea, project, study, question or decision.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The note's title.")] = None,
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="The note's day; today if left out.")] = None,
    lang: LangOption = None,
    no_edit: Annotated[bool, typer.Option("--no-edit", help="Do not open $EDITOR.")] = False,
) -> None:
    """Make a note from a template and open it in $EDITOR. A note that is there is opened, never written over."""
    from kb.new_note import new_note

    library = Library.load(find_workspace())
    language = chosen_language(lang, library.workspace)
    path, made = new_note(
        library, library.get(paper) if paper else None, kind, title, day_of(date).isoformat(), language
    )
    print(path.relative_to(library.workspace.root).as_posix())
    if not made:
        say("already there, nothing was changed")
    if not no_edit:
        _edit(path)


def _edit(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        say("set EDITOR to have it opened")
        return
    try:
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False)
    except OSError as error:
        raise KbError(f"cannot start {editor}: {error.strerror}", f"the note is there: {path}") from None
    if ended.returncode:
        say(f"{editor} ended with code {ended.returncode}; the note is there")


@app.command("list")
def list_notes(
    kind: Annotated[str | None, typer.Option(metavar="K", help="Only notes of this kind.")] = None,
    paper: Annotated[str | None, typer.Option(help="Only notes that name this paper.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only notes with this tag.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="Only notes of this day or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Only notes of this day or earlier.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List notes by day; those without a day come last."""
    library, notes = _notes()
    first, last = (
        day_of(since, "--since").isoformat() if since else "",
        day_of(until, "--until").isoformat() if until else "9999",
    )
    if paper:
        target = library.get(paper).slug
        notes = [note for note in notes if note.names(target)]
    notes = [
        note
        for note in notes
        if (kind is None or note.kind == kind)
        and (tag is None or tag in note.tags)
        and ((since is None and until is None) or (note.date and first <= note.date <= last))
    ]
    notes.sort(key=lambda note: (note.date or "9999", note.path))
    if as_json:
        print_json([_as_dict(note) for note in notes])
        return
    for note in notes:
        print(f"{note.date or '-':10}  {note.kind:10}  {note.path}  {note.title}")
    if not notes:
        say("no such note; kb note new PAPER makes one")


@app.command()
def show(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path, file name, or words of its name or title.")],
    as_json: JsonOption = False,
) -> None:
    """Show a note, what it links to, and which notes link to it."""
    from kb.notes import backlinks, find_note

    _, notes = _notes()
    found = find_note(notes, note)
    back = [other.note.path for other in backlinks(notes, found.path)]
    if as_json:
        print_json(_as_dict(found) | {"body": found.body, "linked_from": back})
        return
    day = found.date if found.end == found.date else f"{found.date} to {found.end}"
    facts = [found.path, found.kind, day, ", ".join(f"#{tag}" for tag in found.tags)]
    print(f"{found.title}\n{'  '.join(fact for fact in facts if fact)}\n\n{found.text}")
    for heading, targets in (("links to", _targets(found)), ("linked from", back)):
        if targets:
            print(f"\n{heading}: {', '.join(targets)}")


@app.command()
def links(
    target: Annotated[str, typer.Argument(metavar="PAPER|NOTE", help="A paper, here or not, or a note.")],
    as_json: JsonOption = False,
) -> None:
    """Show backlinks: the notes that name a paper or a note, and the lines that do."""
    from kb.links import Names
    from kb.notes import backlinks, find_note

    library, notes = _notes()
    meant = Names(library).resolve(target)
    # A paper that is not here is known to notes by its arXiv id or title alone.
    is_named = meant.known or any(note.names(meant.target) for note in notes)
    name = meant.target if is_named else find_note(notes, target).path
    found = backlinks(notes, name)
    if as_json:
        print_json(
            [_as_dict(back.note) | {"lines": [{"line": at, "text": text} for at, text in back.lines]} for back in found]
        )
        return
    for back in sorted(found, key=lambda back: (back.note.date or "9999", back.note.path)):
        print(f"{back.note.path}  {back.note.kind}{f'  {back.note.date}' if back.note.date else ''}")
        for _, text in back.lines:
            print(f"    {text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + '…'}")
    say(f"{len(found)} note{'' if len(found) == 1 else 's'} name{'s' if len(found) == 1 else ''} {name}")


def _notes() -> tuple[Library, list[Note]]:
    """All notes; those that cannot be read are named on the way."""
    from kb.notes import read_notes

    library = Library.load(find_workspace())
    notes, problems = read_notes(library)
    for problem in problems:
        say(f"not read: {problem.message}")
    return library, notes


def _targets(note: Note) -> list[str]:
    return list(dict.fromkeys((*note.papers, *(link.target for link in note.links))))


def _as_dict(note: Note) -> dict[str, Any]:
    names = ("path", "title", "kind", "date", "end", "papers", "tags")
    return {name: getattr(note, name) for name in names} | {"links": _targets(note)}

"""A new note from a template; a file that is there is never written over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kb.errors import UsageError
from kb.ingest.slug import clean
from kb.library import Library, Paper
from kb.notes import KINDS
from kb.render import render
from kb.workspace import write_atomic

_TITLES = {
    "zh": dict(zip(KINDS, ("阅读", "想法", "项目", "学习", "问题", "决定"), strict=True)),
    "en": dict(zip(KINDS, ("Reading", "Idea", "Project", "Study", "Question", "Decision"), strict=True)),
}


@dataclass(frozen=True, slots=True)
class NotePaper:
    """A paper as a note's template names it."""

    slug: str
    name: str
    id: str


@dataclass(frozen=True, slots=True)
class NewNote:
    """What a note's template fills in."""

    title: str
    kind: str
    date: str
    papers: tuple[NotePaper, ...]


def new_note(
    library: Library, paper: Paper | None, kind: str | None, title: str | None, date: str, language: str
) -> tuple[Path, bool]:
    """Write a note; its path, and False when a note of that day and name was there and is left as it is.

    Raises UsageError for a kind that does not exist, or when neither a paper nor a kind says what the note is.
    """
    if kind is None and paper is None:
        raise UsageError("what kind of note?", f"name a paper, or --kind {'|'.join(KINDS)}")
    kind = kind or "reading"
    if kind not in KINDS:
        raise UsageError(f"no kind {kind!r}", f"one of {', '.join(KINDS)}")
    workspace = library.workspace
    folder = workspace.notes / "decisions" if kind == "decision" else workspace.notes
    path = folder / f"{date}-{_name(paper, kind, title)}.md"
    if path.exists():
        return path, False
    about = () if paper is None else (_named(paper),)
    note = NewNote(title or (paper.title if paper else f"{_TITLES[language][kind]} {date}"), kind, date, about)
    write_atomic(path, render(workspace, f"note.{language}.md.j2", note=note).rstrip() + "\n")
    return path, True


def _named(paper: Paper) -> NotePaper:
    return NotePaper(paper.slug, paper.aliases[0] if paper.aliases else paper.title, paper.arxiv_id or "")


def _name(paper: Paper | None, kind: str, title: str | None) -> str:
    if title:
        return clean(title) or kind
    if paper is None:
        return kind
    return paper.slug if kind == "reading" else f"{paper.slug}-{kind}"

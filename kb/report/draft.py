"""The draft of a report: written once, then only its untouched parts again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kb.blocks import Refreshed, has_marks, refresh, with_register
from kb.drafting.shorten import Refused
from kb.errors import KbError
from kb.library import Library
from kb.llm import Chat, settings_of
from kb.render import render
from kb.report.gather import gather
from kb.report.summary import Summary, summarise
from kb.report.values import WeekReport
from kb.weeks import Week
from kb.workspace import Workspace, write_atomic


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft as it stands now. ``parts`` says what became of its parts; None for one that was not there before."""

    path: Path
    text: str
    parts: Refreshed | None
    problems: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """What became of its parts, for machines."""
        parts = {key: value for key, value in asdict(self.parts).items() if key != "text"} if self.parts else {}
        return parts | {"problems": self.problems}

    def remarks(self) -> list[str]:
        """What to tell the person, a line each."""
        lines = list(self.problems)
        if self.parts is None:
            return lines
        rows = (
            ("refreshed", self.parts.refreshed),
            ("added", self.parts.added),
            ("kept as you edited it", self.parts.kept),
            ("  of these, drafted otherwise today (see it with -o -)", self.parts.outdated),
            ("left deleted (take its name off the last line of the file to have it again)", self.parts.deleted),
            ("taken out, no longer part of the draft", self.parts.removed),
            ("no longer part of the draft, left as it is", self.parts.stale),
        )
        found = [f"{words}: {', '.join(names)}" for words, names in rows if names]
        return lines + (found or ["nothing changed since the last draft"])


def draft_path(workspace: Workspace, week: Week, language: str) -> Path:
    """Where the draft of a week is kept: by its first day; the English twin stands beside the Chinese one."""
    return workspace.reports / f"{week.first.isoformat()}{'' if language == 'zh' else '.en'}.md"


def fresh_draft(
    workspace: Workspace, week: Week, language: str, template: str | None, folder: Path, llm: bool = False
) -> tuple[str, tuple[str, ...]]:
    """``(text, problems)`` of a report as it would be drafted today, to stand in ``folder``."""
    report = gather(Library.load(workspace), week, language, folder)
    summary, refused = _summary(workspace, report) if llm else (None, ())
    text = render(workspace, template or f"weekly.{language}.md.j2", report=report, summary=summary)
    return with_register(text), (*report.problems, *refused)


def _summary(workspace: Workspace, report: WeekReport) -> tuple[Summary | None, tuple[str, ...]]:
    with Chat(settings_of(workspace)) as chat:
        try:
            return summarise(report, chat), ()
        except Refused as error:
            return None, (f"no summary, what the language model wrote was not taken: {error}",)


def write_draft(
    workspace: Workspace,
    week: Week,
    language: str,
    template: str | None = None,
    path: Path | None = None,
    llm: bool = False,
) -> Draft:
    """Write the draft, or refresh it. Raises KbError for a file of that name that no draft was ever written to."""
    path = path or draft_path(workspace, week, language)
    fresh, problems = fresh_draft(workspace, week, language, template, path.parent, llm)
    if not path.exists():
        write_atomic(path, fresh)
        return Draft(path, fresh, None, problems)
    try:
        old = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8; nothing was changed") from None
    if old.strip() and not has_marks(old):
        raise KbError(f"{path} was not drafted by kb; it stays as it is", "-o FILE writes the draft somewhere else")
    parts = refresh(old, fresh)
    if parts.text != old:
        write_atomic(path, parts.text)
    return Draft(path, parts.text, parts, problems)

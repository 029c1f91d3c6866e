"""``kb report``: a draft of the week's report."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.output import say
from kb.errors import UsageError
from kb.workspace import Workspace, find_workspace, write_atomic


def report(
    week: Annotated[
        str | None, typer.Argument(metavar="[WEEK]", help="A day in it, or 2026-W17; this week if left out.")
    ] = None,
    first: Annotated[str | None, typer.Option("--from", metavar="DAY", help="Another first day.")] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="DAY", help="Another last day.")] = None,
    lang: Annotated[str | None, typer.Option(help="zh or en; kb.toml says which if left out.")] = None,
    template: Annotated[str | None, typer.Option(help="A template of your own in templates/.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write; notes/reports/ if left out.")
    ] = None,
) -> None:
    """Draft the week's report from papers, notes and the queue. What you changed in an earlier draft stays."""
    workspace = find_workspace()
    language = lang or str(workspace.option("language", "en"))
    if language not in ("zh", "en"):
        raise UsageError(f"no language {language!r}", "--lang zh or --lang en")
    path, remarks = draft_report(workspace, week, first, last, language, template, output)
    print(path)
    for remark in remarks:
        say(remark)


def draft_report(
    workspace: Workspace,
    week: str | None,
    first: str | None,
    last: str | None,
    language: str,
    template: str | None,
    output: Path | None,
) -> tuple[Path, list[str]]:
    """Write or refresh a draft; returns its path and what to tell the person."""
    from kb.blocks import refresh, with_register
    from kb.library import Library
    from kb.render import render
    from kb.report import gather
    from kb.weeks import between, week_of

    if (first is None) != (last is None):
        raise UsageError("--from and --to go together", "give both, or name a week")
    if first is not None and last is not None:
        days = between(first, last)
    else:
        start = str(workspace.option("week_start", "monday")).lower()
        days = week_of(week or dt.date.today().isoformat(), start)
    found = gather(Library.load(workspace), days, language)
    fresh = with_register(render(workspace, template or f"weekly.{language}.md.j2", report=found))
    path = output or workspace.reports / f"{days.first.isoformat()}{'' if language == 'zh' else '.en'}.md"
    remarks = [f"not read: {problem}" for problem in found.problems]
    if not path.exists():
        write_atomic(path, fresh)
        return path, remarks
    result = refresh(path.read_text(encoding="utf-8"), fresh)
    write_atomic(path, result.text)
    for names, words in (
        (result.refreshed, "refreshed"),
        (result.kept, "kept as you edited it"),
        (result.deleted, "left deleted"),
    ):
        if names:
            remarks.append(f"{words}: {', '.join(names)}")
    return path, remarks or ["nothing changed since the last draft"]

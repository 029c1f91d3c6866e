"""``kb report``: a draft of the week's report, as Markdown, as one HTML page, or as PDF."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.choices import LangOption, choose, chosen_language
from kb.cli.output import JsonOption, print_json, say
from kb.errors import PARTIAL, UsageError
from kb.workspace import Workspace, find_workspace, write_atomic

if TYPE_CHECKING:
    from kb.weeks import Week

_FORMATS = ("md", "html", "pdf")


def report(
    week: Annotated[
        str | None, typer.Argument(metavar="[WEEK]", help="A day in it, or 2026-W17; this week if left out.")
    ] = None,
    first: Annotated[str | None, typer.Option("--from", metavar="DAY", help="Another first day.")] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="DAY", help="Another last day.")] = None,
    lang: LangOption = None,
    template: Annotated[
        str | None, typer.Option(metavar="FILE", help="A template of your own, by its name in templates/.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="md, html (one page that needs nothing beside it) or pdf.")
    ] = "md",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; - prints today's draft, changes nothing."),
    ] = None,
    llm: Annotated[
        bool,
        typer.Option("--llm", help="Let the model of kb.toml write a summary; kept if the notes hold all it says."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Draft the week's report from papers, notes, runs and the queue. What you changed in an earlier draft stays.

    The draft is kept in notes/reports/. A page is made of the draft as you left it.
    """
    from kb.report import draft_path, fresh_draft, write_draft

    workspace = find_workspace()
    language = chosen_language(lang, workspace)
    choose(form, *_FORMATS)
    days = _days(workspace, week, first, last)
    if output is not None and str(output) == "-":
        if as_json:
            raise UsageError("-o - prints the draft itself, which is no JSON", "leave out --json, or name a file")
        from kb.blocks import without_marks

        text, problems = fresh_draft(workspace, days, language, template, workspace.reports, llm)
        typer.echo(without_marks(text).rstrip("\n"))
        for problem in problems:
            say(problem)
        _end(problems)
        return
    kept = output if output is not None and form == "md" else draft_path(workspace, days, language)
    draft = write_draft(workspace, days, language, template, kept, llm)
    written, remarks = draft.path, draft.remarks()
    if form != "md":
        written = output or kept.with_suffix(f".{form}")
        remarks += _write_page(workspace, draft.text, kept.parent, language, form, written)
    if as_json:
        print_json({"path": str(written), "draft": str(draft.path)} | draft.as_dict())
    else:
        print(written)
        for remark in remarks:
            say(remark)
    _end(draft.problems)


def _days(workspace: Workspace, week: str | None, first: str | None, last: str | None) -> Week:
    from kb.weeks import between, week_of

    if (first is None) != (last is None):
        raise UsageError("--from and --to go together", "give both, or name a week")
    if first is not None and last is not None:
        if week is not None:
            raise UsageError("a week and --from --to are two answers to one question", "give one of them")
        return between(first, last)
    return week_of(week or dt.date.today().isoformat(), str(workspace.option("week_start", "monday")).lower())


def _write_page(workspace: Workspace, text: str, folder: Path, language: str, form: str, output: Path) -> list[str]:
    from kb.page import html_page, print_pdf

    page = html_page(workspace, text, folder, language)
    if form == "pdf":
        browser = workspace.option("report.browser")
        print_pdf(page.html, output, None if browser is None else str(browser))
    else:
        write_atomic(output, page.html)
    return list(page.remarks)


def _end(problems: tuple[str, ...]) -> None:
    if problems:
        raise typer.Exit(PARTIAL)

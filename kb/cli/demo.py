"""``kb demo``: a first look."""

from __future__ import annotations

import os

import typer

from kb.cli.index import bring_up_to_date
from kb.cli.output import say


def demo() -> None:
    """Show the main job, offline: index, a Chinese and an English question, a comparison table, a report draft."""
    from kb.cli.compare import compare
    from kb.cli.search import search
    from kb.demo import COMPARED, QUESTIONS, WEEK, demo_workspace
    from kb.report import write_draft
    from kb.weeks import week_of

    os.environ["KB_OFFLINE"] = "1"
    workspace = demo_workspace()
    os.environ["KB_WORKSPACE"] = str(workspace.root)
    say(f"workspace {workspace.root}")
    bring_up_to_date(workspace)
    for question in QUESTIONS:
        typer.echo(f"\n$ kb search '{question}'\n")
        search(question, most=3)
    typer.echo(f"\n$ kb compare {' '.join(COMPARED)} --table credit\n")
    compare(list(COMPARED), table="credit")
    typer.echo(f"\n$ kb report {WEEK}\n")
    week = week_of(WEEK, str(workspace.option("week_start", "monday")))
    draft = write_draft(workspace, week, "zh", None, workspace.derived / f"report-{WEEK}.md")
    typer.echo(f"a draft of the week's report: {draft.path}")
    for remark in draft.remarks():
        say(remark)

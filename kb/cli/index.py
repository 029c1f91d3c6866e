"""``kb index`` and ``kb doctor``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.output import JsonOption, print_json, say
from kb.errors import PARTIAL
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.index.embedding_step import Progress
    from kb.index.reconcile import IndexReport

_LONG_STEP = 200  # documents or texts


def index(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Read every file again; cached vectors are used.")] = False,
    keep_old: Annotated[bool, typer.Option("--keep-old", help="Keep the index of another model or version.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring the search index in step with the papers and notes."""
    report = bring_up_to_date(find_workspace(), quiet=as_json, rebuild=rebuild, keep_old=keep_old)
    if as_json:
        print_json(asdict(report))
    if report.failures:
        sys.exit(PARTIAL)


def bring_up_to_date(
    workspace: Workspace, quiet: bool = False, rebuild: bool = False, keep_old: bool = False
) -> IndexReport:
    """Reconcile under the write lock, with progress on stderr; ``quiet`` prints no summary."""
    from kb.index.embedding.registry import embedder_of
    from kb.index.lock import writing
    from kb.index.reconcile import forget_passages, reconcile

    with writing(workspace, "kb index"), _progress() as progress:
        if rebuild:
            forget_passages(workspace)
        try:
            report = reconcile(workspace, embedder_of(workspace), progress, keep_old)
        except KeyboardInterrupt:
            say("interrupted: what was read and embedded is kept; kb index goes on there")
            raise typer.Exit(130) from None
    if not quiet:
        _summary(report)
    return report


def _summary(report: IndexReport) -> None:
    for difference in report.replaced_recipe:
        say(f"the index was made anew: {difference}")
    if report.is_noop:
        say(f"index: up to date, {report.passages} passages")
    else:
        say(
            f"index: {report.read} papers and notes read, {report.removed} removed, {report.embedded} texts embedded; "
            f"{report.passages} passages"
        )
    for owner, reason in report.failures.items():
        say(f"not indexed: {owner}: {reason}")


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar with count, name and time left on a terminal; a plain line now and then elsewhere."""
    if not sys.stderr.isatty():
        yield _plain_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int, name: str) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total, name="")
            bar.update(tasks[step], completed=done, total=total, name=name[-40:])

        yield show


def _plain_progress() -> Progress:
    """A line for each tenth of a long step."""
    shown: dict[str, int] = {}

    def show(step: str, done: int, total: int, name: str) -> None:
        tenth = 10 * done // max(total, 1)
        if total >= _LONG_STEP and shown.get(step) != tenth:
            shown[step] = tenth
            say(f"{step} {done} of {total} {name}".rstrip())

    return show


def doctor(
    mend: Annotated[bool, typer.Option("--repair", help="Put right what is wrong; cached vectors are used.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the index: damaged files, lost vectors, a store that does not hold what it should."""
    from kb.index.doctor import examine, repair
    from kb.index.lock import writing

    workspace = find_workspace()
    with writing(workspace, "kb doctor"):
        findings = examine(workspace)
        if mend:
            repair(workspace, findings)
    if as_json:
        print_json([{"where": finding.where, "what": finding.what, "repaired": mend} for finding in findings])
    else:
        for finding in findings:
            print(f"{finding.where}: {finding.what}")
    if not findings:
        say("the index is as it should be")
    elif mend:
        report = bring_up_to_date(workspace, quiet=as_json)
        say("repaired")
        if report.failures:
            sys.exit(PARTIAL)
    else:
        say("kb doctor --repair puts this right")
        sys.exit(PARTIAL)

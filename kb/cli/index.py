"""``kb index`` and ``kb doctor``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.output import print_json, say
from kb.errors import PARTIAL
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.index.reconcile import IndexReport, Progress


def index(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Bring the search index in step with the papers and notes."""
    report = bring_up_to_date(find_workspace(), quiet=as_json)
    if as_json:
        print_json({"read": report.read, "removed": report.removed, "embedded": report.embedded, "failures": report.failures})
    if report.failures:
        sys.exit(PARTIAL)


def bring_up_to_date(workspace: Workspace, quiet: bool = False) -> IndexReport:
    """Reconcile under the write lock, with progress on stderr."""
    from kb.index.embedding.registry import embedder_of
    from kb.index.lock import writing
    from kb.index.reconcile import reconcile

    with writing(workspace, "kb index"), _progress() as progress:
        report = reconcile(workspace, embedder_of(workspace), progress)
    if quiet:
        return report
    for difference in report.replaced_recipe:
        say(f"the index was built anew beside the old one: {difference}")
    if report.is_noop:
        say("index: up to date")
    else:
        say(f"index: {report.read} documents read, {report.removed} removed, {report.embedded} texts embedded")
    for owner, reason in report.failures.items():
        say(f"not indexed: {owner}: {reason}")
    return report


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar with count, name and time left on a terminal; a plain line now and then elsewhere."""
    if not sys.stderr.isatty():
        yield _plain_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[name]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int, name: str) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total, name="")
            bar.update(tasks[step], completed=done, total=total, name=name[-40:])

        yield show


def _plain_progress() -> Progress:
    shown: dict[str, int] = {}

    def show(step: str, done: int, total: int, name: str) -> None:
        tenth = 10 * done // max(total, 1)
        if total > 200 and shown.get(step) != tenth:
            shown[step] = tenth
            say(f"{step} {done} of {total}")

    return show


def doctor(
    mend: Annotated[bool, typer.Option("--repair", help="Put right what can be, from the cached vectors.")] = False,
) -> None:
    """Check the index: lost vectors, damaged files, a store that does not hold what it should."""
    from kb.index.doctor import examine, repair
    from kb.index.lock import writing

    workspace = find_workspace()
    with writing(workspace, "kb doctor"):
        findings = examine(workspace)
        for finding in findings:
            print(f"{finding.where}: {finding.what}")
        if findings and mend:
            repair(workspace)
    if not findings:
        print("the index is as it should be")
        return
    if not mend:
        say("kb doctor --repair puts this right")
        sys.exit(PARTIAL)
    if any(finding.needs_index for finding in findings):
        bring_up_to_date(workspace)
    say("repaired")

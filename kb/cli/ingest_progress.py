"""How ``kb ingest`` shows what it does: a line for every source, and below them a bar where there is a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from kb.cli.output import say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from kb.ingest.batch import Outcome

_NAME_WIDTH = 60


class IngestProgress:
    """A listener. Papers go to stdout, everything else to stderr; ``quiet`` keeps stdout for JSON."""

    def __init__(self, total: int, quiet: bool) -> None:
        self.outcomes: list[Outcome] = []
        self._total = total
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> IngestProgress:
        if sys.stderr.isatty():
            self._bar = _make_bar()
            self._task = self._bar.add_task("", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def grow(self, total: int) -> None:
        """There are this many sources now: a search has found some."""
        self._total = total
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=total)

    def working(self, what: str) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what[:_NAME_WIDTH])
        else:
            say(what)

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1, description=_short(outcome.source))
        count = f"[{len(self.outcomes)}/{self._total}] " if self._total > 1 else ""
        line, is_result = _line_of(outcome)
        if is_result and not self._quiet:
            print(count + line, flush=True)
        elif not is_result:
            say(count + line)
        for remark in outcome.remarks:
            say(f"    {outcome.slug or _short(outcome.source)}: {remark}")


def _line_of(outcome: Outcome) -> tuple[str, bool]:
    """The line of an outcome, and whether it is a result."""
    if outcome.state in ("added", "updated"):
        how = ", ".join(part for part in (outcome.quality, outcome.route) if part)
        return f"{outcome.state} {outcome.slug}: {outcome.title}  [{how}]", True
    if outcome.state == "known":
        return f"already there: {outcome.slug}", True
    if outcome.state == "planned":
        return f"would ingest {outcome.source}", True
    return f"{outcome.state}: {_short(outcome.source)}: {outcome.reason}", False


def _short(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else "…" + name[-_NAME_WIDTH + 1 :]


def _make_bar() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from kb.cli.output import console

    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=console(stderr=True),
        transient=True,
        # Lines for a terminal go above the bar; lines for a pipe go where they are meant to.
        redirect_stdout=sys.stdout.isatty(),
    )

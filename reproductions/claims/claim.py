"""What a pre-registered claim is, and how runs decide it: by intervals against bounds that were written down before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reproductions.core import Floats, ParameterError
from reproductions.metrics.interval import Interval, bootstrap_interval, mean_interval
from reproductions.worlds.base import Cost

Verdict = Literal["supported", "refuted", "undecided"]
Metrics = Mapping[str, float]
SEEDS = 40


@dataclass(frozen=True, slots=True)
class Measured:
    """What one seed of a claim gave: unrounded metrics, and all that was spent on them."""

    metrics: Metrics
    cost: Cost


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of a claim: an estimate lies above and/or below given bounds.

    It holds when the whole interval does, fails when the whole interval lies on the other side of a bound, else it is open. The estimate is
    the mean of ``metric`` over seeds, or ``statistic`` of the means of ``columns`` where the question is of another kind.
    """

    metric: str
    says: str
    says_zh: str
    above: float | None = None
    below: float | None = None
    statistic: Callable[[Floats], float] | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ParameterError(f"check {self.metric} has no bound, so it could not fail", "give above= or below=")

    def outcome(self, interval: Interval) -> Verdict:
        """Supported, refuted or undecided by this interval."""
        above = -np.inf if self.above is None else self.above
        below = np.inf if self.below is None else self.below
        if interval.low > above and interval.high < below:
            return "supported"
        return "refuted" if interval.high < above or interval.low > below else "undecided"


@dataclass(frozen=True, slots=True)
class Decision:
    """A claim after its runs: the verdict, and what each check and each reported number came to."""

    verdict: Verdict
    checks: tuple[tuple[Check, Interval, Verdict], ...]
    reported: Mapping[str, Interval]
    seeds: int
    wanted: int
    cost: Cost


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A question with its decision rule, written before any run.

    ``measure(seed)`` runs one seed, with the library's ``methods``. Supported: all checks hold. Refuted: any check fails. Undecided: neither, or fewer seeds than
    ``seeds``. ``setting`` says worlds and sizes in words, ``revisions`` what was changed after a run, when and why.
    """

    slug: str
    statement: str
    statement_zh: str
    source: str
    setting: str
    methods: tuple[str, ...]
    checks: tuple[Check, ...]
    measure: Callable[[int], Measured]
    seeds: int = SEEDS
    revisions: tuple[str, ...] = field(default_factory=tuple)

    def decide(self, metrics: Sequence[Metrics], cost: Cost) -> Decision:
        """The verdict from the metrics of all seeds. Pure: the same runs give the same verdict at any time."""
        if not metrics:
            return Decision("undecided", (), {}, 0, self.seeds, cost)
        checked = tuple((check, found := interval_of(check, metrics), check.outcome(found)) for check in self.checks)
        outcomes = {outcome for _, _, outcome in checked}
        verdict: Verdict = "undecided"
        if len(metrics) >= self.seeds:
            verdict = "refuted" if "refuted" in outcomes else "undecided" if "undecided" in outcomes else "supported"
        names = dict.fromkeys(name for row in metrics for name in row)
        reported = {name: mean_interval([row[name] for row in metrics if name in row]) for name in names}
        return Decision(verdict, checked, reported, len(metrics), self.seeds, cost)


def interval_of(check: Check, metrics: Sequence[Metrics]) -> Interval:
    """A check's estimate: mean with t interval, or its statistic with a percentile bootstrap over seeds."""
    if check.statistic is None:
        return mean_interval([row[check.metric] for row in metrics])
    return bootstrap_interval(np.array([[row[name] for name in check.columns] for row in metrics]), check.statistic)

"""Cost against fidelity: what a method's fields cost, and its gradient's signal against its noise for the same total cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from kb.bench.claims import estimate
from kb.errors import UsageError, near_hint
from kb.experiments import Experiment

if TYPE_CHECKING:
    from reproductions.bench.summary import Summary
    from reproductions.plots import Point

FIDELITY = "snr_equal_cost"
COST = "relative_cost"
PAPER = "paper"
# One of each kind: unlike contributions, one is enough, a reward after many turns.
HEADLINES = ("team_strong_weak", "team_redundant", "chain_delayed")
Key = tuple[str, str, str, str]
Found = Mapping[Key, "Summary"]


def summaries_of(experiment: Experiment) -> dict[Key, Summary]:
    """By (method, preset, world, metric)."""
    from reproductions.bench import summaries

    return summaries([run.row for run in experiment.current()], wanted_seeds(experiment))


def wanted_seeds(experiment: Experiment) -> int:
    """The seeds that the suite of this name has, or as many as were run where that is more or there is no such suite."""
    from reproductions.suites import SUITES

    suite = SUITES.get(experiment.slug)
    return max(len({run.seed for run in experiment.runs}), len(suite().seeds) if suite else 0)


def reference_worlds(found: Found) -> list[str]:
    """Those of the headline worlds that were run; without any, the world in which most methods have a fidelity."""
    methods = Counter(world for _, _, world, metric in found if metric == FIDELITY)
    chosen = [world for world in HEADLINES if world in methods]
    return chosen or [world for world, number in methods.most_common(1) if number > 1]


def pareto_points(found: Found, world: str) -> dict[str, tuple[float, Point]]:
    """Methods with what they cost and how near their gradient comes at equal cost, in one world."""
    return {name: (cost.mean if cost else 1.0, point_of(summary)) for name, cost, summary in _measured(found, world)}


def fidelity_rows(found: Found, world: str) -> list[dict[str, Any]]:
    """The numbers of the cost-against-fidelity picture of one world, best first."""
    rows = [
        {
            "method": name,
            "cost": f"{cost.mean:.2f}" if cost else "–",
            "fidelity": estimate(summary.mean, summary.low, summary.high),
            "n": summary.n,
            "mark": "" if summary.finished else f" / {summary.wanted}",
            "mean": summary.mean,
        }
        for name, cost, summary in _measured(found, world)
    ]
    return sorted(rows, key=lambda row: (-row["mean"], row["method"]))


def _measured(found: Found, world: str) -> Iterator[tuple[str, Summary | None, Summary]]:
    """``(method, cost, fidelity)`` of the papers' own settings in one world."""
    for (method, preset, where, metric), summary in found.items():
        if where == world and metric == FIDELITY and preset == PAPER:
            yield method, found.get((method, preset, world, COST)), summary


def selected(found: Found, methods: Sequence[str], worlds: Sequence[str], metrics: Sequence[str]) -> dict[Key, Summary]:
    """Only some methods, worlds and metrics; an empty list keeps all. Raises UsageError for a name that has no numbers."""
    for position, what, names in ((0, "method", methods), (2, "world", worlds), (3, "metric", metrics)):
        known = sorted({key[position] for key in found})
        for name in names:
            if name not in known:
                hint = near_hint(name, known, f"there are {', '.join(known)}")
                raise UsageError(f"no numbers for {what} {name!r}", hint)
    return {
        key: summary
        for key, summary in found.items()
        if key[0] in (methods or key) and key[2] in (worlds or key) and key[3] in (metrics or key)
    }


def summary_rows(found: Found) -> list[dict[str, Any]]:
    """Summaries as plain values, by world, metric, then best mean first as it stands."""
    rows = [
        {"world": world, "metric": metric, "method": method, "preset": preset, "mean": s.mean, "low": s.low, "high": s.high, "n": s.n, "wanted": s.wanted}
        for (method, preset, world, metric), s in found.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row["world"], row["metric"], -row["mean"], row["method"]))


def name_of(method: str, preset: str) -> str:
    """A method as tables and pictures name it."""
    return method if preset == PAPER else f"{method} ({preset})"


def point_of(summary: Summary) -> Point:
    """A summary as plots take it; without an interval the mean alone."""
    from reproductions.plots import Point

    low, high = (value if isfinite(value) else summary.mean for value in (summary.low, summary.high))
    return Point(summary.mean, low, high, summary.finished)

"""Pictures of logged runs, into the experiment's folder: ``pictures/<name>.png`` and ``.svg``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.bench.claims import judged
from kb.bench.errors import reproduction_errors
from kb.bench.fidelity import FIDELITY, name_of, pareto_points, point_of, reference_worlds, summaries_of, wanted_seeds
from kb.bench.results import CLAIMS, language_of
from kb.experiments import Experiment, experiments_folder, read_experiment
from kb.workspace import Workspace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reproductions.plots import Language, Point

HEAT_METRICS = ("cosine", "pearson")
CURVES = ("grpo", "dr_mas", "cad_grpo", "difference_rewards", "coma", "gae")
SCATTERED = ("grpo", "dr_mas", "cad_grpo", "difference_rewards", "coma", "cosac")


def draw(workspace: Workspace, slug: str, language: str | None = None, out: Path | None = None) -> list[Path]:
    """Draw all pictures that an experiment's runs allow. ``slug`` claims is the forest of all claims."""
    tongue: Language = "zh" if (language or language_of(workspace)) == "zh" else "en"
    folder = out or experiments_folder(workspace) / slug / "pictures"
    with reproduction_errors():
        from reproductions import plots
        from reproductions.claims import claims

        if slug == CLAIMS:
            figures = _forest(workspace, tongue)
        else:
            experiment = read_experiment(workspace, slug)
            figures = _of_claim(experiment, tongue) if slug in claims() else of_suite(experiment, tongue)
        return [path for name, figure in figures.items() for path in plots.save(figure, folder / name)]


def of_suite(experiment: Experiment, language: Language) -> dict[str, Figure]:
    """Cost against fidelity, heat maps, learning curves and the scatter of credit."""
    from reproductions import plots

    found = summaries_of(experiment)
    figures: dict[str, Figure] = {}
    for world in reference_worlds(found):
        figures[f"cost-fidelity-{world}"] = plots.pareto(pareto_points(found, world), f"{FIDELITY}, {world}", language)
    for metric in HEAT_METRICS:
        cells = {(name_of(m, p), w): point_of(s) for (m, p, w, name), s in found.items() if name == metric}
        if cells:
            methods, worlds = sorted({m for m, _ in cells}), sorted({w for _, w in cells})
            figures[f"heat-{metric}"] = plots.heat_map(methods, worlds, cells, metric, language)
    return figures | _learning(experiment, language) | _scatter(reference_worlds(found), language)


def _scatter(worlds: Sequence[str], language: Language) -> dict[str, Figure]:
    """Credit against the true advantage by agent, of one play with seed 0: arrays are no part of the log, so it is played again."""
    import numpy as np

    from reproductions import plots
    from reproductions.bench.needs import Probe
    from reproductions.metrics import above_prompt_mean
    from reproductions.registry import get
    from reproductions.suites import SITUATIONS

    figures = {}
    for situation in SITUATIONS:
        if situation.name not in worlds:
            continue
        world = situation.build()
        probe = Probe(world, 8)
        truth, credit, agent = {}, {}, {}
        for name in SCATTERED:
            need = probe.need(get(name), "paper", {})
            if need.lacks:
                continue
            episodes = world.play(np.random.default_rng(0), 16, 8, fields=need.fields)
            acted, right = episodes.batch.acted_pknt, episodes.truth.advantage_pknt
            if right is None:
                continue
            given = get(name).run(episodes.batch).advantage_pknt
            truth[name] = above_prompt_mean(right, acted)[acted]
            credit[name] = above_prompt_mean(given, acted)[acted]
            agent[name] = np.broadcast_to(np.arange(acted.shape[2])[:, None], acted.shape)[acted]
        if truth:
            figures[f"credit-{situation.name}"] = plots.credit_scatter(truth, credit, agent, language)
    return figures


def _learning(experiment: Experiment, language: Language) -> dict[str, Figure]:
    from reproductions import plots

    curves: dict[str, dict[str, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for run in experiment.current():
        if run.row.get("curve") and run.preset == "paper" and run.method in CURVES:
            curves[run.world][run.method].append(run.row["curve"])
    figures = {}
    wanted = wanted_seeds(experiment)
    for world, by_method in curves.items():
        for against, column in (("episodes", "episodes"), ("total", "cost")):
            bands = {method: _band(rows, column, wanted) for method, rows in sorted(by_method.items())}
            best = next(iter(by_method.values()))[0]["best"][0]
            figures[f"learning-{world}-{against}"] = plots.learning_curves(bands, language, against, best)  # type: ignore[arg-type]
    return figures


def _band(
    rows: Sequence[Mapping[str, Any]], column: str, wanted: int, points: int = 40
) -> tuple[list[float], list[Point]]:
    """Mean and interval over seeds on a common grid that every seed reaches."""
    import numpy as np

    from reproductions.metrics.interval import mean_interval
    from reproductions.plots import Point

    grid = np.linspace(0.0, min(row[column][-1] for row in rows), points)
    values = np.array([np.interp(grid, row[column], row["value"]) for row in rows])
    bands = [mean_interval(at.tolist()) for at in values.T]
    finished = len(rows) >= wanted
    return grid.tolist(), [
        Point(b.value, b.low if b.n > 1 else b.value, b.high if b.n > 1 else b.value, finished) for b in bands
    ]


def _of_claim(experiment: Experiment, language: Language) -> dict[str, Figure]:
    """The crossing of a claim about R^2; other claims are in the forest."""
    import numpy as np

    from reproductions import plots
    from reproductions.claims import get
    from reproductions.claims.regression import R2_GRID, r2_columns, r2_crossing
    from reproductions.metrics.interval import bootstrap_interval, mean_interval

    rows = [run.metrics for run in experiment.current() if not run.error]
    if not experiment.slug.startswith("r2-threshold") or len(rows) < 2:
        return {}
    finished = len(rows) >= get(experiment.slug).seeds
    curves, crossings = {}, {}
    for metric in ("pearson", "cosine"):
        values = np.array([[row[name] for name in r2_columns(metric)] for row in rows], dtype=np.float64)
        means = [mean_interval(column.tolist()) for column in values.T]
        curves[metric] = [plots.Point(m.value, m.low, m.high, finished) for m in means]
        at = bootstrap_interval(values, r2_crossing)
        crossings[metric] = plots.Point(at.value, at.low, at.high) if at.high < 1.0 else None
    return {"crossing": plots.crossing(R2_GRID, curves, crossings, language)}


def _forest(workspace: Workspace, language: Language) -> dict[str, Figure]:
    from math import isfinite

    from reproductions import plots

    rows = []
    for item in judged(workspace):
        for check, found, outcome in item.decision.checks if item.decision else ():
            half = 0.5 * (found.high - found.low)
            if not isfinite(half) or not isfinite(found.value):
                continue
            # How far inside the nearer bound the estimate and both ends of its interval lie, in half widths.
            inside = [_inside(value, check.above, check.below) for value in (found.value, found.low, found.high)]
            scale = half if half > 0.0 else abs(inside[0]) / 100.0 or 1.0
            value, one, two = (distance / scale for distance in inside)
            low, high = sorted((one, two))
            # An interval around the middle of a band reaches further inside than its ends do.
            rows.append(
                (f"{item.number} {check.metric}", plots.Point(value, min(low, value), max(high, value)), outcome)
            )
    return {"forest": plots.forest(rows, language)} if rows else {}


def _inside(value: float, above: float | None, below: float | None) -> float:
    """The distance to the nearer bound, negative outside."""
    return min(
        value - above if above is not None else float("inf"), below - value if below is not None else float("inf")
    )

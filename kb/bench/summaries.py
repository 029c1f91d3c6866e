"""The experiment log as numbers for tables: the mean of a metric over seeds with its interval."""

from __future__ import annotations

from kb.experiments import read_experiment, slugs
from kb.table_cells import Summary
from kb.workspace import Workspace

PRESET = "paper"


def summaries(workspace: Workspace) -> dict[tuple[str, str, str], Summary]:
    """Mean, 95% interval and number of runs by (method, world, metric), over the current runs of all experiments.

    Runs of other presets than the paper's are other methods, and are left out.
    """
    from reproductions.metrics.interval import mean_interval

    values: dict[tuple[str, str, str], list[float]] = {}
    places: dict[tuple[str, str, str], list[str]] = {}
    for slug in slugs(workspace):
        experiment = read_experiment(workspace, slug)
        where = experiment.folder.relative_to(workspace.root).as_posix()
        for run in experiment.current():
            for metric, value in run.metrics.items() if run.preset == PRESET else ():
                if value is not None:
                    key = (run.method, run.world, metric)
                    values.setdefault(key, []).append(value)
                    places.setdefault(key, []).append(where)
    found = {}
    for key, measured in values.items():
        interval = mean_interval(measured)
        where = ", ".join(dict.fromkeys(places[key]))
        found[key] = Summary(interval.value, interval.low, interval.high, interval.n, where)
    return found

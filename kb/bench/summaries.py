"""The experiment log as numbers for tables: the mean of a metric over seeds with its interval."""

from __future__ import annotations

from kb.bench.fidelity import PAPER, summaries_of
from kb.experiments import read_experiment, slugs
from kb.table_cells import Summary
from kb.workspace import Workspace


def summaries(workspace: Workspace) -> dict[tuple[str, str, str], Summary]:
    """Mean, 95% interval and number of runs by (method, world, metric), over all experiments.

    Other presets than the paper's are other methods, and are left out. Where several experiments measured the same, the
    one with most runs counts: runs of two settings are never pooled.
    """
    found: dict[tuple[str, str, str], Summary] = {}
    for slug in slugs(workspace):
        experiment = read_experiment(workspace, slug)
        where = experiment.folder.relative_to(workspace.root).as_posix()
        for (method, preset, world, metric), one in summaries_of(experiment).items():
            key = (method, world, metric)
            if preset == PAPER and (key not in found or one.n > found[key].n):
                found[key] = Summary(one.mean, one.low, one.high, one.n, where)
    return found

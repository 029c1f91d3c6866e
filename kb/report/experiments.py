"""Experiments of a week: what was run, what came out, and what that changed, by the times that the runs carry."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kb.errors import KbError
from kb.experiments import TEXT_NAME, Experiment, Run, experiments_folder, read_experiment, slugs
from kb.report.quotes import relative
from kb.report.values import Check, ExperimentEntry, Measured
from kb.weeks import Week
from kb.workspace import Workspace

MOST_PICTURES = 3
_EXPECTATION = re.compile(r"^#+\s*(?:预期|Expect\w*)[^\n]*\n(.*?)(?=^#|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_OURS = re.compile(r"<!--.*?-->", re.DOTALL)


def experiments(
    workspace: Workspace, week: Week, language: str, folder: Path
) -> tuple[list[ExperimentEntry], list[KbError]]:
    """``(experiments with runs in the week, problems)``; claims first. ``folder`` is where the report stands."""
    found, problems = [], []
    for slug in slugs(workspace):
        try:
            experiment = read_experiment(workspace, slug)
            problems += [KbError(problem) for problem in experiment.problems]
            if any(week.holds(run.at) for run in experiment.runs):
                found.append(_entry(experiment, week, language, folder))
        except KbError as error:
            problems.append(error)
    return sorted(found, key=lambda entry: (not entry.is_claim, entry.number, entry.slug)), problems


def claims_pictures(workspace: Workspace, folder: Path) -> list[tuple[str, str]]:
    """The pictures of all claims together, as they were drawn last: name and address."""
    paths = sorted((experiments_folder(workspace) / "claims" / "pictures").glob("*.png"))
    return [(path.stem, relative(path, folder)) for path in paths]


def _entry(experiment: Experiment, week: Week, language: str, folder: Path) -> ExperimentEntry:
    from kb.bench.claims import bounds, estimate, judged_by

    first, last = week.first.isoformat(), week.last.isoformat()
    now = _with_runs(experiment, lambda run: run.at[:10] <= last)
    before = _with_runs(experiment, lambda run: run.at[:10] < first)
    new = [run for run in now.runs if week.holds(run.at)]
    judged = judged_by(now)
    earlier = judged_by(before) if before.runs else None
    # A heat map shows all worlds at once.
    pictures = sorted(
        (experiment.folder / "pictures").glob("*.png"), key=lambda path: (not path.stem.startswith("heat"), path)
    )
    text = experiment.folder / TEXT_NAME
    decision = judged.decision if judged else None
    return ExperimentEntry(
        slug=experiment.slug,
        title=judged.statement(language) if judged else experiment.title,
        address=relative(text, folder) if text.is_file() else "",
        expectation=_expectation(experiment.text),
        new=len(new),
        failed=sum(bool(run.error) for run in new),
        lacking=sum(bool(run.lacks) for run in new),
        seeds=len({run.seed for run in now.current() if not run.error}),
        number=judged.number if judged else 0,
        verdict=judged.verdict if judged else "",
        verdict_before=earlier.verdict if earlier else "",
        wanted=decision.wanted if decision else 0,
        checks=tuple(
            Check(
                check.says_zh if language == "zh" else check.says,
                estimate(found.value, found.low, found.high),
                bounds(check.above, check.below),
                outcome,
            )
            for check, found, outcome in (decision.checks if decision else ())
        ),
        measured=() if judged else tuple(_measured(now, before)),
        pictures=tuple((path.stem, relative(path, folder)) for path in pictures[:MOST_PICTURES]),
    )  # fmt: skip


def _with_runs(experiment: Experiment, wanted: Callable[[Run], bool]) -> Experiment:
    return replace(experiment, runs=tuple(run for run in experiment.runs if wanted(run)))


def _expectation(text: str) -> str:
    """What a person wrote below that heading; what kb put there is a comment."""
    match = _EXPECTATION.search(text)
    return _OURS.sub("", match[1]).strip() if match else ""


def _measured(now: Experiment, before: Experiment) -> list[Measured]:
    """The metric that most methods have, by world and method, with its value before the week; the best first."""
    from kb.bench.fidelity import FIDELITY, name_of, reference_worlds, summaries_of

    found = summaries_of(now)
    earlier = summaries_of(before) if before.runs else {}
    count = Counter(metric for *_, metric in found)
    if not count:
        return []
    metric = FIDELITY if FIDELITY in count else count.most_common(1)[0][0]
    worlds = reference_worlds(found) or sorted({world for _, _, world, _ in found})
    rows = []
    for world in worlds:
        keys = [key for key in found if key[2] == world and key[3] == metric]
        keys.sort(key=lambda key: (-found[key].mean, key))
        for key in keys:
            last = earlier.get(key)
            rows.append(
                Measured(
                    name_of(key[0], key[1]), world, metric, found[key].mean, found[key].low, found[key].high, found[key].n,
                    last.mean if last else None,
                )
            )  # fmt: skip
    return rows

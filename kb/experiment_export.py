"""Runs for other tools: one CSV table, or the folder of files that MLflow reads as its tracking store."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kb.experiments import Experiment, Run

_FIXED = ("suite", "method", "preset", "world", "seed", "error", "lacks", "at")
_FINISHED, _FAILED = 3, 4  # MLflow's RunStatus
_LOCAL = 4  # MLflow's SourceType


def as_csv(experiment: Experiment) -> str:
    """A row a run: what it was, its metrics unrounded, its cost, and the spec as JSON."""
    metrics = _names(experiment.runs, "metrics")
    cost = _names(experiment.runs, "cost")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_FIXED, *metrics, *(f"cost_{name}" for name in cost), "inputs_hash", "spec"])
    for run in experiment.runs:
        fixed = [getattr(run, name) for name in _FIXED]
        numbers = [run.metrics.get(name) for name in metrics] + [run.cost.get(name) for name in cost]
        spec = json.dumps(run.row.get("spec"), ensure_ascii=False, sort_keys=True)
        writer.writerow([*fixed, *("" if value is None else repr(value) for value in numbers), run.key, spec])
    return stream.getvalue()


def write_mlflow(experiment: Experiment, target: Path) -> int:
    """Write ``target`` as an MLflow file store with this experiment in it, and give the number of its runs.

    Ids follow from the experiment's name and the runs' keys: exporting again writes the same files.
    """
    number = str(int(hashlib.sha256(experiment.slug.encode()).hexdigest()[:14], 16))
    folder = target / number
    times = [_milliseconds(run.at) for run in experiment.runs]
    _write(
        folder / "meta.yaml",
        _yaml(
            artifact_location=folder.resolve().as_uri(),
            creation_time=min(times, default=0),
            experiment_id=number,
            last_update_time=max(times, default=0),
            lifecycle_stage="active",
            name=experiment.slug,
        ),
    )
    runs = {_run_id(run): run for run in experiment.runs}
    for name, run in runs.items():
        _write_run(folder, number, name, run)
    return len(runs)


def _write_run(folder: Path, experiment_id: str, run_id: str, run: Run) -> None:
    at, place = _milliseconds(run.at), folder / run_id
    title = f"{run.method} {run.world} {run.seed}"
    _write(
        place / "meta.yaml",
        _yaml(
            artifact_uri=f"{place.resolve().as_uri()}/artifacts",
            end_time=at,
            entry_point_name="",
            experiment_id=experiment_id,
            lifecycle_stage="active",
            run_id=run_id,
            run_name=title,
            run_uuid=run_id,
            source_name="kb bench",
            source_type=_LOCAL,
            source_version=str(run.row.get("code_hash") or ""),
            start_time=at,
            status=_FAILED if run.error else _FINISHED,
            tags=[],
            user_id="",
        ),
    )
    (place / "artifacts").mkdir(parents=True, exist_ok=True)
    cost = {f"cost_{name}": value for name, value in run.cost.items()}
    for name, number in {**run.metrics, **cost}.items():
        if number is not None:
            _write(place / "metrics" / name, f"{at} {number!r} 0\n")
    spec = run.row.get("spec") or {}
    parameters = {"method": run.method, "preset": run.preset, "world": run.world, "seed": run.seed}
    for name, value in {**{f"spec.{key}": value for key, value in spec.items()}, **parameters}.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        _write(place / "params" / name, text)
    tags = {"mlflow.runName": title, "inputs_hash": run.key, "error": run.error, "lacks": run.lacks}
    for name, text in tags.items():
        if text:
            _write(place / "tags" / name, text)


def _run_id(run: Run) -> str:
    return hashlib.sha256(f"{run.key} {run.seed} {run.at}".encode()).hexdigest()[:32]


def _names(runs: Sequence[Run], part: str) -> list[str]:
    return sorted({name for run in runs for name in getattr(run, part)})


def _milliseconds(at: str) -> int:
    try:
        moment = dt.datetime.fromisoformat(at)
    except ValueError:
        return 0
    return int(moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp() * 1000)


def _write(path: Path, text: str) -> None:
    # Tens of thousands of small files that can be made again: not worth a sync each.
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _yaml(**fields: Any) -> str:
    # JSON scalars and lists are YAML.
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())

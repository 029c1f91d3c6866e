"""The experiment log: ``notes/experiments/<slug>/`` with runs.jsonl (one JSON line a run) and experiment.md (people's words).

Runs are only ever appended. A line that cannot be read, as the last one of a killed process, is named and left where it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.errors import UsageError, near_hint
from kb.workspace import Workspace, cannot_write, write_atomic

RUNS_NAME = "runs.jsonl"
TEXT_NAME = "experiment.md"


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what was run on what, its unrounded metrics and its cost.

    ``error`` is why it failed, ``lacks`` the field that the world could not supply; both empty for a run that has metrics.
    ``row`` is the whole line: spec, versions, hashes and the time of the run with it.
    """

    key: str
    suite: str
    method: str
    preset: str
    world: str
    seed: int
    metrics: Mapping[str, float | None]
    cost: Mapping[str, float]
    error: str
    lacks: str
    at: str
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment's folder as read: title, people's text, runs in the order of writing, and lines that could not be read."""

    slug: str
    folder: Path
    title: str
    text: str
    runs: tuple[Run, ...]
    problems: tuple[str, ...]

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the runs that need no second run: those that ended, with metrics or with a missing field."""
        return frozenset(run.key for run in self.runs if not run.error)

    def current(self) -> tuple[Run, ...]:
        """The last run of every (method, preset, world, seed): a later line of changed code replaces the earlier one."""
        latest = {(run.method, run.preset, run.world, run.seed): run for run in self.runs}
        return tuple(latest.values())


def experiments_folder(workspace: Workspace) -> Path:
    """Where experiments are kept."""
    return workspace.notes / "experiments"


def slugs(workspace: Workspace) -> list[str]:
    """The experiments there are, by name of their folders."""
    folder = experiments_folder(workspace)
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def read_experiment(workspace: Workspace, slug: str) -> Experiment:
    """An experiment's folder. Raises UsageError with near names for one that is not there."""
    folder = experiments_folder(workspace) / slug
    if not folder.is_dir():
        hint = near_hint(slug, slugs(workspace), "kb bench list names them; kb bench run SUITE makes one", 0.4)
        raise UsageError(f"no experiment {slug!r} in {folder.parent}", hint)
    words = folder / TEXT_NAME
    fields, text = frontmatter.read(words) if words.is_file() else ({}, "")
    runs, problems = read_runs(folder / RUNS_NAME)
    return Experiment(slug, folder, str(fields.get("title") or slug), text, runs, problems)


def read_runs(path: Path) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """``(runs, problems)`` of a log; problems name the line and say what is wrong with it."""
    if not path.is_file():
        return (), ()
    runs, problems = [], []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            runs.append(run_of(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{path}:{number}: not a run ({error}); the line was kept and is not counted")
    return tuple(runs), tuple(problems)


def run_of(row: Mapping[str, Any]) -> Run:
    """A row as a run. Raises KeyError, TypeError or ValueError for one without the fields that every run has."""
    return Run(
        key=str(row["inputs_hash"]),
        suite=str(row["suite"]),
        method=str(row["method"]),
        preset=str(row.get("preset") or "paper"),
        world=str(row["world"]),
        seed=int(row["seed"]),
        metrics=dict(row["metrics"]),
        cost=dict(row["cost"]),
        error=str(row.get("error") or ""),
        lacks=str(row.get("lacks") or ""),
        at=str(row.get("at") or ""),
        row=row,
    )


def append_runs(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Append rows, a line each, and give their number. The file is flushed after every row, so that a killed run keeps the others."""
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as stream:
            # A line that a killed process left unfinished must not swallow the next one.
            if stream.tell() and _last_byte(path) != b"\n":
                stream.write(b"\n")
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
                stream.flush()
                count += 1
    except OSError as error:
        raise cannot_write(path, error) from None
    return count


def begin(workspace: Workspace, slug: str, text: str) -> Path:
    """The folder of an experiment, made if need be; ``experiment.md`` is written once and never again."""
    folder = experiments_folder(workspace) / slug
    if not (folder / TEXT_NAME).exists():
        write_atomic(folder / TEXT_NAME, text)
    return folder


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read(1)

"""Runs as CSV and as the files that MLflow reads."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import yaml

from kb.experiment_export import as_csv, write_mlflow
from kb.experiments import Experiment, run_of


def experiment() -> Experiment:
    base = {
        "suite": "credit_v1",
        "preset": "paper",
        "world": "团队",
        "spec": {"agents": 3},
        "cost": {"episodes": 64.0},
        "at": "1970-01-01T00:00:02",
    }
    rows = [
        {**base, "inputs_hash": "a", "method": "grpo", "seed": 0, "metrics": {"pearson": 0.1 + 0.2, "leakage": None}},
        {**base, "inputs_hash": "b", "method": "coma", "seed": 1, "metrics": {}, "error": "ValueError: no, \"really\""},
    ]  # fmt: skip
    return Experiment("credit_v1", Path("x"), "credit", "", tuple(run_of(row) for row in rows), ())


def test_csv_keeps_every_digit_and_every_error() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(experiment()))))
    assert [(row["method"], row["pearson"], row["leakage"]) for row in rows] == [
        ("grpo", "0.30000000000000004", ""),
        ("coma", "", ""),
    ]
    assert rows[1]["error"] == 'ValueError: no, "really"'
    assert rows[0]["cost_episodes"] == "64.0"
    assert rows[0]["spec"] == '{"agents": 3}'


def test_mlflow_store_has_one_folder_a_run_and_is_the_same_when_written_again(tmp_path: Path) -> None:
    assert write_mlflow(experiment(), tmp_path) == 2
    (folder,) = (path for path in tmp_path.iterdir())
    assert yaml.safe_load((folder / "meta.yaml").read_text(encoding="utf-8"))["name"] == "credit_v1"
    metas = {
        yaml.safe_load(path.read_text(encoding="utf-8"))["run_name"]: path.parent for path in folder.glob("*/meta.yaml")
    }
    grpo = metas["grpo 团队 0"]
    assert (grpo / "metrics/pearson").read_text(encoding="utf-8") == "2000 0.30000000000000004 0\n"
    assert not (grpo / "metrics/leakage").exists()
    assert (grpo / "params/spec.agents").read_text(encoding="utf-8") == "3"
    assert (metas["coma 团队 1"] / "tags/error").read_text(encoding="utf-8").startswith("ValueError")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    write_mlflow(experiment(), tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

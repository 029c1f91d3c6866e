"""The experiment log: appended lines, broken lines named and kept, people's words written once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kb.errors import UsageError
from kb.experiments import append_runs, begin, read_experiment, read_runs, slugs
from kb.workspace import load_workspace


def row(seed: int, **changed: Any) -> dict[str, Any]:
    return {
        "inputs_hash": f"key{seed}", "suite": "credit_v1", "method": "grpo", "preset": "paper", "world": "team_additive",
        "seed": seed, "metrics": {"pearson": 0.1 + 0.2, "leakage": None}, "cost": {"episodes": 64.0}, "error": None, "lacks": None,
        "at": "2026-04-20T10:00:00", **changed,
    }  # fmt: skip


def test_rows_come_back_unrounded_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    assert append_runs(path, [row(2), row(1)]) == 2
    append_runs(path, [row(3, world="团队")])
    runs, problems = read_runs(path)
    assert [run.seed for run in runs] == [2, 1, 3]
    assert runs[0].metrics == {"pearson": 0.30000000000000004, "leakage": None}
    assert runs[2].world == "团队"
    assert problems == ()


def test_a_line_cut_by_a_killed_process_is_named_kept_and_swallows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append_runs(path, [row(1)])
    with path.open("ab") as stream:
        stream.write(b'{"inputs_hash": "key2", "sui')
    append_runs(path, [row(3)])
    runs, problems = read_runs(path)
    assert [run.seed for run in runs] == [1, 3]
    assert len(problems) == 1 and f"{path}:2:" in problems[0]
    assert b'"key2", "sui' in path.read_bytes()


def test_a_failed_run_is_a_line_and_is_not_done(workspace: Path) -> None:
    home = load_workspace(workspace)
    folder = begin(home, "credit_v1", "---\ntitle: 信用\n---\n\n# Question\n")
    append_runs(
        folder / "runs.jsonl",
        [row(1, error="ValueError: x", metrics={}), row(2), row(3, lacks="quality_pkn", metrics={})],
    )
    experiment = read_experiment(home, "credit_v1")
    assert experiment.title == "信用"
    assert experiment.keys == {"key2", "key3"}
    assert experiment.runs[0].error == "ValueError: x"


def test_the_last_of_equal_runs_counts(workspace: Path) -> None:
    home = load_workspace(workspace)
    folder = begin(home, "x", "text")
    append_runs(folder / "runs.jsonl", [row(1), row(1, inputs_hash="newer", metrics={"pearson": 0.9}), row(2)])
    current = read_experiment(home, "x").current()
    assert {run.key for run in current} == {"newer", "key2"}


def test_words_are_written_once(workspace: Path) -> None:
    home = load_workspace(workspace)
    begin(home, "x", "first")
    (workspace / "notes/experiments/x/experiment.md").write_text("mine", encoding="utf-8")
    begin(home, "x", "second")
    assert (workspace / "notes/experiments/x/experiment.md").read_text(encoding="utf-8") == "mine"
    assert slugs(home) == ["x"]


def test_an_unknown_experiment_names_near_ones(workspace: Path) -> None:
    home = load_workspace(workspace)
    begin(home, "credit_v1", "text")
    with pytest.raises(UsageError) as caught:
        read_experiment(home, "credit_v2")
    assert "credit_v1" in caught.value.hint


def test_a_file_of_other_json_lines_is_named_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"a": 1}) + "\n[]\n", encoding="utf-8")
    runs, problems = read_runs(path)
    assert runs == ()
    assert len(problems) == 2

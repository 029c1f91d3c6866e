"""``kb bench``: rows once, words kept, tables and files from the log."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RUN = [
    "bench",
    "run",
    "credit_v1",
    "--methods",
    "grpo,cad_grpo",
    "--worlds",
    "team_strong_weak",
    "--seeds",
    "2",
    "--jobs",
    "1",
]
AT = ["--at", "2026-04-20T10:00:00"]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first run's experiment is kept for the other tests."""
    return tmp_path_factory.mktemp("kept") / "credit_v1"


@pytest.fixture
def logged(kb: Callable[..., Any], workspace: Path, kept: Path) -> Path:
    """A workspace in which a small part of the suite was run."""
    folder = workspace / "notes/experiments/credit_v1"
    if kept.exists():
        shutil.copytree(kept, folder)
    else:
        ran = kb(*RUN, *AT)
        assert ran.code == 0, ran.err
        shutil.copytree(folder, kept)
    return folder


def test_a_run_writes_rows_pictures_and_a_text_and_twice_changes_nothing(kb: Callable[..., Any], logged: Path) -> None:
    rows = [json.loads(line) for line in (logged / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    # CAD-GRPO has four presets in the suite, GRPO one.
    assert len(rows) == 2 * 5
    assert {row["at"] for row in rows} == {"2026-04-20T10:00:00"}
    assert all(row["error"] is None and -1 <= row["metrics"]["cosine"] <= 1 for row in rows)
    names = {path.name for path in (logged / "pictures").iterdir()}
    assert {"cost-fidelity-team_strong_weak.png", "credit-team_strong_weak.svg", "heat-cosine.png"} <= names
    text = (logged / "experiment.md").read_text(encoding="utf-8")
    assert "| cad_grpo | 1.00 |" in text and "2 个种子" in text
    before = tree(logged)
    again = kb(*RUN, "--at", "2026-05-01T10:00:00")
    assert again.code == 0 and "nothing to do: all 10 runs are there already" in again.err
    assert tree(logged) == before


def test_more_seeds_go_on_and_a_persons_words_stay(kb: Callable[..., Any], logged: Path) -> None:
    path = logged / "experiment.md"
    mine = path.read_text(encoding="utf-8").replace("## 预期\n", "## 预期\n\n我猜 CAD-GRPO 更好。\n")
    path.write_text(mine, encoding="utf-8")
    ran = kb(*(part if part != "2" else "3" for part in RUN), *AT)
    assert "5 runs added" in ran.err
    text = path.read_text(encoding="utf-8")
    assert "我猜 CAD-GRPO 更好。" in text and "3 个种子" in text
    edited = text.replace("| grpo |", "| my grpo |")
    path.write_text(edited, encoding="utf-8")
    kb(*(part if part != "2" else "4" for part in RUN), *AT)
    assert path.read_text(encoding="utf-8") == edited


def test_compare_shows_means_with_intervals_and_missing_seeds(kb: Callable[..., Any], logged: Path) -> None:
    rows = json.loads(
        kb("bench", "compare", "credit_v1", "--metrics", "pearson", "--methods", "grpo,cad_grpo", "--json").out
    )
    by_method = {row["method"]: row for row in rows if row["preset"] == "paper"}
    values = [
        json.loads(line)["metrics"]["pearson"]
        for line in (logged / "runs.jsonl").read_text(encoding="utf-8").splitlines()
        if json.loads(line)["method"] == "grpo"
    ]
    assert by_method["grpo"]["mean"] == pytest.approx(sum(values) / 2)
    assert (
        by_method["grpo"]["n"] == 2 and by_method["grpo"]["low"] < by_method["grpo"]["mean"] < by_method["grpo"]["high"]
    )
    assert "cad_grpo" in kb("bench", "compare", "credit_v1", "--metrics", "pearson").out
    wrong = kb("bench", "compare", "credit_v1", "--metrics", "pearsn")
    assert wrong.code == 2 and "pearson" in wrong.err


def test_a_claim_is_decided_from_its_log(kb: Callable[..., Any], workspace: Path) -> None:
    ran = kb("bench", "run", "counterfactual-cost", "--seeds", "2", "--jobs", "1", *AT)
    assert ran.code == 0, ran.err
    (claim,) = [
        item for item in json.loads(kb("bench", "claims", "--json").out) if item["slug"] == "counterfactual-cost"
    ]
    assert claim["verdict"] == "undecided" and claim["seeds"] == 2, "two seeds are not enough for a verdict"
    outcomes = {check["metric"]: check["outcome"] for check in claim["checks"]}
    # By count of who takes part: 1 + (n - 1) / n * n for masking every one of n agents, which is n.
    assert outcomes["cost_difference_rewards_2"] == "supported" and outcomes["cost_difference_rewards_5"] == "refuted"
    assert "cost_sharp_3" in kb("bench", "claims", "--lang", "en").out
    assert "反事实" in kb("bench", "claims", "--lang", "zh").out
    text = (workspace / "notes/experiments/counterfactual-cost/experiment.md").read_text(encoding="utf-8")
    assert "weekly notes" in text and "| 不通过 |" in text
    assert (workspace / "notes/experiments/claims/pictures/forest.svg").exists()
    assert "反事实信用分配的轨迹开销" in kb("bench", "show", "counterfactual-cost").out


def test_list_names_what_was_run_and_what_can_be(kb: Callable[..., Any], logged: Path) -> None:
    rows = {row["name"]: row for row in json.loads(kb("bench", "list", "--json").out)}
    assert rows["credit_v1"]["runs"] == 10 and rows["credit_v1"]["last"] == "2026-04-20T10:00:00"
    assert rows["claims"]["runs"] == 0 and "gae-lambda-bias-variance" in rows


def test_export_as_csv_and_mlflow(kb: Callable[..., Any], logged: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(kb("bench", "export", "credit_v1").out)))
    assert len(rows) == 10 and {row["method"] for row in rows} == {"grpo", "cad_grpo"}
    assert kb("bench", "export", "credit_v1", "--format", "mlflow", "-o", str(tmp_path / "mlruns")).code == 0
    assert len(list((tmp_path / "mlruns").glob("*/*/meta.yaml"))) == 10
    assert kb("bench", "export", "credit_v1", "--format", "xml").code == 2


def test_wrong_names_say_what_is_near(kb: Callable[..., Any], workspace: Path) -> None:
    wrong = kb("bench", "run", "credit_v2")
    assert wrong.code == 2 and "credit_v1" in wrong.err
    wrong = kb("bench", "run", "credit_v1", "--methods", "cad_grp")
    assert wrong.code == 2 and "cad_grpo" in wrong.err
    assert not (workspace / "notes/experiments").exists(), "nothing was written"
    assert kb("bench", "show", "credit_v1").code == 2


def test_a_method_that_fails_is_a_line_with_its_error_and_runs_again(
    kb: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reproductions.core import Method

    def broken(self: Method, *_: Any, **__: Any) -> None:
        raise ValueError("no\nway")

    with monkeypatch.context() as patch:
        patch.setattr(Method, "run", broken)
        ran = kb(*RUN, *AT)
    assert ran.code == 3 and "10 of them failed" in ran.err
    line = json.loads(
        (workspace / "notes/experiments/credit_v1/runs.jsonl").read_text(encoding="utf-8").splitlines()[0]
    )
    assert line["error"] == "ValueError: no way"
    again = kb(*RUN, *AT)
    assert again.code == 0 and "10 runs added, 0 of them failed" in again.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("claims", "--lang", "fr"), "'fr' is not among the choices"),
        (("plot", "claims", "--lang", "fr"), "'fr' is not among the choices"),
        (("run", "credit_v1", "--at", "soon"), "'soon' is no time"),
        (("run", "credit_v1", "--methods", "cad_grp"), "cad_grpo"),
        (("export", "claims", "--format", "xlsx"), "'xlsx' is not among the choices"),
    ],
)
def test_options_with_other_values_are_usage_errors(
    kb: Callable[..., Any], arguments: tuple[str, ...], says: str
) -> None:
    ran = kb("bench", *arguments)
    assert ran.code == 2 and says in ran.err and not ran.out

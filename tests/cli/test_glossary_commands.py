"""``kb glossary`` through its own application, in a temporary workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kb.cli.glossary import app
from kb.errors import UsageError


@pytest.fixture(autouse=True)
def _in_workspace(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("KB_CACHE_DIR", str(workspace / "cache"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_add_then_list_then_show(workspace: Path) -> None:
    added = run("add", "虚词甲", "made up term; other form")
    assert (added.exit_code, added.stdout) == (0, "虚词甲  made up term; other form\n")
    assert (
        (workspace / "notes" / "glossary.tsv")
        .read_text(encoding="utf-8")
        .endswith("虚词甲\tmade up term; other form\n")
    )
    assert run("list", "--own").stdout == "虚词甲\tmade up term; other form\town\n"
    assert run("show", "made-up terms").stdout == "made up terms\t虚词甲\n"


def test_adding_twice_says_so_and_changes_nothing(workspace: Path) -> None:
    again = run("add", "信用分配", "credit assignment")
    assert again.exit_code == 0
    assert again.stdout == ""
    assert "already there" in again.stderr
    assert not (workspace / "notes" / "glossary.tsv").exists()


def test_list_filters_in_both_languages() -> None:
    assert "信用分配\tcredit assignment\tbuilt in\n" in run("list", "--match", "信用分配").stdout
    rows = json.loads(run("list", "--match", "Shapley", "--json").stdout)
    assert {"chinese": "沙普利值", "english": ["Shapley value"], "own": False} in rows


def test_list_with_no_hit_says_how_to_add() -> None:
    nothing = run("list", "--match", "zzzz")
    assert nothing.stdout == ""
    assert "kb glossary add" in nothing.stderr


def test_show_names_what_it_does_not_know() -> None:
    shown = run("show", "GRPO 鸜鹆 信用分配")
    assert shown.stdout == "信用分配\tcredit assignment\n"
    assert "GRPO credit assignment" in shown.stderr
    assert "鸜鹆" in shown.stderr
    assert json.loads(run("show", "信用分配", "--json").stdout)["terms"] == {"信用分配": ["credit assignment"]}


def test_wrong_term_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="not a Chinese term"):
        run("add", "GRPO", "group relative policy optimization")

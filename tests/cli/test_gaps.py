"""``kb gaps`` through the real command line, on the records of this repository and on workspaces with few or none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def records(workspace: Path, root: Path) -> Path:
    for record in sorted((root / "papers").glob("*/paper.md")):
        target = workspace / "papers" / record.parent.name / "paper.md"
        target.parent.mkdir()
        shutil.copyfile(record, target)
    return workspace


def test_the_list_names_gaps_questions_and_the_work_near_the_proposal(kb: Run, records: Path) -> None:
    ran = kb("gaps", "--lang", "en", "-n", "4")
    assert ran.code == 0 and not ran.err
    assert " 1. adaptive weight of team and local reward" in ran.out
    assert "multi-agent + efficient tree sampling" in ran.out
    assert "multi-agent + process reward + hierarchical advantage" in ran.out
    assert "Questions that decide most" in ran.out and "Close to CAD-GRPO: COSAC (2604.17693)" in ran.out
    assert len(ran.out.splitlines()) < 70


def test_chosen_capabilities_and_size(kb: Run, records: Path) -> None:
    ran = kb("gaps", "--traits", "multi_agent,efficient_tree_sampling", "--size", "2", "--lang", "zh")
    assert " 1. 多智能体 + 高效树采样" in ran.out and " 2." not in ran.out
    assert "与 CAD-GRPO 最接近: COSAC" in ran.out


def test_json_has_everything_and_tables_have_every_format(kb: Run, records: Path) -> None:
    data = json.loads(kb("gaps", "--format", "json").out)
    assert data["matrix"]["treerl"]["efficient_tree_sampling"] == "yes"
    assert {"traits": ["adaptive_mixing"], "status": "gap"}.items() <= data["combinations"][0].items()
    covered = json.loads(kb("gaps", "--show", "covered", "--size", "2", "--format", "json").out)
    pair = next(one for one in covered["combinations"] if one["traits"] == ["multi_agent", "tree_sampling"])
    assert {"at_grpo", "c3"} <= set(pair["covered_by"])
    for form, start in {"md": "| ", "csv": "组合", "html": "<!DOCTYPE", "latex": "%", "box": "┌"}.items():
        assert kb("gaps", "--format", form, "--lang", "zh").out.startswith(start)
    assert kb("gaps", "--show", "matrix", "--lang", "zh", "-o", "m.csv").code == 0
    assert Path("m.csv").read_text(encoding="utf-8").startswith("论文,多智能体,")


def test_a_picture_and_a_list_into_files(kb: Run, records: Path) -> None:
    ran = kb("gaps", "--picture", "g.png", "--lang", "en")
    assert ran.code == 0 and not ran.out and "wrote g.png" in ran.err
    assert Path("g.png").stat().st_size > 10_000
    assert kb("gaps", "-o", "g.txt", "--format", "list").code == 0
    assert "COSAC" in Path("g.txt").read_text(encoding="utf-8")


def test_what_is_near_to_any_paper(kb: Run, records: Path) -> None:
    out = kb("gaps", "--near", "Dr.MAS", "--lang", "en").out
    assert out.startswith("Close to Dr.MAS: ") and "both: multi-agent" in out
    assert kb("gaps", "--near", "pignatelli_survey").code == 2


def test_mistakes_and_empty_workspaces_are_said(kb: Run, workspace: Path) -> None:
    assert "no papers in this workspace" in kb("gaps").err
    assert (
        "did you mean" in kb("gaps", "--near", "x", "--show", "nothing").err
        or kb("gaps", "--show", "nothing").code == 2
    )
    assert kb("gaps", "--size", "4").code == 2


def test_a_list_of_ones_own_capabilities(kb: Run, records: Path) -> None:
    (records / "templates" / "gaps.toml").write_text(
        '[[traits]]\nkey = "m"\ncolumn = "multi_agent"\nwant = "yes"\nkind = "focus"\ntitle = {en = "many"}\n'
        '[[traits]]\nkey = "h"\ncolumn = "hierarchical_advantage"\nwant = "yes"\nkind = "mechanism"\ntitle = {en = "levels"}\n',
        encoding="utf-8",
    )
    assert "no gap among these capabilities" in kb("gaps", "--lang", "en").out
    (records / "templates" / "gaps.toml").write_text("[[traits]]\nkey = 1\n", encoding="utf-8")
    assert kb("gaps").code == 1

"""init, info, status, list, show, compare, report: through the real command line in a temporary workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
RECORD = """---
id: "2602.08847"
title: "Dr. MAS: Stable RL"
authors: [A. Author]
published: 2026-02-09
aliases: [Dr.MAS]
added: 2026-04-20
facts:
  problem: {zh: "全局归一化 P(A|B)", en: "Global & unstable 5%", level: paper, evidence: "v1, section 4"}
  critic: {value: no, level: code, evidence: "x.py at abc"}
---

## 摘要

摘要。

$$
A = \\frac{R - \\mu}{\\sigma}
$$
"""


@pytest.fixture
def paper(workspace: Path) -> Path:
    folder = workspace / "papers" / "dr_mas"
    folder.mkdir()
    (folder / "paper.md").write_text(RECORD, encoding="utf-8")
    return folder


def test_init_makes_a_workspace_and_says_when_it_is_there(kb: Run, tmp_path: Path) -> None:
    target = tmp_path / "实验室"
    assert kb("init", str(target)).code == 0
    assert (target / "kb.toml").is_file()
    before = (target / "kb.toml").read_bytes()
    again = kb("init", str(target))
    assert "already there" in again.err
    assert (target / "kb.toml").read_bytes() == before


def test_no_workspace_is_an_error_with_a_hint_and_no_traceback(
    kb: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    ran = kb("list")
    assert ran.code == 2
    assert ran.err.startswith("error:") and "hint: kb init" in ran.err and "Traceback" not in ran.err


def test_status_and_info_of_a_workspace_without_an_index(kb: Run, paper: Path) -> None:
    assert "none yet; kb index makes it" in kb("status").out
    info = json.loads(kb("info", "--json").out)
    assert info["offline"] is True and info["workspace"] == str(paper.parents[1])


def test_list_filters_and_shows_what_is_asked_for(kb: Run, paper: Path) -> None:
    assert "dr_mas" in kb("list").out
    assert "dr_mas" in kb("list", "--year", "2025..2026").out
    assert "no paper fits" in kb("list", "--year", "2020").err
    assert kb("list", "--year", "soon").code == 2
    wrong = kb("list", "--since", "soon")
    assert wrong.code == 2 and "hint: --since 2026-04-19" in wrong.err


def test_show_by_alias_and_the_hint_for_a_slip(kb: Run, paper: Path) -> None:
    assert "arXiv:2602.08847" in kb("show", "Dr.MAS").out
    slip = kb("show", "dr_msa")
    assert slip.code == 2 and "dr_mas" in slip.err


def test_compare_in_both_languages_with_marks(kb: Run, paper: Path) -> None:
    chinese = kb("compare", "dr_mas", "--columns", "problem,critic,idea", "--lang", "zh", "--format", "md").out
    assert "全局归一化 P(A&#124;B) [P]" in chinese and "否 [C]" in chinese and "未查" in chinese
    latex = kb("compare", "dr_mas", "--format", "latex", "--lang", "en").out
    assert r"Global \& unstable 5\%" in latex
    box = kb("compare", "dr_mas", "--format", "box", "--lang", "zh", "--evidence", "none").out
    assert box.startswith("┌") and "│ Dr.MAS (2602.08847) │" in box


def test_a_report_keeps_what_was_edited(kb: Run, paper: Path, workspace: Path) -> None:
    note = workspace / "notes" / "2026-04-21-dr-mas.md"
    note.write_text(
        "---\ndate: 2026-04-21\npapers: [Dr.MAS]\n---\n# 笔记\n\n归一化和分解是两码事。\n", encoding="utf-8"
    )
    first = kb("report", "2026-04-22", "--lang", "zh")
    path = Path(first.out.strip())
    text = path.read_text(encoding="utf-8")
    assert "归一化和分解是两码事。" in text and "\\frac{R - \\mu}{\\sigma}" in text and "Dr.MAS" in text
    path.write_text(text.replace("核心idea：", "我改过的核心idea："), encoding="utf-8")
    second = kb("report", "2026-04-22", "--lang", "zh")
    assert "我改过的核心idea：" in path.read_text(encoding="utf-8")
    assert "kept as you edited it: paper:dr_mas" in second.err


def test_commands_that_read_leave_the_files_as_they_were(kb: Run, paper: Path, workspace: Path) -> None:
    def state() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted(workspace.rglob("*")) if p.is_file() and ".kb" not in p.parts}

    before = state()
    for arguments in (
        ["list"],
        ["show", "dr_mas"],
        ["compare", "--all"],
        ["status"],
        ["info"],
        ["open", "dr_mas", "--print"],
    ):
        kb(*arguments)
    assert state() == before

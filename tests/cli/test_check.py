"""``kb check`` as a person types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.conftest import Ran

RECORD = """\
---
id: "2402.00011"
title: Shares of work
aliases: [TANDEM]
facts:
  critic: {value: "no", level: paper, evidence: section 3}
claims_in_notes:
- claim: TANDEM 在每一步都重新采样
  note: weekly 2024-03-01, 1
  verdict: contradicted
  correction: {zh: 只在训练初期采样, en: It samples early in training}
  level: code
  evidence: train.py
---
"""
NOTE = "# TANDEM (arXiv:2402.00011)\n\nTANDEM 需要 critic。\n\n准确率 99%。\n\n$$\nA = r - \\mu + \\sigma - v\n$$\n"


@pytest.fixture
def note(workspace: Path) -> Path:
    (workspace / "papers" / "tandem").mkdir()
    (workspace / "papers" / "tandem" / "paper.md").write_text(RECORD, encoding="utf-8")
    path = workspace / "notes" / "a.md"
    path.write_text(NOTE, encoding="utf-8")
    return path


def test_bare_check_lists_the_checks(kb: Callable[..., Ran]) -> None:
    ran = kb("check")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == ["claims", "links", "records"]


def test_a_note_is_checked_by_paper_with_lines_and_evidence(kb: Callable[..., Ran], note: Path) -> None:
    ran = kb("check", "claims", "notes/a.md")
    assert ran.code == 3
    lines = [line.rstrip() for line in ran.out.splitlines()]
    assert lines[0] == "TANDEM  tandem  arXiv:2402.00011"
    assert "  行 3  ✗ 矛盾  需要 critic" in lines
    assert lines[lines.index("  行 3  ✗ 矛盾  需要 critic") + 1] == "    [P] fact critic (section 3): no"
    assert "  行 1  ✓ 有依据  arXiv:2402.00011" in lines
    assert "  行 5  ? 未找到依据  准确率 99%" in lines
    assert any(line.startswith("  行 7  ? 未找到依据  1 个公式") for line in lines)
    assert ran.err.splitlines()[-1] == "共核对 4：矛盾 1，有依据 1，未找到依据 2"


def test_english_and_only_some_verdicts(kb: Callable[..., Ran], note: Path) -> None:
    ran = kb("check", "claims", str(note), "--lang", "en", "--only", "contradicted")
    assert ran.code == 3
    assert [line.strip() for line in ran.out.splitlines() if line.startswith("  line")] == [
        "line 3  ✗ contradicted  需要 critic"
    ]
    assert ran.err.splitlines()[-1] == "4 claims checked: 1 contradicted, 1 found, 2 not found"


def test_json_has_the_same_verdicts(kb: Callable[..., Ran], note: Path) -> None:
    ran = kb("check", "claims", str(note), "--json")
    assert ran.code == 3
    rows = json.loads(ran.out)
    assert [(row["line"], row["kind"], row["verdict"]) for row in rows] == [
        (1, "name", "found"), (3, "property", "contradicted"), (5, "number", "not found"), (7, "formula", "not found"),
    ]  # fmt: skip
    assert rows[1]["where"] == "fact critic (section 3)"


def test_a_note_without_contradiction_ends_well(kb: Callable[..., Ran], note: Path) -> None:
    note.write_text("# TANDEM\n\nTANDEM 没有 critic。\n", encoding="utf-8")
    ran = kb("check", "claims", str(note))
    assert (ran.code, ran.err.splitlines()[-1]) == (0, "共核对 1：有依据 1")


def test_a_note_about_nothing_here_says_so(kb: Callable[..., Ran], note: Path) -> None:
    note.write_text("# 红烧肉\n\n放 2 勺糖。\n", encoding="utf-8")
    ran = kb("check", "claims", str(note))
    assert (ran.code, ran.out, ran.err.splitlines()[-1]) == (0, "", "没有可以核对的、关于本工作区论文的说法")


def test_without_a_note_the_recorded_claims_are_printed(kb: Callable[..., Ran], note: Path) -> None:
    ran = kb("check", "claims")
    assert ran.code == 0
    assert "  weekly 2024-03-01, 1  ✗ 矛盾  TANDEM 在每一步都重新采样" in [
        line.rstrip() for line in ran.out.splitlines()
    ]
    assert "    [C] train.py: 只在训练初期采样" in [line.rstrip() for line in ran.out.splitlines()]
    rows = json.loads(kb("check", "claims", "--json").out)
    assert [(row["paper"], row["verdict"], row["evidence"]) for row in rows] == [("tandem", "contradicted", "train.py")]


def test_a_record_that_cannot_be_read_hides_no_other(kb: Callable[..., Ran], note: Path, workspace: Path) -> None:
    for slug, fields in (("spoilt", "results: 3"), ("wrong_day", "published: 2026-02-30")):
        (workspace / "papers" / slug).mkdir()
        (workspace / "papers" / slug / "paper.md").write_text(f"---\ntitle: {slug}\n{fields}\n---\n", encoding="utf-8")
    ran = kb("check", "claims", "--json")
    assert ran.code == 3 and [row["paper"] for row in json.loads(ran.out)] == ["tandem"]
    assert "results: is not a list" in ran.err and "day is out of range" in ran.err
    found = kb("check", "records")
    assert found.code == 3 and "results: is not a list" in found.out and "day is out of range" in found.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("claims", "notes/none.md"), 2, "there is no file"),
        (("claims", "--only", "wrong"), 2, "no verdict 'wrong'"),
        (("claims", "--lang", "fr"), 2, "'fr' is not among the choices"),
        (("claims", "notes"), 2, "is a folder"),
    ],
)
def test_mistakes_are_explained(
    kb: Callable[..., Ran], note: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = kb("check", *arguments)
    assert ran.code == code
    assert message in ran.err
    assert "hint:" in ran.err
    assert "Traceback" not in ran.err


def test_links_and_records(kb: Callable[..., Ran], note: Path) -> None:
    assert (kb("check", "links").code, kb("check", "records").code) == (0, 0)
    note.write_text("# 笔记\n\n见 [[没有]]。\n", encoding="utf-8")
    ran = kb("check", "links")
    assert (ran.code, ran.out) == (3, "notes/a.md:3: [[没有]] leads nowhere\n")
    assert json.loads(kb("check", "links", "--json").out)[0]["line"] == 3


def test_a_text_that_is_not_indexed_is_said_to_be_unread(kb: Callable[..., Ran], note: Path, workspace: Path) -> None:
    (workspace / "papers" / "tandem" / "text.md").write_text("---\ntitle: Shares\n---\n\n# Shares\n", encoding="utf-8")
    assert "kb index makes it" in kb("check", "claims", str(note)).err

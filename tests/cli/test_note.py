"""``kb note`` as people run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from note_papers import fill_with_papers

from kb.notes import KINDS, parse_note

Kb = Callable[..., Any]  # returns the Ran of conftest.py


@pytest.fixture(autouse=True)
def _papers(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_with_papers(workspace)
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)


def test_new_makes_a_note_about_a_paper_and_never_writes_over_it(kb: Kb, workspace: Path) -> None:
    made = kb("note", "new", "dapo", "--date", "2026-04-19")
    assert (made.code, made.out) == (0, "notes/2026-04-19-dapo.md\n")
    path = workspace / "notes" / "2026-04-19-dapo.md"
    note = parse_note("notes/2026-04-19-dapo.md", path.read_text(encoding="utf-8"))
    assert (note.kind, note.date, note.papers) == ("reading", "2026-04-19", ("dapo",))
    assert note.title == "DAPO: An Open-Source System"
    assert "[[papers/dapo/paper|DAPO]] (arXiv:2503.14476)" in note.body and "启发：" in note.body
    path.write_text("我写的\n", encoding="utf-8")
    again = kb("note", "new", "DAPO", "--date", "2026-04-19")
    assert again.code == 0 and "already there" in again.err
    assert path.read_text(encoding="utf-8") == "我写的\n"


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_template_in_both_languages(kb: Kb, workspace: Path, kind: str, language: str) -> None:
    made = kb("note", "new", "--kind", kind, "--title", "一个 标题", "--date", "2026-04-19", "--lang", language)
    assert made.code == 0, made.err
    path = made.out.strip()
    note = parse_note(path, (workspace / path).read_text(encoding="utf-8"))
    assert (note.kind, note.title, note.date) == (kind, "一个 标题", "2026-04-19")
    assert note.text
    assert path.startswith("notes/decisions/") == (kind == "decision")


def test_the_editor_is_opened_on_the_note(kb: Kb, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "cp kb.toml")
    kb("note", "new", "--kind", "idea", "--date", "2026-04-19")
    path = workspace / "notes" / "2026-04-19-idea.md"
    assert path.read_bytes() == (workspace / "kb.toml").read_bytes()
    monkeypatch.setenv("VISUAL", "no-such-editor -w")
    missing = kb("note", "new", "--kind", "study", "--date", "2026-04-19")
    assert missing.code == 1 and "cannot start no-such-editor" in missing.err
    assert (workspace / "notes" / "2026-04-19-study.md").exists()


def test_list_show_and_links(kb: Kb, workspace: Path) -> None:
    notes = workspace / "notes"
    (notes / "2026-04-12-a.md").write_text("# 甲\n\nGRPO 比 PPO 简单，见 [[b]]。\n", encoding="utf-8")
    (notes / "b.md").write_text("---\ndate: 2026-04-19\npapers: [ppo]\ntags: [x]\n---\n# 乙\n", encoding="utf-8")
    (notes / "c.md").write_text("没有日期\n", encoding="utf-8")
    assert kb("note", "list").out.splitlines() == [
        "2026-04-12  study       notes/2026-04-12-a.md  甲",
        "2026-04-19  reading     notes/b.md  乙",
        "-           study       notes/c.md  没有日期",
    ]
    for filters, paths in (
        (("--kind", "reading"), ["notes/b.md"]),
        (("--paper", "PPO"), ["notes/2026-04-12-a.md", "notes/b.md"]),
        (("--tag", "x"), ["notes/b.md"]),
        (("--until", "2026-04-12"), ["notes/2026-04-12-a.md"]),
        (("--since", "2026-04-13"), ["notes/b.md"]),
    ):
        assert [note["path"] for note in json.loads(kb("note", "list", "--json", *filters).out)] == paths
    shown = kb("note", "show", "甲").out
    assert shown.startswith("甲\nnotes/2026-04-12-a.md  study  2026-04-12\n\nGRPO 比 PPO")
    assert shown.endswith("links to: grpo, ppo, notes/b.md\n")
    assert kb("note", "show", "b").out.endswith("links to: ppo\n\nlinked from: notes/2026-04-12-a.md\n")
    assert kb("note", "links", "1707.06347").out == (
        "notes/2026-04-12-a.md  study  2026-04-12\n    GRPO 比 PPO 简单，见 [[b]]。\nnotes/b.md  reading  2026-04-19\n"
    )
    (back,) = json.loads(kb("note", "links", "b", "--json").out)
    assert back["lines"] == [{"line": 3, "text": "GRPO 比 PPO 简单，见 [[b]]。"}]


def test_links_to_a_paper_that_is_not_here_are_found_by_its_id(kb: Kb, workspace: Path) -> None:
    (workspace / "notes" / "a.md").write_text("# 甲\n\nTreeRL（2506.11902）\n", encoding="utf-8")
    ran = kb("note", "links", "arXiv:2506.11902v1")
    assert (ran.code, ran.out) == (0, "notes/a.md  study\n    TreeRL（2506.11902）\n")


def test_a_note_with_a_day_that_no_calendar_has_is_named_and_hides_no_other(kb: Kb, workspace: Path) -> None:
    (workspace / "notes" / "a.md").write_text("---\ndate: 2026-02-30\n---\n# 甲\n", encoding="utf-8")
    (workspace / "notes" / "b.md").write_text("# 乙\n", encoding="utf-8")
    ran = kb("note", "list")
    assert (ran.code, ran.out) == (0, "-           study       notes/b.md  乙\n")
    assert "a.md:2: the front matter holds a wrong value: day is out of range" in ran.err


def test_wrong_names_are_usage_errors(kb: Kb) -> None:
    for words in (
        ("new",),
        ("new", "--kind", "poem"),
        ("new", "gone"),
        ("show", "gone"),
        ("links", "gone"),
        ("list", "--since", "x"),
    ):
        ran = kb("note", *words)
        assert ran.code == 2 and ran.err.startswith("error: ") and "hint: " in ran.err, words

"""A report taken apart: which pieces, which tasks, and that no character is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from note_papers import fill_with_papers, library_of

from kb.importing.outline import outline_of
from kb.importing.todo import tasks_of
from kb.importing.weekly import Parts, report_span, take_apart
from kb.links import Names
from kb.notes import parse_note

REPORT = """\
研究周报 · 2026.04.19–04.25 · DAPO 精读

本周继续读。

一、阅读论文

挑了两篇。

1.1 DAPO: An Open-Source System (arXiv:2503.14476)

© 公式 $a$：

$$L = \\sum_t \\ell_t$$

启发：很好。

1.2 FooBar: Learning to Split (arXiv:2506.11902)

正文

1.3 小结

都不错

二、上周的 Q&A

2.1 为什么没有 critic？

Q: 为什么？

三、开发 sub2api

3.1 实现

代码

四、概念理解

4.1 GAE

文

4.2 策略梯度

文

五、学习框架

这周还看了框架。

5.1 LangGraph

文

5.2 启发

文

六、to-do

6.1 复现 harness

(1) 理解架构：先看循环（很长的一句话，讲循环怎么决定何时调用工具，以及结果怎么回到上下文，等等）。

6.2 继续读

• GRPO (2402.03300)：再读一遍
• Dr.MAS
  - 看代码

时间允许再加 Stratified GRPO (2510.06214) 或者 PPO (1707.06347)。
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Names:
    root: Path = tmp_path_factory.mktemp("weekly")
    (root / "kb.toml").write_text("", encoding="utf-8")
    fill_with_papers(root)
    return Names(library_of(root))


def apart(text: str, names: Names) -> Parts:
    return take_apart(text, outline_of(text), names)


def test_each_section_becomes_what_it_is(names: Names) -> None:
    pieces = apart(REPORT, names).pieces
    assert [(piece.ref, piece.kind, piece.title, piece.about.papers) for piece in pieces] == [
        ("1.1", "reading", "DAPO: An Open-Source System (arXiv:2503.14476)", ("dapo",)),
        ("1.2", "reading", "FooBar: Learning to Split (arXiv:2506.11902)", ("2506.11902",)),
        ("1.3", "study", "小结", ()),
        ("2.1", "question", "为什么没有 critic？", ()),
        ("3", "project", "开发 sub2api", ()),
        ("4.1", "study", "GAE", ()),
        ("4.2", "study", "策略梯度", ()),
        ("5", "study", "学习框架", ()),
    ]
    assert pieces[0].body.strip() == "© 公式 $a$：\n\n$$L = \\sum_t \\ell_t$$\n\n启发：很好。"
    assert [paper.text for paper in pieces[1].about.unknown] == ["FooBar: Learning to Split (2506.11902)"]
    assert "5.2 启发" in pieces[-1].body and "3.1 实现" in pieces[4].body


def test_the_to_do_list_becomes_tasks(names: Names) -> None:
    tasks = tasks_of(names, apart(REPORT, names).todo, "2026-04-19")
    assert [(task.text, task.papers, task.added) for task in tasks] == [
        ("复现 harness", (), "2026-04-19"),
        ("GRPO (2402.03300)：再读一遍", ("grpo",), "2026-04-19"),
        ("Dr.MAS", ("dr_mas",), "2026-04-19"),
        ("Stratified GRPO (2510.06214)", ("2510.06214",), "2026-04-19"),
        ("PPO (1707.06347)", ("ppo",), "2026-04-19"),
    ]
    assert tasks[0].below[0].startswith("  - 理解架构：先看循环")
    assert tasks[2].below == ("  - 看代码",)


def test_a_plan_below_another_section_is_a_to_do_list_too(names: Names) -> None:
    text = "# 04.05-04.11 回顾\n\n# CRF\n\nwords $x$\n\n## Plan of next week\n\n- [x] LSTM\n- 分治\n-\n"
    parts = apart(text, names)
    assert [(piece.title, piece.body.strip()) for piece in parts.pieces] == [("CRF", "words $x$")]
    assert [(task.text, task.state) for task in tasks_of(names, parts.todo, "")] == [("LSTM", "done"), ("分治", "open")]


def test_questions_without_headings_are_parted_at_their_marks(names: Names) -> None:
    text = (
        "# Weekly report 2026-05-03 to 2026-05-09\n\n## Q&A\n\nQ: why? I ask\n\nA: because\n\n**Q: how？**\n\nA: so\n"
    )
    pieces = apart(text, names).pieces
    assert [(piece.title, piece.kind) for piece in pieces] == [("why?", "question"), ("how？", "question")]
    assert pieces[0].body == "Q: why? I ask\n\nA: because\n\n"


@pytest.mark.parametrize(
    ("text", "file_name", "days"),
    [
        (REPORT, "a.md", ("2026-04-19", "2026-04-25")),
        ("# Notes 2026.04.01-04.07\n\n## A\n", "a.md", None),
        ("# Notes\n\n## to-do\n", "2026.04.01-04.07.md", ("2026-04-01", "2026-04-07")),
        ("---\ntitle: 周报 2026.04.01-04.07\n---\n## A\n", "a.md", ("2026-04-01", "2026-04-07")),
        ("# 周报\n\n## A\n", "2026-04-05.md", ("2026-04-05", "2026-04-05")),
        ("# 周报\n\n## A\n", "a.md", None),
        ("周报 2026-04-05 说了什么\n", "a.md", None),
    ],
)
def test_what_makes_a_report_is_its_days_and_its_word_or_a_to_do_list(
    text: str, file_name: str, days: tuple[str, str] | None
) -> None:
    note = parse_note(file_name, text)
    span = report_span(outline_of(text, len(text) - len(note.body)), note, file_name, None)
    assert (span and (span.first, span.last)) == days


LINE = st.one_of(
    st.sampled_from(
        ("# 周报 2026.04.19–04.25", "## 阅读", "### 1.1 DAPO", "# to-do", "## Q&A", "Q: a?", "A: b", "一、阅读论文", "二、项目",
         "1.1 DAPO: x", "三、to-do", "1. 阅读", "2. Q&A", "• CCPO (2603.21563)：x", "(1) 理解", "$$", "$a_i$", "```", "| a | b |",
         "┌──┐", "- [ ] t", "", "", "", "  ", "启发：", "本周清单", "## ", "#", "\r", "4. To-do")
    ),
    st.text(alphabet="ab#-*|$`一1.、 \t中\r", max_size=10),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(lines=st.lists(LINE, max_size=30))
def test_whatever_the_text_every_character_lands_in_one_place(names: Names, lines: list[str]) -> None:
    text = "\n".join(lines)
    outline = outline_of(text)
    parts = take_apart(text, outline, names)
    whole = "".join(part if isinstance(part, str) else part.body for part in parts.rest)
    assert whole == text[outline.body :]
    assert [part for part in parts.rest if not isinstance(part, str)] == parts.pieces
    for task in tasks_of(names, parts.todo, "2026-04-19"):
        assert task.text and "\n" not in task.text

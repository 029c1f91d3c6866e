"""Headings as people write them, and the days of a title."""

from __future__ import annotations

import pytest

from kb.importing.dates import Span, find_span
from kb.importing.outline import Section, bare_title, outline_of


def shape(sections: list[Section] | tuple[Section, ...]) -> list[object]:
    return [[bare_title(section.title), *shape(section.parts)] for section in sections]


PLAIN = """\
研究周报 · 2026.04.19–04.25

本周清单

1. 阅读
2. 写代码

一、阅读论文

先说两句。

1.1 DAPO: 一篇论文

(a) 第一点

1. 只是列表里的一项

2. 另一项

**1.2 GiGPO**

正文。

二、开发

三、to-do

3.1 复现
"""


def test_numbered_lines_that_stand_alone_are_headings_of_plain_text() -> None:
    outline = outline_of(PLAIN)
    assert outline.title == "研究周报 · 2026.04.19–04.25"
    assert shape(outline.sections) == [["阅读论文", ["DAPO: 一篇论文"], ["GiGPO"]], ["开发"], ["to-do", ["复现"]]]
    first = outline.sections[0]
    assert PLAIN[first.body : first.lead].strip() == "先说两句。"
    assert "另一项" in PLAIN[first.parts[0].body : first.parts[0].stop]
    assert PLAIN[outline.body : outline.lead].strip().startswith("本周清单")


def test_arabic_numbers_are_headings_where_no_chinese_ones_are() -> None:
    text = "周报\n\n本周清单\n\n1. 只有一项\n\n1. 阅读 survey\n\n正文\n\n1.1 A\n\n文\n\n2. Q&A\n\n1. 松散\n\n2. 列表\n\n3. 三项\n\n3. 概念\n\n文\n"
    assert shape(outline_of(text).sections) == [["阅读 survey", ["A"]], ["Q&A"], ["概念"]]


def test_markdown_sections_at_the_level_of_the_title_belong_to_it() -> None:
    outline = outline_of(
        "# 04.05-04.11 回顾\n\nlead\n\n# EM\n\n## a\n\n```\n# comment\n```\n\n$$\n# x\n$$\n\n# Plan of next week\n"
    )
    assert (outline.title, shape(outline.sections)) == ("04.05-04.11 回顾", [["EM", ["a"]], ["Plan of next week"]])
    nested = outline_of("# T\r\n\r\n## 1. One\r\n\r\n### 1.1 Sub ##\r\n\r\n# Plan\r\n")
    assert (nested.title, shape(nested.sections)) == ("T", [["One", ["Sub"]], ["Plan"]])


def test_a_line_of_text_before_the_headings_is_the_title_unless_it_is_a_sentence() -> None:
    assert outline_of("My report\n\n## A\n").title == "My report"
    assert outline_of("A sentence is no title.\n\n## A\n").title == ""
    assert outline_of("").sections == ()


@pytest.mark.parametrize(
    ("heading", "bare"),
    [("1.1 DAPO", "DAPO"), ("一、阅读", "阅读"), ("**4. 重点**", "重点"), ("（1）PPO", "PPO"), ("2.10 XLNet", "XLNet"),
     ("第1章 推荐", "第1章 推荐"), ("3D worlds", "3D worlds"), ("二. PGM", "PGM"), ("2026", "2026")],
)  # fmt: skip
def test_a_title_loses_its_number(heading: str, bare: str) -> None:
    assert bare_title(heading) == bare


@pytest.mark.parametrize(
    ("text", "year", "span"),
    [
        ("研究周报 · 2026.04.12–04.18 · x", None, Span("2026-04-12", "2026-04-18", "2026.04.12–04.18")),
        ("2026-04-19 to 2026-04-25", None, Span("2026-04-19", "2026-04-25", "2026-04-19 to 2026-04-25")),
        ("周报 2025年12月28日-1月3日", None, Span("2025-12-28", "2026-01-03", "2025年12月28日-1月3日")),
        ("# 04.05-04.11 回顾", None, Span("", "", "04.05-04.11")),
        ("# 04.05-04.11 回顾", 2020, Span("2020-04-05", "2020-04-11", "04.05-04.11")),
        ("2026.04.12-08.18", None, None),
        ("02.30-03.02", 2026, None),
        ("2026-04-19", None, None),
    ],
)
def test_the_days_of_a_title(text: str, year: int | None, span: Span | None) -> None:
    assert find_span((text,), year) == span

"""One entry of a record's front matter changes; everything else stays byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb import frontmatter
from kb.errors import KbError
from kb.textfile.front_edit import remove_entry, set_entry

PATH = Path("paper.md")
RECORD = """\
---
id: "2401.00001"   # quoted, or YAML reads a number
title: 'Fair Shares: credit for teams'
aliases: [FAIRSHARE,   FS]

facts:
  # mine
  problem:
    zh: 团队奖励不能说明每个智能体的贡献
    level: paper

  critic: {value: no, level: paper}   # said in section 2

# what the notes say
results:
  - {benchmark: Toy, model: tiny}
---

## 摘要

正文 --- 不动。
"""


def facts(text: str) -> dict[str, Any]:
    return frontmatter.parse(text, PATH)[0].get("facts", {})


def test_a_new_entry_stands_behind_the_last_one_and_nothing_else_moves() -> None:
    new = set_entry(RECORD, PATH, "facts", "idea", {"en": "Split: the reward", "level": "draft"})
    before, after = RECORD.split("\n# what the notes say")
    assert new == before + "  idea:\n    en: 'Split: the reward'\n    level: draft\n\n# what the notes say" + after


def test_an_entry_is_replaced_where_it_stands() -> None:
    new = set_entry(RECORD, PATH, "facts", "problem", {"en": "Credit"})
    old = "  problem:\n    zh: 团队奖励不能说明每个智能体的贡献\n    level: paper\n"
    assert new == RECORD.replace(old, "  problem:\n    en: Credit\n")


def test_an_entry_is_removed_with_its_lines_alone() -> None:
    assert remove_entry(RECORD, PATH, "facts", "critic") == RECORD.replace(
        "  critic: {value: no, level: paper}   # said in section 2\n", ""
    )
    assert remove_entry(RECORD, PATH, "facts", "idea") == RECORD


def test_adding_and_removing_gives_the_old_file_back() -> None:
    assert remove_entry(set_entry(RECORD, PATH, "drafted", "idea", "ab"), PATH, "drafted", "idea") == RECORD
    assert remove_entry(set_entry(RECORD, PATH, "facts", "idea", "ab"), PATH, "facts", "idea") == RECORD


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("title: T\n", "title: T\nfacts:\n  idea: x\n"),
        ("title: T\nfacts:\ntags: []\n", "title: T\nfacts:\n  idea: x\ntags: []\n"),
        ("facts: {}  # none yet\ntags: []\n", "facts:  # none yet\n  idea: x\ntags: []\n"),
        ("facts: null\n", "facts:\n  idea: x\n"),
        ("facts: {a: 1}\ntags: []\n", "facts: {a: 1, idea: x}\ntags: []\n"),
        ("facts: {a: 1, idea: {en: y}}\n", "facts: {a: 1, idea: x}\n"),
        ("facts: {\n  a: 1,\n}\n", "facts: {\n  a: 1,\nidea: x}\n"),
        ("facts:\n    a: |\n      one\n      # two\n", "facts:\n    a: |\n      one\n      # two\n    idea: x\n"),
        ("", "facts:\n  idea: x\n"),
    ],
    ids=["no section", "empty", "braces", "null", "flow", "flow replaced", "flow over lines", "block text at the end", "empty head"],
)  # fmt: skip
def test_every_way_to_write_a_section_takes_an_entry(head: str, expected: str) -> None:
    assert set_entry(f"---\n{head}---\nbody\n", PATH, "facts", "idea", "x") == f"---\n{expected}---\nbody\n"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("facts: {a: 1, idea: x, b: 2}\n", "facts: {a: 1, b: 2}\n"),
        ("facts: {a: 1, idea: x}\n", "facts: {a: 1}\n"),
        ("a: 1\nfacts:\n  idea: x\n", "a: 1\n"),
        ("facts: {idea: x}\nb: 2\n", "b: 2\n"),
    ],
)  # fmt: skip
def test_every_way_to_write_a_section_gives_an_entry_up(head: str, expected: str) -> None:
    assert remove_entry(f"---\n{head}---\nbody\n", PATH, "facts", "idea") == f"---\n{expected}---\nbody\n"


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    old = "\ufeff---\r\ntitle: T\r\nfacts:\r\n  a: 1\r\n---\r\nbody\r\n"
    assert set_entry(old, PATH, "facts", "b", {"en": "x"}) == old.replace(
        "  a: 1\r\n", "  a: 1\r\n  b:\r\n    en: x\r\n"
    )


@pytest.mark.parametrize(
    "head",
    ["facts: &f {a: 1}\nother: *f\n", "base: &b {a: 1}\nfacts:\n  <<: *b\n  c: 2\n", "facts: [a]\n", "facts: 3\n"],
)
def test_what_cannot_be_changed_safely_is_an_error_or_a_change_of_that_entry_alone(head: str) -> None:
    old = f"---\n{head}---\nbody\n"
    try:
        new = set_entry(old, PATH, "facts", "idea", "x")
    except KbError as error:
        assert "paper.md" in error.message and error.hint
    else:
        fields, _ = frontmatter.parse(old, PATH)
        assert frontmatter.parse(new, PATH)[0] == {**fields, "facts": {**fields["facts"], "idea": "x"}}


def test_a_file_without_front_matter_is_an_error() -> None:
    with pytest.raises(KbError, match="no front matter"):
        set_entry("# Notes\n", PATH, "facts", "idea", "x")


words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).map(str.strip).filter(bool)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.one_of(st.none(), words, st.dictionaries(words, words, min_size=1, max_size=3))
        ),
        max_size=8,
    )
)
def test_any_row_of_changes_leaves_the_rest_of_the_record(changes: list[tuple[str, Any]]) -> None:
    text, expected = RECORD, facts(RECORD)
    for key, value in changes:
        text = remove_entry(text, PATH, "facts", key) if value is None else set_entry(text, PATH, "facts", key, value)
        expected = {name: entry for name, entry in expected.items() if name != key} | (
            {} if value is None else {key: value}
        )
    assert facts(text) == expected
    for line in RECORD.splitlines():
        assert line in text.splitlines()

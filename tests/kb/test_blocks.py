"""Drafts and hands: what a person changed or deleted stays so, whatever a second run would write."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.blocks import block, refresh, with_register, without_marks

FIRST = with_register(f"# T\n\n{block('a', 'alpha')}\nmiddle\n\n{block('b', 'beta')}\nbelow\n")
SECOND = with_register(f"# T\n\n{block('a', 'alpha 2')}\nmiddle\n\n{block('b', 'beta 2')}\n{block('c', 'gamma')}")


def test_untouched_blocks_are_refreshed_and_new_ones_added_behind_the_one_they_follow() -> None:
    result = refresh(FIRST, SECOND)
    assert result.refreshed == ("a", "b") and result.added == ("c",)
    assert without_marks(result.text).split() == ["#", "T", "alpha", "2", "middle", "beta", "2", "gamma", "below"]


def test_a_new_block_whose_predecessors_were_deleted_goes_before_the_next_one() -> None:
    fresh = with_register(f"{block('0', 'new')}\n{block('a', 'alpha')}\n{block('b', 'beta')}")
    assert without_marks(refresh(FIRST, fresh).text).split() == ["#", "T", "new", "alpha", "middle", "beta", "below"]


def test_an_edited_block_is_kept_and_named_and_so_is_one_whose_draft_changed_since() -> None:
    edited = FIRST.replace("alpha", "alpha, as I see it")
    result = refresh(edited, SECOND)
    assert "alpha, as I see it\n" in result.text and "alpha 2" not in result.text
    assert result.kept == ("a",) and result.outdated == ("a",)
    assert refresh(edited, FIRST).outdated == ()


def test_a_deleted_block_stays_deleted_until_its_name_is_taken_off_the_register() -> None:
    gone = FIRST.replace(block("b", "beta"), "")
    result = refresh(gone, SECOND)
    assert "beta" not in result.text and result.deleted == ("b",)
    again = refresh(result.text, SECOND)
    assert "beta" not in again.text and again.deleted == ("b",)
    back = refresh(re.sub(r"(<!-- kb:blocks.*?) b\b", r"\1", result.text), SECOND)
    assert "beta 2" in back.text and back.added == ("b",)


def test_nothing_comes_back_when_the_register_is_deleted() -> None:
    bare = re.sub(r"<!-- kb:blocks.*\n", "", FIRST).replace(block("b", "beta"), "")
    result = refresh(bare, SECOND)
    assert "beta" not in result.text and "gamma" not in result.text
    assert set(result.deleted) == {"b", "c"}
    assert "beta" not in refresh(result.text, SECOND).text


def test_a_block_of_ours_that_is_no_longer_drafted_goes_and_a_quotation_or_an_edit_stays() -> None:
    result = refresh(SECOND, FIRST)
    assert "gamma" not in result.text and result.removed == ("c",)
    assert "gamma" in refresh(result.text, SECOND).text
    quoted = refresh(with_register(FIRST + block("note:n.md", "my words")), FIRST)
    assert "my words" in quoted.text and quoted.stale == ("note:n.md",)
    edited = refresh(SECOND.replace("gamma", "gamma of mine"), FIRST)
    assert "gamma of mine" in edited.text and edited.kept == ("c",)


def test_a_second_run_with_the_same_draft_changes_nothing() -> None:
    once = refresh(FIRST, SECOND).text
    again = refresh(once, SECOND)
    assert again.text == once and not (again.refreshed or again.added or again.kept or again.deleted)


def test_windows_line_ends_are_no_edit_and_stay() -> None:
    windows = FIRST.replace("\n", "\r\n")
    result = refresh(windows, SECOND)
    assert result.kept == () and result.refreshed == ("a", "b")
    assert re.search(r"(?<!\r)\n", result.text) is None
    assert refresh(windows, FIRST).text == windows


def test_names_are_any_words_and_marks_inside_a_quoted_text_lose_their_meaning() -> None:
    quoted = block("x", "inner")
    text = with_register(block("note:notes/想法 (1) > 2.md", f"before\n{quoted}after"))
    result = refresh(text, text)
    assert result.text == text and result.kept == result.deleted == ()
    assert "inner" in text and text.count("<!-- kb:begin") == 1


def test_a_reader_sees_no_marks() -> None:
    assert "kb:" not in without_marks(FIRST)
    assert "<!-- kb:page 3 -->" in without_marks("<!-- kb:page 3 -->\n")


LINES = st.text(
    st.characters(exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs"]), max_size=30
)
PLACES = st.integers(0, 60)
EDITS = st.lists(st.tuples(st.sampled_from(["insert", "replace", "delete", "append"]), PLACES, LINES), max_size=8)
CONTENTS = st.dictionaries(st.sampled_from("abcde"), LINES.filter(str.strip), min_size=1)


def draft(contents: dict[str, str]) -> str:
    parts = [block(name, f"## {name}\n{line}") for name, line in sorted(contents.items())]
    return with_register("# Report\n\n" + "\nbetween\n\n".join(parts))


def edit(text: str, edits: list[tuple[str, int, str]]) -> tuple[str, list[str]]:
    """The text after edits at any lines, marks included, and the lines that a person wrote, numbered so that none repeats."""
    lines = text.split("\n")
    for number, (what, place, words) in enumerate(edits):
        at = place % len(lines)
        mine = f"mine {number}: {words}"
        if what == "insert":
            lines.insert(at, mine)
        elif what == "replace":
            lines[at] = mine
        elif what == "append":
            lines[at] += mine
        else:
            del lines[at]
            lines = lines or [""]
    return "\n".join(lines), [line for line in lines if "mine " in line]


@settings(max_examples=400)
@given(CONTENTS, CONTENTS, EDITS)
def test_any_edit_anywhere_survives_any_new_draft(
    before: dict[str, str], after: dict[str, str], edits: list[tuple[str, int, str]]
) -> None:
    edited, mine = edit(draft(before), edits)
    result = refresh(edited, draft(after))
    assert [line for line in result.text.split("\n") if "mine " in line] == mine
    again = refresh(result.text, draft(after))
    assert again.text == result.text


@settings(max_examples=200)
@given(CONTENTS, CONTENTS, st.sets(st.sampled_from("abcde")))
def test_deleted_blocks_never_come_back(before: dict[str, str], after: dict[str, str], gone: set[str]) -> None:
    text = draft(before)
    for name in gone & before.keys():
        text = text.replace(block(name, f"## {name}\n{before[name]}"), "")
    for _ in range(2):
        result = refresh(text, draft(after))
        assert not {name for name in gone & before.keys() if f"<!-- kb:begin {name} " in result.text}
        text = result.text

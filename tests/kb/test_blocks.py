"""Drafts and hands: what a person changed or deleted stays so, whatever a second run would write."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.blocks import block, refresh, with_register

FIRST = with_register(f"# T\n\n{block('a', 'alpha')}\nmiddle\n\n{block('b', 'beta')}")
SECOND = with_register(f"# T\n\n{block('a', 'alpha 2')}\nmiddle\n\n{block('b', 'beta 2')}\n{block('c', 'gamma')}")


def test_untouched_blocks_are_refreshed_and_new_ones_added() -> None:
    result = refresh(FIRST, SECOND)
    assert "alpha 2" in result.text and "beta 2" in result.text and "gamma" in result.text
    assert set(result.refreshed) == {"a", "b", "c"}


def test_an_edited_block_is_kept_and_named() -> None:
    result = refresh(FIRST.replace("alpha", "alpha, as I see it"), SECOND)
    assert "alpha, as I see it" in result.text and "alpha 2" not in result.text
    assert result.kept == ("a",)


def test_a_deleted_block_stays_deleted() -> None:
    gone = FIRST.replace(block("b", "beta"), "")
    result = refresh(gone, SECOND)
    assert "beta" not in result.text
    assert result.deleted == ("b",)
    assert "beta" not in refresh(result.text, SECOND).text


def test_a_second_run_with_the_same_draft_changes_nothing() -> None:
    once = refresh(FIRST, SECOND).text
    assert refresh(once, SECOND).text == once


lines = st.text(st.characters(exclude_characters="<>\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(st.tuples(st.sampled_from(["# T\n", "middle\n", "alpha\n"]), lines), max_size=3))
def test_any_edit_outside_or_inside_survives(edits: list[tuple[str, str]]) -> None:
    edited = FIRST
    for after, line in edits:
        edited = edited.replace(after, f"{after}{line}\n", 1)
    result = refresh(edited, SECOND)
    for _, line in edits:
        assert f"{line}\n" in result.text

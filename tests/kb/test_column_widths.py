"""The shares of columns: they fit the line, give every longest word its room, and give nobody more than it can fill."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.column_widths import balanced

COLUMNS = st.lists(st.lists(st.text("ab ", min_size=1, max_size=60), min_size=1, max_size=5), min_size=1, max_size=7)


def longest_word(text: str) -> int:
    return max(map(len, text.split()), default=1)


@settings(deadline=None)
@given(COLUMNS, st.integers(5, 200))
def test_widths_fit_and_hold_every_word(columns: list[list[str]], room: int) -> None:
    widths = balanced(columns, room, len, longest_word)
    least = [max(map(longest_word, texts)) for texts in columns]
    most = [max(map(len, texts)) for texts in columns]
    assert all(low <= width <= max(low, high) for low, width, high in zip(least, widths, most, strict=True))
    assert sum(widths) <= max(room, sum(least))
    if sum(least) <= room <= sum(most):
        assert sum(widths) == room


def test_long_sentences_get_more_but_not_all() -> None:
    words, short = "word " * 20, "yes or no"
    wide, narrow = balanced([[words.strip()], [short]], 40, len, longest_word)
    assert (wide, narrow) == (31, 9)

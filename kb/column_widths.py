"""How a line is shared by the columns of a table: nobody wants to read a word a line beside an empty column."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def balanced(
    columns: Sequence[Sequence[str]], room: int, width: Callable[[str], int], longest_word: Callable[[str], int]
) -> list[int]:
    """Widths that add up to at most ``room``, or to the longest words of all columns if those need more.

    ``columns`` holds the texts of each. Every column gets room for its longest word, the rest goes by the root of what a
    column holds, so that long sentences get more and leave the short ones readable; none gets more than its longest text.
    """
    most = [max(map(width, texts), default=1) for texts in columns]
    least = [
        min(max(map(longest_word, texts), default=1), longest) for texts, longest in zip(columns, most, strict=True)
    ]
    if sum(most) <= room:
        return most
    weights = [(sum(map(width, texts)) / max(1, len(texts))) ** 0.5 for texts in columns]
    widths = list(least)
    while (spare := room - sum(widths)) > 0:
        open_ones = [i for i, one in enumerate(widths) if one < most[i]]
        total = sum(weights[i] for i in open_ones) or 1.0
        for i in sorted(open_ones, key=lambda i: -weights[i]):
            share = max(1, int(spare * weights[i] / total))
            widths[i] += min(share, most[i] - widths[i], room - sum(widths))
    return widths

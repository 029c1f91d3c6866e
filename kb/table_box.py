"""A table in boxes drawn with lines, for terminals and plain-text notes; wide characters take two places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.column_widths import balanced
from kb.tables import FilledTable

if TYPE_CHECKING:
    from kb.table_formats import Shown

LONGEST_WORD = 16
SHORT = 9  # a heading of four Chinese characters, or a no with its sign, stays on one line
_WIDE = r"\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"
_CLOSING = "，。；：、！？）》」』】”’"
_OPENING = "（《「『【“‘"
# Chinese breaks between any two characters, but no line begins with a comma or ends with an opening bracket.
_TOKEN = re.compile(rf"[{_OPENING}]*[^\s{_WIDE}]+[{_CLOSING}]*|[{_OPENING}]*[{_WIDE}][{_CLOSING}]*|\s+")


def box(table: FilledTable, shown: Shown, notes: Sequence[str], width: int | None = None) -> str:
    """The table in lines of at most ``width`` places (as long as need be if that is None)."""
    rows = [[_flat(text) for text in table.headings], *([cell.marked(_flat) for cell in row] for row in shown)]
    columns = [[row[column] for row in rows] for column in range(len(table.headings))]
    room = sum(max(map(display_width, texts)) for texts in columns) if width is None else width - 3 * len(columns) - 1
    widths = balanced(columns, room, display_width, _longest_word)
    top, middle, end = (
        left + cross.join("─" * (w + 2) for w in widths) + right for left, cross, right in ("┌┬┐", "├┼┤", "└┴┘")
    )
    lines = [top]
    for index, row in enumerate(rows):
        lines += _row(row, widths)
        lines.append(end if index == len(rows) - 1 else middle)
    return "\n".join([*lines, *(f"[{number}] {_flat(note)}" for number, note in enumerate(notes, start=1))]) + "\n"


def _row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [wrap(text, w) for text, w in zip(row, widths, strict=True)]
    lines = []
    for line in range(max(map(len, cells))):
        parts = [cell[line] if line < len(cell) else "" for cell in cells]
        padded = (f" {part}{' ' * (w - display_width(part))} " for part, w in zip(parts, widths, strict=True))
        lines.append("│" + "│".join(padded) + "│")
    return lines


def display_width(text: str) -> int:
    """How many places of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _longest_word(text: str) -> int:
    whole = display_width(text)
    if whole <= SHORT:
        return whole
    return min(LONGEST_WORD, max((display_width(token.strip()) for token in _TOKEN.findall(text)), default=1))


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most this width: broken at spaces, and between Chinese characters."""
    lines, line = [], ""
    for found in _TOKEN.findall(text):
        token: str = found
        while display_width(line + token) > width:
            if line.strip():
                lines.append(line.rstrip())
                line, token = "", token.lstrip()
                continue
            cut = 1
            while cut < len(token) and display_width(token[: cut + 1]) <= width:
                cut += 1
            lines.append(token[:cut])
            token = token[cut:]
        line += token
    return [*lines, line.rstrip()] if line.strip() or not lines else lines

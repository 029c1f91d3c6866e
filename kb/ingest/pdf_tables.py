"""Tables of a PDF: words below or above a table's caption, clustered into rows by baseline and cells by gaps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from kb.model import Cell, Table
from kb.textfile.reader import parse_number

BASELINE = 3.0
_NUMBERLIKE = re.compile(r"^[-+−±]?[\d.,]+(?:[%kKMB×x]|±[\d.]+)?$")
type_word = tuple[float, float, float, float, str]


def read_grid(
    words: Sequence[type_word], top: float, bottom: float, left: float, right: float
) -> list[list[type_word]]:
    """The rows of words inside a box, each a list from left to right; rows from top to bottom."""
    inside = [
        word for word in words if top <= (word[1] + word[3]) / 2 <= bottom and left <= word[0] and word[2] <= right
    ]
    inside.sort(key=lambda word: (word[3], word[0]))
    rows: list[list[type_word]] = []
    for word in inside:
        if rows and abs(word[3] - median(other[3] for other in rows[-1])) <= BASELINE:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda word: word[0])
    return rows


def make_table(
    identifier: str, number: str | None, caption: str, page: int, rows: list[list[type_word]]
) -> Table | None:
    """A table of rows of words; None when they do not look like one (fewer than two rows with two cells)."""
    split = [_cells(row) for row in rows]
    wide = [cells for cells in split if len(cells) >= 2]
    if len(wide) < 2:
        return None
    edges = _column_edges(wide)
    grid = [_place(cells, edges) for cells in split]
    header = 0
    while header < len(grid) - 1 and not any(_NUMBERLIKE.match(text) for text in grid[header][1:] if text):
        header += 1
    header = min(max(header, 1), 3)
    made = [tuple(Cell(text, parse_number(text)) for text in row) for row in grid]
    return Table(identifier, caption, tuple(made[:header]), tuple(made[header:]), number, None, "good", page)


def _cells(row: list[type_word]) -> list[tuple[float, float, str]]:
    """``(x0, x1, text)`` cells of a row: words apart by more than a space and a half begin a new cell."""
    cells: list[tuple[float, float, str]] = []
    for x0, y0, x1, y1, word in row:
        space = 0.42 * (y1 - y0)
        if cells and x0 - cells[-1][1] < space:
            start, _, text = cells[-1]
            cells[-1] = (start, x1, f"{text} {word}")
        else:
            cells.append((x0, x1, word))
    return cells


def _column_edges(rows: list[list[tuple[float, float, str]]]) -> list[tuple[float, float]]:
    """Column ranges: cells of the fullest rows, widened by the cells of others that overlap one of them only."""
    fullest = max(len(cells) for cells in rows)
    columns = [[cell[0], cell[1]] for cell in next(cells for cells in rows if len(cells) == fullest)]
    for cells in rows:
        for x0, x1, _ in cells:
            hits = [column for column in columns if x0 < column[1] and x1 > column[0]]
            if len(hits) == 1:
                hits[0][0], hits[0][1] = min(hits[0][0], x0), max(hits[0][1], x1)
            elif not hits:
                columns.append([x0, x1])
    columns.sort()
    merged: list[list[float]] = []
    for column in columns:
        if merged and column[0] < merged[-1][1] - 1:
            merged[-1][1] = max(merged[-1][1], column[1])
        else:
            merged.append(column)
    return [(column[0], column[1]) for column in merged]


def _place(cells: list[tuple[float, float, str]], edges: list[tuple[float, float]]) -> list[str]:
    """A row's cells put into columns; a cell over several columns stands in the first of them."""
    row = [""] * len(edges)
    for x0, x1, text in cells:
        overlaps = [min(x1, end) - max(x0, start) for start, end in edges]
        best = max(range(len(edges)), key=lambda index: overlaps[index])
        first = next((i for i, overlap in enumerate(overlaps) if overlap > 0), best)
        at = first if sum(overlap > 0 for overlap in overlaps) > 1 else best
        row[at] = f"{row[at]} {text}".strip()
    return row

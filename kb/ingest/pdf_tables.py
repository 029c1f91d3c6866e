"""Tables of a PDF: found by caption and rules, their words clustered into rows by baseline and columns by white space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from kb.ingest.pdf_captions import caption_end, caption_start, is_table, read_caption
from kb.ingest.pdf_lines import Box, Line, Page, Word, bounding_box
from kb.ingest.pdf_text import Joiner, clean, is_han
from kb.model import Cell, Figure, Table
from kb.textfile.reader import parse_number

BASELINE = 3.0  # points
_FARTHEST = 45.0  # points between a caption and its table
_NUMBERED_HEADING = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+\.?\s+[A-Z\u4e00-\u9fff]|\d{1,2}\s+[A-Z]\w+$")
_NUMBERLIKE = re.compile(r"^[-+−±~≈<>]?\$?[\d.,]+\s*(?:[%kKMB×x]|[±(/].*)?$")


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where a table lies: its box, and the height at which its header ends (None where no rule tells)."""

    box: Box
    header_end: float | None


def lift_tables(pages: Sequence[Page], joiner: Joiner) -> dict[int, Table]:
    """Take the lines of table bodies out of the pages. Returns the tables by ``id()`` of their caption's first line."""
    found: dict[int, Table] = {}
    for page in pages:
        if not page.words:
            continue
        index = 0
        while index < len(page.lines):
            match = caption_start(page.lines[index])
            if match and is_table(match):
                end = caption_end(page.lines, index, page.rules)
                grid = _grid_by_rules(page, index, end) or _grid_by_lines(page, index, end)
                table = grid and _read(page, grid, read_caption(page.lines, index, end, joiner))
                if grid and table:
                    caption = page.lines[index:end]
                    found[id(caption[0])] = table
                    kept = {id(line) for line in caption}
                    page.lines = [line for line in page.lines if id(line) in kept or not _inside(line, grid.box)]
                    index = next(at for at, line in enumerate(page.lines) if line is caption[0])
                    end = index + len(caption)
                index = end
            else:
                index += 1
    return found


def _inside(line: Line, box: Box) -> bool:
    x0, y0, x1, y1 = box
    return x0 <= (line.x0 + line.x1) / 2 <= x1 and y0 <= (line.y0 + line.y1) / 2 <= y1


def _grid_by_rules(page: Page, at: int, end: int) -> _Grid | None:
    """The rules of equal width next to the caption, as booktabs and ``\\hline`` draw them."""
    left, top, right, bottom = bounding_box(page.lines[at:end])
    captions = [line.box for index, line in enumerate(page.lines) if index != at and caption_start(line)]
    best: tuple[float, list[Box]] | None = None
    for group in _rule_groups(page):
        x0, _, x1, _ = group[0]
        if x1 < left or x0 > right:
            continue
        for side in (_run_below(group, bottom, captions), _run_above(group, top, captions)):
            if len(side) < 2 or not _holds_text(page, side):
                continue
            gap = side[0][1] - bottom if side[0][1] >= bottom - 2 else top - side[-1][3]
            if gap < _FARTHEST and (best is None or gap < best[0]):
                best = (gap, side)
    if best is None:
        return None
    rules = best[1]
    x0, x1 = rules[0][0], rules[0][2]
    header_end = rules[1][1] if len(rules) > 2 else None
    return _Grid((x0 - 3, rules[0][1] - 1, x1 + 3, rules[-1][3] + 1), header_end)


def _rule_groups(page: Page) -> list[list[Box]]:
    """Rules that share both ends, from top to bottom; rules drawn in pieces are put together first."""
    groups: list[list[Box]] = []
    for rule in _whole_rules(page.rules):
        if rule[1] < 0.06 * page.height or rule[2] - rule[0] < 60:
            continue
        for group in groups:
            if abs(group[0][0] - rule[0]) < 4 and abs(group[0][2] - rule[2]) < 4:
                if rule[1] - group[-1][3] > 1.5:
                    group.append(rule)
                break
        else:
            groups.append([rule])
    return [group for group in groups if len(group) >= 2]


def _whole_rules(rules: Sequence[Box]) -> list[Box]:
    whole: list[Box] = []
    for rule in sorted(rules, key=lambda rule: (round(rule[1]), rule[0])):
        if whole and abs(whole[-1][1] - rule[1]) < 1.2 and -1.0 < rule[0] - whole[-1][2] < 1.5:
            whole[-1] = (whole[-1][0], whole[-1][1], rule[2], whole[-1][3])
        else:
            whole.append(rule)
    return sorted(whole, key=lambda rule: rule[1])


def _run_below(group: list[Box], bottom: float, captions: Sequence[Box]) -> list[Box]:
    run: list[Box] = []
    edge = bottom
    for rule in group:
        if rule[1] < bottom - 2:
            continue
        if any(edge <= box[1] < rule[1] and box[0] < rule[2] and box[2] > rule[0] for box in captions):
            break
        run.append(rule)
        edge = rule[1]
    return run


def _run_above(group: list[Box], top: float, captions: Sequence[Box]) -> list[Box]:
    run: list[Box] = []
    edge = top
    for rule in reversed(group):
        if rule[3] > top + 2:
            continue
        if any(rule[1] < box[1] <= edge and box[0] < rule[2] and box[2] > rule[0] for box in captions):
            break
        run.insert(0, rule)
        edge = rule[1]
    return run


def _holds_text(page: Page, rules: list[Box]) -> bool:
    box = (rules[0][0], rules[0][1], rules[0][2], rules[-1][3])
    return sum(1 for line in page.lines if _inside(line, box)) >= 2


def _grid_by_lines(page: Page, at: int, end: int) -> _Grid | None:
    """Without rules: the lines below the caption, or else above it, that are cells rather than running text."""
    below = end
    while below < len(page.lines) and _is_cell(page.lines, below):
        below += 1
    above = at
    while above > 0 and _is_cell(page.lines, above - 1):
        above -= 1
    lines = page.lines[end:below] if below - end >= at - above else page.lines[above:at]
    if len(lines) < 4:
        return None
    x0, y0, x1, y1 = bounding_box(lines)
    return _Grid((x0 - 2, y0 - 1, x1 + 2, y1 + 1), None)


def _is_cell(lines: Sequence[Line], at: int) -> bool:
    line = lines[at]
    if caption_start(line) or (line.bold and _NUMBERED_HEADING.match(line.text)):
        return False
    beside = [lines[index] for index in (at - 1, at + 1) if 0 <= index < len(lines)]
    if any(abs(other.y1 - line.y1) < 2.5 and not other.full for other in beside):
        return True
    return len(line.text) < 40 and line.x1 - line.x0 < 200 and not re.search(r"[a-z]{3,}[.]$", line.text)


def _read(page: Page, grid: _Grid, caption: Figure) -> Table | None:
    """The table in a grid; None when it does not look like one (fewer than two rows of two cells)."""
    x0, y0, x1, y1 = grid.box
    inside = [word for word in page.words if x0 <= word[0] and word[2] <= x1 and y0 <= (word[1] + word[3]) / 2 <= y1]
    rows = [_cells(row) for row in _rows(inside)]
    wide = [row for row in rows if len(row) >= 2]
    if len(wide) < 2:
        return None
    header = _header_rows(rows, grid.header_end)
    columns = _columns(wide)
    if len(columns) < 2:
        return None
    made = [tuple(Cell(text, parse_number(text), bold) for text, bold in _place(row, columns, page.bold)) for row in rows]
    header = min(header, len(made) - 1)
    quality = "good" if grid.header_end is not None else "flattened"
    return Table(caption.id, caption.caption, tuple(made[:header]), tuple(made[header:]), caption.number, None,
                 "good" if quality == "good" else "flattened", caption.page)  # fmt: skip


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Words clustered by baseline, from top to bottom, each row from left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word[3], word[0])):
        if rows and abs(word[3] - median(other[3] for other in rows[-1])) <= BASELINE:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda word: word[0])
    return rows


def _cells(row: list[Word]) -> list[Word]:
    """Words that stand closer than a space and a half are one cell."""
    cells: list[Word] = []
    for x0, y0, x1, y1, text in row:
        last = cells[-1] if cells else None
        if last and x0 - last[2] < 0.36 * (y1 - y0):
            glue = "" if is_han(last[4][-1]) and is_han(text[0]) else " "
            cells[-1] = (last[0], min(last[1], y0), x1, max(last[3], y1), f"{last[4]}{glue}{text}")
        else:
            cells.append((x0, y0, x1, y1, text))
    return cells


def _header_rows(rows: list[list[Word]], header_end: float | None) -> int:
    if header_end is not None:
        above = sum(1 for row in rows if median(cell[3] for cell in row) <= header_end + 1)
        if 1 <= above < len(rows):
            return above
    header = 0
    while header < len(rows) - 1 and not any(_NUMBERLIKE.match(cell[4]) for cell in rows[header][1:]):
        header += 1
    return header if 1 <= header <= 3 else 1


def _columns(rows: list[list[Word]]) -> list[tuple[float, float]]:
    """Ranges of x that the cells of the fullest rows fill: rows with spans and gaps would blur them."""
    most = max(len(row) for row in rows)
    full = [row for row in rows if len(row) >= max(2, 0.75 * most)]
    columns = _filled(full, 0)
    # A few long cells that reach over their neighbours must not melt two columns into one.
    return columns if len(columns) >= 0.75 * most else _filled(full, len(full) // 6)


def _filled(rows: list[list[Word]], allowed: int) -> list[tuple[float, float]]:
    """Ranges of x where more than ``allowed`` rows have a cell."""
    edges = sorted([(cell[0], 1) for row in rows for cell in row] + [(cell[2], -1) for row in rows for cell in row])
    columns: list[tuple[float, float]] = []
    depth, start = 0, None
    for at, step in edges:
        depth += step
        if depth > allowed and start is None:
            start = at
        elif depth <= allowed and start is not None:
            if columns and start - columns[-1][1] < 1.0:
                columns[-1] = (columns[-1][0], at)
            else:
                columns.append((start, at))
            start = None
    return columns


def _place(row: list[Word], columns: list[tuple[float, float]], bold: Sequence[Box]) -> list[tuple[str, bool]]:
    """``(text, is bold)`` by column; a cell over several columns is repeated in each of them."""
    placed: list[tuple[str, bool]] = [("", False)] * len(columns)
    for x0, y0, x1, y1, text in row:
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        is_bold = any(box[0] <= middle[0] <= box[2] and box[1] <= middle[1] <= box[3] for box in bold)
        over = [i for i, (start, end) in enumerate(columns) if min(x1, end) - max(x0, start) > 0.35 * (end - start)]
        nearest = min(range(len(columns)), key=lambda i: abs(sum(columns[i]) / 2 - middle[0]))
        for column in over or [nearest]:
            before, was_bold = placed[column]
            placed[column] = (f"{before} {clean(text)}".strip(), is_bold or was_bold)
    return placed

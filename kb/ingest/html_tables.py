"""Tables of arXiv's HTML with spans filled, header rows found, numbers read and bold kept."""

from __future__ import annotations

from typing import Any

from kb.ingest.html_inline import classes_of, inline
from kb.ingest.latex_tables import cell_number, plain_number
from kb.model import Cell
from kb.textfile.reader import parse_number

MAX_SPAN = 60
_RULES = frozenset(("ltx_border_t", "ltx_border_tt"))


def parse_grid(node: Any) -> tuple[tuple[tuple[Cell, ...], ...], tuple[tuple[Cell, ...], ...]] | None:
    """``(header rows, body rows)``; None when no row has two cells."""
    rows: list[tuple[list[Cell], bool, bool]] = []
    hanging: dict[int, tuple[int, Cell]] = {}
    for row in _own_rows(node):
        cells: list[Cell] = []
        tags = _own_cells(row)
        for tag in tags:
            _take_hanging(cells, hanging)
            _put(tag, cells, hanging)
        _take_hanging(cells, hanging)
        header = bool(tags) and (_in_head(row) or all(tag.tag == "th" or "ltx_th" in classes_of(tag) for tag in tags))
        ruled = bool(tags) and all(not _RULES.isdisjoint(classes_of(tag)) for tag in tags)
        if any(cell.text for cell in cells):
            rows.append((cells, header, ruled))
    width = max((len(cells) for cells, _, _ in rows), default=0)
    if width < 2:
        return None
    filled = [tuple(cells + [Cell("")] * (width - len(cells))) for cells, _, _ in rows]
    count = next((index for index, (_, header, _) in enumerate(rows) if not header), len(rows))
    # Without header cells, a rule ends the header.
    count = count or next((index for index, (_, _, ruled) in enumerate(rows) if ruled and index), 1)
    count = max(1, min(count, len(filled) - 1))
    return tuple(filled[:count]), tuple(filled[count:])


def _own_rows(node: Any) -> list[Any]:
    """The rows of a table, without those of tables inside its cells."""
    found: list[Any] = []
    for child in node.iter(include_text=False):
        if child.tag == "tr" or "ltx_tr" in classes_of(child):
            found.append(child)
        elif child.tag in ("thead", "tbody", "tfoot") or any(
            name in ("ltx_thead", "ltx_tbody", "ltx_tfoot") for name in classes_of(child)
        ):
            found += _own_rows(child)
    return found


def _own_cells(row: Any) -> list[Any]:
    return [
        child for child in row.iter(include_text=False) if child.tag in ("td", "th") or "ltx_td" in classes_of(child)
    ]


def _in_head(row: Any) -> bool:
    return row.parent is not None and (row.parent.tag == "thead" or "ltx_thead" in classes_of(row.parent))


def _take_hanging(cells: list[Cell], hanging: dict[int, tuple[int, Cell]]) -> None:
    """Cells of rows above that hang down to where the row has come."""
    while len(cells) in hanging:
        left, cell = hanging.pop(len(cells))
        if left > 1:
            hanging[len(cells)] = (left - 1, cell)
        cells.append(cell)


def _put(tag: Any, cells: list[Cell], hanging: dict[int, tuple[int, Cell]]) -> None:
    made = _cell(tag)
    deep = _span(tag, "rowspan", "ltx_rowspan_")
    for _ in range(_span(tag, "colspan", "ltx_colspan_")):
        if deep > 1:
            hanging[len(cells)] = (deep - 1, made)
        cells.append(made)


def _span(tag: Any, attribute: str, prefix: str) -> int:
    given = str(tag.attributes.get(attribute) or "")
    given = given or next((name.removeprefix(prefix) for name in classes_of(tag) if name.startswith(prefix)), "1")
    return min(max(1, int(given)), MAX_SPAN) if given.isdigit() else 1


def _cell(tag: Any) -> Cell:
    text = inline(tag, plain=True)
    number = cell_number(text)
    bare = plain_number(text) if number is not None else text
    bold = bool(tag.css_first(".ltx_font_bold")) or "ltx_font_bold" in classes_of(tag) or "\\mathbf" in text
    return Cell(bare if parse_number(bare) is not None else text, number, bold)

"""Tables of LaTeX: rows and cells with spans expanded, header rows found, numbers read and bold kept."""

from __future__ import annotations

import re

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_groups import read_group, read_groups, read_option, skip_options, split_cells, split_rows
from kb.ingest.latex_macros import expand
from kb.ingest.latex_text import to_line
from kb.model import Cell
from kb.textfile.reader import parse_number

Grid = tuple[tuple[tuple[Cell, ...], ...], tuple[tuple[Cell, ...], ...]]

# Brace groups that follow ``\begin``.
TABULARS = {
    "tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "longtable*": 1, "tabu": 1,
    "longtabu": 1, "NiceTabular": 1, "NiceTabular*": 2, "NiceTabularX": 2, "supertabular": 1, "xltabular": 2,
    "tblr": 1, "longtblr": 1, "deluxetable": 1,
}  # fmt: skip
_RULE = re.compile(
    r"\\(hline|toprule|midrule|bottomrule|Xhline|hlineB|specialrule|addlinespace|morecmidrules|endhead|endfirsthead|"
    r"Midrule|"
    r"endfoot|endlastfoot|cmidrule|cline|hhline|arrayrulecolor|rowcolors?|noalign|hdashline|cdashline|thickhline|"
    r"Xcline|"
    r"tabucline|SetRow|rowfont|small|footnotesize|centering|Hline|firsthline|lasthline)\*?(?![a-zA-Z])"
)
_HEAVY = frozenset(
    "midrule hline Xhline hlineB Midrule thickhline specialrule hdashline endhead endfirsthead Hline".split()
)
_BOLD = re.compile(r"\\(?:textbf|mathbf|bm|boldsymbol|bfseries|bf|pmb|B|best|textbfit)(?![a-zA-Z])")
_SPAN = re.compile(r"\\(multicolumn|multirow|multirowcell|SetCell|Block)(?![a-zA-Z])\*?")
_MODERN_SPAN = re.compile(r"\s*\\(?:SetCell|Block)(?![a-zA-Z])")
_STACKED = re.compile(r"\\(?:makecell|thead|shortstack|tabincell|specialcell)(?![a-zA-Z])\*?")
_MATH_FACE = re.compile(r"\\(?:mathbf|bm|boldsymbol|mathrm|mathit|textbf|pmb|underline|text|num)\s*\{([^{}]*)\}")
_COLOUR = re.compile(r"\\(?:textcolor|color|cellcolor|colorbox)\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}")
_DIGIT = re.compile(r"\d")
_LEADING_NUMBER = re.compile(
    r"([-+−]?\d[\d,]*(?:\.\d+)?)\s*(?:\$?\s*\\pm|±|\(|_|\^|\\scriptstyle|\\ |[*†‡§]|[▲▼↑↓]|\\%|%|$)"
)
_MARKS = re.compile(r"\$?\^\{?[*†‡§a-z\d\\ ]*\}?\$?$|[*†‡§]+$")


def parse_tabular(name: str, body: str, context: TextContext) -> Grid | None:
    """``(header rows, body rows)`` of what stands between begin and end; None when there is no row of two cells."""
    text = expand(body[_after_arguments(name, body) :], context.macros)
    rows: list[list[Cell]] = []
    header = 0
    pending: dict[int, tuple[int, Cell]] = {}
    for raw in split_rows(text):
        content, heavy = _without_rules(raw)
        if heavy and rows and not header:
            header = len(rows)
        if not content.strip():
            continue
        cells = _row(content, context, pending)
        if any(cell.text for cell in cells):
            rows.append(cells)
    width = max((len(row) for row in rows), default=0)
    if width < 2:
        return None
    filled = [tuple(row + [Cell("")] * (width - len(row))) for row in rows]
    header = min(header or 1, max(len(filled) - 1, 1))
    return tuple(filled[:header]), tuple(filled[header:])


def _after_arguments(name: str, body: str) -> int:
    at = skip_options(body, 0)
    at = read_groups(body, at, TABULARS.get(name, 1))[1]
    return skip_options(body, at)


def _without_rules(row: str) -> tuple[str, bool]:
    """The row without rules and row settings, and whether a rule that can end a header stands before its first cell."""
    kept: list[str] = []
    heavy = False
    position = 0
    while match := _RULE.search(row, position):
        lead = row[position : match.start()]
        kept.append(lead)
        if match[1] in _HEAVY and not "".join(kept).strip():
            heavy = True
        position = _after_rule(row, match)
    kept.append(row[position:])
    return "".join(kept), heavy


def _after_rule(row: str, match: re.Match[str]) -> int:
    if match[1] in ("small", "footnotesize", "centering"):
        return match.end()
    position = match.end()
    trimmed = re.compile(r"\s*\([^)]*\)").match(row, position)
    position = trimmed.end() if trimmed else position
    position = skip_options(row, position)
    count = {"specialrule": 3, "SetRow": 1}.get(match[1], 1)
    return read_groups(row, position, count)[1] if row.startswith("{", position) else position


def _row(text: str, context: TextContext, pending: dict[int, tuple[int, Cell]]) -> list[Cell]:
    """The cells of one row; ``pending`` holds cells that ``\\multirow`` lets hang down, by column."""
    cells: list[Cell] = []
    covered = 0
    for raw in split_cells(text):
        if covered:
            covered -= 1
            continue
        content, columns, rows = _spans(raw)
        # Spans of newer packages leave the cells that they cover in the row.
        covered = columns - 1 if _MODERN_SPAN.match(raw) else 0
        cell = read_cell(content, context)
        for _ in range(columns):
            at = len(cells)
            left, hanging = pending.pop(at, (0, cell))
            if left and not cell.text:
                cells.append(hanging)
                if left > 1:
                    pending[at] = (left - 1, hanging)
                continue
            cells.append(cell)
            if rows > 1 and cell.text:
                pending[at] = (rows - 1, cell)
    return cells


def _spans(raw: str) -> tuple[str, int, int]:
    """``(content, columns, rows)`` of a cell with its spans taken off. A negative row count hangs upwards: one row."""
    columns = rows = 1
    while (match := _SPAN.search(raw)) and not raw[: match.start()].strip(" \t\n{}"):
        if match[1] in ("SetCell", "Block"):
            sizes, content, end = _modern_span(raw, match)
            columns, rows = max(columns, sizes[1]), max(rows, sizes[0])
            raw = content + raw[end:]
            continue
        count = _count_argument(raw, match.end())
        if count is None:
            break
        number, at = count
        groups, end = read_groups(raw, _skip_star(raw, at), 2 if not _has_star(raw, at) else 1)
        if not groups:
            break
        if match[1] == "multicolumn":
            columns = max(number, 1)
        else:
            rows = max(number, 1)
        raw = raw[: match.start()] + groups[-1] + raw[end:]
    return raw, min(columns, 60), rows


def _count_argument(raw: str, at: int) -> tuple[int, int] | None:
    at = skip_options(raw, at)
    group = read_group(raw, at)
    if group is None:
        return None
    number = re.search(r"-?\d+", group[0])
    return (int(number[0]) if number else 1), skip_options(raw, group[1])


def _has_star(raw: str, at: int) -> bool:
    return raw[at:].lstrip().startswith(("*", "="))


def _skip_star(raw: str, at: int) -> int:
    """``\\multirow{2}*{text}``: the width may be a bare star."""
    return raw.index(raw[at:].lstrip()[0], at) + 1 if _has_star(raw, at) else at


def _modern_span(raw: str, match: re.Match[str]) -> tuple[tuple[int, int], str, int]:
    r"""``((rows, columns), text, end)`` of tabularray's ``\SetCell[r=2,c=3]{c} text`` or ``\Block{2-3}{text}``."""
    if match[1] == "Block":
        groups, end = read_groups(raw, skip_options(raw, match.end()), 2)
        sizes = re.findall(r"\d+", groups[0]) if groups else []
        return (
            (int(sizes[0]) if sizes else 1, int(sizes[1]) if len(sizes) > 1 else 1),
            groups[-1] if groups else "",
            end,
        )
    option = read_option(raw, match.end())
    sizes_by_name = dict(re.findall(r"([rc])\s*=\s*(\d+)", option[0] if option else ""))
    end = read_groups(raw, option[1] if option else match.end(), 1)[1]
    return (int(sizes_by_name.get("r", 1)), int(sizes_by_name.get("c", 1))), "", end


def read_cell(raw: str, context: TextContext) -> Cell:
    """One cell: its text on a line, the number that it is or begins with, and whether it is set in bold."""
    raw = _unstacked(raw)
    text = to_line(raw, context)
    number = cell_number(text)
    shown = plain_number(text) if number is not None and parse_number(plain_number(text)) is not None else text
    return Cell(shown, number, _is_bold(raw, number is not None))


def _unstacked(raw: str) -> str:
    while match := _STACKED.search(raw):
        group = read_group(raw, skip_options(raw, match.end()))
        if group is None:
            break
        raw = raw[: match.start()] + group[0].replace("\\\\", " ") + raw[group[1] :]
    return raw


def plain_number(text: str) -> str:
    """A cell without the maths and signs that may stand around its number."""
    bare = _MATH_FACE.sub(r"\1", text.strip().strip("$").strip())
    for sign, plain in (
        ("\\%", "%"),
        ("{,}", ","),
        ("\\,", ""),
        ("−", "-"),
        ("–", "-"),
        ("{", ""),
        ("}", ""),
        ("\\$", ""),
        ("~", ""),
    ):
        bare = bare.replace(sign, plain)
    return bare.strip().strip("$").strip()


def cell_number(text: str) -> float | None:
    """The number that a cell is, or that it begins with before a spread, a note mark or a change in brackets."""
    if not _DIGIT.search(text):
        return None
    bare = plain_number(text)
    number = parse_number(bare)
    if number is None:
        number = parse_number(_MARKS.sub("", bare).strip("$ "))
    if number is None and (match := _LEADING_NUMBER.match(bare)):
        number = parse_number(match[1])
    return number


def _is_bold(raw: str, is_number: bool) -> bool:
    """Bold marks "best", so a number counts as bold when its first digit is; a text when it is bold as a whole."""
    match = _BOLD.search(raw)
    if match is None:
        return False
    before = re.sub(r"\\[a-zA-Z]+|[{}$\s~+−<>=-]", "", _COLOUR.sub("", raw[: match.start()]))
    if before:
        return False
    group = read_group(raw, match.end())
    after = re.sub(r"\\[a-zA-Z]+|[{}$\s~]", "", raw[group[1] :]) if group else ""
    return is_number or not after

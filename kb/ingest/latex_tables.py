"""Tables of LaTeX: rows and cells with spans expanded, header rows found, numbers read and bold kept."""

from __future__ import annotations

import re
from dataclasses import replace

from kb.ingest.latex_macros import expand, read_group, read_option
from kb.ingest.latex_text import TextContext, to_line
from kb.model import Cell
from kb.textfile.reader import parse_number

TABULARS = (
    "tabular",
    "tabular*",
    "tabularx",
    "tabulary",
    "longtable",
    "tabu",
    "NiceTabular",
    "array",
    "supertabular",
    "tblr",
)
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|hlineB|Xhline|specialrule|addlinespace|morecmidrules|endhead|endfirsthead|"
    r"endfoot|endlastfoot|cmidrule|cline|hhline|arrayrulecolor|rowcolor|noalign|rowcolors)(?![a-zA-Z])"
)
_HEAVY_RULE = re.compile(r"\\(?:midrule|hline|Xhline|hlineB)(?![a-zA-Z])")
_BOLD = re.compile(r"\\(?:textbf|mathbf|bm|boldsymbol|bfseries|bf|B)(?![a-zA-Z])")
_MULTI = re.compile(r"\\(multicolumn|multirow|multirowcell|makecell|thead|shortstack)(?![a-zA-Z])\*?")


def parse_tabular(name: str, body: str, context: TextContext) -> tuple[tuple[tuple[Cell, ...], ...], ...] | None:
    """``(header rows, body rows)`` of what stands between begin and end; None when there is no row of two cells."""
    body = _skip_arguments(name, expand(body, context.macros))
    rows: list[list[Cell]] = []
    header = 0
    pending: dict[int, tuple[int, Cell]] = {}
    seen_rule = False
    for raw in _split(body, "\\\\"):
        text, heavy = _strip_rules(raw)
        if heavy and rows and not seen_rule:
            header = len(rows)
            seen_rule = True
        if not text.strip():
            continue
        cells = _row_cells(text, context, pending)
        if any(cell.text for cell in cells):
            rows.append(cells)
    width = max((len(row) for row in rows), default=0)
    if width < 2:
        return None
    filled = [tuple(row + [Cell("")] * (width - len(row))) for row in rows]
    header = min(header or 1, len(filled) - 1 if len(filled) > 1 else 1)
    return tuple(filled[:header]), tuple(filled[header:])


def _skip_arguments(name: str, body: str) -> str:
    at = 0
    groups = {"tabular*": 2, "tabularx": 2, "tabulary": 2}.get(name, 1)
    option = read_option(body, at)
    at = option[1] if option else at
    for _ in range(groups):
        group = read_group(body, at)
        if group is None:
            break
        at = group[1]
        option = read_option(body, at) if body[at : at + 1] == "[" else None
        at = option[1] if option else at
    return body[at:]


def _split(text: str, mark: str) -> list[str]:
    """Split at a mark outside braces and inner environments; an option after ``\\\\`` is dropped."""
    parts: list[str] = []
    start = at = depth = inner = 0
    while at < len(text):
        if text.startswith("\\begin", at):
            inner += 1
            at += 6
        elif text.startswith("\\end", at) and not text.startswith(
            ("\\endhead", "\\endfirst", "\\endfoot", "\\endlast"), at
        ):
            inner -= 1
            at += 4
        elif depth == 0 and inner <= 0 and text.startswith(mark, at):
            parts.append(text[start:at])
            at += len(mark)
            if mark == "\\\\":
                at += text[at : at + 1] == "*"
                option = read_option(text, at) if text[at : at + 1] == "[" else None
                at = option[1] if option else at
            start = at
        elif depth == 0 and inner <= 0 and mark == "\\\\" and re.compile(r"\\tabularnewline\b").match(text, at):
            parts.append(text[start:at])
            at += len("\\tabularnewline")
            start = at
        elif text[at] == "\\":
            at += 2
        else:
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
    parts.append(text[start:])
    return parts


def _strip_rules(row: str) -> tuple[str, bool]:
    heavy = False
    while True:
        match = _RULE.search(row)
        if match is None:
            return row, heavy
        if not row[: match.start()].strip():
            heavy = heavy or bool(_HEAVY_RULE.match(row, match.start()))
        end = match.end()
        parenthesis = re.compile(r"\s*\([^)]*\)").match(row, end)
        end = parenthesis.end() if parenthesis else end
        while True:
            option = read_option(row, end) if row[end : end + 1] == "[" else None
            group = read_group(row, end) if option is None and row[end : end + 1] == "{" else None
            found = option or group
            if found is None:
                break
            end = found[1]
        row = row[: match.start()] + row[end:]


def _row_cells(text: str, context: TextContext, pending: dict[int, tuple[int, Cell]]) -> list[Cell]:
    """The cells of one row; ``pending`` holds cells that ``\\multirow`` lets hang down, by column."""
    cells: list[Cell] = []
    for raw in _split(text, "&"):
        content, columns, rows = _unwrap(raw)
        cell = _make_cell(content, context)
        for offset in range(max(columns, 1)):
            at = len(cells)
            if not cell.text and at in pending:
                left, hanging = pending.pop(at)
                cells.append(hanging)
                if left > 1:
                    pending[at] = (left - 1, hanging)
                continue
            pending.pop(at, None)
            cells.append(cell if offset == 0 or cell.text else Cell(""))
            if rows > 1 and cell.text:
                pending[at] = (rows - 1, replace(cell))
    return cells


def _unwrap(raw: str) -> tuple[str, int, int]:
    """``(content, columns, rows)`` of a cell with its spans taken off."""
    columns = rows = 1
    while True:
        match = _MULTI.search(raw)
        if match is None or (raw[: match.start()].strip() and match[1] not in ("makecell", "shortstack", "thead")):
            return raw, columns, rows
        at = match.end()
        while raw[at : at + 1] == "[" and (option := read_option(raw, at)):
            at = option[1]
        groups: list[str] = []
        for _ in range(3 if match[1].startswith("multi") else 1):
            while raw[at : at + 1] == "[" and (option := read_option(raw, at)):
                at = option[1]
            group = read_group(raw, at)
            if group is None:
                star = re.compile(r"\s*\*").match(raw, at)
                if star is None:
                    break
                groups.append("*")
                at = star.end()
                continue
            groups.append(group[0])
            at = group[1]
        if not groups:
            return raw, columns, rows
        count = int(groups[0]) if len(groups) > 1 and groups[0].strip().lstrip("-").isdigit() else 1
        if match[1] == "multicolumn":
            columns = max(count, 1)
        elif match[1].startswith("multirow"):
            rows = max(count, 1)
        raw = raw[: match.start()] + groups[-1].replace("\\\\", " ") + raw[at:]


def _make_cell(raw: str, context: TextContext) -> Cell:
    bold = bool(_BOLD.search(raw))
    if raw.count("$") == 2 and re.fullmatch(r"\s*\$\s*\\(?:mathbf|bm|boldsymbol)\{[\d.,%\\ -]+\}\s*\$\s*", raw):
        raw = re.sub(r"\$|\\(?:mathbf|bm|boldsymbol)", "", raw)
    text = to_line(raw, context)
    bare = text.strip("$ ").replace("\\%", "%").replace("{,}", ",").replace("\\,", "").replace("−", "-")
    number = parse_number(bare)
    if number is None and (match := re.match(r"^([-+]?\d[\d,]*(?:\.\d+)?)\s*(?:\\pm|±|\(|\$?_)", bare)):
        number = parse_number(match[1])
    return Cell(bare if number is not None and parse_number(bare) is not None else text, number, bold)

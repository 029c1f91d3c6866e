"""A filled table in each format that people paste: Markdown, CSV, LaTeX, HTML, JSON, and boxes drawn with lines.

Every cell is escaped for where it goes; maths between dollars stays maths.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kb.inline_math import split_math
from kb.tables import PROVISIONAL_SIGN, SIGNS, FilledTable, TableCell

FORMATS = ("md", "csv", "latex", "html", "json", "box")
SUFFIXES = {
    ".md": "md",
    ".csv": "csv",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".txt": "box",
}
DRAFT_SIGN = "✎"
_LEGEND = {
    "en": {"paper": "read in the paper", "code": "in its code", "secondary": "second hand", "unverified": "not verified",
           "table": "printed in a table of the paper, read by machine", "method": "as computed in reproductions",
           "runs": "mean of our runs with 95% interval", "provisional": "the formula is provisional",
           "draft": "a draft to be reviewed"},
    "zh": {"paper": "论文原文", "code": "官方代码", "secondary": "二手资料", "unverified": "未核实",
           "table": "程序从论文的表格读出", "method": "按 reproductions 的实现", "runs": "实验运行的均值与 95% 区间",
           "provisional": "公式暂定", "draft": "草稿，待人工确认"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownCell:
    """What a format prints of a cell: its words, whether they are a draft, and the sign behind them."""

    text: str
    is_draft: bool
    sign: str

    def marked(self, escape: Callable[[str], str]) -> str:
        """The words escaped, between the signs, which need no escape."""
        draft = f"{DRAFT_SIGN} " if self.is_draft else ""
        return f"{draft}{escape(self.text)}" + (f" [{self.sign}]" if self.sign else "")


Shown = Sequence[Sequence[ShownCell]]


def render_table(table: FilledTable, form: str, evidence: str = "marks", width: int | None = None) -> str:
    """The table as text. ``evidence``: ``none``, ``marks`` (a sign of the level) or ``footnotes``."""
    from kb.table_box import box
    from kb.table_html import html_page
    from kb.table_latex import latex

    notes: list[str] = []
    shown = [[_shown(cell, evidence, notes) for cell in row] for row in table.rows]
    makers: dict[str, Callable[[], str]] = {
        "md": lambda: _markdown(table, shown, notes),
        "csv": lambda: _csv(table, shown),
        "latex": lambda: latex(table, shown, notes),
        "html": lambda: html_page(table, shown, notes, legend(table, evidence == "marks")),
        "json": lambda: _json(table),
        "box": lambda: box(table, shown, notes, width),
    }
    return makers[form]()


def _shown(cell: TableCell, evidence: str, notes: list[str]) -> ShownCell:
    """A cell with its sign; in ``footnotes`` the place it was read goes to the notes, and the sign is its number."""
    sign = ""
    if evidence == "marks":
        sign = cell.mark
    elif evidence == "footnotes" and cell.source and cell.state != "not checked":
        if cell.source not in notes:
            notes.append(cell.source)
        sign = str(notes.index(cell.source) + 1)
    return ShownCell(cell.text, cell.state == "draft", sign if cell.text else "")


def legend(table: FilledTable, marks: bool = True) -> str:
    """What the signs in a table mean, those that it has; without ``marks`` only that of drafts."""
    cells = [cell for row in table.rows for cell in row]
    words = _LEGEND[table.language]
    marked = [cell for cell in cells if cell.mark] if marks else []
    found = {cell.level for cell in marked}
    parts = [f"[{sign}] {words[level]}" for level, sign in SIGNS.items() if level in found]
    if any(cell.provisional for cell in marked):
        parts.append(f"{PROVISIONAL_SIGN} {words['provisional']}")
    if any(cell.state == "draft" for cell in cells):
        parts.append(f"{DRAFT_SIGN} {words['draft']}")
    return "  ".join(parts)


# ---------------------------------------------------------------- Markdown

# What would begin emphasis, code, a link, a tag or an entity. An underscore inside a word does nothing, nor do brackets
# by themselves, and with backslashes some viewers would take them for maths.
_SPECIAL = re.compile(r"[\\`*~$]|\](?=[(\[:])|\[(?=[\[^])|(?<![^\W_])_|_(?![^\W_])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w+;)")


def escape_markdown(text: str) -> str:
    """A cell of a pipe table: one line, in which a bar inside maths is ``\\vert{}`` and elsewhere an entity."""
    lines = [" ".join(line.split()) for line in re.split(r"\r\n|\r|\n", text)]
    pieces = split_math("\n".join(lines))
    return "".join(_markdown_math(piece) if is_math else _markdown_words(piece) for is_math, piece in pieces)


def _markdown_words(text: str) -> str:
    escaped = _TAG.sub("&lt;", _ENTITY.sub("&amp;", _SPECIAL.sub(lambda match: "\\" + match[0], text)))
    return escaped.replace("|", "&#124;").replace("\n", "<br>")


def _markdown_math(text: str) -> str:
    # A norm is another sign than two bars: \| must not become \ and \vert.
    return " ".join(re.sub(r"\\\||\|", lambda m: r"\Vert{}" if len(m[0]) == 2 else r"\vert{}", text).split())


def _markdown(table: FilledTable, shown: Shown, notes: Sequence[str]) -> str:
    lines = [
        "| " + " | ".join(map(escape_markdown, table.headings)) + " |",
        "|" + " --- |" * len(table.headings),
        *("| " + " | ".join(cell.marked(escape_markdown) for cell in row) + " |" for row in shown),
    ]
    foot = "".join(f"\n[{number}] {escape_markdown(note)}  " for number, note in enumerate(notes, start=1))
    return "\n".join(lines) + "\n" + foot


# ---------------------------------------------------------------- CSV, JSON


def _csv(table: FilledTable, shown: Shown) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.headings)
    writer.writerows([cell.marked(str) for cell in row] for row in shown)
    return stream.getvalue()


def _json(table: FilledTable) -> str:
    def cell(value: TableCell) -> dict[str, Any]:
        fields = {"text": value.text, "state": value.state, "level": value.level, "evidence": value.evidence,
                  "provisional": value.provisional}  # fmt: skip
        return {key: item for key, item in fields.items() if item or key == "text"}

    rows = [[cell(value) for value in row] for row in table.rows]
    value = {"title": table.title, "language": table.language, "columns": table.headings, "rows": rows}
    return json.dumps(value, ensure_ascii=False, indent=2)

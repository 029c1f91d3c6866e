"""A filled table in each format that people paste: Markdown, CSV, LaTeX, HTML, JSON, and boxes drawn with lines.

Every cell is escaped for where it goes; maths between dollars stays maths.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from kb.tables import FilledTable, TableCell

_MATH = re.compile(r"(\$[^$]+\$)")
_TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "{": r"\{", "}": r"\}", "$": r"\$",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}"}  # fmt: skip
FORMATS = ("md", "csv", "latex", "html", "json", "box")


def render_table(table: FilledTable, form: str, evidence: str = "marks", width: int | None = None) -> str:
    """The table as text. ``evidence``: ``none``, ``marks`` (a sign of the level) or ``footnotes``."""
    if form == "json":
        return _json(table)
    notes: list[str] = []
    shown = [[_shown(cell, evidence, notes) for cell in row] for row in table.rows]
    makers: dict[str, Callable[[], str]] = {
        "md": lambda: _markdown(table, shown, notes),
        "csv": lambda: _csv(table, shown),
        "latex": lambda: _latex(table, shown, notes),
        "html": lambda: _html(table, shown, notes),
        "box": lambda: _box(table, shown, notes, width),
    }
    return makers[form]()


def _shown(cell: TableCell, evidence: str, notes: list[str]) -> str:
    """A cell's words with its sign; the place it was read goes to the notes."""
    text = f"✎ {cell.text}" if cell.state == "draft" else cell.text
    if evidence == "none" or not cell.mark or not text:
        return text
    if evidence == "marks":
        return f"{text} [{cell.mark}]"
    note = f"{cell.level}: {cell.evidence}" if cell.evidence else cell.level
    if note not in notes:
        notes.append(note)
    return f"{text} [{notes.index(note) + 1}]"


def legend(language: str) -> str:
    """What the signs mean."""
    if language == "zh":
        return "[P] 论文原文  [C] 官方代码  [S] 二手资料  [?] 未核实  ✎ 草稿，待人工确认"
    return "[P] read in the paper  [C] in its code  [S] second hand  [?] not verified  ✎ a draft to be reviewed"


# ---------------------------------------------------------------- Markdown


def escape_markdown(text: str) -> str:
    """A cell of a pipe table: a bar inside maths becomes ``\\vert{}``, elsewhere an entity."""
    parts = _MATH.split(" ".join(text.split()))
    return "".join(
        part.replace("|", "\\vert{}") if index % 2 else part.replace("|", "&#124;") for index, part in enumerate(parts)
    )


def _markdown(table: FilledTable, shown: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    lines = [
        "| " + " | ".join(map(escape_markdown, table.headings)) + " |",
        "|" + " --- |" * len(table.headings),
        *("| " + " | ".join(map(escape_markdown, row)) + " |" for row in shown),
    ]
    return "\n".join(lines) + "\n" + "".join(f"\n[{number}] {note}  " for number, note in enumerate(notes, start=1))


# ---------------------------------------------------------------- CSV, JSON


def _csv(table: FilledTable, shown: Sequence[Sequence[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.headings)
    writer.writerows(shown)
    return stream.getvalue()


def _json(table: FilledTable) -> str:
    def cell(value: TableCell) -> dict[str, Any]:
        fields = {"text": value.text, "state": value.state, "level": value.level, "evidence": value.evidence}
        return {key: item for key, item in fields.items() if item}

    rows = [dict(zip(table.headings, map(cell, row), strict=True)) for row in table.rows]
    return json.dumps({"title": table.title, "rows": rows}, ensure_ascii=False, indent=2)


# ---------------------------------------------------------------- LaTeX


def escape_latex(text: str) -> str:
    """Text for LaTeX; maths between dollars stays as it is."""
    parts = _MATH.split(" ".join(text.split()))
    return "".join(part if index % 2 else "".join(_TEX.get(char, char) for char in part) for index, part in enumerate(parts))


def _latex(table: FilledTable, shown: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    count = len(table.headings)
    share = f"{0.92 / max(count, 1):.3f}"
    spec = f"*{{{count}}}{{>{{\\raggedright\\arraybackslash}}p{{{share}\\linewidth}}}}"
    rows = "\n".join(" & ".join(map(escape_latex, row)) + r" \\" for row in shown)
    foot = "".join(f"\n\\par\\smallskip\\footnotesize [{i}] {escape_latex(note)}" for i, note in enumerate(notes, start=1))
    return (
        "% needs \\usepackage{booktabs,array}; Chinese text needs ctex or xeCJK\n"
        f"\\begin{{table}}[t]\n\\centering\\small\n\\caption{{{escape_latex(table.title)}}}\n\\begin{{tabular}}{{{spec}}}\n\\toprule\n"
        + " & ".join(map(escape_latex, table.headings))
        + f" \\\\\n\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}{foot}\n\\end{{table}}\n"
    )


# ---------------------------------------------------------------- HTML

_PAGE = """<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title><style>
body{{font-family:"Noto Sans CJK SC","Source Han Sans SC","Microsoft YaHei","PingFang SC",system-ui,sans-serif;margin:2rem;color:#1a1a1a}}
table{{border-collapse:collapse;font-size:14px;line-height:1.45}}
th{{text-align:left;border-bottom:2px solid #333;cursor:pointer;background:#fff;position:sticky;top:0}}
th,td{{padding:.45rem .7rem;vertical-align:top}} td{{border-bottom:1px solid #ddd;max-width:26rem}}
.unchecked{{color:#999;font-style:italic}} .unstated{{color:#777}} .draft{{background:#fff6d6}}
.weak{{text-decoration:underline dotted #b06000}} footer{{color:#666;font-size:12px;margin-top:1rem}}
</style></head><body><h1>{title}</h1><table><thead><tr>{head}</tr></thead><tbody>
{body}
</tbody></table><footer>{foot}</footer><script>
document.querySelectorAll("th").forEach((th,i)=>th.addEventListener("click",()=>{{
const body=th.closest("table").tBodies[0],up=th.dataset.up!=="1";th.dataset.up=up?"1":"0";
[...body.rows].sort((a,b)=>a.cells[i].innerText.localeCompare(b.cells[i].innerText,"{language}",{{numeric:true}})*(up?1:-1)).forEach(r=>body.append(r));}}));
</script></body></html>
"""


def _html(table: FilledTable, shown: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    body = "\n".join(
        "<tr>" + "".join(_html_cell(cell, text) for cell, text in zip(cells, texts, strict=True)) + "</tr>"
        for cells, texts in zip(table.rows, shown, strict=True)
    )
    foot = html.escape(legend(table.language)) + "".join(f"<br>[{i}] {html.escape(n)}" for i, n in enumerate(notes, 1))
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in table.headings)
    return _PAGE.format(language=table.language, title=html.escape(table.title), head=head, body=body, foot=foot)


def _html_cell(cell: TableCell, text: str) -> str:
    kinds = {"not checked": "unchecked", "not stated": "unstated", "draft": "draft"}
    names = [kinds[cell.state]] if cell.state in kinds else []
    if cell.level in ("secondary", "unverified"):
        names.append("weak")
    classes = f' class="{" ".join(names)}"' if names else ""
    hover = f"{cell.level}: {cell.evidence}".strip(": ") if cell.level else ""
    title = f' title="{html.escape(hover, quote=True)}"' if hover else ""
    return f"<td{classes}{title}>{html.escape(text)}</td>"


# ---------------------------------------------------------------- boxes


def display_width(text: str) -> int:
    """How many terminal columns a text takes: wide characters take two, combining ones none."""
    width = 0
    for char in text:
        if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
            continue
        width += 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    return width


def _box(table: FilledTable, shown: Sequence[Sequence[str]], notes: Sequence[str], width: int | None) -> str:
    rows = [list(map(_flat, row)) for row in [table.headings, *shown]]
    widths = [max(display_width(row[column]) for row in rows) for column in range(len(table.headings))]
    if width is not None:
        widths = _fit(widths, width - 3 * len(widths) - 1)
    rules = {name: left + middle.join("─" * (w + 2) for w in widths) + right
             for name, left, middle, right in (("top", "┌", "┬", "┐"), ("mid", "├", "┼", "┤"), ("end", "└", "┴", "┘"))}  # fmt: skip
    lines = [rules["top"]]
    for index, row in enumerate(rows):
        cells = [_wrap(text, w) for text, w in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            parts = [cell[line] if line < len(cell) else "" for cell in cells]
            lines.append("│" + "│".join(f" {part}{' ' * (w - display_width(part))} " for part, w in zip(parts, widths, strict=True)) + "│")
        lines.append(rules["end"] if index == len(rows) - 1 else rules["mid"])
    return "\n".join([*lines, *(f"[{i}] {note}" for i, note in enumerate(notes, start=1))]) + "\n"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _fit(widths: list[int], room: int) -> list[int]:
    """Widths cut to a line, the widest columns first, none below a few words."""
    widths = list(widths)
    while sum(widths) > room and max(widths) > 12:
        widths[widths.index(max(widths))] -= 1
    return widths


def _wrap(text: str, width: int) -> list[str]:
    """Lines of at most this width: broken at spaces, and between Chinese characters."""
    lines, line = [], ""
    for token in re.findall(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]|[^\s\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]+|\s+", text):
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

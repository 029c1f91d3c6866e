"""A table as one HTML page without anything to load: headings sort, and a cell says where it was read."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.inline_math import split_math
from kb.tables import FilledTable, TableCell

if TYPE_CHECKING:
    from kb.table_formats import Shown, ShownCell

_PAGE = """<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body{{font-family:system-ui,"Noto Sans CJK SC","Source Han Sans SC","Microsoft YaHei","PingFang SC",sans-serif;
margin:2rem;color:#1a1a1a;background:#fff}}
h1{{font-size:1.3rem}} table{{border-collapse:collapse;font-size:14px;line-height:1.45}}
th{{text-align:left;border-bottom:2px solid #333;background:#fff;position:sticky;top:0}}
th button{{font:inherit;font-weight:600;border:0;background:none;padding:0;text-align:left;cursor:pointer}}
th[aria-sort=ascending] button::after{{content:" ▲"}} th[aria-sort=descending] button::after{{content:" ▼"}}
th,td{{padding:.45rem .7rem;vertical-align:top;min-width:2.4rem}}
td{{border-bottom:1px solid #ddd;max-width:26rem;white-space:pre-line}} td:first-child{{font-weight:600;min-width:7rem}}
.unchecked{{color:#767676;font-style:italic}} .unstated{{color:#666}}
.draft{{background:#fff6d6;border-left:3px dashed #b08800}} .weak>span:first-child{{text-decoration:underline dotted #b06000}}
sup{{color:#555;font-size:11px}} sup::before{{content:"\\00a0"}} footer{{color:#555;font-size:12px;margin-top:1rem}}
@media print{{body{{margin:0}} th{{position:static}}}}
</style></head><body><h1>{title}</h1><table><thead><tr>{head}</tr></thead><tbody>
{body}
</tbody></table><footer>{foot}</footer><script>
document.querySelectorAll("th").forEach((th,i)=>th.addEventListener("click",()=>{{
const body=th.closest("table").tBodies[0],up=th.getAttribute("aria-sort")!=="ascending";
document.querySelectorAll("th").forEach(other=>other.removeAttribute("aria-sort"));
th.setAttribute("aria-sort",up?"ascending":"descending");
const text=row=>row.cells[i].firstChild.textContent;
const order=(a,b)=>{{const x=parseFloat(a),y=parseFloat(b);
return isNaN(x)||isNaN(y)?a.localeCompare(b,"{language}",{{numeric:true}}):x-y;}};
[...body.rows].sort((a,b)=>order(text(a),text(b))*(up?1:-1)).forEach(row=>body.append(row));}}));
</script></body></html>
"""
_CLASSES = {"not checked": "unchecked", "not stated": "unstated", "draft": "draft"}


def html_page(table: FilledTable, shown: Shown, notes: Sequence[str], legend: str) -> str:
    """The page. A cell's words are its first element; its sign stands behind it in a ``sup``."""
    body = "\n".join(
        "<tr>" + "".join(map(_cell, cells, texts)) + "</tr>" for cells, texts in zip(table.rows, shown, strict=True)
    )
    lines = [legend, *(f"[{n}] {note}" for n, note in enumerate(notes, start=1))]
    foot = "<br>".join(html.escape(line) for line in lines if line)
    head = "".join(f'<th scope="col"><button>{html.escape(heading)}</button></th>' for heading in table.headings)
    return _PAGE.format(language=table.language, title=html.escape(table.title), head=head, body=body, foot=foot)


def _cell(cell: TableCell, shown: ShownCell) -> str:
    names = [_CLASSES[cell.state]] if cell.state in _CLASSES else []
    if cell.level in ("secondary", "unverified") or cell.provisional:
        names.append("weak")
    classes = f' class="{" ".join(names)}"' if names else ""
    title = f' title="{html.escape(cell.source)}"' if cell.source else ""
    sign = f"<sup>{html.escape(shown.sign)}</sup>" if shown.sign else "<sup>✎</sup>" if shown.is_draft else ""
    return f"<td{classes}{title}><span>{_words(cell.text)}</span>{sign}</td>"


def _words(text: str) -> str:
    """The text with its formulas as MathML; each keeps what was typed in ``data-latex``."""
    pieces = split_math(text)
    if not any(is_math for is_math, _ in pieces):
        return html.escape(text)
    from kb.page.maths import formula_html

    return "".join(
        f'<span data-latex="{html.escape(piece)}">{formula_html(piece.strip("$"), False)}</span>'
        if is_math
        else html.escape(piece)
        for is_math, piece in pieces
    )

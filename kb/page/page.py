"""A Markdown text as one self-contained HTML page: maths as MathML, pictures inside, nothing that runs or loads."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from kb import frontmatter
from kb.blocks import without_marks
from kb.library import Library
from kb.links import Names
from kb.page.clean import clean
from kb.page.markdown import to_html, with_formulas
from kb.page.math_font import math_font_css
from kb.page.pictures import as_data
from kb.render import render
from kb.workspace import Workspace

TEMPLATE = "report.html.j2"
# A short line that ends in a colon belongs to what follows, also at the foot of a page.
_LEAD = re.compile(r"<p>((?:<strong>)?[^<>]{1,40}[：:](?:</strong>)?)</p>")


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what a person should know of it: pictures that are not in it, formulas that stayed LaTeX."""

    html: str
    remarks: tuple[str, ...]


def html_page(workspace: Workspace, markdown: str, folder: Path, language: str) -> Page:
    """The page of a text whose picture addresses are seen from ``folder``."""
    missing: dict[str, str] = {}

    def picture(address: str) -> tuple[str, str]:
        data, reason = as_data(address, folder, workspace.root)
        if reason:
            missing[address] = reason
        return data, reason

    library = Library.load(workspace)
    names = Names(library)

    def paper(name: str) -> tuple[str, str]:
        found = library.papers.get(names.resolve(name).target)
        if found is None:
            return "", ""
        address = f"https://arxiv.org/abs/{found.arxiv_id}" if found.arxiv_id else ""
        return found.aliases[0] if found.aliases else found.title, address

    text = without_marks(frontmatter.split(markdown)[1])
    raw, formulas = to_html(text, picture, paper)
    body = _LEAD.sub(r'<p class="lead">\1</p>', clean(raw))
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    kept = sum(formula.startswith('<code class="latex') for formula in formulas.values())
    remarks = [f"picture not in the page: {address} ({reason})" for address, reason in missing.items()]
    if kept:
        remarks.append(f"{kept} of {len(formulas)} formulas are shown as LaTeX: they use commands without MathML")
    filled = with_formulas(body, formulas)
    page = render(
        workspace, TEMPLATE,
        title=html.unescape(re.sub(r"<[^>]*>", "", title[1])) if title else "",
        body=filled, font=math_font_css(filled), language="zh-CN" if language == "zh" else "en",
    )  # fmt: skip
    return Page(page, tuple(remarks))

"""A paper submitted as HTML, as some were in the nineties: headings and paragraphs, nothing exact."""

from __future__ import annotations

import re
from typing import Any

from kb.model import Document, Paragraph, Provenance, Section
from kb.sections import section_kind


def parse_plain_html(data: bytes) -> Document | None:
    """The text of a page by its headings; None when there is next to none."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(data)
    body = tree.body
    if body is None:
        return None
    title = tree.css_first("h1") or tree.css_first("title")
    sections: list[Section] = []
    blocks: list[Paragraph] = []
    heading, level = "", 1
    for node in body.css("h1, h2, h3, h4, p, li, pre, blockquote"):
        text = " ".join(node.text(deep=True).split())
        if re.fullmatch(r"h[1-4]", node.tag or ""):
            sections += _close(heading, level, blocks, len(sections))
            heading, level, blocks = text, int((node.tag or "h2")[1]), []
        elif text:
            blocks.append(Paragraph(text))
    sections += _close(heading, level, blocks, len(sections))
    if sum(len(block.text) for section in sections for block in section.blocks if isinstance(block, Paragraph)) < 500:
        return None
    return Document(
        title=_text(title),
        sections=tuple(sections),
        provenance=Provenance("html", "", "", "html", ""),
        quality="good",
    )


def _close(heading: str, level: int, blocks: list[Paragraph], at: int) -> list[Section]:
    if not heading and not blocks:
        return []
    return [Section(f"s{at + 1}", heading, max(1, level - 1), section_kind(heading), None, tuple(blocks))]


def _text(node: Any) -> str:
    return " ".join(node.text(deep=True).split()) if node is not None else ""

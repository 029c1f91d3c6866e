"""A paper submitted as HTML, as some were in the nineties: headings and paragraphs, nothing exact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kb.errors import BadDocument
from kb.model import Document, Paragraph, Provenance, Section
from kb.sections import section_kind

LEAST_LETTERS = 500


def parse_plain_html(files: Mapping[str, bytes]) -> Document:
    """The pages of a source, the longest first, appendices last. Raises BadDocument for next to no text."""
    from selectolax.lexbor import LexborHTMLParser

    pages = {name: data for name, data in files.items() if name.lower().endswith((".htm", ".html"))}
    order = sorted(pages, key=lambda name: ("append" in name.lower(), -len(pages[name])))
    trees = [LexborHTMLParser(pages[name]) for name in order]
    sections = [section for tree in trees if tree.body is not None for section in _sections(tree.body)]
    letters = sum(len(block.text) for part in sections for block in part.blocks if isinstance(block, Paragraph))
    if letters < LEAST_LETTERS:
        raise BadDocument("a web page with next to no text")
    title = trees[0].css_first("h1") or trees[0].css_first("title")
    return Document(
        title=_text(title),
        sections=tuple(replace(section, id=f"s{at}") for at, section in enumerate(sections, start=1)),
        provenance=Provenance("html", "", "", "html", ""),
        quality="good",
    )


def _sections(body: Any) -> list[Section]:
    sections: list[Section] = []
    blocks: list[Paragraph] = []
    heading, level = "", 1
    for node in body.css("h1, h2, h3, h4, p, li, pre, blockquote"):
        text = " ".join(node.text(deep=True).split())
        if re.fullmatch(r"h[1-4]", node.tag or ""):
            sections += _close(heading, level, blocks)
            heading, level, blocks = text, int((node.tag or "h2")[1]), []
        elif text:
            blocks.append(Paragraph(text))
    return sections + _close(heading, level, blocks)


def _close(heading: str, level: int, blocks: list[Paragraph]) -> list[Section]:
    if not heading and not blocks:
        return []
    return [Section("", heading, max(1, level - 1), section_kind(heading), None, tuple(blocks))]


def _text(node: Any) -> str:
    return " ".join(node.text(deep=True).split()) if node is not None else ""

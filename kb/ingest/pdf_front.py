"""The front of a paper in PDF: arXiv stamp, title, abstract, and what stands around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ingest.ids import try_arxiv_id
from kb.ingest.pdf_lines import Line, Page
from kb.ingest.pdf_text import Joiner, is_han, text_width
from kb.model import Block, Paragraph

_STAMP = re.compile(r"arXiv:\s*(\S+)", re.IGNORECASE)
_ABSTRACT = re.compile(r"^(?:Abstract|ABSTRACT|Summary|【?摘\s*要】?)\s*[.:：—–-]*\s*(?=\S)")
_ABSTRACT_HEADING = re.compile(r"^(?:abstract|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|摘\s*要)\b", re.IGNORECASE)
_END_OF_ABSTRACT = re.compile(
    r"^(?:keywords?|key words|index terms|关键词|关键字|中图分类号|correspondence|date|code|project|∗|†|\*)", re.IGNORECASE
)
LONGEST_TITLE = 300
SHORT_TITLE = 20  # characters, as below
LEAST_ABSTRACT = 350  # characters, a Chinese one counting as two


def find_stamp(pages: Sequence[Page]) -> tuple[str | None, int | None]:
    """The arXiv id and version printed on the first page: turned in the margin, or as a line of its own."""
    if not pages or pages[0].number != 1:
        return None, None
    own_lines = [line.text for line in pages[0].lines if line.text[:6].lower() == "arxiv:"]
    for text in [*pages[0].turned, *own_lines]:
        match = _STAMP.search(text)
        found = try_arxiv_id(match[1]) if match else None
        if found:
            return found.bare, found.version
    return None, None


def find_title(pages: Sequence[Page]) -> list[Line]:
    """The lines of the title: the largest ones in the upper part of the first page."""
    if not pages or pages[0].number != 1:
        return []
    page = pages[0]
    lines = [line for line in page.lines if line.math < 0.5 and line.text[:6].lower() != "arxiv:"]
    abstract = next((line.y0 for line in lines if _ABSTRACT_HEADING.match(line.text)), page.height)
    for depth in (0.36, 0.65, 1.0):
        upper = [line for line in lines if line.y0 < min(depth * page.height, abstract)]
        sizes = sorted({line.size for line in upper}, reverse=True)
        titles = [title for size in sizes if _can_be_title(title := _lines_of_size(upper, size))]
        if titles:
            return _above_label(titles)
    return []


def _above_label(titles: Sequence[list[Line]]) -> list[Line]:
    """The first of the candidates, unless it is a short label in a figure, with a longer title above it."""
    first = titles[0]
    if _width(first) < SHORT_TITLE:
        for other in titles[1:]:
            if other[0].y0 < first[0].y0 and other[0].size > 0.65 * first[0].size and _width(other) > 2 * _width(first):
                return other
    return first


def _width(lines: Sequence[Line]) -> int:
    return sum(text_width(line.text) for line in lines)


def _can_be_title(lines: Sequence[Line]) -> bool:
    text = "".join(line.text for line in lines)
    letters = sum(2 if is_han(char) else 1 for char in text if char.isalpha())
    return LONGEST_TITLE > letters >= 8 and letters >= 0.5 * text_width(text)


def _lines_of_size(lines: Sequence[Line], size: float) -> list[Line]:
    """The lines of about this size that follow each other, and those in like type beside or right among them."""
    run = [line for line in lines if abs(line.size - size) <= 0.04 * size + 0.2]
    kept = run[:1]
    for line in run[1:]:
        gap = line.y0 - kept[-1].y1
        if -0.6 * size < gap < 1.2 * size or line.overlaps_rows(kept[-1]) > 0.5:
            kept.append(line)
    top, bottom = min(line.y0 for line in kept), max(line.y1 for line in kept)
    near = [
        line for line in lines
        if line.size >= 0.75 * size and top - 0.4 * size <= line.y0 and line.y1 <= bottom + 0.4 * size
    ]  # fmt: skip
    return [line for line in lines if line in kept or line in near]


def title_text(lines: Sequence[Line], joiner: Joiner) -> str:
    """The title on one line, without the mark of its footnote."""
    text = " ".join(joiner.join(lines).split())
    return re.sub(r"\s*[∗*†‡§¶]+$", "", text)


def split_front(blocks: Sequence[Block]) -> tuple[str, list[Block]]:
    """``(abstract, the rest)`` of what stands before the first heading.

    The abstract is the paragraph that opens with the word, or else the first long one.
    """
    for index, block in enumerate(blocks):
        if isinstance(block, Paragraph) and (match := _ABSTRACT.match(block.text)):
            first = Paragraph(block.text[match.end() :], block.page)
            abstract, rest = split_abstract([first, *blocks[index + 1 :]])
            return abstract, [*blocks[:index], *rest]
    for index, block in enumerate(blocks):
        if isinstance(block, Paragraph) and text_width(block.text) >= LEAST_ABSTRACT:
            return block.text, [*blocks[:index], *blocks[index + 1 :]]
    return "", list(blocks)


def split_abstract(blocks: Sequence[Block]) -> tuple[str, list[Block]]:
    """``(abstract, the rest)`` of what stands below the heading of the abstract: dates, addresses, keywords end it."""
    kept: list[str] = []
    for index, block in enumerate(blocks):
        text = block.text if isinstance(block, Paragraph) and not _END_OF_ABSTRACT.match(block.text) else ""
        if not text or (kept and text_width(text) < 120):
            if kept:
                return "\n\n".join(kept), list(blocks[index:])
            continue
        kept.append(text)
    return "\n\n".join(kept), []

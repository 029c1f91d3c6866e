"""The PDF page of every block of a text that came by another route: found by looking its words up in the pages."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import replace

from kb.model import Block, Document, Equation, Figure, Paragraph, Section, Table

_NOT_PLAIN = re.compile(r"\$[^$]*\$|\[@[^\]]*\]|\(footnote: .*?\)|`[^`]*`")
_LETTERS = re.compile(r"[\W_]+")
KEY_LENGTH = 36
SHORTEST_KEY = 14


def with_pages(document: Document, page_texts: Sequence[str]) -> Document:
    """The document with ``page`` set on sections and blocks wherever their words stand in the pages."""
    finder = _Finder(page_texts)
    sections: list[Section] = []
    for section in document.sections:
        blocks = tuple(_placed(block, finder) for block in section.blocks)
        first = next((block.page for block in blocks if block.page), None)
        sections.append(replace(section, blocks=blocks, page=first or finder.last))
    return replace(document, sections=tuple(sections), page_count=len(page_texts))


def _placed(block: Block, finder: _Finder) -> Block:
    if isinstance(block, Paragraph):
        return replace(block, page=finder.find(block.text))
    if isinstance(block, Equation):
        # Glyphs of a formula cannot be looked up; it stands where the words before it end.
        return replace(block, page=finder.last)
    if isinstance(block, Table | Figure):
        return replace(block, page=finder.find(block.caption, stray=True))
    return block


class _Finder:
    """Looks words up from the last place onwards, and from the start where that fails."""

    def __init__(self, page_texts: Sequence[str]) -> None:
        self._starts: list[int] = []
        parts: list[str] = []
        length = 0
        for text in page_texts:
            folded = fold(text)
            self._starts.append(length)
            parts.append(folded)
            length += len(folded)
        self._text = "".join(parts)
        self._at = 0
        self.last: int | None = 1 if page_texts else None

    def find(self, text: str, stray: bool = False) -> int | None:
        """The page where a text begins. ``stray`` texts (captions) float, so they do not move the place."""
        for piece in sorted((fold(part) for part in _NOT_PLAIN.split(text)), key=len, reverse=True)[:3]:
            if len(piece) < SHORTEST_KEY:
                break
            place = self._text.find(piece[:KEY_LENGTH], self._at)
            if place < 0:
                place = self._text.find(piece[:KEY_LENGTH])
            if place >= 0:
                page = bisect.bisect_right(self._starts, place)
                if not stray:
                    self._at, self.last = place, page
                return page
        return self.last


def fold(text: str) -> str:
    """Letters and digits only: what survives any extraction."""
    return _LETTERS.sub(
        "", text.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi")
    ).casefold()

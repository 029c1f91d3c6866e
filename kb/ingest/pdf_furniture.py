"""What a page carries besides its text: running heads, page numbers, the line numbers of a submission."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from kb.ingest.pdf_lines import Line, Page
from kb.ingest.pdf_text import text_width

MANY_NUMBERS = 10
_TOP, _BOTTOM, _HEAD = 0.09, 0.90, 0.17
LEAST_LEADERS = 3
_LEADER = re.compile(r"(?:[.．·…]\s?){5,}\s*(?:\d{1,4}|[ivx]{1,5})?$")
_CONTENTS_ROW = re.compile(r".{2,100}\s\d{1,4}|\d{1,4}|(?:table of )?contents|目\s*录", re.IGNORECASE)
_LEADING_NUMBER = re.compile(r"(\d{1,4})\s+(?=\S)")
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"(?:Page\s*|第\s*)?[-–—·\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—·\s]*(?:of \d+|页)?", re.IGNORECASE)


def drop_furniture(pages: Sequence[Page]) -> None:
    """Take running heads, page numbers and margin line numbers out of the pages' lines."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_masked(line) for line in page.lines if _in_margin(line, page)})
    often = max(2.0, 0.25 * len(pages))
    repeated = {text for text, count in counts.items() if count >= often and text}
    heads = _running_heads(pages)
    is_numbered = any(_margin_numbers(page, MANY_NUMBERS) for page in pages)
    for page in pages:
        numbers = _margin_numbers(page, 2) if is_numbered else set()
        page.lines = [
            line
            for index, line in enumerate(page.lines)
            if index not in numbers
            and id(line) not in heads
            and not (_in_margin(line, page) and _is_furniture(line, repeated))
        ]
        _strip_leading_numbers(page)
        _drop_contents(page)


def _running_heads(pages: Sequence[Page]) -> set[int]:
    """``id()`` of the lines of a top row that stands apart, at one height on most pages, with a text that recurs.

    The heads of books name the chapter, so none of them need be on a quarter of the pages.
    """
    rows: list[list[Line]] = []
    for page in pages:
        top = min(page.lines, key=lambda line: line.y0, default=None)
        if top is None or top.y0 > _HEAD * page.height:
            continue
        row = [line for line in page.lines if line.y0 < top.y1]
        below = min((line.y0 for line in page.lines if line.y0 >= top.y1), default=page.height)
        if below - top.y1 > 0.8 * top.size and sum(len(line.text) for line in row) < 100:
            rows.append(row)
    heights = Counter(round(row[0].y1) for row in rows)
    texts = Counter(_masked(line) for row in rows for line in row)
    return {
        id(line)
        for row in rows
        if heights[round(row[0].y1)] >= max(4, 0.5 * len(pages))
        for line in row
        if texts[_masked(line)] >= 2
    }


def _in_margin(line: Line, page: Page) -> bool:
    return line.y1 < _TOP * page.height or line.y0 > _BOTTOM * page.height


def _masked(line: Line) -> str:
    return _DIGITS.sub("#", line.text).strip() if len(line.text) < 160 else ""


def _is_furniture(line: Line, repeated: set[str]) -> bool:
    return _masked(line) in repeated or bool(_PAGE_NUMBER.fullmatch(line.text))


def _margin_numbers(page: Page, least: int) -> set[int]:
    """Indices of the line numbers a submission prints in its margin: ``least`` or more that count up in a column."""
    numbers = [index for index, line in enumerate(page.lines) if len(line.text) <= 4 and line.text.isdigit()]
    found: set[int] = set()
    for edge in ("x0", "x1"):
        columns: list[list[int]] = []
        for index in sorted(numbers, key=lambda index: getattr(page.lines[index], edge)):
            at = getattr(page.lines[index], edge)
            if columns and at - getattr(page.lines[columns[-1][-1]], edge) < 1.5:
                columns[-1].append(index)
            else:
                columns.append([index])
        for column in columns:
            values = [int(page.lines[index].text) for index in sorted(column)]
            rising = sum(1 for a, b in itertools.pairwise(values) if b == a + 1)
            if len(column) >= least and rising >= 0.8 * (len(column) - 1):
                found.update(column)
    return found


def _strip_leading_numbers(page: Page) -> None:
    """Line numbers that the reader took for the start of their lines: most lines begin with one, and they count up."""
    numbered = [(line, match) for line in page.lines if (match := _LEADING_NUMBER.match(line.text))]
    if len(numbered) < max(MANY_NUMBERS, 0.6 * len(page.lines)):
        return
    values = [int(match[1]) for _, match in numbered]
    rising = sum(1 for a, b in itertools.pairwise(values) if b == a + 1)
    if rising >= 0.8 * (len(values) - 1):
        for line, match in numbered:
            line.text = line.text[match.end() :]


def _drop_contents(page: Page) -> None:
    """Take out a table of contents: rows of dots that lead to page numbers, and the short rows among them."""
    if sum(1 for line in page.lines if _LEADER.search(line.text)) >= LEAST_LEADERS:
        page.lines = [
            line for line in page.lines if not (_LEADER.search(line.text) or _CONTENTS_ROW.fullmatch(line.text))
        ]


def body_size(pages: Sequence[Page]) -> float:
    """The size in points that most running text is set in.

    The last pages do not count: lists and prompts in small type end many papers.
    """
    counts: Counter[float] = Counter()
    for page in pages[: max(3, round(0.6 * len(pages)))]:
        for line in page.lines:
            width = text_width(line.text)
            counts[line.size] += width if width > 40 else 1
    return counts.most_common(1)[0][0] if counts else 10.0

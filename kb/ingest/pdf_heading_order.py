"""Which found headings can be headings at all: their numbers count up, and their titles do not recur as labels do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from kb.ingest.pdf_lines import Line


class Numbered(Protocol):
    """What is asked of a heading here."""

    @property
    def at(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def number(self) -> str | None: ...


AnyHeading = TypeVar("AnyHeading", bound=Numbered)


def drop_strays(
    found: Sequence[AnyHeading], lines: Sequence[Line], is_known: Callable[[str], bool]
) -> list[AnyHeading]:
    """Drop numbers out of sequence (list items, rows of tables), lines of a contents list, and titles that recur."""
    counts = Counter(heading.title.casefold() for heading in found if heading.number is None)
    numbered = [lines[heading.at] for heading in found if heading.number]
    looks = {(line.font, round(line.size, 1)) for line in numbered if line.bold}
    fonts = {font for font, _ in looks}
    text_sizes = {round(line.size, 1) for line in lines if len(line.text) > 60}
    kept: list[AnyHeading] = []
    last_top = 0
    for heading in found:
        line = lines[heading.at]
        if (heading.number is None and counts[heading.title.casefold()] > 2) or _is_contents_line(heading):
            continue
        if heading.number is None and not is_known(heading.title) and len(numbered) >= 4:
            # Where sections are numbered, one without a number is set like them: in their font, above the text's size.
            same = (line.font, round(line.size, 1)) in looks
            if not same and not (line.font in fonts and round(line.size, 1) not in text_sizes):
                continue
        stands_out = line.bold or line.text.isupper() or round(line.size, 1) not in text_sizes
        if heading.number and not stands_out and not _follows(heading.number, [other.number for other in kept]):
            continue
        if heading.number and re.fullmatch(r"\d{1,2}", heading.number):
            top = int(heading.number)
            if top > last_top + 2 or top < last_top:
                continue
            last_top = top
        elif heading.number and heading.number[0].isdigit() and int(heading.number.split(".")[0]) > last_top + 1:
            continue
        kept.append(heading)
    return kept


def _is_contents_line(heading: Numbered) -> bool:
    return bool(re.search(r"[a-z)?!][\s.]+\d{1,3}$|\.{4,}|(?:\. ){4,}", heading.title))


def _follows(number: str, before: Sequence[str | None]) -> bool:
    """Whether a number comes next after the ones before it: 3.1.2 is followed by 3.1.3, 3.1.2.1, 3.2 or 4."""
    parts = number.split(".")
    if not all(part.isdigit() for part in parts):
        return False
    wanted = tuple(map(int, parts))
    last = next((other for other in reversed(before) if other and re.fullmatch(r"[\d.]+", other)), None)
    known = tuple(map(int, last.split("."))) if last else (0,)
    nexts = {(*known, 1), *((*known[:depth], known[depth] + 1) for depth in range(len(known)))}
    return wanted in nexts

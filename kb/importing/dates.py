"""The days that a title or a file name gives: a range, with or without its year, or one day."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

_RANGE = re.compile(
    r"(?<!\d)(?:(?P<year>\d{4})\s*[.\-/年]\s*)?(?P<month>\d{1,2})\s*[.\-/月]\s*(?P<day>\d{1,2})日?"
    r"\s*(?:[–—\-~～]+|至|到|to)\s*"
    r"(?:(?P<year2>\d{4})\s*[.\-/年]\s*)?(?P<month2>\d{1,2})\s*[.\-/月]\s*(?P<day2>\d{1,2})日?(?!\d)"
)
_MOST_DAYS = 31


@dataclass(frozen=True, slots=True)
class Span:
    """First and last day as ISO strings, both empty where the year is not known; ``label`` is the range as written."""

    first: str
    last: str
    label: str


def find_span(texts: tuple[str, ...], year: int | None) -> Span | None:
    """The first range of days in some texts. ``year`` is for a range that names none."""
    for text in texts:
        for match in _RANGE.finditer(text):
            first_year = int(match["year"]) if match["year"] else year
            label = match[0].strip()
            if first_year is None:
                if _is_span(2000, match):
                    return Span("", "", label)
            elif days := _is_span(first_year, match):
                return Span(days[0].isoformat(), days[1].isoformat(), label)
    return None


def _is_span(year: int, match: re.Match[str]) -> tuple[dt.date, dt.date] | None:
    """The days of a range, which may run over New Year; None when they are no days or no short range."""
    try:
        first = dt.date(year, int(match["month"]), int(match["day"]))
        last = dt.date(int(match["year2"] or year), int(match["month2"]), int(match["day2"]))
        if last < first and not match["year2"]:
            last = dt.date(year + 1, last.month, last.day)
    except ValueError:
        return None
    return (first, last) if 0 <= (last - first).days <= _MOST_DAYS else None

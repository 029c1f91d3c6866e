"""Weeks: named by any day in them or as ``2026-W17``, beginning on the day that ``kb.toml`` says."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from kb.errors import UsageError

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Week:
    """First and last day, both inside."""

    first: dt.date
    last: dt.date

    def holds(self, day: str) -> bool:
        """Whether an ISO date (or one that begins with one) lies inside."""
        return bool(re.match(r"\d{4}-\d{2}-\d{2}", day)) and self.first.isoformat() <= day[:10] <= self.last.isoformat()

    @property
    def label(self) -> str:
        """As the reports' titles have it: 2026.04.19–04.25."""
        return f"{self.first:%Y.%m.%d}–{self.last:%m.%d}"


def week_of(name: str, starts_on: str) -> Week:
    """The week that a day or a week number names. Raises UsageError for one that does not exist."""
    if starts_on not in _DAYS:
        raise UsageError(f"kb.toml: week_start is {starts_on!r}", f"one of {', '.join(_DAYS)}")
    day = _day_of(name)
    back = (day.weekday() - _DAYS.index(starts_on)) % 7
    first = day - dt.timedelta(days=back)
    return Week(first, first + dt.timedelta(days=6))


def _day_of(name: str) -> dt.date:
    match = re.fullmatch(r"(\d{4})-?W(\d{1,2})", name.strip(), re.IGNORECASE)
    try:
        if match:
            return dt.date.fromisocalendar(int(match[1]), int(match[2]), 1)
        return dt.date.fromisoformat(name.strip().replace(".", "-").replace("/", "-"))
    except ValueError:
        raise UsageError(f"there is no week {name!r}", "a day as 2026-04-19, or a week as 2026-W17") from None


def between(first: str, last: str) -> Week:
    """The days from one to another. Raises UsageError when they are no days or in the wrong order."""
    week = Week(_day_of(first), _day_of(last))
    if week.last < week.first:
        raise UsageError(f"{last} is before {first}", "--from the first day --to the last one")
    return week

"""Days on the command line: ISO, today if left out."""

from __future__ import annotations

import datetime as dt

from kb.errors import UsageError


def day_of(date: str | None, option: str = "--date") -> dt.date:
    """The day that an option names, else today. Raises UsageError for what is no day."""
    try:
        return dt.date.fromisoformat(date) if date else dt.date.today()
    except ValueError:
        raise UsageError(f"{date!r} is no day", f"{option} 2026-04-19") from None

"""Weeks by day and by number."""

from __future__ import annotations

import pytest

from kb.errors import UsageError
from kb.weeks import between, week_of


@pytest.mark.parametrize("day", ["2026-04-19", "2026-04-22", "2026-04-25", "2026.04.20"])
def test_a_week_that_begins_on_sunday_is_named_by_any_of_its_days(day: str) -> None:
    assert week_of(day, "sunday").label == "2026.04.19–04.25"


def test_iso_weeks_begin_on_monday() -> None:
    week = week_of("2026-W17", "monday")
    assert (week.first.isoformat(), week.last.isoformat()) == ("2026-04-20", "2026-04-26")


@pytest.mark.parametrize("name", ["2026-W54", "2026-W00", "2025-W53", "2026-02-30", "soon", ""])
def test_a_week_that_does_not_exist_is_an_error(name: str) -> None:
    with pytest.raises(UsageError):
        week_of(name, "monday")


def test_days_out_of_order_are_an_error() -> None:
    with pytest.raises(UsageError):
        between("2026-04-25", "2026-04-19")


def test_a_date_inside_is_inside_and_nothing_else() -> None:
    week = week_of("2026-04-19", "sunday")
    assert week.holds("2026-04-19") and week.holds("2026-04-25T10:00")
    assert not week.holds("2026-04-26") and not week.holds("2026") and not week.holds("")

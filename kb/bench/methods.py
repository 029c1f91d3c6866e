"""Methods as text and values."""

from __future__ import annotations

from typing import Any

from kb.bench.errors import reproduction_errors


def methods_text() -> str:
    """All methods with their evidence, a line each."""
    from reproductions import describe

    with reproduction_errors():
        return describe.list_text()


def methods_data() -> list[dict[str, Any]]:
    """All methods as plain values."""
    from reproductions import describe

    with reproduction_errors():
        return describe.records()


def method_text(name: str, latex: bool) -> str:
    """One method: formula, presets, what it needs. Raises KbError with near names for one that there is not."""
    from reproductions import describe

    with reproduction_errors():
        return describe.show_text(name, latex)


def method_data(name: str) -> dict[str, Any]:
    """One method as plain values."""
    from reproductions import describe
    from reproductions.registry import get

    with reproduction_errors():
        return describe.record(get(name))


def example_text(name: str, preset: str | None) -> str:
    """A method's worked example as a table."""
    from reproductions import describe

    with reproduction_errors():
        return describe.example_text(describe.run_example(name, preset))


def example_data(name: str, preset: str | None) -> dict[str, Any]:
    """A method's worked example as plain values."""
    from reproductions import describe

    with reproduction_errors():
        return describe.example_data(describe.run_example(name, preset))

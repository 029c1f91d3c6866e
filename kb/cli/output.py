"""How commands print: results on stdout, everything else on stderr, JSON for machines, tables that fit."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def console(stderr: bool = False) -> Console:
    """A console on the real streams; without a terminal it prints plain text as wide as needed."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    wide = None if stream.isatty() else 160
    return Console(file=stream, width=wide, highlight=False, soft_wrap=False, emoji=False, markup=False)


def print_json(value: Any) -> None:
    """One JSON value on stdout, Chinese as itself."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A plain aligned table, correct for double-width characters."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def say(message: str) -> None:
    """A remark that is not a result."""
    print(message, file=sys.stderr)

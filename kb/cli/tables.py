"""How commands print a filled table: options, formats, and the remark below that explains its signs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.choices import choose
from kb.cli.output import say
from kb.workspace import write_atomic

if TYPE_CHECKING:
    from kb.tables import FilledTable

FormatOption = Annotated[str | None, typer.Option("--format", help="md, csv, latex, html, json or box.")]
EvidenceOption = Annotated[str, typer.Option("--evidence", help="none, marks or footnotes.")]
OutputOption = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write to this file; its ending says the format.")
]


def print_filled(table: FilledTable, form: str | None, evidence: str, output: Path | None) -> None:
    """Print a table or write it to a file: boxes on a terminal, Markdown elsewhere, unless somebody says otherwise."""
    from kb.table_formats import FORMATS, SUFFIXES, legend, render_table

    on_terminal = output is None and sys.stdout.isatty()
    by_place = (SUFFIXES.get(output.suffix.lower()) if output else None) or ("box" if on_terminal else "md")
    form = choose(form or by_place, *FORMATS)
    choose(evidence, "none", "marks", "footnotes")
    text = render_table(table, form, evidence, shutil.get_terminal_size().columns if on_terminal else None)
    if output is not None:
        write_atomic(output, text)
        say(f"wrote {output}")
        return
    typer.echo(text.rstrip("\n"))
    signs = legend(table)
    if signs and evidence == "marks" and form in ("md", "box"):
        say(signs)

"""``kb compare``: papers side by side."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.output import say
from kb.errors import UsageError
from kb.workspace import find_workspace, write_atomic


def compare(
    papers: Annotated[list[str] | None, typer.Argument(metavar="PAPER...", help="Slugs, aliases or arXiv ids.")] = None,
    table: Annotated[
        str, typer.Option(help="methods, credit, cost, formulas, results, or one of your own.")
    ] = "methods",
    columns: Annotated[str | None, typer.Option(help="Other columns, as problem,critic,extra_rollouts.")] = None,
    tag: Annotated[str | None, typer.Option(help="Also all papers with this tag.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers of the workspace.")] = False,
    benchmark: Annotated[str | None, typer.Option(help="With --table results: only this benchmark.")] = None,
    transpose: Annotated[bool, typer.Option("--transpose", help="Papers as columns.")] = False,
    lang: Annotated[str | None, typer.Option(help="zh or en; kb.toml says which if left out.")] = None,
    form: Annotated[str | None, typer.Option("--format", help="md, csv, latex, html, json or box.")] = None,
    evidence: Annotated[str, typer.Option(help="none, marks or footnotes.")] = "marks",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
) -> None:
    """Compare papers in a table. Every cell names where it was read; an empty one says whether anybody looked."""
    from kb.compare import chosen_records
    from kb.compare import compare as make
    from kb.library import Library
    from kb.table_formats import FORMATS, legend, render_table

    workspace = find_workspace()
    language = lang or str(workspace.option("language", "en"))
    form = form or ("box" if output is None and sys.stdout.isatty() else "md")
    for given, allowed in ((language, ("zh", "en")), (form, FORMATS), (evidence, ("none", "marks", "footnotes"))):
        if given not in allowed:
            raise UsageError(f"{given!r} is not among the choices", f"one of {', '.join(allowed)}")
    library = Library.load(workspace)
    records = chosen_records(library, papers or [], tag, everything)
    keys = [key.strip() for key in (columns or "").split(",") if key.strip()]
    filled = make(library, records, table=table, columns=keys, language=language, benchmark=benchmark)
    if transpose:
        filled = filled.transposed()
    width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
    text = render_table(filled, form, evidence, width)
    if output is not None:
        write_atomic(output, text)
        say(f"wrote {output}")
        return
    typer.echo(text.rstrip("\n"))
    if evidence == "marks" and form in ("md", "box"):
        say(legend(language))

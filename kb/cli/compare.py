"""``kb compare``: papers side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.choices import LangOption, chosen_language
from kb.cli.output import say
from kb.cli.tables import EvidenceOption, FormatOption, OutputOption, print_filled
from kb.workspace import find_workspace


def compare(
    papers: Annotated[list[str] | None, typer.Argument(metavar="PAPER...", help="Slugs, aliases or arXiv ids.")] = None,
    table: Annotated[
        str, typer.Option(help="methods, credit, cost, formulas, landscape, results, or one of your own.")
    ] = "methods",
    columns: Annotated[
        str | None, typer.Option(help="Other columns: problem,critic,method.group,runs.WORLD.METRIC.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Also all papers with this tag.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers of the workspace.")] = False,
    benchmark: Annotated[
        str | None, typer.Option(help="With --table results: this benchmark, also out of the papers' own tables.")
    ] = None,
    transpose: Annotated[bool, typer.Option("--transpose", help="Papers as columns.")] = False,
    lang: LangOption = None,
    form: FormatOption = None,
    evidence: EvidenceOption = "marks",
    output: OutputOption = None,
) -> None:
    """Compare papers in a table. Every cell names where it was read; an empty one says whether anybody looked."""
    from kb.compare import chosen_records
    from kb.compare import compare as make
    from kb.library import Library
    from kb.tables import load_spec

    workspace = find_workspace()
    language = chosen_language(lang, workspace)
    library = Library.load(workspace)
    records = chosen_records(library, papers or [], tag, everything, table)
    keys = [key.strip() for key in (columns or "").split(",") if key.strip()]
    filled = make(library, records, table=table, columns=keys, language=language, benchmark=benchmark)
    if load_spec(table, workspace).rows == "results":
        _say_of_results(bool(filled.rows), benchmark)
    print_filled(filled.transposed() if transpose else filled, form, evidence, output)


def _say_of_results(found: bool, benchmark: str | None) -> None:
    if benchmark is None:
        say("headline numbers of the records alone; --benchmark NAME adds those that the papers' own tables print")
    if not found:
        about = f" of {benchmark!r}" if benchmark else ""
        say(f"no numbers{about} in the results: of these records or in the tables of their texts; kb ingest adds texts")

"""``kb list``, ``kb show``, ``kb open``."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.days import day_of
from kb.cli.output import JsonOption, print_json, print_table, say
from kb.library import Library
from kb.workspace import find_workspace


def list_papers(
    tag: Annotated[str | None, typer.Option(help="Only papers with this tag.")] = None,
    year: Annotated[str | None, typer.Option(help="Only papers of this year, or a range: 2024..2026.")] = None,
    quality: Annotated[
        str | None, typer.Option(help="Only this text quality: exact, good, flattened, poor, none (none: no text).")
    ] = None,
    match: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only papers with this in title, author or alias.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="Only papers added on this day or later.")] = None,
    withdrawn: Annotated[bool, typer.Option("--withdrawn", help="Only withdrawn papers.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the papers of the workspace."""
    from kb.paper_list import list_rows

    first = day_of(since, "--since").isoformat() if since else None
    library = Library.load(find_workspace())
    rows = list_rows(library, tag=tag, year=year, quality=quality, match=match, since=first, withdrawn=withdrawn)
    if as_json:
        print_json([row.as_dict() for row in rows])
    elif rows:
        print_table(("slug", "id", "year", "text", "title"), [row.cells() for row in rows])
    for problem in library.problems:
        say(f"not listed: {problem.message}")
    if not rows:
        say("no papers; kb ingest 2503.14476 adds one" if not library.papers else "no paper fits these filters")


def show(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Slug, alias, title or arXiv id.")],
    equations: Annotated[bool, typer.Option("--equations", help="Its display equations as LaTeX.")] = False,
    tables: Annotated[bool, typer.Option("--tables", help="Its tables.")] = False,
    section: Annotated[str | None, typer.Option(metavar="X", help="One section, by number, id or title.")] = None,
    references: Annotated[bool, typer.Option("--references", help="Its reference list.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a paper: record, sections, formulas, tables, text quality, and what it cites here."""
    from kb import paper_page

    library = Library.load(find_workspace())
    found = library.get(paper)
    if as_json:
        print_json(paper_page.as_dict(library, found))
    elif equations:
        typer.echo(paper_page.equations(found))
    elif tables:
        typer.echo(paper_page.tables(found))
    elif section is not None:
        typer.echo(paper_page.section(found, section))
    elif references:
        typer.echo(paper_page.references(library, found))
    else:
        typer.echo(paper_page.overview(library, found))


def open_paper(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Slug, alias, title or arXiv id.")],
    what: Annotated[str, typer.Option("--what", help="record, text, pdf, folder or web.")] = "record",
    print_only: Annotated[bool, typer.Option("--print", help="Print the path or address and open nothing.")] = False,
) -> None:
    """Open a paper's record, text, PDF, folder or arXiv page with the system's program."""
    from kb.paper_page import place

    target = place(Library.load(find_workspace()).get(paper), what)
    typer.echo(target)
    if not print_only and typer.launch(target) != 0:
        say("no program here opens it; the line above says where it is")

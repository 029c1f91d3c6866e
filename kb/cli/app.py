"""The application: global options, the list of commands, and the one place where errors are printed."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from kb import __version__
from kb.cli import (
    bench,
    check,
    compare,
    demo,
    facts,
    gaps,
    glossary,
    import_notes,
    index,
    ingest,
    models,
    note,
    papers,
    queue,
    report,
    repro,
    search,
    update,
    workspaces,
)
from kb.errors import ERROR, KbError

app = typer.Typer(
    name="kb",
    help="A literature and experiment knowledge base of plain text files, in English and Chinese.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

WORKSPACE = "The workspace"
PAPERS = "Papers and search"
NOTES = "Notes and reports"

app.command(rich_help_panel=WORKSPACE)(workspaces.init)
app.command(rich_help_panel=WORKSPACE)(demo.demo)
app.command(rich_help_panel=WORKSPACE)(workspaces.info)
app.command(rich_help_panel=WORKSPACE)(workspaces.status)
app.command(rich_help_panel=WORKSPACE)(index.index)
app.command(rich_help_panel=WORKSPACE)(index.doctor)
app.add_typer(bench.app, name="bench", rich_help_panel=PAPERS)
app.add_typer(repro.app, name="repro", rich_help_panel=PAPERS)
app.add_typer(models.app, name="models", rich_help_panel=WORKSPACE)
app.add_typer(glossary.app, name="glossary", rich_help_panel=WORKSPACE)
app.command(rich_help_panel=PAPERS)(ingest.ingest)
app.add_typer(check.app, name="check", rich_help_panel=NOTES)
app.command("import", rich_help_panel=NOTES)(import_notes.import_notes)
app.add_typer(note.app, name="note", rich_help_panel=NOTES)
app.add_typer(queue.app, name="queue", rich_help_panel=NOTES)
app.command(rich_help_panel=PAPERS)(compare.compare)
app.command(rich_help_panel=PAPERS)(gaps.gaps)
app.command(rich_help_panel=PAPERS)(update.update)
app.add_typer(facts.app, name="facts", rich_help_panel=PAPERS)
app.command(rich_help_panel=PAPERS)(report.report)
app.command(rich_help_panel=PAPERS)(search.search)
app.command("list", rich_help_panel=PAPERS)(papers.list_papers)
app.command(rich_help_panel=PAPERS)(papers.show)
app.command("open", rich_help_panel=PAPERS)(papers.open_paper)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"kb {__version__}")
        raise typer.Exit


@app.callback()
def options(
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", metavar="DIR", help="Else KB_WORKSPACE, else walk up to kb.toml."),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Open no network connection (or KB_OFFLINE=1).")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    # In the environment, so that worker processes and the libraries below obey too.
    if workspace is not None:
        os.environ["KB_WORKSPACE"] = str(workspace)
    if offline:
        os.environ["KB_OFFLINE"] = "1"
    if debug:
        os.environ["KB_DEBUG"] = "1"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code. No traceback unless ``--debug`` asks for one."""
    _speak_utf8()
    try:
        app(arguments)
    except KbError as error:
        _explain(error, error.message, error.hint)
        sys.exit(error.exit_code)
    except OSError as error:
        place = f" {error.filename}" if error.filename else ""
        _explain(error, f"{error.strerror or error}{place}", "nothing else was changed; --debug shows where")
        sys.exit(ERROR)
    except Exception as error:
        message = f"this is a fault in kb: {type(error).__name__}: {error}"
        _explain(error, message, "run it again with kb --debug ... and report what it prints")
        sys.exit(ERROR)


def _explain(error: BaseException, message: str, hint: str) -> None:
    if os.environ.get("KB_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)


def _speak_utf8() -> None:
    # A Chinese Windows console speaks GBK; what it cannot show is replaced, never an exception.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure and (stream.encoding or "").lower().replace("-", "") != "utf8":
            reconfigure(errors="replace")

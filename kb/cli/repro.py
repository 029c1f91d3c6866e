"""``kb repro``: the papers' formulas, shown and run."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.output import JsonOption, print_json

app = typer.Typer(no_args_is_help=True, help="The papers' formulas: list, show, run on their worked examples.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A method, as kb repro list names it.")]


@app.command("list")
def list_methods(as_json: JsonOption = False) -> None:
    """List all methods with what their formula rests on."""
    from kb import bench

    if as_json:
        print_json(bench.methods_data())
    else:
        typer.echo(bench.methods_text())


@app.command()
def show(
    name: NameArgument,
    latex: Annotated[bool, typer.Option("--latex", help="The formula as LaTeX.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show one method: its formula as printed and as computed, presets, what it needs."""
    from kb import bench

    if as_json:
        print_json(bench.method_data(name))
    else:
        typer.echo(bench.method_text(name, latex))


@app.command()
def run(
    name: NameArgument,
    example: Annotated[bool, typer.Option("--example", help="On its worked example, the only input so far.")] = True,
    preset: Annotated[str | None, typer.Option(help="Another of the method's presets.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a method on its worked example."""
    from kb import bench

    if as_json:
        print_json(bench.example_data(name, preset))
    else:
        typer.echo(bench.example_text(name, preset))

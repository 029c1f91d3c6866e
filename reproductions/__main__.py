"""``python -m reproductions list | show NAME [--latex] | run NAME --example [--preset P]``, each with ``--json``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from reproductions import describe
from reproductions.core import ReproductionError
from reproductions.registry import get


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 1 for an error, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        print(_answer(options))
    except ReproductionError as error:
        print(f"error: {error.args[0]}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def _answer(options: argparse.Namespace) -> str:
    if options.command == "list":
        return _json(describe.records()) if options.json else describe.list_text()
    if options.command == "show":
        return (
            _json(describe.record(get(options.name)))
            if options.json
            else describe.show_text(options.name, options.latex)
        )
    run = describe.run_example(options.name, options.preset)
    return _json(describe.example_data(run)) if options.json else describe.example_text(run)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reproductions", description="Credit formulas of published methods."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("list", help="all methods, with their evidence")
    shown = commands.add_parser("show", help="one method: formula, presets, what it needs, where it comes from")
    shown.add_argument("name")
    shown.add_argument("--latex", action="store_true", help="the formula as LaTeX")
    run = commands.add_parser("run", help="a method on its worked example")
    run.add_argument("name")
    run.add_argument("--example", action="store_true", required=True, help="the example of the method's file")
    run.add_argument("--preset", help="another of the method's presets")
    for command in (listed, shown, run):
        command.add_argument("--json", action="store_true", help="for machines")
    return parser


if __name__ == "__main__":
    sys.exit(main())

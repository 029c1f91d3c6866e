"""``kb init``, ``kb info``, ``kb status``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kb import __version__
from kb.cli.output import JsonOption, print_json, print_table, say
from kb.workspace import CONFIG_NAME, cache_dir, find_workspace, is_offline, write_atomic

_CONFIG = """\
# This file makes a folder a workspace of kb. Every key may be left out.
language = "en"            # of reports and tables: "en" or "zh"
# week_start = "sunday"    # the first day of a report's week; the default is monday

[embedding]
model = "e5-small"         # English and Chinese; or "minilm" (English), or any sentence-transformers name or path

[store]
# kind = "chroma"          # the vector view beside the text index; "exact" needs no Chroma
# url = "http://127.0.0.1:8000"   # a Chroma server that a group shares

[arxiv]
# contact = "you@example.org"     # put into the User-Agent, as arXiv asks of its clients
"""
_IGNORE = """\
.kb/
papers/*/files/
papers/*/text.md
papers/*/text.v*.md
"""


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder; it is made if need be.")] = Path(),
) -> None:
    """Make a workspace. What is already there stays as it is."""
    root = folder.expanduser().resolve()
    made = []
    for name in ("papers", "notes", "templates"):
        if not (root / name).is_dir():
            (root / name).mkdir(parents=True)
            made.append(f"{name}/")
    for name, content in ((CONFIG_NAME, _CONFIG), (".gitignore", _IGNORE)):
        if not (root / name).exists():
            write_atomic(root / name, content)
            made.append(name)
    if not made:
        say(f"already there: {root} is a workspace, nothing was changed")
        return
    print(f"workspace {root}")
    say(f"made {', '.join(made)}")
    say("next: kb ingest 2503.14476   (an arXiv id, a PDF, a LaTeX folder, or a file of ids)")


def info(as_json: JsonOption = False) -> None:
    """Show where things are: workspace, caches, versions, and whether the network is allowed."""
    workspace = find_workspace()
    rows: dict[str, Any] = {
        "workspace": str(workspace.root),
        "papers": str(workspace.papers),
        "notes": str(workspace.notes),
        "index": str(workspace.derived),
        "cache": str(cache_dir()),
        "model": workspace.option("embedding.model", "e5-small"),
        "store": workspace.option("store.url") or workspace.option("store.kind", "chroma"),
        "offline": is_offline(),
        "kb": __version__,
        "python": sys.version.split()[0],
        "command": os.path.abspath(sys.argv[0]),  # noqa: PTH100 - resolving links would hide the environment
    }
    if as_json:
        print_json(rows)
        return
    width = max(map(len, rows))
    for key, value in rows.items():
        print(f"{key:<{width}}  {value}")


def status(as_json: JsonOption = False) -> None:
    """Show what the workspace holds, what failed and why, and what the next run would do."""
    from kb.status import gather_status

    found = gather_status(find_workspace())
    if as_json:
        print_json(found.as_dict())
        return
    for line in found.lines():
        print(line)
    if found.failures:
        print()
        print_table(("source", "reason", "kind", "tries"), found.failure_rows())
        say("failures marked transient are tried again by the next kb ingest of the same source")

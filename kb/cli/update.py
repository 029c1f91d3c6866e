"""``kb update``: newer versions and withdrawals on arXiv, and what here rests on an older one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.output import JsonOption, print_json, say
from kb.errors import PARTIAL
from kb.workspace import Workspace, find_workspace, is_offline

if TYPE_CHECKING:
    from kb.library import Library
    from kb.model import Metadata
    from kb.section_diff import SectionChange
    from kb.update import PaperNews, Stale


def update(
    papers: Annotated[
        list[str] | None, typer.Argument(metavar="[PAPER...]", help="Only these; all if left out.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Keep nothing; leave with exit code 3 when something is new or stale.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask arXiv which papers have a newer version or were withdrawn, and list what rests on an older version.

    Without --check arXiv's records of the new versions are kept beside the old ones. No text, fact or note is changed.
    """
    from kb.bench.versions import method_versions
    from kb.library import Library
    from kb.notes import read_notes
    from kb.update import news

    workspace = find_workspace()
    library = Library.load(workspace)
    slugs = [library.get(name).slug for name in papers or []] or list(library.papers)
    newest, problems = _ask(workspace, library, slugs)
    found = news(library, newest, read_notes(library)[0], method_versions())
    if not check:
        _keep(workspace, library, newest)
    if as_json:
        print_json({"asked": len(newest) + len(problems), "news": [_data(one) for one in found], "problems": problems})
    else:
        for one in found:
            typer.echo(_text(one) + "\n")
        for slug, problem in problems.items():
            say(f"{slug}: {problem}")
        say(_summary(found, len(newest)))
    if check and found:
        raise typer.Exit(PARTIAL)


def _ask(workspace: Workspace, library: Library, slugs: Sequence[str]) -> tuple[dict[str, Metadata], dict[str, str]]:
    """``(records, problems)`` by slug, a hundred papers to a request."""
    from kb.errors import BadDocument
    from kb.ingest.arxiv import BATCH, fetch_records
    from kb.ingest.connection import Connection
    from kb.ingest.ids import parse_arxiv_id

    ids = {parse_arxiv_id(str(library.papers[s].arxiv_id)): s for s in slugs if library.papers[s].arxiv_id}
    found: dict[str, Metadata] = {}
    problems: dict[str, str] = {}
    with Connection(workspace) as connection:
        for start in range(0, len(ids), BATCH):
            chunk = list(ids)[start : start + BATCH]
            if not is_offline():
                say(f"asking arXiv about {len(chunk)} papers in one request")
            for identifier, record in fetch_records(connection, chunk).items():
                if isinstance(record, BadDocument):
                    problems[ids[identifier]] = record.message
                else:
                    found[ids[identifier]] = record
    return found, problems


def _keep(workspace: Workspace, library: Library, newest: dict[str, Metadata]) -> None:
    """Write arXiv's record of each version that is not here yet; one that is here stays as it is."""
    from kb.index.lock import writing
    from kb.ingest.record import metadata_of, write_metadata

    fresh = {
        slug: record
        for slug, record in newest.items()
        if metadata_of(library.papers[slug].folder, record.version) is None
    }
    if fresh:
        with writing(workspace, "kb update"):
            for slug, record in fresh.items():
                write_metadata(library.papers[slug].folder, record)


def _summary(found: Sequence[PaperNews], asked: int) -> str:
    if not found:
        return f"{asked} papers are up to date with arXiv"
    newer = sum(one.is_newer for one in found)
    withdrawn = sum(one.withdrawn for one in found)
    stale = sum(len(one.stale) for one in found)
    return f"{asked} papers asked about: {newer} with a newer version, {withdrawn} withdrawn, {stale} things rest on older ones"


def _text(one: PaperNews) -> str:
    version = f"v{one.newest.version} of {one.newest.updated}" if one.newest.updated else f"v{one.newest.version}"
    read = f"; read here: v{one.read}" if one.read else ""
    lines = [f"{one.paper.slug} ({one.paper.arxiv_id}): {version}{read}"]
    if one.withdrawn:
        lines.append(f"  WITHDRAWN: {one.newest.comment or 'no reason is given'}")
    lines += [f"  {_change_text(change)}" for change in one.changes or ()]
    if one.changes == ():
        lines.append("  no section has other words")
    for kind in ("fact", "result", "claim", "note", "method"):
        lines += _stale_lines(kind, [stale for stale in one.stale if stale.kind == kind])
    if one.remark:
        lines.append(f"  {one.remark}")
    return "\n".join(lines)


def _change_text(change: SectionChange) -> str:
    counts = " ".join(
        f"{sign}{count}" for sign, count in (("+", change.words_added), ("−", change.words_removed)) if count
    )
    excerpt = f": {change.excerpt}" if change.excerpt else ""
    return f"{change.kind} {change.name} ({counts} words){excerpt}"


def _stale_lines(kind: str, stale: Sequence[Stale]) -> list[str]:
    """What rests on an older version, in one line for each place in the text, changed ones first."""
    words = {"changed": "the text changed", "unknown": "the text may have changed", "unchanged": "the text is the same"}
    lines = []
    for verdict, says in words.items():
        places: dict[str, list[str]] = {}
        for one in stale:
            if one.verdict == verdict:
                places.setdefault("" if verdict == "unchanged" else one.place, []).append(one.what)
        for place, names in places.items():
            behind = f"{place}: {says}" if place else says
            lines.append(f"  {kind}{'s' if len(names) > 1 else ''} {', '.join(names)} ({behind})")
    return lines


def _data(one: PaperNews) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "paper": one.paper.slug,
        "id": one.paper.arxiv_id,
        "read": one.read,
        "newest": one.newest.version,
        "updated": one.newest.updated,
        "is_newer": one.is_newer,
        "withdrawn": one.withdrawn,
        "comment": one.newest.comment,
        "stale": [asdict(stale) for stale in one.stale],
        "changes": None if one.changes is None else [asdict(change) for change in one.changes],
        "remark": one.remark,
    }

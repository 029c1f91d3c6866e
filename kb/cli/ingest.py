"""``kb ingest``: papers in."""

from __future__ import annotations

import datetime as dt
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.output import print_json, print_table, say
from kb.errors import NETWORK, PARTIAL, UsageError
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.errors import NetworkError
    from kb.ingest.add import Options, Outcome
    from kb.ingest.sources import Source


def ingest(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE...", help="arXiv ids or addresses, PDFs, LaTeX folders or archives, folders, a text file of ids, or -."),
    ] = None,
    search: Annotated[str | None, typer.Option(metavar="QUERY", help="Papers that arXiv finds, as 'ti:credit AND cat:cs.MA'.")] = None,
    most: Annotated[int, typer.Option("--max", min=1, help="At most this many from --search.")] = 10,
    slug: Annotated[str | None, typer.Option("--as", metavar="SLUG", help="The folder name of the one paper.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Put a tag into new records; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Local files read at the same time.")] = 2,
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="The day put into new records; today if left out.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done and do nothing.")] = False,
    refetch: Annotated[bool, typer.Option("--refetch", help="Fetch and read again what is here already.")] = False,
    no_pdf: Annotated[bool, typer.Option("--no-pdf", help="Fetch no PDFs: HTML and sources only.")] = False,
    no_index: Annotated[bool, typer.Option("--no-index", help="Do not bring the search index up to date.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Bring papers in: their text, formulas, tables and references, by the best route that is open."""
    from kb.ingest.add import Options
    from kb.ingest.slug import check_slug
    from kb.ingest.sources import expand_lists, read_sources

    workspace = find_workspace()
    found = read_sources(expand_lists(sources or []))
    if not found and search is None:
        raise UsageError("nothing to ingest", "kb ingest 2503.14476, kb ingest paper.pdf, or kb ingest --search 'query'")
    if slug is not None:
        slug = check_slug(slug)
        if len(found) != 1 or search:
            raise UsageError("--as names one paper", "give one source, or leave --as out")
    options = Options(
        added=_day(date), slug=slug, tags=tuple(tag or ()), refetch=refetch, no_pdf=no_pdf, dry_run=dry_run, jobs=jobs
    )
    outcomes, stopped = _run(workspace, found, search, most, options, quiet=as_json)
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        _summary(outcomes)
    changed = any(outcome.state in ("added", "updated") for outcome in outcomes)
    if changed and not no_index:
        from kb.cli.index import bring_up_to_date

        bring_up_to_date(workspace)
    if stopped is not None:
        raise stopped
    if any(outcome.state == "failed" for outcome in outcomes):
        sys.exit(PARTIAL if len(outcomes) > 1 or changed else _code_of(outcomes[0]))


def _code_of(outcome: Outcome) -> int:
    return NETWORK if outcome.transient and "arXiv cannot be reached" in outcome.reason else 1


def _day(date: str | None) -> str:
    if date is None:
        return dt.date.today().isoformat()
    try:
        return dt.date.fromisoformat(date).isoformat()
    except ValueError:
        raise UsageError(f"{date!r} is no day", "--date 2026-04-19") from None


def _run(
    workspace: Workspace, found: list[Source], search: str | None, most: int, options: Options, quiet: bool
) -> tuple[list[Outcome], NetworkError | None]:
    from kb.index.lock import writing
    from kb.ingest.add import Batch, ingest_files

    outcomes: list[Outcome] = []

    def report(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if not quiet:
            _print_line(outcome, len(outcomes), total)

    files = [source for source in found if source.kind != "arxiv"]
    remote = [source for source in found if source.kind == "arxiv"]
    total = len(found)
    with writing(workspace, "kb ingest"):
        batch = Batch.open(workspace, options)
        stopped: NetworkError | None = None
        try:
            ingest_files(batch, files, report)
            if remote or search:
                stopped = _run_remote(batch, remote, search, most, report)
        except KeyboardInterrupt:
            say(f"interrupted: {sum(o.state in ('added', 'updated') for o in outcomes)} papers are kept; run it again to go on")
            raise typer.Exit(130) from None
        finally:
            batch.journal.close()
    return outcomes, stopped


def _run_remote(
    batch: object, remote: list[Source], search: str | None, most: int, report: object
) -> NetworkError | None:
    from kb.ingest.add import Batch
    from kb.ingest.add_arxiv import ingest_arxiv, search_ids
    from kb.ingest.arxiv import ArxivClient
    from kb.ingest.sandbox import close_sandbox
    from kb.ingest.sources import Source

    assert isinstance(batch, Batch) and callable(report)
    with ArxivClient(batch.workspace) as client:
        if search:
            ids = search_ids(batch.workspace, client, search, most)
            if not ids:
                say(f"arXiv finds nothing for {search!r}; see arxiv.org/help/api for how to ask")
            names = {source.name for source in remote}
            remote = [*remote, *(Source("arxiv", str(i), id=i) for i in ids if str(i) not in names)]
        try:
            return ingest_arxiv(batch, client, remote, report)
        finally:
            close_sandbox()


def _print_line(outcome: Outcome, count: int, total: int) -> None:
    of = f"[{count}/{total}] " if total > 1 else ""
    name = outcome.source if len(outcome.source) < 60 else "…" + outcome.source[-59:]
    if outcome.state in ("added", "updated"):
        print(f"{of}{outcome.state} {outcome.slug}: {outcome.title}  [{outcome.quality}, {outcome.route}]", flush=True)
    elif outcome.state == "known":
        print(f"{of}already there: {outcome.slug}", flush=True)
    elif outcome.state == "planned":
        print(f"{of}would ingest {outcome.source}", flush=True)
    else:
        print(f"{of}{outcome.state}: {name}: {outcome.reason}", file=sys.stderr, flush=True)
        if outcome.hint:
            print(f"    hint: {outcome.hint}", file=sys.stderr)
    for remark in outcome.remarks:
        print(f"    {remark}", file=sys.stderr, flush=True)


def _summary(outcomes: list[Outcome]) -> None:
    if len(outcomes) < 2:
        return
    counts = {state: sum(outcome.state == state for outcome in outcomes) for state in ("added", "updated", "known", "failed", "stopped")}
    parts = [f"{count} {'already there' if state == 'known' else state}" for state, count in counts.items() if count]
    say(", ".join(parts) or "nothing to do")
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if failed:
        say("")
        print_table(("not ingested", "reason"), [(outcome.source, outcome.reason) for outcome in failed])

"""``kb ingest``: papers in."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.days import day_of
from kb.cli.output import JsonOption, print_json, say
from kb.errors import ERROR, NETWORK, PARTIAL, KbError, UsageError
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.cli.ingest_progress import IngestProgress
    from kb.ingest.batch import Batch, Options, Outcome
    from kb.ingest.ids import ArxivId
    from kb.ingest.sources import NotASource, Source

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE...",
        help="arXiv ids or addresses, PDFs, LaTeX folders or archives, folders of these, a text file of ids, or -.",
    ),
]
Query = Annotated[str | None, typer.Option(metavar="QUERY", help="Papers that arXiv finds: 'ti:credit AND cat:cs.MA'.")]


def ingest(
    sources: Sources = None,
    search: Query = None,
    most: Annotated[int, typer.Option("--max", min=1, help="At most this many from --search.")] = 10,
    queued: Annotated[
        bool, typer.Option("--queued", help="The papers in the reading queue whose text is not here.")
    ] = False,
    slug: Annotated[str | None, typer.Option("--as", metavar="SLUG", help="The folder name of a new paper.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Put a tag into new records; repeatable.")] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, max=64, help="Files read at the same time.")] = 2,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="The day put into new records; today if left out.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done and do nothing.")] = False,
    refetch: Annotated[bool, typer.Option("--refetch", help="Fetch and read again what is here already.")] = False,
    no_pdf: Annotated[bool, typer.Option("--no-pdf", help="Fetch no PDFs: HTML and sources only.")] = False,
    no_ocr: Annotated[bool, typer.Option("--no-ocr", help="Leave pages that are pictures unread.")] = False,
    no_index: Annotated[bool, typer.Option("--no-index", help="Do not bring the search index up to date.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring papers in: their text, formulas, tables and references, by the best route that is open."""
    from kb.ingest.batch import Options
    from kb.ingest.slug import check_slug
    from kb.ingest.sources import read_sources

    workspace = find_workspace()
    if queued:
        sources = [*(sources or []), *_in_queue(workspace)]
        if not sources and search is None:
            say("nothing to ingest: every paper in the queue has its text here")
            return
    found, problems = read_sources(sources or [])
    _check_sources(found, problems, search, slug)
    options = Options(
        day=day_of(date).isoformat(),
        slug=check_slug(slug) if slug else None,
        tags=tuple(tag or ()),
        refetch=refetch,
        no_pdf=no_pdf,
        dry_run=dry_run,
        ocr=not no_ocr,
        jobs=jobs,
    )
    from kb.cli.ingest_progress import IngestProgress

    progress = IngestProgress(len(found) + len(problems), quiet=as_json)
    stopped = _run(workspace, found, problems, (search, most), options, progress)
    if as_json:
        print_json([asdict(outcome) for outcome in progress.outcomes])
    _summarise(progress.outcomes)
    changed = any(outcome.state in ("added", "updated") for outcome in progress.outcomes)
    if changed and not no_index:
        from kb.cli.index import bring_up_to_date

        bring_up_to_date(workspace, quiet=as_json)
    _finish(progress.outcomes, stopped)


def _in_queue(workspace: Workspace) -> list[str]:
    from kb.library import Library
    from kb.queue import papers_to_fetch, read_queue

    library = Library.load(workspace)
    return papers_to_fetch(library, read_queue(library))


def _check_sources(found: list[Source], problems: list[NotASource], search: str | None, slug: str | None) -> None:
    if not found and search is None:
        if problems:
            raise problems[0].error
        raise UsageError(
            "nothing to ingest", "kb ingest 2503.14476, kb ingest paper.pdf, or kb ingest --search 'query'"
        )
    if slug is not None and (len(found) != 1 or search):
        raise UsageError("--as names one paper", "give one source, or leave --as out")


def _run(
    workspace: Workspace,
    found: list[Source],
    problems: list[NotASource],
    search: tuple[str | None, int],
    options: Options,
    progress: IngestProgress,
) -> KbError | None:
    """Ingest everything under the write lock; returns the error that stopped it, if one did."""
    from kb.index.lock import writing
    from kb.ingest.batch import Batch, Outcome

    with writing(workspace, "kb ingest"), progress:
        batch = Batch.open(workspace, options, progress)
        try:
            for problem in problems:
                batch.report(Outcome(problem.name, "failed", reason=problem.error.message, hint=problem.error.hint))
            _ingest_all(batch, found, search, progress)
        except KbError as error:
            return error
        except KeyboardInterrupt:
            kept = batch.counts["added"] + batch.counts["updated"]
            say(f"interrupted: {kept} papers of this run are kept; run the same command again to go on")
            raise typer.Exit(130) from None
        finally:
            batch.journal.close()
    return None


def _ingest_all(batch: Batch, found: list[Source], search: tuple[str | None, int], progress: IngestProgress) -> None:
    from kb.ingest.add import LocalFiles
    from kb.ingest.reading_pool import ReadingPool

    with ReadingPool(batch.options.jobs) as pool:
        LocalFiles(batch, pool).ingest([source for source in found if source.path is not None])
        ids = [source.id for source in found if source.kind == "arxiv" and source.id is not None]
        if ids or search[0]:
            _ingest_remote(batch, pool, ids, search, progress)


def _ingest_remote(
    batch: Batch, pool: object, ids: list[ArxivId], search: tuple[str | None, int], progress: IngestProgress
) -> None:
    from kb.ingest.add_arxiv import ArxivPapers, search_ids
    from kb.ingest.connection import Connection
    from kb.ingest.fetch import MOST_PDFS, Fetcher
    from kb.ingest.reading_pool import ReadingPool

    assert isinstance(pool, ReadingPool)
    query, most = search
    options = batch.options
    with Connection(batch.workspace) as connection:
        if query:
            hits = search_ids(batch, connection, query, most)
            if not hits:
                say(f"arXiv finds nothing for {query!r}; info.arxiv.org/help/api tells how to ask")
            ids = [*ids, *(identifier for identifier in hits if identifier not in ids)]
            progress.grow(len(progress.outcomes) + len(ids))
        most_pdfs = int(batch.workspace.option("arxiv.max_pdfs", MOST_PDFS))
        fetcher = Fetcher(connection, options.day, most_pdfs, options.no_pdf, options.refetch)
        ArxivPapers(batch, connection, fetcher, pool).ingest(ids)


def _summarise(outcomes: list[Outcome]) -> None:
    """Say how it went in all, and list what failed."""
    if len(outcomes) < 2:
        return
    say(_counts(outcomes))
    for outcome in outcomes:
        if outcome.state == "failed":
            say(f"  not ingested: {outcome.source}: {outcome.reason}")


def _finish(outcomes: list[Outcome], stopped: KbError | None) -> None:
    """End with the exit code of the whole; the index, if any, is up to date by then."""
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if stopped is not None:
        raise stopped
    if not failed:
        return
    code = NETWORK if all(outcome.network for outcome in failed) else PARTIAL if len(outcomes) > 1 else ERROR
    if len(outcomes) == 1:
        raise KbError(f"{failed[0].source}: {failed[0].reason}", failed[0].hint, code)
    raise typer.Exit(code)


def _counts(outcomes: list[Outcome]) -> str:
    words = {"known": "already there", "planned": "would be ingested", "stopped": "not tried"}
    states = ("added", "updated", "known", "planned", "failed", "stopped")
    counts = {state: sum(outcome.state == state for outcome in outcomes) for state in states}
    return ", ".join(f"{count} {words.get(state, state)}" for state, count in counts.items() if count)

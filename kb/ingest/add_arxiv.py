"""The arXiv half of ``kb ingest``: records, then files, then text, one paper after another.

Whatever arrived is kept; a run that the network stopped is resumed by the next one with the same words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kb.errors import BadDocument, KbError, NetworkError, OfflineError
from kb.ingest.add import NETWORK_FAILURES_IN_A_ROW, Batch, Outcome
from kb.ingest.arxiv import ArxivClient
from kb.ingest.ids import ArxivId
from kb.ingest.readings import PaperFiles, read_paper, with_failed_pages_read
from kb.ingest.record import versions, write_metadata, write_record, write_text
from kb.ingest.sandbox import run_limited
from kb.ingest.sources import Source
from kb.library import Paper
from kb.model import Metadata
from kb.workspace import Workspace, write_atomic


def ingest_arxiv(
    batch: Batch, client: ArxivClient, sources: Sequence[Source], report: Callable[[Outcome], None]
) -> NetworkError | None:
    """Ingest arXiv ids. Returns the network error that stopped the batch, if one did."""
    wanted = []
    for source in sources:
        assert source.id is not None
        known = _known(batch, source.id)
        if known and not batch.options.refetch:
            report(Outcome(source.name, "known", known.slug, known.title))
        elif batch.options.dry_run:
            report(Outcome(source.name, "planned"))
        else:
            wanted.append(source.id)
    if not wanted:
        return None
    try:
        records = client.records(wanted)
    except NetworkError as error:
        return _stop(batch, wanted, error, report)
    return _ingest_records(batch, client, [(identifier, records.get(identifier)) for identifier in wanted], report)


def _known(batch: Batch, identifier: ArxivId) -> Paper | None:
    """The paper, if the version that is asked for (any, for a bare id) has its text here."""
    paper = batch.library.find(identifier.bare)
    if paper is None:
        return None
    here = versions(paper.folder)
    return paper if (identifier.version in here if identifier.version else bool(here)) else None


def _ingest_records(
    batch: Batch,
    client: ArxivClient,
    records: Sequence[tuple[ArxivId, Metadata | None]],
    report: Callable[[Outcome], None],
) -> NetworkError | None:
    failed_in_a_row = 0
    for position, (identifier, metadata) in enumerate(records):
        name = str(identifier)
        if metadata is None:
            reason = "arXiv has no paper with this id"
            batch.journal.failure(name, None, reason, False)
            report(Outcome(name, "failed", reason=reason, hint="check the number; old ids need their archive, as math/0309136"))
            continue
        try:
            outcome = _ingest_one(batch, client, identifier, metadata)
            failed_in_a_row = 0
        except NetworkError as error:
            failed_in_a_row += 1
            batch.journal.failure(name, None, error.message, True)
            report(Outcome(name, "failed", reason=error.message, hint=error.hint, transient=True))
            if failed_in_a_row >= NETWORK_FAILURES_IN_A_ROW or isinstance(error, OfflineError):
                return _stop(batch, [other for other, _ in records[position + 1 :]], error, report)
            continue
        except KbError as error:
            batch.journal.failure(name, None, error.message, True)
            outcome = Outcome(name, "failed", reason=error.message, hint=error.hint, transient=True)
        report(outcome)
    return None


def _stop(
    batch: Batch, rest: Sequence[ArxivId], error: NetworkError, report: Callable[[Outcome], None]
) -> NetworkError:
    for identifier in rest:
        batch.journal.failure(str(identifier), None, error.message, True)
        report(Outcome(str(identifier), "stopped", reason=error.message, transient=True))
    return error


def _ingest_one(batch: Batch, client: ArxivClient, identifier: ArxivId, metadata: Metadata) -> Outcome:
    """Record first, so that a paper is known even if its files cannot be had; then files; then text."""
    slug = batch.slug_for(metadata, "")
    folder = batch.workspace.paper_dir(slug)
    version = ArxivId(*_split(metadata), metadata.version)
    write_metadata(folder, metadata)
    new = write_record(folder, metadata, batch.options.added, tags=batch.options.tags)
    batch.remember(slug, folder, metadata, "")
    files, remarks = _fetch(batch, client, version, folder)
    write_metadata(folder, replace(metadata, has_pdf=files.pdf is not None, has_source=files.source is not None))
    if metadata.withdrawn:
        remarks.insert(0, f"withdrawn: {metadata.comment or 'no reason given'}")
    reading = with_failed_pages_read(run_limited(read_paper, files, metadata), files.pdf)
    document = replace(reading.document, arxiv_id=metadata.arxiv_id, version=metadata.version)
    _, remark = write_text(folder, document)
    notes = [*remarks, *reading.remarks, *([remark] if remark else [])]
    if document.quality == "none" and not metadata.withdrawn:
        reason = "; ".join(reading.remarks) or "no file to read"
        batch.journal.failure(str(identifier), None, reason, False)
    else:
        batch.journal.success(str(identifier), None, document.provenance.sha256, slug)
    return Outcome(str(identifier), "added" if new else "updated", slug, metadata.title, document.quality,
                   document.provenance.route, remarks=tuple(notes))  # fmt: skip


def _split(metadata: Metadata) -> tuple[str, str]:
    archive, _, number = (metadata.arxiv_id or "").rpartition("/")
    return archive, number


def _fetch(batch: Batch, client: ArxivClient, identifier: ArxivId, folder: Path) -> tuple[PaperFiles, list[str]]:
    """HTML, source and PDF of a version, each only if it is not here yet. A missing one is a remark, no failure."""
    place = folder / "files" / f"v{identifier.version or 1}"
    kinds = [("html", ".html"), ("e-print", ".src")] + ([] if batch.options.no_pdf else [("pdf", ".pdf")])
    found: dict[str, Path | None] = {}
    remarks: list[str] = []
    for kind, suffix in kinds:
        target = place / f"{identifier.file_stem}{suffix}"
        if target.exists() and not batch.options.refetch:
            found[kind] = target
            continue
        try:
            found[kind] = client.fetch(kind, identifier, target)
        except BadDocument as error:
            found[kind] = None
            remarks.append(f"{kind}: {error.message}")
    return PaperFiles(html=found.get("html"), source=found.get("e-print"), pdf=found.get("pdf")), remarks


def search_ids(workspace: Workspace, client: ArxivClient, query: str, most: int) -> list[ArxivId]:
    """The ids of a search. Pages are kept as they come: the next run of the same search goes on after the last one."""
    path = workspace.derived / "searches.json"
    kept: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = [identifier for text in kept.get(query, []) if (identifier := _parse(text))]
    if len(found) < most:
        for page in client.search(query, most, start=len(found)):
            found += [ArxivId(*_split(record)) for record in page.records]
            kept[query] = [str(identifier) for identifier in found]
            write_atomic(path, json.dumps(kept))
    kept.pop(query, None)
    write_atomic(path, json.dumps(kept))
    return list(dict.fromkeys(found))[:most]


def _parse(text: str) -> ArxivId | None:
    from kb.ingest.ids import try_arxiv_id

    return try_arxiv_id(text)

"""arXiv ids into papers: the record first, then files, then text, one paper after another.

Whatever arrived is kept; a run that the network stopped is resumed by the next one with the same words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kb.errors import BadDocument, KbError, NetworkError, OfflineError, PartialError
from kb.ingest.arxiv import BATCH, fetch_records, search
from kb.ingest.batch import Batch, Outcome, with_remark
from kb.ingest.connection import Connection
from kb.ingest.fetch import Fetcher
from kb.ingest.ids import ArxivId, parse_arxiv_id
from kb.ingest.originals import files_of
from kb.ingest.reading_pool import ReadingPool
from kb.ingest.readings import Reading, with_failed_pages_read
from kb.ingest.record import versions, write_metadata, write_record, write_text
from kb.model import Metadata
from kb.workspace import write_atomic

NETWORK_FAILURES_IN_A_ROW = 3


class ArxivPapers:
    """Ingests arXiv ids into a batch."""

    def __init__(self, batch: Batch, connection: Connection, fetcher: Fetcher, pool: ReadingPool) -> None:
        self._batch = batch
        self._connection = connection
        self._fetcher = fetcher
        self._pool = pool
        self._failures = 0

    def ingest(self, ids: Sequence[ArxivId]) -> None:
        """Ingest every id, a hundred records to a request. Raises the NetworkError or PartialError that stops it."""
        wanted = [identifier for identifier in ids if not self._is_known(identifier)]
        if self._batch.options.dry_run:
            for identifier in wanted:
                self._batch.report(Outcome(str(identifier), "planned"))
            return
        left = list(wanted)
        try:
            for start in range(0, len(wanted), BATCH):
                chunk = wanted[start : start + BATCH]
                self._batch.listener.working(f"asking arXiv for {len(chunk)} records")
                for identifier, record in fetch_records(self._connection, chunk).items():
                    self._guarded(identifier, record)
                    left.remove(identifier)
        except (NetworkError, PartialError) as error:
            for identifier in left:
                self._batch.journal.failure(str(identifier), None, error.message, True)
                self._batch.report(Outcome(str(identifier), "stopped", reason=error.message))
            raise

    def _is_known(self, identifier: ArxivId) -> bool:
        paper = None if self._batch.options.refetch else self._batch.version_here(identifier)
        known = paper and self._batch.journal.known(str(identifier), None)
        if paper is None or (known and known.reason and known.transient):
            return False
        remark = "" if paper.text_fields.get("quality") != "none" else "its text cannot be had; kb show tells why"
        self._batch.report(with_remark(Outcome(str(identifier), "known", paper.slug, paper.title), remark))
        return True

    def _guarded(self, identifier: ArxivId, record: Metadata | BadDocument) -> None:
        """Do one id; what goes wrong is its failure and no other's, unless the network is gone."""
        name = str(identifier)
        try:
            if isinstance(record, BadDocument):
                raise record
            if not self._is_known(identifier):
                self._batch.report(self._ingest_one(name, record))
            self._failures = 0
        except PartialError:
            raise
        except NetworkError as error:
            self._failures += 1
            if self._failures >= NETWORK_FAILURES_IN_A_ROW or isinstance(error, OfflineError):
                raise
            self._batch.fail(name, None, error, transient=True, network=True)
        except BadDocument as error:
            self._batch.fail(name, None, error, error.transient)
        except KbError as error:
            self._batch.fail(name, None, error, transient=True)

    def _ingest_one(self, name: str, record: Metadata) -> Outcome:
        """The record is written first, so that the paper is known even if its files cannot be had."""
        batch = self._batch
        slug, remark = batch.slug_for(record)
        folder = batch.workspace.paper_dir(slug)
        write_metadata(folder, record)
        new = write_record(folder, record, batch.options.day, tags=batch.options.tags)
        batch.remember(slug, record)
        reading, troubles = self._readable_version(folder, record)
        write_metadata(folder, self._with_what_there_is(folder, record, troubles))
        document = reading.document
        _, kept = write_text(folder, document)
        said = f"withdrawn: {record.comment or 'no reason is given'}" if record.withdrawn else ""
        remarks = tuple(part for part in (said, *map(str, troubles), *reading.remarks, remark, kept) if part)
        if document.quality == "none" and not record.withdrawn:
            raise BadDocument(
                "no text: " + ("; ".join([*map(str, troubles), *reading.remarks]) or "arXiv has no file of it"),
                f"its record is kept as {slug}; a PDF of your own can be added with kb ingest FILE.pdf",
                transient=any(trouble.transient for trouble in troubles),
            )
        batch.journal.success(name, None, document.provenance.sha256, slug)
        return Outcome(name, "added" if new else "updated", slug, record.title, document.quality,
                       document.provenance.route, remarks=remarks)  # fmt: skip

    def _with_what_there_is(self, folder: Path, record: Metadata, troubles: Sequence[BadDocument]) -> Metadata:
        """The record with whether arXiv has a PDF and a source; None stays where nobody could find out."""
        here = files_of(folder, record.version)
        looked = {"pdf": not self._batch.options.no_pdf, "e-print": True}
        for trouble in troubles:
            looked[trouble.message.partition(":")[0]] = False
        return replace(
            record,
            has_pdf=True if here.pdf else False if looked["pdf"] else None,
            has_source=True if here.source else False if looked["e-print"] else None,
        )

    def _readable_version(self, folder: Path, record: Metadata) -> tuple[Reading, list[BadDocument]]:
        """The version's text; of a withdrawn one that has none, the text of the last version before it that has."""
        reading, troubles = self._read(folder, record)
        version = record.version or 1
        while record.withdrawn and reading.document.quality == "none" and version > 1:
            version -= 1
            older, _ = self._read(folder, replace(record, version=version))
            if older.document.quality != "none":
                remark = f"the text is that of version {version}, the last that can be had"
                return replace(older, remarks=(*older.remarks, remark)), troubles
        return reading, troubles

    def _read(self, folder: Path, record: Metadata) -> tuple[Reading, list[BadDocument]]:
        batch = self._batch
        archive, _, number = (record.arxiv_id or "").rpartition("/")
        identifier = ArxivId(archive, number, record.version)
        batch.listener.working(f"fetching {identifier}: {record.title}")
        troubles = self._fetcher.fetch(identifier, folder)
        newest = (record.version or 1) >= max(versions(folder), default=0)
        files = files_of(folder, record.version, with_loose=newest)
        reading = self._pool.submit(files, record).result()

        def say_page(at: int, of: int) -> None:
            batch.listener.working(f"reading {identifier} by OCR, page {at} of {of}")

        return with_failed_pages_read(reading, say_page, batch.options.ocr), troubles


def search_ids(batch: Batch, connection: Connection, query: str, most: int) -> list[ArxivId]:
    """The ids that a search finds. Pages are kept as they come; the same search goes on after the last one.

    Raises NetworkError, which then says how many are kept.
    """
    path = batch.workspace.derived / "searches.json"
    kept = _kept_searches(path)
    found = kept.get(query, [])
    batch.listener.working(f"searching arXiv for {query!r}")
    try:
        if len(found) < most:
            for page in search(connection, query, most, start=len(found)):
                found = [*found, *(record.arxiv_id for record in page.records if record.arxiv_id)]
                write_atomic(path, json.dumps(kept | {query: found}))
                batch.listener.working(f"{len(found)} of {min(page.total, most)} found")
    except NetworkError as error:
        raise type(error)(error.message, f"{len(found)} results are kept; {error.hint}") from None
    if kept.pop(query, None) or path.exists():
        write_atomic(path, json.dumps(kept))
    return [parse_arxiv_id(identifier) for identifier in dict.fromkeys(found)][:most]


def _kept_searches(path: Path) -> dict[str, list[str]]:
    """The unfinished searches; a damaged file costs only that they begin anew."""
    try:
        kept: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return kept

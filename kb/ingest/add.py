"""Local files into papers: read several at a time in child processes, stored one by one by the one writer.

One bad file stops nothing. A disk that cannot be written stops the batch, and what came before it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kb.errors import BadDocument, KbError, PartialError
from kb.ingest import ocr
from kb.ingest.batch import Batch, Outcome
from kb.ingest.merge import with_record
from kb.ingest.originals import PaperFiles, digest_of, files_of, keep_copy, place_of
from kb.ingest.reading_pool import ReadingPool
from kb.ingest.readings import Reading, failed_pages, with_failed_pages_read
from kb.ingest.record import metadata_of, versions, write_record, write_text
from kb.ingest.sources import Source
from kb.model import Document, Metadata, Paragraph

WRITE_FAILURES_IN_A_ROW = 3
FEWEST_LETTERS_OF_A_CUT_FILE = 200


@dataclass(frozen=True, slots=True)
class _Local:
    """A file that is to be read: where it is, and its SHA-256."""

    source: Source
    path: Path
    digest: str

    @property
    def files(self) -> PaperFiles:
        return PaperFiles(pdf=self.path) if self.source.kind == "pdf" else PaperFiles(source=self.path)


class LocalFiles:
    """Ingests files and folders into a batch."""

    def __init__(self, batch: Batch, pool: ReadingPool) -> None:
        self._batch = batch
        self._pool = pool
        self._write_failures = 0
        self._for_ocr: list[tuple[_Local, Reading]] = []

    def ingest(self, sources: Sequence[Source]) -> None:
        """Ingest every source; papers with pages that need OCR come last. Raises PartialError on a full disk."""
        todo = self._new(sources)
        pending: dict[Future[Reading], _Local] = {}
        while True:
            while len(pending) < 2 * self._batch.options.jobs and (local := next(todo, None)):
                pending[self._pool.submit(local.files, None)] = local
            if not pending:
                break
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                local = pending.pop(future)
                self._guarded(local, partial(self._take, local, future))
        if self._for_ocr:
            pages = sum(len(failed_pages(reading)) for _, reading in self._for_ocr)
            what = f"{pages} pages of {len(self._for_ocr)} papers are pictures or have broken fonts: read by OCR"
            self._batch.listener.working(f"{what}, 10 to 20 s a page, each kept as it is done (--no-ocr leaves them)")
        for local, reading in self._for_ocr:
            self._guarded(local, partial(self._read_pages_and_store, local, reading))

    def _new(self, sources: Sequence[Source]) -> Iterator[_Local]:
        """The sources that have to be read; the others are reported at once, by a look at their size and time."""
        batch = self._batch
        for source in sources:
            assert source.path is not None
            try:
                local = self._unless_known(source, source.path)
            except (OSError, KbError) as error:
                trouble = (
                    error if isinstance(error, KbError) else KbError(f"{source.path} cannot be read: {error.strerror}")
                )
                batch.fail(source.name, None, trouble, transient=True)
                continue
            if local is not None:
                yield local

    def _unless_known(self, source: Source, path: Path) -> _Local | None:
        batch = self._batch
        known = None if batch.options.refetch else batch.journal.known(source.name, path)
        if known and known.slug and batch.has_text(known.slug):
            batch.report(Outcome(source.name, "known", known.slug))
        elif known and known.reason and not known.transient:
            remark = "as before; the file has not changed (--refetch tries again)"
            batch.report(Outcome(source.name, "failed", reason=known.reason, remarks=(remark,)))
        else:
            digest = digest_of(path)
            slug = None if batch.options.refetch else batch.by_digest.get(digest)
            if slug and batch.has_text(slug):
                batch.journal.success(source.name, path, digest, slug)
                batch.report(Outcome(source.name, "known", slug))
            elif batch.options.dry_run:
                batch.report(Outcome(source.name, "planned"))
            else:
                return _Local(source, path, digest)
        return None

    def _take(self, local: _Local, future: Future[Reading]) -> Outcome | None:
        """Store what was read, unless it has pages for OCR: those papers wait, since a page takes many seconds."""
        reading = future.result()
        if failed_pages(reading) and self._batch.options.ocr and ocr.is_installed():
            self._for_ocr.append((local, reading))
            return None
        return self._read_pages_and_store(local, reading)

    def _read_pages_and_store(self, local: _Local, reading: Reading) -> Outcome:
        return self._store(local, self._with_ocr(local, reading))

    def _with_ocr(self, local: _Local, reading: Reading) -> Reading:
        def say_page(at: int, of: int) -> None:
            self._batch.listener.working(f"reading {local.path.name} by OCR, page {at} of {of}")

        return with_failed_pages_read(reading, say_page, self._batch.options.ocr)

    def _guarded(self, local: _Local, action: Callable[[], Outcome | None]) -> None:
        """Do something for one source; what goes wrong is its failure and no other's."""
        batch, source = self._batch, local.source
        try:
            outcome = action()
        except BadDocument as error:
            self._write_failures = 0
            batch.fail(source.name, local.path, _plain(error), error.transient)
        except KbError as error:
            self._write_failures += 1
            if self._write_failures >= WRITE_FAILURES_IN_A_ROW:
                raise PartialError(
                    f"stopped: {error.message}", f"{error.hint}; what was added before is kept"
                ) from None
            batch.fail(source.name, local.path, error, transient=True)
        else:
            self._write_failures = 0
            if outcome is not None:
                batch.journal.success(source.name, local.path, local.digest, outcome.slug)
                batch.report(outcome)

    def _store(self, local: _Local, reading: Reading) -> Outcome:
        """Write a paper's files. A file that joins others of the same version is read again together with them."""
        batch = self._batch
        document = reading.document
        if not _has_text(document):
            unread = bool(failed_pages(reading)) and not (batch.options.ocr and ocr.is_installed())
            what = f"no text in it ({', '.join(document.flags)})" if document.flags else "no text in it"
            raise BadDocument("; ".join(reading.remarks) or what, transient=unread)
        twin = batch.by_digest.get(local.digest)
        if twin and batch.has_text(twin) and not batch.options.refetch:
            return Outcome(local.source.name, "known", twin)
        metadata = _metadata_of(local, document)
        slug, remark = batch.slug_for(metadata, local.digest)
        folder = batch.workspace.paper_dir(slug)
        keep_copy(place_of(folder, metadata.version), local.path, local.digest, batch.options.day)
        new = write_record(folder, metadata, batch.options.day, local.digest, batch.options.tags)
        batch.remember(slug, metadata, local.digest)
        reading = self._joined(folder, metadata, local, reading)
        _, kept = write_text(folder, reading.document)
        document = reading.document
        remarks = tuple(part for part in (*reading.remarks, remark, kept) if part)
        return Outcome(local.source.name, "added" if new else "updated", slug, document.title, document.quality,
                       document.provenance.route, remarks=remarks)  # fmt: skip

    def _joined(self, folder: Path, metadata: Metadata, local: _Local, reading: Reading) -> Reading:
        here = versions(folder)
        version = metadata.version or max(here, default=0) or None
        files = files_of(folder, version, with_loose=version is None or version >= max(here, default=0))
        record = metadata_of(folder, version)
        if sum(path is not None for path in (files.html, files.source, files.pdf)) > 1:
            reading = self._with_ocr(local, self._pool.submit(files, record).result())
        document = reading.document
        if record is not None:
            document = with_record(document, record)
        else:
            document = replace(document, title=metadata.title, arxiv_id=metadata.arxiv_id, version=version)
        return replace(reading, document=document)


def _metadata_of(local: _Local, document: Document) -> Metadata:
    """What a file itself says of the paper. The id in its name counts where the text has none."""
    named = local.source.id
    own = document.arxiv_id
    version = document.version if own else named.version if named else None
    identifier = own or (named.bare if named else None)
    if named and own == named.bare:
        version = document.version or named.version
    stem = local.path.name.split(".")[0].replace("_", " ")
    return Metadata(
        title=document.title or (f"arXiv:{identifier}" if identifier else stem),
        arxiv_id=identifier,
        version=version,
        authors=document.authors,
        published=_month_of(identifier),
    )


def _month_of(identifier: str | None) -> str:
    """A new-style id names its month; other dates are not guessed from a file."""
    new_style = identifier is not None and "/" not in identifier
    return f"20{identifier[:2]}-{identifier[2:4]}" if identifier and new_style else ""


def _plain(error: BadDocument) -> BadDocument:
    """The reason without the name of the route: a local file has only one."""
    message = error.message.removeprefix("PDF not used: ").removeprefix("source not used: ")
    return BadDocument(message, error.hint, error.transient)


def _has_text(document: Document) -> bool:
    """Whether a document is one. What is left of a file cut short may be its title alone."""
    blocks = document.blocks()
    if "truncated" not in document.flags:
        return bool(blocks)
    letters = sum(len(block.text) for _, block in blocks if isinstance(block, Paragraph))
    return letters >= FEWEST_LETTERS_OF_A_CUT_FILE

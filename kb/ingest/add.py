"""``kb ingest``: sources in, files in ``papers/<slug>/`` out. One bad source never stops the batch, nothing is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from kb.errors import BadDocument, KbError
from kb.ingest.journal import Journal
from kb.ingest.readings import PaperFiles, Reading, read_paper, with_failed_pages_read
from kb.ingest.record import write_record, write_text
from kb.ingest.sandbox import close_sandbox, run_limited
from kb.ingest.slug import make_slug
from kb.ingest.sources import Source
from kb.library import Library, Paper
from kb.model import Document, Metadata
from kb.workspace import Workspace

State = Literal["added", "updated", "known", "failed", "planned", "stopped"]
NETWORK_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source. ``reason`` says why it failed, ``remarks`` what a person should know."""

    source: str
    state: State
    slug: str = ""
    title: str = ""
    quality: str = ""
    route: str = ""
    reason: str = ""
    hint: str = ""
    transient: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How a batch runs. ``added`` is the day put into new records."""

    added: str
    slug: str | None = None
    tags: tuple[str, ...] = ()
    refetch: bool = False
    no_pdf: bool = False
    dry_run: bool = False
    jobs: int = 1


@dataclass(slots=True)
class Batch:
    """A running ingestion: the library as it grows, the journal, the options."""

    workspace: Workspace
    options: Options
    journal: Journal
    library: Library
    by_sha: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, workspace: Workspace, options: Options) -> Batch:
        library = Library.load(workspace)
        taken = {path.name for path in workspace.papers.iterdir()} if workspace.papers.is_dir() else set()
        by_sha = {str(paper.fields["sha256"]): slug for slug, paper in library.papers.items() if paper.fields.get("sha256")}
        return cls(workspace, options, Journal(workspace), library, by_sha, taken | set(library.papers))

    def slug_for(self, metadata: Metadata, digest: str) -> str:
        """The folder of a paper: the one that has its id, else a new name."""
        if metadata.arxiv_id:
            paper = self.library.find(metadata.arxiv_id)
            if paper is not None:
                return paper.slug
        elif digest in self.by_sha:
            return self.by_sha[digest]
        if self.options.slug:
            if self.options.slug in self.taken:
                raise KbError(f"there is a paper {self.options.slug!r} already", "choose another name with --as")
            return self.options.slug
        fallback = metadata.arxiv_id or digest[:12]
        return make_slug(metadata.title, metadata.authors, metadata.published[:4], self.taken, fallback)

    def remember(self, slug: str, folder: Path, metadata: Metadata, digest: str) -> None:
        """Let later sources of the same run see a paper that was just written."""
        self.taken.add(slug)
        if not metadata.arxiv_id:
            self.by_sha[digest] = slug
        if slug not in self.library.papers:
            fields = {"id": metadata.arxiv_id or "", "title": metadata.title, "authors": list(metadata.authors)}
            self.library.add(Paper(slug, folder, fields, ""))


def ingest_files(batch: Batch, sources: Sequence[Source], report: Callable[[Outcome], None]) -> None:
    """Read local files, several at a time, and store each as it comes."""
    pending: dict[Future[Reading], Source] = {}
    todo = iter(sources)
    with ThreadPoolExecutor(max_workers=max(1, batch.options.jobs), thread_name_prefix="read") as pool:
        try:
            while True:
                for source in _next_unknown(batch, todo, report, limit=2 * batch.options.jobs - len(pending)):
                    pending[pool.submit(run_limited, read_paper, _files_of(source), None)] = source
                if not pending:
                    break
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    report(_store_local(batch, pending.pop(future), future))
        finally:
            for future in pending:
                future.cancel()
            for _ in range(max(1, batch.options.jobs)):
                pool.submit(close_sandbox)


def _next_unknown(
    batch: Batch, todo: Iterator[Source], report: Callable[[Outcome], None], limit: int
) -> Iterable[Source]:
    found: list[Source] = []
    while len(found) < limit and (source := next(todo, None)) is not None:
        known = batch.journal.known(source.name, source.path)
        if known and known.slug and not batch.options.refetch and known.slug in batch.library.papers:
            report(Outcome(source.name, "known", known.slug))
        elif known and known.reason and not known.transient and not batch.options.refetch:
            report(Outcome(source.name, "failed", reason=known.reason, remarks=("failed before; the file has not changed",)))
        elif batch.options.dry_run:
            report(Outcome(source.name, "planned"))
        else:
            found.append(source)
    return found


def _files_of(source: Source) -> PaperFiles:
    return PaperFiles(pdf=source.path) if source.kind == "pdf" else PaperFiles(source=source.path)


def _store_local(batch: Batch, source: Source, future: Future[Reading]) -> Outcome:
    assert source.path is not None
    try:
        reading = with_failed_pages_read(future.result(), source.path if source.kind == "pdf" else None)
        if not any(section.blocks for section in reading.document.sections):
            raise BadDocument("; ".join(reading.remarks) or "no text in it")
        outcome = _store_document(batch, source, reading)
    except BadDocument as error:
        reason = error.message.removeprefix("PDF not used: ").removeprefix("source not used: ")
        batch.journal.failure(source.name, source.path, reason, error.transient)
        return Outcome(source.name, "failed", reason=reason, hint=error.hint, transient=error.transient)
    except KbError as error:
        batch.journal.failure(source.name, source.path, error.message, True)
        return Outcome(source.name, "failed", reason=error.message, hint=error.hint, transient=True)
    batch.journal.success(source.name, source.path, reading.document.provenance.sha256, outcome.slug)
    return outcome


def _store_document(batch: Batch, source: Source, reading: Reading) -> Outcome:
    document = reading.document
    if source.id and not document.arxiv_id:
        document = replace(document, arxiv_id=source.id.bare, version=source.id.version)
    digest = document.provenance.sha256
    metadata = Metadata(
        title=document.title or (source.path.stem if source.path else source.name),
        arxiv_id=document.arxiv_id,
        version=document.version,
        authors=document.authors,
        published=_date_of(document),
    )
    slug = batch.slug_for(metadata, digest)
    folder = batch.workspace.paper_dir(slug)
    assert source.path is not None
    _keep_original(folder, source.path, document.version)
    new = write_record(folder, metadata, batch.options.added, digest, batch.options.tags)
    _, remark = write_text(folder, replace(document, title=metadata.title))
    batch.remember(slug, folder, metadata, digest)
    remarks = (*reading.remarks, *((remark,) if remark else ()))
    return Outcome(source.name, "added" if new else "updated", slug, metadata.title, document.quality,
                   document.provenance.route, remarks=remarks)  # fmt: skip


def _date_of(document: Document) -> str:
    """A new-style id names its month; other dates are not guessed from a file."""
    identifier = document.arxiv_id or ""
    return f"20{identifier[:2]}-{identifier[2:4]}" if identifier[:4].isdigit() and "." in identifier else ""


def _keep_original(folder: Path, path: Path, version: int | None) -> None:
    """Copy the original below ``files/``, by version; one that is there already is left alone."""
    target = folder / "files" / (f"v{version}" if version else "local") / path.name
    if target.exists() or folder in path.parents:
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.part")
        if path.is_dir():
            shutil.copytree(path, partial, dirs_exist_ok=True, symlinks=True)
        else:
            shutil.copyfile(path, partial)
        partial.replace(target)
    except OSError as error:
        raise KbError(f"cannot write {target}: {error.strerror}", "make room or fix permissions, then run again") from None

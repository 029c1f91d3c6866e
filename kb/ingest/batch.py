"""A running ingestion: its options, the library as it grows, the journal, and what becomes of every source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from kb.errors import KbError, UsageError
from kb.ingest.ids import ArxivId
from kb.ingest.journal import Journal
from kb.ingest.originals import digests
from kb.ingest.record import versions
from kb.ingest.slug import make_slug
from kb.library import Library, Paper
from kb.model import Metadata
from kb.workspace import Workspace

State = Literal["added", "updated", "known", "failed", "planned", "stopped"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source. ``reason`` says why it failed, ``remarks`` what a person should know.

    ``network`` tells a failure of the network from one of the source.
    """

    source: str
    state: State
    slug: str = ""
    title: str = ""
    quality: str = ""
    route: str = ""
    reason: str = ""
    hint: str = ""
    network: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How a batch runs. ``day`` is put into new records, as an ISO date."""

    day: str
    slug: str | None = None
    tags: tuple[str, ...] = ()
    refetch: bool = False
    no_pdf: bool = False
    dry_run: bool = False
    ocr: bool = True
    jobs: int = 1


class Listener(Protocol):
    """Whoever shows how the batch gets on."""

    def working(self, what: str) -> None:
        """Something that takes a while begins."""

    def done(self, outcome: Outcome) -> None:
        """A source is through."""


@dataclass(slots=True)
class Batch:
    """See the module. Sources that are the same paper find each other through it."""

    workspace: Workspace
    options: Options
    listener: Listener
    journal: Journal
    library: Library
    taken: set[str]
    counts: Counter[str] = field(default_factory=Counter)
    _by_digest: dict[str, str] | None = None

    @classmethod
    def open(cls, workspace: Workspace, options: Options, listener: Listener) -> Batch:
        library = Library.load(workspace)
        taken = {path.name for path in workspace.papers.iterdir()} if workspace.papers.is_dir() else set()
        for problem in library.problems:
            listener.working(f"not matched with anything, since it cannot be read: {problem}")
        return cls(workspace, options, listener, Journal(workspace), library, taken)

    def report(self, outcome: Outcome) -> None:
        self.counts[outcome.state] += 1
        self.listener.done(outcome)

    def fail(self, name: str, path: Path | None, error: KbError, transient: bool, network: bool = False) -> None:
        """Report a failure and write it down, so that ``kb status`` lists it."""
        self.journal.failure(name, path, error.message, transient)
        self.report(Outcome(name, "failed", reason=error.message, hint=error.hint, network=network))

    @property
    def by_digest(self) -> dict[str, str]:
        """The slug of every original that is in the workspace, by SHA-256."""
        if self._by_digest is None:
            recorded = {str(paper.fields.get("sha256", "")): slug for slug, paper in self.library.papers.items()}
            self._by_digest = recorded | dict(digests(self.workspace.papers))
            self._by_digest.pop("", None)
        return self._by_digest

    def slug_for(self, metadata: Metadata, digest: str = "") -> tuple[str, str]:
        """The folder of a paper, and a remark: the one that has its id or its file, else a new name."""
        known = self.paper_of(metadata.arxiv_id) if metadata.arxiv_id else None
        slug = known.slug if known else self.by_digest.get(digest) if digest else None
        asked = self.options.slug
        if slug is not None:
            return slug, f"it is here as {slug}; --as {asked} is for new papers" if asked not in (None, slug) else ""
        if asked is None:
            fallback = metadata.arxiv_id or digest[:12]
            # A file's own list of authors often begins with an institution; arXiv's never does.
            authors = () if digest else metadata.authors
            return make_slug(metadata.title, authors, metadata.published[:4], self.taken, fallback), ""
        if asked in self.taken:
            raise UsageError(f"there is a paper {asked!r} already", "choose another name with --as")
        return asked, ""

    def paper_of(self, bare_id: str) -> Paper | None:
        """The paper with this arXiv id."""
        return self.library.find(bare_id)

    def remember(self, slug: str, metadata: Metadata, digest: str = "") -> None:
        """Let later sources of the same run see a paper that was just written."""
        self.taken.add(slug)
        if digest:
            self.by_digest[digest] = slug
        if slug not in self.library.papers:
            fields = {"id": metadata.arxiv_id or "", "title": metadata.title, "authors": list(metadata.authors)}
            self.library.add(Paper(slug, self.workspace.paper_dir(slug), fields, ""))

    def has_text(self, slug: str) -> bool:
        paper = self.library.papers.get(slug)
        return paper is not None and paper.text_path is not None

    def version_here(self, identifier: ArxivId) -> Paper | None:
        """The paper, if the version that is asked for (any, for a bare id) was had from arXiv and has its text."""
        paper = self.paper_of(identifier.bare)
        if paper is None or paper.metadata is None or paper.text_path is None:
            return None
        wanted = identifier.version
        return paper if wanted is None or wanted in versions(paper.folder) else None


def with_remark(outcome: Outcome, *remarks: str) -> Outcome:
    """The outcome with what else a person should know."""
    return replace(outcome, remarks=(*outcome.remarks, *(remark for remark in remarks if remark)))

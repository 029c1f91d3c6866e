"""Runs ingestion in a workspace without the command line, as many tests do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb.ingest.add import LocalFiles
from kb.ingest.add_arxiv import ArxivPapers
from kb.ingest.batch import Batch, Options, Outcome
from kb.ingest.connection import Connection
from kb.ingest.fetch import Fetcher
from kb.ingest.ids import parse_arxiv_id
from kb.ingest.limiter import Limiter
from kb.ingest.reading_pool import ReadingPool
from kb.ingest.sources import read_sources
from kb.workspace import Workspace


class Recorder:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.said: list[str] = []

    def working(self, what: str) -> None:
        self.said.append(what)

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


@dataclass
class Ingest:
    """Runs ingestion in a workspace and remembers every outcome of the last run."""

    workspace: Workspace
    pool: ReadingPool
    heard: Recorder = field(default_factory=Recorder)

    def files(self, *paths: Path, **options: Any) -> list[Outcome]:
        sources, problems = read_sources(map(str, paths))
        assert problems == []
        return self._run(lambda batch: LocalFiles(batch, self.pool).ingest(sources), options)

    def ids(self, *words: str, most_pdfs: int = 100, **options: Any) -> list[Outcome]:
        def run(batch: Batch) -> None:
            with Connection(self.workspace, Limiter(0.001)) as connection:
                fetcher = Fetcher(connection, batch.options.day, most_pdfs, refetch=batch.options.refetch)
                ArxivPapers(batch, connection, fetcher, self.pool).ingest([parse_arxiv_id(word) for word in words])

        return self._run(run, options)

    def _run(self, run: Callable[[Batch], None], options: dict[str, Any]) -> list[Outcome]:
        self.heard = Recorder()
        batch = Batch.open(self.workspace, Options(**({"day": "2026-04-19", "ocr": False} | options)), self.heard)
        try:
            run(batch)
        finally:
            batch.journal.close()
        return self.heard.outcomes

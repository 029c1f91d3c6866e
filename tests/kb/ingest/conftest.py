"""A local arXiv, and a workspace that asks it without waiting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from arxiv_server import ArxivServer, serving
from ingesting import Ingest

from kb.ingest.connection import Connection
from kb.ingest.limiter import Limiter
from kb.ingest.reading_pool import ReadingPool
from kb.workspace import Workspace, load_workspace


@pytest.fixture
def arxiv(monkeypatch: pytest.MonkeyPatch) -> Iterator[ArxivServer]:
    with serving() as server:
        monkeypatch.setenv("KB_ARXIV_URL", server.url)
        monkeypatch.setenv("KB_ARXIV_INTERVAL", "0.001")
        yield server


@pytest.fixture
def opened(workspace: Path) -> Workspace:
    return load_workspace(workspace)


@pytest.fixture
def connection(arxiv: ArxivServer, opened: Workspace) -> Iterator[Connection]:
    with Connection(opened, Limiter(0.001)) as asked:
        yield asked


@pytest.fixture(scope="session")
def pool() -> Iterator[ReadingPool]:
    with ReadingPool(1) as readers:
        yield readers


@pytest.fixture
def ingest(opened: Workspace, pool: ReadingPool) -> Ingest:
    return Ingest(opened, pool)

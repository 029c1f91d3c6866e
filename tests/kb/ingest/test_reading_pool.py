"""A reader that hangs, dies or has a fault costs its own route, not the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.ingest.originals import PaperFiles
from kb.ingest.reading_pool import _read_what_can_be_read
from kb.ingest.readings import Reading
from kb.ingest.sandbox import ReaderFailed
from kb.model import Document, Provenance


class FailingChild:
    """Stands for a child whose reader fails whenever a source is among the files."""

    def __init__(self) -> None:
        self.asked: list[PaperFiles] = []

    def run(self, function: object, files: PaperFiles, metadata: object) -> Reading:
        self.asked.append(files)
        if files.source is not None:
            raise ReaderFailed("gave up after 180 s")
        return Reading(Document("A title", Provenance("pdf", "")), None, ("own remark",))


def test_the_pdf_serves_where_the_source_hangs_its_reader() -> None:
    child = FailingChild()
    files = PaperFiles(source=Path("main.tex"), pdf=Path("a.pdf"))
    reading = _read_what_can_be_read(child, files, None)  # type: ignore[arg-type]
    assert reading.remarks == ("a file was not used: gave up after 180 s", "own remark")
    assert child.asked == [files, PaperFiles(pdf=Path("a.pdf"))]


def test_without_another_file_the_failure_is_the_papers() -> None:
    with pytest.raises(ReaderFailed, match="180 s"):
        _read_what_can_be_read(FailingChild(), PaperFiles(source=Path("main.tex")), None)  # type: ignore[arg-type]

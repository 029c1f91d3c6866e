"""Recognition of page pictures: order, rotation, the cache, and what becomes of a page that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_pdfs import picture_page

from kb.errors import BadDocument
from kb.ingest import ocr
from kb.ingest.ocr_layout import ReadBox, in_reading_order, lies_sideways, to_lines, turned
from kb.ingest.pdf import parse_pdf
from kb.model import Document, Equation, PageReport, Paragraph, Provenance, Section


def box(x: float, y: float, text: str, width: float = 200, height: float = 20) -> ReadBox:
    return ReadBox(x, y, x + width, y + height, text)


class InThisProcess:
    """A sandbox without a child."""

    def __init__(self, *limits: Any) -> None:
        pass

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)

    def close(self) -> None:
        pass


@pytest.fixture
def recognised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Replaces the engine by one that knows two pages; returns the list of pages it was asked for."""
    asked: list[int] = []

    def page_png(path: Path, number: int) -> bytes:
        asked.append(number)
        return str(number).encode()

    def recognise(picture: bytes) -> list[ReadBox]:
        if picture == b"3":
            raise BadDocument("the engine failed")
        return [box(50, 50, "第一行的文字没有"), box(50, 75, "说完，第二行才说完。"), box(50, 200, "x = y + 1000", 90)]

    monkeypatch.setattr(ocr, "page_png", page_png)
    monkeypatch.setattr(ocr, "_recognise", recognise)
    monkeypatch.setattr(ocr, "Sandbox", InThisProcess)
    monkeypatch.setenv("KB_CACHE_DIR", str(tmp_path / "cache"))
    return asked


def scanned(*reasons: str) -> Document:
    pages = tuple(PageReport(n, "none" if reason else "good", reason) for n, reason in enumerate(reasons, start=1))
    sections = (Section("S1", "One", 1, page=1), Section("S2", "Two", 1, page=4))
    return Document("A scan", Provenance("pdf", "a.pdf", "abc"), sections=sections, pages=pages)


def test_only_failed_pages_are_read_and_each_lands_at_its_place(recognised: list[int]) -> None:
    document = ocr.with_ocr(scanned("", "scan: no text", "", "garbage: 40%"), Path("a.pdf"), lambda at, of: None)
    assert recognised == [2, 4]
    assert [section.id for section in document.sections] == ["S1", "page-2", "S2", "page-4"]
    assert [page.quality for page in document.pages] == ["good", "poor", "good", "poor"]
    assert document.provenance.routes["pages_failed"] == "ocr"
    assert document.provenance.route == "pdf"


def test_a_paper_of_pictures_only_came_by_recognition(recognised: list[int]) -> None:
    assert ocr.with_ocr(scanned("scan: x"), Path("a.pdf"), lambda at, of: None).provenance.route == "ocr"


def test_lines_are_joined_and_a_formula_is_not_to_be_relied_on(recognised: list[int]) -> None:
    document = ocr.with_ocr(scanned("scan: x"), Path("a.pdf"), lambda at, of: None)
    paragraph, equation = (block for section in document.sections for block in section.blocks)
    assert isinstance(paragraph, Paragraph)
    assert paragraph.text == "第一行的文字没有说完，第二行才说完。"
    assert isinstance(equation, Equation)
    assert (equation.quality, equation.latex, equation.bbox) == ("none", None, None)


def test_a_page_that_was_read_is_not_read_again(recognised: list[int]) -> None:
    for _ in range(2):
        ocr.with_ocr(scanned("scan: x", "scan: x"), Path("a.pdf"), lambda at, of: None)
    assert recognised == [1, 2]


def test_a_page_that_cannot_be_read_says_why_and_stops_no_other(recognised: list[int]) -> None:
    document = ocr.with_ocr(scanned("", "", "scan: x", "scan: x"), Path("a.pdf"), lambda at, of: None)
    assert "the engine failed" in document.pages[2].reason
    assert document.pages[3].quality == "poor"


def test_progress_is_told_for_every_page(recognised: list[int]) -> None:
    told: list[tuple[int, int]] = []
    ocr.with_ocr(scanned("scan: x", "", "scan: x"), Path("a.pdf"), lambda at, of: told.append((at, of)))
    assert told == [(1, 2), (2, 2)]


def test_two_columns_are_read_one_after_the_other_below_a_wide_title() -> None:
    boxes = [box(50, 10, "title", 700)]
    for row in range(8):
        boxes += [box(50, 50 + 30 * row, f"left {row}", 320), box(430, 50 + 30 * row, f"right {row}", 320)]
    texts = [read.text for read in in_reading_order(boxes)]
    assert texts == ["title", *(f"left {row}" for row in range(8)), *(f"right {row}" for row in range(8))]


def test_pieces_of_one_row_are_read_from_left_to_right() -> None:
    boxes = [box(300, 12, "second"), box(50, 10, "first"), box(50, 50, "third")]
    assert [read.text for read in in_reading_order(boxes)] == ["first", "second", "third"]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_turning_back_restores_the_places(turn: int) -> None:
    boxes = [box(10, 20, "above"), box(10, 60, "below")]
    width, height = 400, 300
    aside = turned(boxes, turn, width, height)
    size = (height, width) if turn in (90, 270) else (width, height)
    assert turned(aside, (360 - turn) % 360, *size) == boxes
    assert lies_sideways(aside) == (turn in (90, 270))


def test_white_space_parts_blocks() -> None:
    lines = to_lines([box(10, 10, "a"), box(10, 34, "b"), box(10, 120, "c")], 7)
    assert [line.block for line in lines] == [0, 0, 1]
    assert {line.page for line in lines} == {7}


def test_the_engine_reads_a_picture_turned_by_any_right_angle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="the extra ocr is not installed")
    monkeypatch.setenv("KB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(ocr, "Sandbox", InThisProcess)
    text = "Group advantage estimates"
    for turn in (0, 180, 90):
        path = picture_page(tmp_path / f"turned-{turn}.pdf", text, turn)
        document = ocr.with_ocr(parse_pdf(path), path, lambda at, of: None)
        found = " ".join(block.text for _, block in document.blocks() if isinstance(block, Paragraph))
        assert found.replace(" ", "").startswith(text.replace(" ", "")), turn

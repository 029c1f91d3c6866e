"""Text of page pictures, for the pages whose text layer cannot be read. An extra: ``pip install 'litkb[ocr]'``.

A page takes many seconds, so every page is kept as it is done and an interrupted run goes on with the next one.
Formulas do not survive this: what comes out is prose of quality ``poor``, and what looks like a formula is ``none``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from kb.errors import BadDocument
from kb.ingest.ocr_layout import ReadBox, in_reading_order, lies_sideways, to_lines, turned
from kb.ingest.pdf_blocks import BlockMaker
from kb.ingest.pdf_lines import Page
from kb.ingest.pdf_reader import page_png
from kb.ingest.pdf_text import Joiner
from kb.ingest.sandbox import Sandbox
from kb.model import Block, Document, Equation, PageReport, Section
from kb.workspace import cache_dir, write_atomic

HINT = "pip install 'litkb[ocr]', then run it again: the pages that failed are read from their pictures"
CPU_SECONDS, WALL_SECONDS, MEMORY_BYTES = 180, 600.0, 8 << 30
_TESTED_FOR_TURN = 3


def is_installed() -> bool:
    """Whether the extra is here."""
    return all(importlib.util.find_spec(name) for name in ("rapidocr", "onnxruntime"))


def read_page(path: Path, digest: str, number: int) -> list[ReadBox]:
    """The text boxes of one page, upright; kept in the cache by the file's SHA-256 (runs in a child process)."""
    kept = cache_dir() / "ocr" / digest / f"{number}.json"
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [ReadBox(**box) for box in json.loads(kept.read_text(encoding="utf-8"))]
    boxes = _recognise(page_png(path, number))
    write_atomic(kept, json.dumps([asdict(box) for box in boxes], ensure_ascii=False))
    return boxes


@cache
def _engine() -> Any:
    import logging

    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "error"})
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return engine


def _recognise(picture: bytes) -> list[ReadBox]:
    """The boxes of a picture, turned upright: the recogniser reads lines that lie on their side or head."""
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    # The engine remembers what a call switched off, so every call says what it wants.
    result = _engine()(np.asarray(image)[:, :, ::-1], use_det=True, use_cls=True, use_rec=True)
    if result is None or result.boxes is None:
        return []
    boxes = [_read_box(corners, text) for corners, text in zip(result.boxes, result.txts, strict=True)]
    return turned(boxes, _turn(image, boxes), image.width, image.height) if boxes else []


def _read_box(corners: Any, text: Any) -> ReadBox:
    xs, ys = [float(point[0]) for point in corners], [float(point[1]) for point in corners]
    return ReadBox(min(xs), min(ys), max(xs), max(ys), str(text))


def _turn(image: Any, boxes: Sequence[ReadBox]) -> int:
    """By how many degrees to the left the picture must be turned: the way its longest lines read best."""
    import numpy as np

    longest = sorted(boxes, key=lambda box: len(box.text), reverse=True)[:_TESTED_FOR_TURN]
    scores: dict[int, float] = {}
    for turn in (90, 270) if lies_sideways(boxes) else (0, 180):
        for box in longest:
            line = image.crop((box.x0, box.y0, box.x1, box.y1)).rotate(turn, expand=True)
            result = _engine()(np.asarray(line)[:, :, ::-1], use_det=False, use_cls=False, use_rec=True)
            scores[turn] = scores.get(turn, 0.0) + float(sum(result.scores or ()))
    return max(scores, key=lambda turn: scores[turn])


def with_ocr(document: Document, path: Path, say_page: Callable[[int, int], None]) -> Document:
    """A PDF's document with the pages that failed the gate read from their pictures, each as a section of its own.

    A page that cannot be read this way either keeps its reason, and stops no other. ``say_page`` is told the running
    number of each page and how many there are.
    """
    failed = [page for page in document.pages if page.reason]
    digest = document.provenance.sha256
    read: dict[int, list[Block]] = {}
    troubles: dict[int, str] = {}
    sandbox = Sandbox(CPU_SECONDS, WALL_SECONDS, MEMORY_BYTES)
    try:
        for at, page in enumerate(failed, start=1):
            say_page(at, len(failed))
            try:
                boxes = sandbox.run(read_page, path, digest, page.number)
            except BadDocument as error:
                troubles[page.number] = error.message
            else:
                read[page.number] = _blocks(boxes, page.number)
    finally:
        sandbox.close()
    troubles |= {number: "no text found" for number, blocks in read.items() if not blocks}
    read = {number: blocks for number, blocks in read.items() if blocks}
    pages = tuple(_with_outcome(page, page.number in read, troubles) for page in document.pages)
    if not read:
        return replace(document, pages=pages)
    old = document.provenance
    whole = len(failed) == len(document.pages)
    provenance = replace(old, route="ocr" if whole else old.route, routes={**old.routes, "pages_failed": "ocr"})
    return replace(document, sections=_merged(document.sections, read), pages=pages, provenance=provenance, quality="poor")


def _with_outcome(page: PageReport, was_read: bool, troubles: dict[int, str]) -> PageReport:
    if was_read:
        return replace(page, quality="poor", reason=f"{page.reason}; read by OCR")
    trouble = troubles.get(page.number)
    return replace(page, reason=f"{page.reason}; not read by recognition: {trouble}") if trouble else page


def _blocks(boxes: Sequence[ReadBox], number: int) -> list[Block]:
    """The paragraphs of a page; what looks like a formula is marked as not to be relied on."""
    lines = to_lines(in_reading_order(boxes), number)
    if not lines:
        return []
    maker = BlockMaker(lines[0].size, Joiner([Page(number, 0.0, 0.0, lines)]), {})
    blocks = maker.blocks(lines)
    return [
        replace(block, id=f"{block.id}-ocr", quality="none", bbox=None) if isinstance(block, Equation) else block for block in blocks
    ]


def _merged(sections: Sequence[Section], read: dict[int, list[Block]]) -> tuple[Section, ...]:
    """The pages that were read put before the first section that begins on a later page."""
    merged = list(sections)
    for number, blocks in sorted(read.items(), reverse=True):
        later = (at for at, section in enumerate(merged) if section.page is not None and section.page > number)
        section = Section(f"page-{number}", f"Page {number}", 1, "other", None, tuple(blocks), number)
        merged.insert(next(later, len(merged)), section)
    return tuple(merged)

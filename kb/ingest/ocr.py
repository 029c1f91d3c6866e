"""Text of page pictures, for the pages whose text layer cannot be read. An extra: ``pip install 'litkb[ocr]'``.

A page takes many seconds, so every page is kept as it is done and an interrupted run goes on with the next one.
Formulas do not survive this: what comes out is prose, of quality ``poor``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kb.errors import BadDocument
from kb.ingest.pdf_reader import page_png
from kb.ingest.sandbox import Sandbox
from kb.model import Document, Paragraph, Section
from kb.workspace import cache_dir, write_atomic

HINT = "pip install 'litkb[ocr]', then run it again: the pages that failed are read from their pictures"


def is_installed() -> bool:
    """Whether the extra is here."""
    return importlib.util.find_spec("rapidocr") is not None


def read_page(path: Path, digest: str, number: int) -> list[str]:
    """The lines of one page, kept in the cache by the file's SHA-256 (runs in a child process)."""
    global _loaded
    kept = cache_dir() / "ocr" / digest / f"{number}.json"
    if kept.is_file():
        return list(json.loads(kept.read_text(encoding="utf-8")))
    _loaded = _loaded or _engine()
    lines = _read(_loaded, page_png(path, number))
    write_atomic(kept, json.dumps(lines, ensure_ascii=False))
    return lines


_loaded: Any = None


def _engine() -> Any:
    import logging

    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "error"})
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return engine


def _read(engine: Any, picture: bytes) -> list[str]:
    """The lines of a page; one that lies on its side is turned first."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    best: list[str] = []
    for turn in (0, 90, 270):
        turned = image.rotate(turn, expand=True) if turn else image
        lines, upright = _lines(engine, turned)
        if sum(map(len, lines)) > sum(map(len, best)):
            best = lines
        if upright:
            break
    return best


def _lines(engine: Any, image: Any) -> tuple[list[str], bool]:
    import numpy as np

    result = engine(np.asarray(image)[:, :, ::-1])
    if result is None or result.boxes is None or not len(result.boxes):
        return [], False
    rows = []
    wide = 0
    for box, text in zip(result.boxes, result.txts, strict=True):
        xs, ys = [point[0] for point in box], [point[1] for point in box]
        wide += (max(xs) - min(xs)) >= (max(ys) - min(ys))
        rows.append((min(ys), min(xs), max(ys) - min(ys), str(text)))
    rows.sort()
    return [text for _, _, _, text in rows], wide >= 0.6 * len(rows)


def with_ocr(document: Document, path: Path, say_page: Callable[[int, int], None]) -> Document:
    """A PDF's document with the pages that failed the gate read from their pictures, each as a section of its own.

    A page that cannot be read this way either keeps its reason, and stops no other. ``say_page`` is told the running
    number of each page and how many there are.
    """
    failed = [page for page in document.pages if page.reason]
    if not failed:
        return document
    digest = document.provenance.sha256
    texts: dict[int, list[str]] = {}
    sandbox = Sandbox(cpu_seconds=180, wall_seconds=600, memory=8 << 30)
    try:
        for at, page in enumerate(failed, start=1):
            say_page(at, len(failed))
            with contextlib.suppress(BadDocument):
                texts[page.number] = sandbox.run(read_page, path, digest, page.number)
    finally:
        sandbox.close()
    if not any(texts.values()):
        return document
    sections = list(document.sections)
    for number, lines in sorted(texts.items()):
        if lines:
            blocks = (Paragraph(("" if _is_han(lines) else " ").join(lines), number),)
            sections.append(Section(f"page-{number}", f"Page {number}", 1, "other", None, blocks, number))
    pages = tuple(
        replace(page, quality="poor", reason=f"{page.reason}; read by OCR") if texts.get(page.number) else page
        for page in document.pages
    )
    whole = len(failed) == len(document.pages)
    old = document.provenance
    provenance = replace(old, route="ocr" if whole else old.route, routes={**old.routes, "pages_failed": "ocr"})
    return replace(document, sections=tuple(sections), pages=pages, provenance=provenance, quality="poor")


def _is_han(lines: list[str]) -> bool:
    text = "".join(lines)
    return sum("\u4e00" <= char <= "\u9fff" for char in text) > 0.3 * len(text)

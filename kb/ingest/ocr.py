"""Text of page pictures, for the pages whose text layer cannot be read. An extra: ``pip install 'litkb[ocr]'``.

A page takes many seconds, so every page is kept as it is done and an interrupted run goes on with the next one.
Formulas do not survive this: what comes out is prose, of quality ``poor``.
"""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kb.ingest.pdf_lines import page_picture
from kb.model import Document, Paragraph, Section
from kb.workspace import cache_dir, write_atomic

HINT = "pip install 'litkb[ocr]', then run it again: the pages that failed are read from their pictures"


def is_installed() -> bool:
    """Whether the extra is here."""
    return importlib.util.find_spec("rapidocr") is not None


def read_pages(path: Path, digest: str, numbers: Iterable[int]) -> dict[int, list[str]]:
    """The lines of the pages with these numbers, each kept in the cache by the file's SHA-256."""
    engine: Any = None
    found: dict[int, list[str]] = {}
    for number in numbers:
        kept = cache_dir() / "ocr" / digest / f"{number}.json"
        if kept.is_file():
            found[number] = json.loads(kept.read_text(encoding="utf-8"))
            continue
        engine = engine or _engine()
        found[number] = _read(engine, page_picture(path, number))
        write_atomic(kept, json.dumps(found[number], ensure_ascii=False))
    return found


def _engine() -> Any:
    import logging

    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return RapidOCR()


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


def with_ocr(document: Document, path: Path) -> Document:
    """A PDF's document with the pages that failed the gate read from their pictures, each as a section of its own."""
    failed = [page for page in document.pages if page.reason]
    if not failed:
        return document
    texts = read_pages(path, document.provenance.sha256, (page.number for page in failed))
    sections = list(document.sections)
    for number, lines in sorted(texts.items()):
        if lines:
            blocks = (Paragraph("".join(lines) if _is_han(lines) else " ".join(lines), number),)
            sections.append(Section(f"page-{number}", f"Page {number}", 1, "other", None, blocks, number))
    pages = tuple(
        replace(page, quality="poor", reason=f"{page.reason}; read by OCR") if texts.get(page.number) else page
        for page in document.pages
    )
    whole = len(failed) == len(document.pages)
    provenance = document.provenance
    provenance = replace(
        provenance, route="ocr" if whole else provenance.route, routes={**provenance.routes, "pages_failed": "ocr"}
    )
    quality = "poor" if any(texts.values()) else document.quality
    return replace(document, sections=tuple(sections), pages=pages, provenance=provenance, quality=quality)


def _is_han(lines: list[str]) -> bool:
    text = "".join(lines)
    return sum("\u4e00" <= char <= "\u9fff" for char in text) > 0.3 * len(text)

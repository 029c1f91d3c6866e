"""The PDF reader behind one small interface: a file in, pages of visual lines out, in content order.

This is the only file that names pymupdf. Content order is reading order for what TeX writes, so nothing is sorted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kb.errors import BadDocument
from kb.ingest.pdf_lines import Box, Line, Page, UnreadablePage, Word, append_line, finish_lines

TOOL = "pymupdf"
MAX_PAGES = 2000
_FEW_LETTERS = 400
_RIGHTWARD = (1.0, 0.0)
_SMALLEST = 2.0  # points
_MATH_FONT = re.compile(r"CMMI|CMSY|CMEX|MSBM|MSAM|EUFM|EUSM|rsfs|StandardSymL|Math|Symbol|txsy|txmia|pxsy|LMMI|LMSY", re.I)
_BOLD_FONT = re.compile(
    r"bold|black|heavy|\bbd\b|-B$|CMBX|CMCSC|SmallCaps|CMSSBX|SFBX|ECBX|NimbusRomNo9L-Medi|Semibold|Demi|-Medium", re.I
)
_TABLE_CAPTION = re.compile(r"^(?:Table|TABLE|Tab\.|表)\s*[\dA-ZIVX]")


@dataclass(slots=True)
class PdfFile:
    """An open PDF. ``repaired`` tells that its structure was damaged and had to be rebuilt."""

    handle: Any
    path: Path
    repaired: bool

    @property
    def page_count(self) -> int:
        return int(self.handle.page_count)

    def pages(self) -> Iterator[Page | UnreadablePage]:
        """Every page in order; one that cannot be decoded does not lose the others."""
        for index in range(self.page_count):
            try:
                yield _read_page(self.handle[index], index + 1)
            except Exception as error:  # MuPDF raises many kinds
                yield UnreadablePage(index + 1, f"cannot be read: {_first_line(error)}")

    def outline(self) -> list[tuple[int, str, int]]:
        """``(level, title, page)`` of the file's own table of contents; empty when it has none that can be read."""
        try:
            return [(int(level), str(title).strip(), int(page)) for level, title, page in self.handle.get_toc()]
        except Exception:
            return []


@contextmanager
def open_pdf(path: Path) -> Iterator[PdfFile]:
    """Open a PDF. Raises BadDocument with the true reason: no PDF, empty, damaged, or locked by a password."""
    encrypted = _check_bytes(path)
    pymupdf = _library()
    try:
        handle = pymupdf.open(path, filetype="pdf")
    except Exception as error:
        raise _damaged(_first_line(error)) from None
    try:
        if handle.needs_pass:
            raise BadDocument("needs a password", "save a copy without the password and ingest that")
        if not handle.is_pdf:
            raise BadDocument("not a PDF")
        if handle.page_count == 0:
            raise _damaged("0 pages") if not encrypted else BadDocument("needs a password, or damaged: 0 pages can be read")
        if handle.page_count > MAX_PAGES:
            raise BadDocument(f"too long: {handle.page_count} pages, at most {MAX_PAGES} are read")
        yield PdfFile(handle, path, bool(handle.is_repaired))
    finally:
        handle.close()


def _library() -> Any:
    import pymupdf

    # MuPDF writes straight to the standard error stream unless told not to.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf


def tool_version() -> str:
    """The version of the PDF library."""
    return str(_library().__version__)


def _check_bytes(path: Path) -> bool:
    """Refuse what is no PDF; tells whether the file says that it is encrypted.

    MuPDF would open a web page as a document of one page, so the first bytes are looked at here.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadDocument(f"cannot be read: {error.strerror or error}", transient=True) from None
    if not data:
        raise BadDocument("empty file", "fetch the file again", transient=True)
    head = data[:1024]
    if b"%PDF-" in head:
        return b"/Encrypt" in data
    start = head.lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")) or b"<html" in start:
        raise BadDocument("not a PDF (HTML)", "a web page was saved in its place; fetch the PDF again", transient=True)
    raise BadDocument("not a PDF", "its first bytes are not those of a PDF")


def _damaged(reason: str) -> BadDocument:
    return BadDocument(f"damaged: {reason}", "fetch the file again; it may have been cut short", transient=True)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def _read_page(page: Any, number: int) -> Page:
    pymupdf = _library()
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
    textpage = page.get_textpage(flags=flags)
    content = textpage.extractDICT()
    text_blocks = [block for block in content["blocks"] if block["type"] == 0]
    width, height = content["width"], content["height"]
    made = Page(number, width, height, [], _rules(content["blocks"]))
    upright = _main_direction(text_blocks)
    for index, block in enumerate(text_blocks):
        for raw in block["lines"]:
            if raw["dir"] != upright:
                made.turned.append("".join([span["text"] for span in raw["spans"]]))
                continue
            if upright != _RIGHTWARD:
                raw["bbox"] = _turn(raw["bbox"], upright, width, height)
            if line := _make_line(raw, number, index):
                append_line(made.lines, line)
    finish_lines(made)
    if sum(len(line.text) for line in made.lines) < _FEW_LETTERS:
        made.image_share = _image_share(page)
    if upright == _RIGHTWARD and any(_TABLE_CAPTION.match(line.text) for line in made.lines):
        made.words = [_word(raw) for raw in textpage.extractWORDS()]
        made.bold = [
            span["bbox"]
            for block in text_blocks
            for raw in block["lines"]
            for span in raw["spans"]
            if span["flags"] & 16 or _font_kind(span["font"])[1]
        ]
    return made


def _word(raw: Any) -> Word:
    return float(raw[0]), float(raw[1]), float(raw[2]), float(raw[3]), str(raw[4])


def _rules(blocks: list[dict[str, Any]]) -> list[Box]:
    """Horizontal rules among the drawings of a page, from top to bottom."""
    found: list[Box] = []
    for block in blocks:
        if block["type"] == 3:
            x0, y0, x1, y1 = block["bbox"]
            if y1 - y0 < 2.2 and x1 - x0 > 24:
                found.append((x0, y0, x1, y1))
    return sorted(found, key=lambda rule: rule[1])


def _main_direction(blocks: list[dict[str, Any]]) -> tuple[float, float]:
    """The direction that most lines run in; where it is not plain, the one of most characters."""
    directions = [raw["dir"] for block in blocks for raw in block["lines"]]
    if directions.count(_RIGHTWARD) >= 0.8 * len(directions):
        return _RIGHTWARD
    counts: dict[tuple[float, float], int] = {}
    for block in blocks:
        for raw in block["lines"]:
            weight = sum(len(span["text"]) for span in raw["spans"])
            counts[raw["dir"]] = counts.get(raw["dir"], 0) + weight
    return max(counts, key=lambda key: counts[key])


def _turn(box: Box, direction: tuple[float, float], width: float, height: float) -> Box:
    """The box as it lies when the page is turned so that its text runs to the right."""
    x0, y0, x1, y1 = box
    across, down = direction
    if abs(across) >= abs(down):
        return (width - x1, height - y1, width - x0, height - y0) if across < 0 else box
    return (y0, width - x1, y1, width - x0) if down > 0 else (height - y1, x0, height - y0, x1)


def _make_line(raw: dict[str, Any], page: int, block: int) -> Line | None:
    spans = raw["spans"]
    text = str(spans[0]["text"]) if len(spans) == 1 else _spaced(spans)
    if not text or text.isspace():
        return None
    total = mathematical = bold = italic = most = 0
    font = ""
    sizes: dict[float, int] = {}
    for span in spans:
        piece = span["text"]
        if piece == " ":
            continue
        count = len(piece)
        total += count
        flags, size, name = span["flags"], span["size"], span["font"]
        sizes[size] = sizes.get(size, 0) + count
        is_math, is_bold = _font_kind(name)
        if is_math:
            mathematical += count
        elif is_bold or flags & 16:
            bold += count
        if flags & 2:
            italic += count
        if count > most:
            most, font = count, name
    x0, y0, x1, y1 = raw["bbox"]
    size = _main_size(sizes, text)
    if size < _SMALLEST:
        # Bitmap fonts of old TeX name no size and no height: both are told from the baseline and the letters' width.
        size = _size_by_width(x1 - x0, len(text))
        baseline = spans[0]["origin"][1]
        y0, y1 = baseline - 0.75 * size, baseline + 0.25 * size
    is_bold = bold > 0 and 10 * bold >= 8 * (total - mathematical)
    lead = _lead(spans) if not is_bold and (bold or italic) else 0
    return Line(text, x0, y0, x1, y1, size, is_bold, 2 * italic > total, mathematical / total, page, block,
                font=font, lead=lead)  # fmt: skip


def _main_size(sizes: dict[float, int], text: str) -> float:
    """The size that most characters are set in, to a tenth of a point."""
    if len(sizes) == 1:
        return round(next(iter(sizes)), 1)
    tenths: dict[float, int] = {}
    for size, count in sizes.items():
        size = round(size, 1)
        tenths[size] = tenths.get(size, 0) + count
    # Small capitals are capitals of two sizes; the larger one is the size the line is set in.
    return max(tenths) if text.isupper() else max(tenths, key=lambda size: tenths[size])


def _lead(spans: list[dict[str, Any]]) -> int:
    """How many characters of a mixed line stand in bold or italic at its start, a number before them included."""
    end = 0
    for index, span in enumerate(spans):
        text = span["text"]
        is_math, is_bold = _font_kind(span["font"])
        styled = is_bold or is_math or span["flags"] & 18
        if text.strip() and not styled and not (index == 0 and text.strip(" .").replace(".", "").isalnum() and len(text) < 9):
            break
        end = index + 1
    return len(_spaced(spans[:end]).rstrip()) if end else 0


def _spaced(spans: list[dict[str, Any]]) -> str:
    """The text of a line. Between mathematics and words a PDF often has a gap and no space character."""
    parts: list[str] = []
    end, last = 0.0, " "
    for span in spans:
        text, box = span["text"], span["bbox"]
        if box[0] - end > 0.18 * span["size"] and last != " " and text[:1] != " ":
            parts.append(" ")
        parts.append(text)
        end, last = box[2], text[-1:]
    return "".join(parts)


def _size_by_width(width: float, letters: int) -> float:
    if letters < 4:
        return 10.0
    estimate = 2.1 * width / letters
    # Within a quarter of ten points the estimate cannot tell sizes apart.
    return 10.0 if 7.5 < estimate < 13.5 else min(float(round(estimate)), 24.0)


@cache
def _font_kind(font: str) -> tuple[bool, bool]:
    """``(is a mathematics font, is bold)`` by the font's name."""
    return bool(_MATH_FONT.search(font)), bool(_BOLD_FONT.search(font))


def _image_share(page: Any) -> float:
    area = abs(page.rect)
    if not area:
        return 0.0
    covered = 0.0
    for image in page.get_image_info():
        x0, y0, x1, y1 = image["bbox"]
        covered += abs((x1 - x0) * (y1 - y0)) / area
    return min(covered, 1.0)


def crop_png(path: Path, page: int, bbox: Box, zoom: float = 2.0) -> bytes:
    """A picture of a part of a page (from 1; points from the top left), for a formula that has no LaTeX."""
    pymupdf = _library()
    with open_pdf(path) as pdf:
        if not 1 <= page <= pdf.page_count:
            raise BadDocument(f"{path.name} has no page {page}: it has {pdf.page_count}")
        pixmap = pdf.handle[page - 1].get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=pymupdf.Rect(bbox))
        return bytes(pixmap.tobytes("png"))


def page_png(path: Path, page: int, dots_per_inch: int = 200, longest_side: int = 3500) -> bytes:
    """A whole page (from 1) as PNG, turned upright as the file says, at most ``longest_side`` pixels long."""
    pymupdf = _library()
    with open_pdf(path) as pdf:
        handle = pdf.handle[page - 1]
        zoom = min(dots_per_inch / 72, longest_side / max(handle.rect.width, handle.rect.height, 1.0))
        return bytes(handle.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom)).tobytes("png"))


def page_texts(path: Path) -> list[str]:
    """The plain text of every page, words joined across lines: used to find the page of a known sentence."""
    pymupdf = _library()
    flags = pymupdf.TEXT_DEHYPHENATE | pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    with open_pdf(path) as pdf:
        return [str(pdf.handle[index].get_text("text", flags=flags)) for index in range(pdf.page_count)]

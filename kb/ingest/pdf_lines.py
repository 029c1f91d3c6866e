"""The PDF reader behind one small interface: a file in, pages of visual lines out, in content order.

This is the only file that names pymupdf. Content order is reading order for what TeX writes, so nothing is sorted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb.errors import BadDocument

MAX_PAGES = 2000
_MATH_FONT = re.compile(
    r"CMMI|CMSY|CMEX|MSBM|MSAM|EUFM|EUSM|rsfs|StandardSymL|Math|Symbol|txsy|txmia|pxsy|LMMI|LMSY", re.I
)
_BOLD_FONT = re.compile(r"bold|black|heavy|\bbd\b|-B$|CMBX|CMSSBX|NimbusRomNo9L-Medi|Semibold|Demi|-Medium", re.I)


@dataclass(slots=True)
class Line:
    """One visual line: text, box in points from the top left, and the look of its letters.

    ``math`` is the share of characters set in a mathematics font; ``block`` numbers MuPDF's text blocks.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    italic: bool
    math: float
    page: int
    block: int

    @property
    def height(self) -> float:
        return self.y1 - self.y0


@dataclass(slots=True)
class Page:
    """A page: number from 1, size in points, lines, and the share of it that pictures cover (0 unless few letters)."""

    number: int
    width: float
    height: float
    lines: list[Line]
    image_share: float
    turned: list[str]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


@dataclass(slots=True)
class PdfFile:
    """An open PDF."""

    handle: Any
    path: Path
    flags: tuple[str, ...]

    @property
    def page_count(self) -> int:
        return int(self.handle.page_count)

    def pages(self) -> Iterator[Page | tuple[int, str]]:
        """Every page in order; a page that cannot be read is its number and the reason."""
        for index in range(self.page_count):
            try:
                yield _read_page(self.handle[index], index + 1)
            except Exception as error:  # MuPDF raises many kinds, and one bad page must not lose the others
                yield index + 1, f"cannot be read: {error}"

    def outline(self) -> list[tuple[int, str, int]]:
        """``(level, title, page)`` of the file's own table of contents; empty when it has none that can be read."""
        try:
            return [(int(level), str(title).strip(), int(page)) for level, title, page in self.handle.get_toc()]
        except Exception:
            return []


@contextmanager
def open_pdf(path: Path) -> Iterator[PdfFile]:
    """Open a PDF. Raises BadDocument with the true reason: no PDF, empty, damaged, or locked by a password."""
    _check_bytes(path)
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        handle = pymupdf.open(path, filetype="pdf")
    except Exception as error:
        raise BadDocument(f"damaged: {_first_line(error)}") from None
    try:
        if handle.needs_pass:
            raise BadDocument("needs a password", "save a copy without the password and ingest that")
        if not handle.is_pdf:
            raise BadDocument("not a PDF")
        if handle.page_count == 0:
            raise BadDocument("damaged: 0 pages", "fetch the file again; it may have been cut short", transient=True)
        if handle.page_count > MAX_PAGES:
            raise BadDocument(f"too long: {handle.page_count} pages, at most {MAX_PAGES} are read")
        yield PdfFile(handle, path, ("repaired",) if handle.is_repaired else ())
    finally:
        handle.close()


def _check_bytes(path: Path) -> None:
    with path.open("rb") as stream:
        head = stream.read(1024)
        stream.seek(0)
        encrypted = b"/Encrypt" in stream.read()
    if not head:
        raise BadDocument("empty file", transient=True)
    if b"%PDF-" in head:
        if encrypted and _page_count_is_zero(path):
            raise BadDocument("needs a password, or damaged: 0 pages can be read")
        return
    start = head.lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise BadDocument("not a PDF (HTML)", "a web page was saved in its place; fetch the PDF again", transient=True)
    raise BadDocument("not a PDF")


def _page_count_is_zero(path: Path) -> bool:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(path, filetype="pdf") as handle:
            return not handle.needs_pass and handle.page_count == 0
    except Exception:
        return True


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def _read_page(page: Any, number: int) -> Page:
    import pymupdf

    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    content = page.get_text("dict", flags=flags)
    lines: list[Line] = []
    turned: list[str] = []
    upright = _main_direction(content["blocks"])
    for index, block in enumerate(content["blocks"]):
        for raw in block["lines"]:
            if raw["dir"] != upright:
                turned.append("".join(span["text"] for span in raw["spans"]))
                continue
            line = _make_line(raw, number, index)
            if line is None:
                continue
            if lines and _continues(lines[-1], line):
                _join(lines[-1], line)
            else:
                lines.append(line)
    letters = sum(len(line.text) for line in lines)
    share = _image_share(page) if letters < 400 else 0.0
    return Page(number, content["width"], content["height"], lines, share, turned)


def _main_direction(blocks: list[dict[str, Any]]) -> tuple[float, float]:
    counts: dict[tuple[float, float], int] = {}
    for block in blocks:
        for raw in block["lines"]:
            counts[raw["dir"]] = counts.get(raw["dir"], 0) + sum(len(span["text"]) for span in raw["spans"])
    return max(counts, key=lambda key: counts[key]) if counts else (1.0, 0.0)


def _make_line(raw: dict[str, Any], page: int, block: int) -> Line | None:
    spans = raw["spans"]
    text = "".join([span["text"] for span in spans]).strip()
    if not text:
        return None
    total = mathematical = bold = italic = 0
    sizes: dict[float, int] = {}
    for span in spans:
        count = len(span["text"].strip())
        if not count:
            continue
        total += count
        font, flags = span["font"], span["flags"]
        size = round(span["size"], 1)
        sizes[size] = sizes.get(size, 0) + count
        if _is_math(font):
            mathematical += count
        elif flags & 16 or _is_bold(font):
            bold += count
        if flags & 2:
            italic += count
    x0, y0, x1, y1 = raw["bbox"]
    # Small capitals are capitals of two sizes; the larger one is the size the line is set in.
    size = max(sizes) if text.isupper() else max(sizes, key=lambda key: sizes[key])
    return Line(text, x0, y0, x1, y1, size, 10 * bold >= 9 * (total - mathematical) and bold > 0,
                2 * italic > total, mathematical / total, page, block)  # fmt: skip


_font_kinds: dict[tuple[str, str], bool] = {}


def _is_math(font: str) -> bool:
    key = ("math", font)
    if key not in _font_kinds:
        _font_kinds[key] = bool(_MATH_FONT.search(font))
    return _font_kinds[key]


def _is_bold(font: str) -> bool:
    key = ("bold", font)
    if key not in _font_kinds:
        _font_kinds[key] = bool(_BOLD_FONT.search(font))
    return _font_kinds[key]


def _continues(last: Line, line: Line) -> bool:
    """Whether MuPDF cut one visual line in two: same baseline, to the right, no more than a wide space apart."""
    if last.block != line.block:
        return False
    size = max(last.size, line.size)
    return abs(last.y1 - line.y1) < 0.45 * size and -1.0 <= line.x0 - last.x1 < 2.0 * size


def _join(last: Line, line: Line) -> None:
    gap = " " if line.x0 - last.x1 > 0.12 * last.size else ""
    weight_a, weight_b = len(last.text), len(line.text)
    last.math = (last.math * weight_a + line.math * weight_b) / (weight_a + weight_b)
    last.bold = last.bold and (line.bold or line.math > 0.9)
    last.italic = last.italic and line.italic
    last.size = last.size if weight_a >= weight_b else line.size
    last.text = f"{last.text}{gap}{line.text}"
    last.x1, last.y0, last.y1 = line.x1, min(last.y0, line.y0), max(last.y1, line.y1)


def _image_share(page: Any) -> float:
    area = abs(page.rect)
    if not area:
        return 0.0
    covered = 0.0
    for image in page.get_image_info():
        x0, y0, x1, y1 = image["bbox"]
        covered += abs((x1 - x0) * (y1 - y0)) / area
    return min(covered, 1.0)


def page_words(pdf: PdfFile, page: int) -> list[tuple[float, float, float, float, str]]:
    """``(x0, y0, x1, y1, word)`` of a page, numbered from 1."""
    return [tuple(word[:5]) for word in pdf.handle[page - 1].get_text("words")]  # type: ignore[misc]


def crop_png(path: Path, page: int, bbox: tuple[float, float, float, float], zoom: float = 2.0) -> bytes:
    """A picture of a part of a page (points from the top left), for a formula that has no LaTeX."""
    import pymupdf

    with open_pdf(path) as pdf:
        pixmap = pdf.handle[page - 1].get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=pymupdf.Rect(bbox))
        return bytes(pixmap.tobytes("png"))


def page_picture(path: Path, page: int, dots_per_inch: int = 200) -> bytes:
    """A whole page as PNG, turned upright as the file says."""
    with open_pdf(path) as pdf:
        return bytes(pdf.handle[page - 1].get_pixmap(dpi=dots_per_inch).tobytes("png"))


def page_texts(path: Path) -> list[str]:
    """The plain text of every page, words joined across lines: used to find the page of a known sentence."""
    import pymupdf

    flags = pymupdf.TEXT_DEHYPHENATE | pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    with open_pdf(path) as pdf:
        return [str(pdf.handle[index].get_text("text", flags=flags)) for index in range(pdf.page_count)]

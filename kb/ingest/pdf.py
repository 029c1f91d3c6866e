"""A PDF as a document: title, stamp, sections, paragraphs, flattened formulas, tables, captions, references.

Formulas in a PDF are glyphs in places: they are kept as such, flagged ``flattened``, and never offered as LaTeX.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kb.errors import BadDocument
from kb.ingest.ids import try_arxiv_id
from kb.ingest.page_gate import judge_page
from kb.ingest.pdf_blocks import BlockMaker, body_size, caption_of, clean, drop_furniture, hyphenated_words
from kb.ingest.pdf_headings import Heading, find_headings
from kb.ingest.pdf_lines import Line, Page, PdfFile, open_pdf, page_words
from kb.ingest.pdf_references import find_unheaded, split_references
from kb.ingest.pdf_tables import make_table, read_grid
from kb.ingest.reference_entry import parse_reference
from kb.model import Block, Document, Figure, PageReport, Paragraph, Provenance, Quality, Reference, Section, Table
from kb.sections import section_kind

PARSER_VERSION = 1
_STAMP = re.compile(r"arXiv:\s*(\S+)(?:\s+\[[\w.-]+\])?", re.IGNORECASE)
_ABSTRACT_RUN_IN = re.compile(r"^(?:Abstract|ABSTRACT|摘\s*要)\s*[.:：—–-]*\s*(?=\S)")


def parse_pdf(path: Path) -> Document:
    """Read a PDF whole. Raises BadDocument with the reason when nothing of it can be read."""
    with open_pdf(path) as pdf:
        pages, reports = _pages(pdf)
        outline = pdf.outline()
        identifier, version = _stamp(pages)
        title = _title(pages)
        tables = _Tables(pdf)
        document = _document(pages, outline, tables)
        flags = _flags(pdf, reports)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return replace(
        document,
        title=title or path.stem,
        arxiv_id=identifier,
        version=version,
        provenance=Provenance("pdf", path.name, digest, "pymupdf", _tool_version(), PARSER_VERSION),
        pages=tuple(reports),
        page_count=len(reports),
        quality=_quality(reports),
        flags=flags,
    )


def _tool_version() -> str:
    import pymupdf

    return str(pymupdf.__version__)


def _pages(pdf: PdfFile) -> tuple[list[Page], list[PageReport]]:
    """The pages that pass the gate, and the gate's word on every page."""
    pages: list[Page] = []
    reports: list[PageReport] = []
    for page in pdf.pages():
        if isinstance(page, tuple):
            reports.append(PageReport(page[0], "none", page[1]))
            continue
        report = judge_page(page.number, page.text, page.image_share)
        reports.append(report)
        if not report.reason:
            pages.append(page)
    drop_furniture(pages)
    return pages, reports


def _quality(reports: Sequence[PageReport]) -> Quality:
    failed = sum(1 for report in reports if report.reason)
    if failed == len(reports):
        return "none"
    return "good" if failed <= 0.2 * len(reports) else "poor"


def _flags(pdf: PdfFile, reports: Sequence[PageReport]) -> tuple[str, ...]:
    kinds = {report.reason.split(":")[0] for report in reports if report.reason}
    truncated = pdf.flags and not _has_end_mark(pdf.path)
    return (*pdf.flags, *(("truncated",) if truncated else ()), *sorted(kinds))


def _has_end_mark(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 2048))
        return b"%%EOF" in stream.read()


def _stamp(pages: Sequence[Page]) -> tuple[str | None, int | None]:
    """The arXiv id and version printed on the first page: turned in the margin, or as a line of its own."""
    if not pages or pages[0].number != 1:
        return None, None
    candidates = [*pages[0].turned, *(line.text for line in pages[0].lines if line.text.lower().startswith("arxiv:"))]
    for text in candidates:
        match = _STAMP.search(text)
        found = try_arxiv_id(match[1]) if match else None
        if found:
            return found.bare, found.version
    return None, None


def _title(pages: Sequence[Page]) -> str:
    """The largest lines in the upper part of the first page."""
    if not pages or pages[0].number != 1:
        return ""
    page = pages[0]
    for depth in (0.33, 0.6):
        upper = [line for line in page.lines if line.y0 < depth * page.height and line.math < 0.5]
        upper = [line for line in upper if not line.text.lower().startswith("arxiv:")]
        for size in sorted({round(line.size) for line in upper}, reverse=True):
            text = clean(BlockMaker(size, frozenset()).join(_title_lines(upper, size)))
            if sum(char.isalpha() for char in text) >= 6:
                return " ".join(text.split())
    return ""


def _title_lines(lines: Sequence[Line], size: float) -> list[Line]:
    """The lines of about this size that follow each other, and what stands in one block with them in a similar size."""
    run = [line for line in lines if abs(line.size - size) <= 0.6]
    kept = run[:1]
    for line in run[1:]:
        if -0.5 * size < line.y0 - kept[-1].y1 < 1.6 * size or abs(line.y1 - kept[-1].y1) < 0.5 * size:
            kept.append(line)
    blocks = {line.block for line in kept}
    return [line for line in lines if line in kept or (line.block in blocks and line.size >= 0.75 * size)]


class _Tables:
    """Reads table grids on demand; words of a page are fetched once."""

    def __init__(self, pdf: PdfFile) -> None:
        self._pdf = pdf
        self._words: dict[int, list[tuple[float, float, float, float, str]]] = {}

    def read(self, caption: Figure, lines: Sequence[Line]) -> Table | None:
        """The table made of these lines."""
        page = lines[0].page
        if page not in self._words:
            self._words[page] = page_words(self._pdf, page)
        box = (min(line.y0 for line in lines) - 1, max(line.y1 for line in lines) + 1,
               min(line.x0 for line in lines) - 2, max(line.x1 for line in lines) + 2)  # fmt: skip
        rows = read_grid(self._words[page], *box)
        return make_table(caption.id, caption.number, caption.caption, page, rows)


def _document(pages: Sequence[Page], outline: list[tuple[int, str, int]], tables: _Tables) -> Document:
    size = body_size(pages)
    maker = BlockMaker(size, hyphenated_words(pages))
    lines = [line for page in pages for line in page.lines]
    headings = _with_references(find_headings(lines, outline, size), lines)
    sections: list[Section] = []
    references: list[Reference] = []
    abstract = ""
    for heading, own in _cut(lines, headings):
        kind = section_kind(heading.title, heading.number) if heading else "other"
        if kind == "references" and not references:
            entries, rest = split_references(own)
            references = [parse_reference(index, maker.join(entry)) for index, entry in enumerate(entries, start=1)]
            if rest:
                name = f"s{len(sections) + 1}"
                blocks = tuple(_blocks(rest, maker, tables))
                sections.append(Section(name, "", 1, "appendix", None, blocks, rest[0].page))
            continue
        blocks = _blocks(own, maker, tables)
        if kind == "abstract" and not abstract:
            abstract = "\n\n".join(block.text for block in blocks if isinstance(block, Paragraph))
            continue
        if heading is None:
            abstract, blocks = _run_in_abstract(blocks)
        if heading or blocks:
            sections.append(_section(heading, blocks, own, len(sections)))
    return Document(
        "", Provenance("pdf", ""), abstract=abstract, sections=tuple(sections), references=tuple(references)
    )


def _with_references(headings: list[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the place of a reference list that no heading announces."""
    if any(section_kind(heading.title, heading.number) == "references" for heading in headings):
        return headings
    at = find_unheaded(lines)
    if at is None:
        return headings
    return sorted([*headings, Heading(at, 0, "References", None, 1)], key=lambda heading: heading.at)


def _cut(lines: Sequence[Line], headings: Sequence[Heading]) -> list[tuple[Heading | None, Sequence[Line]]]:
    starts = [heading.at for heading in headings]
    parts: list[tuple[Heading | None, Sequence[Line]]] = [(None, lines[: starts[0] if starts else len(lines)])]
    for heading, end in zip(headings, [*starts[1:], len(lines)], strict=False):
        parts.append((heading, lines[heading.at + heading.count : end]))
    return parts


def _section(heading: Heading | None, blocks: list[Block], own: Sequence[Line], at: int) -> Section:
    page = own[0].page if own else None
    if heading is None:
        return Section("front", "", 1, "other", None, tuple(blocks), page)
    kind = section_kind(heading.title, heading.number)
    name = f"S{heading.number}" if heading.number else f"s{at + 1}"
    return Section(name, heading.title, max(heading.level, 1), kind, heading.number, tuple(blocks), page)


def _run_in_abstract(blocks: list[Block]) -> tuple[str, list[Block]]:
    """An abstract without a heading of its own: the paragraph that opens with the word."""
    for index, block in enumerate(blocks):
        if isinstance(block, Paragraph) and (match := _ABSTRACT_RUN_IN.match(block.text)):
            return block.text[match.end() :], blocks[:index] + blocks[index + 1 :]
    return "", blocks


def _blocks(lines: Sequence[Line], maker: BlockMaker, tables: _Tables) -> list[Block]:
    """The blocks of a section, its table grids lifted out of the running lines."""
    rest: list[Line] = []
    found: dict[str, Table] = {}
    index = 0
    while index < len(lines):
        match = caption_of(lines[index])
        if match and match["kind"].lower().startswith(("tab", "表")):
            end, table, before = _table_at(lines, index, maker, tables, (len(rest) and rest) or [])
            if table:
                found[table.id] = table
                del rest[len(rest) - before :]
                rest += lines[index : end[0]]
                index = end[1]
                continue
        rest.append(lines[index])
        index += 1
    return [found.get(block.id, block) if isinstance(block, Figure) else block for block in maker.blocks(rest)]


def _table_at(
    lines: Sequence[Line], at: int, maker: BlockMaker, tables: _Tables, above: Sequence[Line]
) -> tuple[tuple[int, int], Table | None, int]:
    """The table whose caption opens at ``at``: its grid lies below the caption, or else above it.

    Returns (end of the caption, end of the grid), the table, and how many lines above belong to it.
    """
    caption_end = at + 1
    while caption_end < len(lines) and lines[caption_end].block == lines[at].block:
        caption_end += 1
    match = caption_of(lines[at])
    assert match is not None
    text = maker.join(lines[at:caption_end])
    text = re.sub(r"^[\s.:：|—–-]+", "", text[match.end("number") - match.start() :])
    caption = Figure(f"tab-{match['number']}", text, match["number"], None, lines[at].page)
    end = caption_end
    while end < len(lines) and lines[end].page == lines[at].page and _is_table_line(lines, end):
        end += 1
    below = lines[caption_end:end]
    start = len(above)
    while start > 0 and above[start - 1].page == lines[at].page and _is_table_line(above, start - 1):
        start -= 1
    over = above[start:]
    if len(below) >= len(over) and len(below) >= 4 and (table := tables.read(caption, below)):
        return (caption_end, end), table, 0
    if len(over) >= 4 and (table := tables.read(caption, over)):
        return (caption_end, caption_end), table, len(over)
    return (caption_end, caption_end), None, 0


def _is_table_line(lines: Sequence[Line], at: int) -> bool:
    """Whether a line is a cell or a row of cells, no line of running text and no caption."""
    line = lines[at]
    if caption_of(line):
        return False
    neighbours = [lines[i] for i in (at - 1, at + 1) if 0 <= i < len(lines)]
    shares_row = any(other.page == line.page and abs(other.y1 - line.y1) < 2.5 for other in neighbours)
    if shares_row:
        return True
    width = line.x1 - line.x0
    return len(line.text) < 40 and width < 200 and not re.search(r"[a-z]{3,}[.]$", line.text)


__all__ = ["BadDocument", "parse_pdf"]

"""A PDF as a document: title, stamp, sections, paragraphs, flattened formulas, tables, captions, references.

Formulas in a PDF are glyphs in places: they are kept as such, flagged ``flattened``, and never offered as LaTeX.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kb.ingest.page_gate import judge_page
from kb.ingest.pdf_blocks import BlockMaker
from kb.ingest.pdf_front import find_stamp, find_title, split_abstract, split_front, title_text
from kb.ingest.pdf_furniture import body_size, drop_furniture
from kb.ingest.pdf_headings import Heading, find_headings
from kb.ingest.pdf_lines import Line, Page, UnreadablePage
from kb.ingest.pdf_reader import TOOL, PdfFile, crop_png, open_pdf, page_png, page_texts, tool_version
from kb.ingest.pdf_references import find_unheaded, split_references
from kb.ingest.pdf_run_ins import split_run_ins
from kb.ingest.pdf_tables import lift_tables
from kb.ingest.pdf_text import Joiner
from kb.ingest.reference_entry import parse_reference
from kb.ingest.section_tree import inherit_kinds
from kb.model import Block, Document, PageReport, Provenance, Quality, Reference, Section
from kb.sections import section_kind

PARSER_VERSION = 3
_POOR_SHARE = 0.2
__all__ = ["crop_png", "page_png", "page_texts", "parse_pdf"]


def parse_pdf(path: Path, *, with_outline: bool = True) -> Document:
    """Read a PDF whole; without its outline, headings are told from their look alone.

    Raises BadDocument with the reason when nothing of it can be read.
    """
    with open_pdf(path) as pdf:
        pages, reports = _pages(pdf)
        outline = pdf.outline() if with_outline else []
        flags = _flags(pdf, reports)
    identifier, version = find_stamp(pages)
    drop_furniture(pages)
    joiner = Joiner(pages)
    title = find_title(pages)
    document = _document(pages, outline, title, joiner)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return replace(
        document,
        title=title_text(title, joiner) or path.stem,
        arxiv_id=identifier,
        version=version,
        provenance=Provenance("pdf", path.name, digest, TOOL, tool_version(), PARSER_VERSION),
        pages=tuple(reports),
        page_count=len(reports),
        quality=_quality(reports),
        flags=flags,
    )


def _pages(pdf: PdfFile) -> tuple[list[Page], list[PageReport]]:
    """The pages that pass the gate, and the gate's word on every page."""
    pages: list[Page] = []
    reports: list[PageReport] = []
    for page in pdf.pages():
        if isinstance(page, UnreadablePage):
            reports.append(PageReport(page.number, "none", page.reason))
            continue
        report = judge_page(page.number, page.text, page.image_share)
        reports.append(report)
        if not report.reason:
            pages.append(page)
    return pages, reports


def _quality(reports: Sequence[PageReport]) -> Quality:
    failed = sum(1 for report in reports if report.reason)
    if failed == len(reports):
        return "none"
    return "good" if failed <= _POOR_SHARE * len(reports) else "poor"


def _flags(pdf: PdfFile, reports: Sequence[PageReport]) -> tuple[str, ...]:
    """``repaired``, ``truncated``, and the kinds of failed pages: ``scan``, ``garbage``, ``unreadable``."""
    flags = ["repaired"] if pdf.repaired else []
    if pdf.repaired and not _has_end_mark(pdf.path):
        flags.append("truncated")
    kinds = {report.reason.split(":")[0] for report in reports if report.reason}
    return (*flags, *sorted("unreadable" if kind.startswith("cannot") else kind for kind in kinds))


def _has_end_mark(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 2048))
        return b"%%EOF" in stream.read()


def _document(
    pages: Sequence[Page], outline: list[tuple[int, str, int]], title: Sequence[Line], joiner: Joiner
) -> Document:
    size = body_size(pages)
    maker = BlockMaker(size, joiner, lift_tables(pages, joiner))
    in_title = {id(line) for line in title}
    lines = split_run_ins([line for page in pages for line in page.lines if id(line) not in in_title])
    if not lines:
        # A sheet whose only lines were taken for its title is all text.
        lines = list(title)
    headings = _with_reference_list(find_headings(lines, outline, size), lines)
    sections: list[Section] = []
    references: list[Reference] = []
    abstract = ""
    for heading, own in _cut(lines, headings):
        kind = section_kind(heading.title, heading.number) if heading else "other"
        if kind == "references" and not references:
            references, own = _read_references(own, joiner)
            heading = None
            if not own:
                continue
        blocks = maker.blocks(own)
        if kind == "abstract" and not abstract:
            abstract, blocks = split_abstract(blocks)
            heading = None
        elif heading is None and headings and not sections and not abstract:
            abstract, blocks = split_front(blocks)
        if heading or blocks:
            sections.append(_section(heading, blocks, own, sections))
    return Document("", Provenance("pdf", ""), abstract=abstract, sections=tuple(inherit_kinds(sections)), references=tuple(references))


def _read_references(lines: Sequence[Line], joiner: Joiner) -> tuple[list[Reference], Sequence[Line]]:
    entries, rest = split_references(lines)
    return [parse_reference(index, joiner.join(entry)) for index, entry in enumerate(entries, start=1)], rest


def _with_reference_list(headings: list[Heading], lines: Sequence[Line]) -> list[Heading]:
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


def _section(heading: Heading | None, blocks: list[Block], own: Sequence[Line], before: list[Section]) -> Section:
    page = own[0].page if own else None
    if heading is None:
        # What no heading announces: names and addresses in front, notes below the list of references.
        name = "front" if not before else f"s{len(before) + 1}"
        title = "Front matter" if not before else "Notes"
        return Section(name, title, 1, "other", None, tuple(blocks), page)
    kind = section_kind(heading.title, heading.number)
    name = f"S{heading.number}" if heading.number else f"s{len(before) + 1}"
    if any(section.id == name for section in before):
        name = f"s{len(before) + 1}"
    return Section(name, heading.title, max(heading.level, 1), kind, heading.number, tuple(blocks), heading.page or page)

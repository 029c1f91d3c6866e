"""One paper's files read by every route that is open, merged into one document. Pure: files in, a document out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kb.errors import BadDocument
from kb.ingest.merge import merge, metadata_only
from kb.ingest.originals import PaperFiles, digest_of, entry_of
from kb.model import Document, Metadata, PageReport, Provenance


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, the original that its text came from, and the reasons why better routes were not taken."""

    document: Document
    used: Path | None = None
    remarks: tuple[str, ...] = ()


def read_paper(files: PaperFiles, metadata: Metadata | None) -> Reading:
    """Read a paper's files. Raises BadDocument when none of them can be read and there is no record either."""
    remarks: list[str] = []
    html = _read_html(files.html, metadata, remarks)
    latex = _read_source(files.source, remarks)
    best = html or latex
    whole = best is None or not best.sections or not best.references
    pdf, texts = _read_pdf(files.pdf, remarks, whole=whole)
    document = merge(metadata, html, latex, pdf, texts)
    if document is None:
        reason = "; ".join(remarks) or "there is no file to read"
        if metadata is None:
            raise BadDocument(reason)
        return Reading(metadata_only(metadata, reason), None, tuple(remarks))
    used = _file_of(document, html, latex, files)
    return Reading(replace(document, provenance=_origin(document, used)), used, tuple(remarks))


def _file_of(document: Document, html: Document | None, latex: Document | None, files: PaperFiles) -> Path | None:
    """The original that the text of the merged document came from."""
    tool = document.provenance.tool
    for reading, path in ((html, files.html), (latex, files.source)):
        if reading is not None and reading.sections and reading.provenance.tool == tool:
            return path
    return files.pdf


def _origin(document: Document, used: Path | None) -> Provenance:
    old = document.provenance
    if used is None:
        return old
    entry = entry_of(used)
    digest = entry.get("sha256") or digest_of(used)
    return replace(old, source=entry.get("source") or used.name, sha256=digest, fetched_at=entry.get("day", ""))


def _read_html(path: Path | None, metadata: Metadata | None, remarks: list[str]) -> Document | None:
    from kb.ingest.html import acceptable, parse_html

    if path is None:
        return None
    document = parse_html(path.read_bytes())
    reason = acceptable(document, metadata.title if metadata else "")
    if reason:
        remarks.append(f"HTML not used: {reason}")
        return None
    return document


def _read_source(path: Path | None, remarks: list[str]) -> Document | None:
    from kb.ingest.archive import read_source
    from kb.ingest.latex import parse_latex
    from kb.ingest.plain_html import parse_plain_html

    if path is None:
        return None
    try:
        source = read_source(path)
        if source.kind == "latex":
            return parse_latex(source.files)
        if source.kind == "html":
            return parse_plain_html(source.files)
        raise BadDocument("no TeX source: " + ("plain text" if source.kind == "text" else source.kind))
    except BadDocument as error:
        remarks.append(f"source not used: {error.message}")
        return None


def _read_pdf(path: Path | None, remarks: list[str], whole: bool) -> tuple[Document | None, list[str]]:
    """The PDF's own reading where a better one is missing or has gaps, and its page texts where there is a better."""
    from kb.ingest.pdf import parse_pdf
    from kb.ingest.pdf_reader import page_texts

    if path is None:
        return None, []
    try:
        return (parse_pdf(path) if whole else None), page_texts(path)
    except BadDocument as error:
        remarks.append(f"PDF not used: {error.message}")
        return None, []


def with_failed_pages_read(reading: Reading, say_page: Callable[[int, int], None], use_ocr: bool = True) -> Reading:
    """The reading with its failed pages read by OCR, or with a remark on how to get that.

    ``say_page`` is told the running number of a page and how many there are.
    """
    from kb.ingest import ocr

    document, pdf = reading.document, reading.used
    failed = failed_pages(reading)
    if not failed or pdf is None:
        return reading
    kinds = ", ".join(sorted({page.reason.split(":")[0] for page in failed}))
    if use_ocr and ocr.is_installed():
        document = ocr.with_ocr(document, pdf, say_page)
        failed = failed_pages(replace(reading, document=document))
        if not failed:
            return replace(reading, document=document)
        hint = "by OCR either"
    else:
        hint = f"; {ocr.HINT}" if use_ocr else "; leave out --no-ocr to read them from their pictures"
    remark = f"{len(failed)} of {len(document.pages)} pages cannot be read ({kinds}) {hint}".replace(" ;", ";")
    return replace(reading, document=document, remarks=(*reading.remarks, remark))


def failed_pages(reading: Reading) -> list[PageReport]:
    """The pages of a reading from a PDF that did not pass the gate and that OCR has not read."""
    document = reading.document
    if document.provenance.route != "pdf":
        return []
    return [page for page in document.pages if page.reason and "OCR" not in page.reason]

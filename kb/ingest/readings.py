"""One paper's files read by every route that is open, merged into one document. Pure: files in, a document out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from kb.errors import BadDocument
from kb.ingest.html import acceptable, parse_html
from kb.ingest.merge import merge, metadata_only
from kb.model import Document, Metadata


@dataclass(frozen=True, slots=True)
class PaperFiles:
    """The originals of one version. Any may be missing."""

    html: Path | None = None
    source: Path | None = None
    pdf: Path | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A document and the reasons why better routes were not taken."""

    document: Document
    remarks: tuple[str, ...] = ()


def read_paper(files: PaperFiles, metadata: Metadata | None) -> Reading:
    """Read a paper's files. Raises BadDocument when none of them can be read and there is no record either."""
    remarks: list[str] = []
    html = _read_html(files.html, metadata, remarks)
    latex = _read_source(files.source, remarks)
    pdf, texts = _read_pdf(files.pdf, remarks, wanted=html is None and latex is None)
    document = merge(metadata, html, latex, pdf, texts) or pdf
    if document is None:
        reason = "; ".join(remarks) or "no file"
        if metadata is None:
            raise BadDocument(reason)
        return Reading(metadata_only(metadata, reason), tuple(remarks))
    used = {"html": files.html, "latex": files.source}.get(document.provenance.route, files.pdf)
    provenance = replace(document.provenance, source=used.name if used else "", sha256=_digest(used))
    return Reading(replace(document, provenance=provenance), tuple(remarks))


def _digest(path: Path | None) -> str:
    import hashlib

    if path is None:
        return ""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for item in sorted(path.rglob("*")):
        if item.is_file():
            digest.update(item.relative_to(path).as_posix().encode("utf-8") + b"\0" + item.read_bytes())
    return digest.hexdigest()


def _read_html(path: Path | None, metadata: Metadata | None, remarks: list[str]) -> Document | None:
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

    if path is None:
        return None
    try:
        source = read_source(path)
        if source.kind == "latex":
            return parse_latex(source.files)
        if source.kind == "html":
            return _plain_html(source.files["source.html"])
        if source.kind == "text":
            raise BadDocument("no TeX source: plain text")
        raise BadDocument(f"no TeX source: {source.kind}")
    except BadDocument as error:
        remarks.append(f"source not used: {error.message}")
        return None


def _plain_html(data: bytes) -> Document | None:
    """A paper that was submitted as HTML: its headings and paragraphs."""
    from kb.ingest.plain_html import parse_plain_html

    return parse_plain_html(data)


def _read_pdf(path: Path | None, remarks: list[str], wanted: bool) -> tuple[Document | None, list[str]]:
    """The PDF's own reading where no better one is, and its page texts for page numbers either way."""
    from kb.ingest.pdf import parse_pdf
    from kb.ingest.pdf_reader import page_texts

    if path is None:
        return None, []
    try:
        if not wanted:
            return None, page_texts(path)
        document = parse_pdf(path)
    except BadDocument as error:
        remarks.append(f"PDF not used: {error.message}")
        return None, []
    return document, []


def with_failed_pages_read(reading: Reading, pdf: Path | None) -> Reading:
    """The reading with its failed pages read by OCR, or with a remark on how to get that."""
    from kb.ingest import ocr

    document = reading.document
    if pdf is None or document.provenance.route != "pdf":
        return reading
    if ocr.is_installed():
        document = ocr.with_ocr(document, pdf)
    failed = [page for page in document.pages if page.reason and "OCR" not in page.reason]
    if not failed:
        return replace(reading, document=document)
    kinds = ", ".join(sorted({page.reason.split(":")[0] for page in failed}))
    hint = "" if ocr.is_installed() else f"; {ocr.HINT}"
    remark = f"{len(failed)} of {len(document.pages)} pages cannot be read ({kinds}){hint}"
    return Reading(document, (*reading.remarks, remark))

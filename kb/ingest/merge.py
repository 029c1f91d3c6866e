"""Several readings of one paper made into one document: the best route gives the text, lower routes fill its gaps.

The route of every field that did not come with the text is kept by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.ingest.pages import with_pages
from kb.model import Document, Equation, Metadata, Provenance, Route, Section


def merge(
    metadata: Metadata | None,
    html: Document | None,
    latex: Document | None,
    pdf: Document | None,
    page_texts: Sequence[str] = (),
) -> Document | None:
    """The document of the best reading, or None when there is no reading with text.

    ``html`` must have passed its checks. The order is HTML, LaTeX, PDF.
    """
    readings = [reading for reading in (html, latex, pdf) if reading is not None and reading.sections]
    if not readings and pdf is not None:
        readings = [pdf]  # nothing but pages that failed the gate
    if not readings:
        return None
    best, lower = readings[0], readings[1:]
    routes: dict[str, Route] = {}
    if best is html and latex is not None:
        best = _with_labels(best, latex)
        routes["labels"] = "latex"
    for reading in lower:
        best, filled = _fill(best, reading)
        routes |= dict.fromkeys(filled, reading.provenance.route)
    if page_texts and best.provenance.route != "pdf":
        best = with_pages(best, page_texts)
        routes["pages"] = "pdf"
    best = replace(best, provenance=replace(best.provenance, routes=routes))
    return with_record(best, metadata) if metadata else best


def with_record(document: Document, metadata: Metadata) -> Document:
    """The document under the title, authors and abstract of arXiv's record, which are never misread."""
    told = {name: value for name in ("title", "authors", "abstract") if (value := getattr(metadata, name))}
    routes = document.provenance.routes | dict.fromkeys(told, "api")
    return replace(
        document,
        **told,
        arxiv_id=metadata.arxiv_id,
        version=metadata.version,
        provenance=replace(document.provenance, routes=routes),
    )


def _fill(best: Document, lower: Document) -> tuple[Document, list[str]]:
    """Take from a lower reading what the better one lacks; returns the names of the fields taken."""
    taken: dict[str, object] = {}
    for name in ("title", "authors", "abstract", "references", "arxiv_id", "version", "page_count"):
        if not getattr(best, name) and getattr(lower, name):
            taken[name] = getattr(lower, name)
    filled = replace(best, **taken) if taken else best  # type: ignore[arg-type]
    return filled, [name for name in taken if name not in ("arxiv_id", "version")]


def _with_labels(html: Document, latex: Document) -> Document:
    """Labels and unexpanded sources exist only in the LaTeX; equations are joined by their number."""
    known = {equation.number: equation for equation in latex.equations if equation.number}

    def join(block: object) -> object:
        if isinstance(block, Equation) and block.number in known:
            twin = known[block.number]
            return replace(block, label=block.label or twin.label, latex_src=block.latex_src or twin.latex_src)
        return block

    sections = tuple(
        Section(s.id, s.title, s.level, s.kind, s.number, tuple(join(block) for block in s.blocks), s.page)  # type: ignore[misc]
        for s in html.sections
    )
    return replace(html, sections=sections)


def metadata_only(metadata: Metadata, reason: str) -> Document:
    """The document of a paper whose text cannot be had: its record and the reason."""
    return Document(
        title=metadata.title,
        provenance=Provenance("metadata", "", routes={"title": "api", "authors": "api", "abstract": "api"}),
        arxiv_id=metadata.arxiv_id,
        version=metadata.version,
        authors=metadata.authors,
        abstract=metadata.abstract,
        quality="none",
        flags=(f"no text: {reason}",),
    )

"""What ``kb show`` prints of one paper: plain text and Markdown, built from the files alone."""

from __future__ import annotations

from typing import Any

from kb.citations import Matcher, citation_graph
from kb.errors import UsageError
from kb.library import Library, Paper
from kb.model import Document, Equation, Section
from kb.textfile import render_body

_NO_TEXT = "its text is not here; kb ingest {id} fetches it"


def overview(library: Library, paper: Paper) -> str:
    """The whole page: record, text quality, section tree, counts, citations inside the base, the person's words."""
    parts = ["\n".join(_header(paper))]
    if paper.text_path is not None:
        parts.append("\n".join(_text_summary(_document(paper))))
    else:
        parts.append(f"text: none; {_NO_TEXT.format(id=paper.arxiv_id or 'its PDF')}")
    parts.append("\n".join(_citations(library, paper)))
    if paper.body.strip():
        parts.append(paper.body.strip())
    return "\n\n".join(part for part in parts if part)


def _header(paper: Paper) -> list[str]:
    lines = [paper.title]
    if paper.withdrawn:
        comment = paper.metadata.comment if paper.metadata else str(paper.fields.get("comment") or "")
        lines.insert(0, f"*** WITHDRAWN *** {comment}".rstrip())
    lines.append(", ".join(paper.authors) or "authors: not known")
    version = paper.text_fields.get("version") or paper.fields.get("version")
    identifier = f"arXiv:{paper.arxiv_id}" + (f"v{version}" if version else "") if paper.arxiv_id else ""
    facts = (identifier, paper.date, str(paper.fields.get("venue") or ""), f"slug {paper.slug}")
    lines.append(" · ".join(fact for fact in facts if fact))
    if paper.aliases:
        lines.append(f"also: {', '.join(paper.aliases)}")
    if paper.tags:
        lines.append(f"tags: {', '.join(paper.tags)}")
    return lines


def _text_summary(document: Document) -> list[str]:
    source = document.provenance
    fields = ", ".join(f"{name} from {route}" for name, route in sorted(source.routes.items()))
    lines = [f"text: {document.quality}, route {source.route}" + (f" ({fields})" if fields else "")]
    if document.flags:
        lines.append(f"flags: {', '.join(document.flags)}")
    lines += [f"page {page.number}: {page.quality}, {page.reason}" for page in document.pages if page.reason]
    flattened = sum(equation.latex is None for equation in document.equations)
    note = f" ({flattened} flattened, from the PDF)" if flattened else ""
    lines.append(
        f"holds: {len(document.sections)} sections, {len(document.equations)} equations{note}, "
        f"{len(document.tables)} tables, {len(document.references)} references"
    )
    lines += [_section_line(section) for section in document.sections if section.title]
    return lines


def _section_line(section: Section) -> str:
    number = f"{section.number} " if section.number else ""
    page = f"  p. {section.page}" if section.page else ""
    return f"{'  ' * section.level}{number}{section.title}{page}"


def _citations(library: Library, paper: Paper) -> list[str]:
    graph = citation_graph(library)
    cites = dict.fromkeys(link.cited for link in graph if link.citing == paper.slug)
    cited_by = dict.fromkeys(link.citing for link in graph if link.cited == paper.slug)
    rows = (("cites here", cites), ("cited here by", cited_by))
    return [f"{name}: {', '.join(slugs)}" for name, slugs in rows if slugs]


def equations(paper: Paper) -> str:
    """All display equations with number, section and page; those read off a PDF are named as such."""
    document = _document(paper)
    blocks = [(section, block) for section, block in document.blocks() if isinstance(block, Equation)]
    if not blocks:
        return f"{paper.slug} has no display equations in its text"
    return "\n\n".join(_equation_entry(section, block) for section, block in blocks)


def _equation_entry(section: Section, block: Equation) -> str:
    number = f"({block.number})" if block.number else "(no number)"
    place = [f"section {section.number or section.title}", f"p. {block.page}" if block.page else "", block.label or ""]
    head = f"{number}  {', '.join(part for part in place if part)}  #{block.id}"
    if block.latex is None:
        return f"{head}\n[flattened: glyphs in the PDF's order, not LaTeX]\n{block.text}"
    return f"{head}\n$$\n{block.latex.strip()}\n$$"


def tables(paper: Paper) -> str:
    """All tables as Markdown."""
    document = _document(paper)
    if not document.tables:
        return f"{paper.slug} has no tables in its text"
    only = Section(id="tables", title="", level=1, blocks=tuple(document.tables))
    body = render_body(Document(title="", provenance=document.provenance, sections=(only,)))
    lines = [line for line in body.splitlines() if not line.startswith(("<!-- kb:", "#"))]
    return "\n".join(lines).strip()


def section(paper: Paper, wanted: str) -> str:
    """One section with its subsections as Markdown. Raises UsageError with the list when none fits."""
    document = _document(paper)
    folded = wanted.casefold().strip()
    if folded == "abstract" and document.abstract:
        return f"## Abstract\n\n{document.abstract}"
    start = next((i for i, part in enumerate(document.sections) if _fits(part, folded)), None)
    if start is None:
        names = "; ".join(f"{part.number or ''} {part.title}".strip() for part in document.sections)
        raise UsageError(f"{paper.slug} has no section {wanted!r}", f"it has: {names}"[:600])
    level = document.sections[start].level
    end = start + 1
    while end < len(document.sections) and document.sections[end].level > level:
        end += 1
    body = render_body(Document(title="", provenance=document.provenance, sections=document.sections[start:end]))
    return "\n".join(line for line in body.splitlines()[1:] if not line.startswith("<!-- kb:")).strip()


def _fits(part: Section, folded: str) -> bool:
    names = {part.id.casefold(), (part.number or "").casefold(), part.title.casefold(), part.kind}
    return folded in names or (len(folded) > 3 and folded in part.title.casefold())


def references(library: Library, paper: Paper) -> str:
    """The reference list; entries that are papers of the base carry their slug."""
    matcher = Matcher(library.papers.values())
    lines = []
    for entry in paper.references:
        match = matcher.match(entry)
        here = f"  -> {match[0].slug} (by {match[1]})" if match and match[0].slug != paper.slug else ""
        lines.append(f"[{entry.index}] {entry.raw}{here}")
    return "\n".join(lines) or f"{paper.slug} has no references in its text"


def as_dict(library: Library, paper: Paper) -> dict[str, Any]:
    """The page for machines."""
    graph = citation_graph(library)
    text = paper.text.document if paper.text else None
    return {
        "slug": paper.slug,
        "record": paper.fields,
        "withdrawn": paper.withdrawn,
        "text": {key: value for key, value in paper.text_fields.items() if key != "authors"} or None,
        "sections": [[part.number, part.title, part.kind, part.page] for part in text.sections] if text else [],
        "equations": [[eq.id, eq.number, eq.latex, eq.quality, eq.page] for eq in text.equations] if text else [],
        "tables": [[table.id, table.number, table.caption, table.page] for table in text.tables] if text else [],
        "cites": sorted({link.cited for link in graph if link.citing == paper.slug}),
        "cited_by": sorted({link.citing for link in graph if link.cited == paper.slug}),
    }


def place(paper: Paper, what: str) -> str:
    """The path or address that ``kb open`` opens."""
    if what == "record":
        return str(paper.record)
    if what == "folder":
        return str(paper.folder)
    if what == "text" and paper.text_path:
        return str(paper.text_path)
    if what == "web" and paper.arxiv_id:
        return f"https://arxiv.org/abs/{paper.arxiv_id}"
    if what == "pdf":
        found = sorted(paper.folder.glob("files/**/*.pdf"))
        if found:
            return str(found[-1])
    if what not in ("record", "folder", "text", "web", "pdf"):
        raise UsageError(f"nothing is called {what!r}", "--what record, text, pdf, folder or web")
    raise UsageError(f"{paper.slug} has no {what} here", f"kb ingest {paper.arxiv_id or 'FILE'} fetches it")


def _document(paper: Paper) -> Document:
    if paper.text is None:
        raise UsageError(f"{paper.slug} has no text here", _NO_TEXT.format(id=paper.arxiv_id or "its PDF"))
    return paper.text.document

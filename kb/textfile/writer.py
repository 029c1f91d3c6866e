"""Write a document as the body and front matter of ``text.md``; ``reader`` is its inverse."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.model import (
    Block,
    Cell,
    Document,
    Equation,
    Paragraph,
    Reference,
    Section,
    Table,
)

FENCE = "```"
# A paragraph line that begins like this would be read as another kind of block, so it gets a backslash.
SPECIAL_STARTS = ("#", FENCE, "$$", "<!-- kb:", "|", "**Figure", "**Table", "\\")


def write(document: Document, extra: dict[str, Any] | None = None) -> str:
    """The text file of a document. ``extra`` fields are put in the front matter after ours."""
    body = render_body(document)
    head = _front_matter(document) | (extra or {})
    head["body_sha256"] = body_hash(body)
    return frontmatter.dump(head, body)


def body_hash(body: str) -> str:
    """SHA-256 of a body; in the front matter it tells whether a person has edited the file since."""
    return hashlib.sha256(body.strip().encode("utf-8")).hexdigest()


def is_edited(text: str, path: Path) -> bool:
    """Whether a person changed the body after kb wrote it."""
    fields, body = frontmatter.parse(text, path)
    return fields.get("body_sha256") != body_hash(body)


def _front_matter(document: Document) -> dict[str, Any]:
    provenance = document.provenance
    head: dict[str, Any] = {
        "arxiv_id": document.arxiv_id,
        "version": document.version,
        "title": document.title,
        "authors": list(document.authors),
        "route": provenance.route,
        "routes": dict(provenance.routes),
        "tool": provenance.tool,
        "tool_version": provenance.tool_version,
        "parser_version": provenance.parser_version,
        "source": provenance.source,
        "sha256": provenance.sha256,
        "fetched_at": provenance.fetched_at,
        "quality": document.quality,
        "flags": list(document.flags),
        "page_count": document.page_count,
        "pages_failed": [[page.number, page.quality, page.reason] for page in document.pages if page.reason],
    }
    return {key: value for key, value in head.items() if value not in (None, "", [], {})}


def render_body(document: Document) -> str:
    """The Markdown body of a document, without its front matter."""
    parts = [f"# {_one_line(document.title)}"]
    page: int | None = None
    if document.abstract:
        parts.append("## Abstract\n" + _anchor("section", {"id": "abstract", "kind": "abstract"}))
        parts += [_escape_block(part) for part in document.abstract.split("\n\n")]
    for section in document.sections:
        page = _page_mark(parts, section.page, page)
        parts.append(_render_heading(section))
        for block in section.blocks:
            page = _page_mark(parts, block.page, page)
            parts.append(_render_block(block))
    if document.references:
        parts.append("## References\n" + _anchor("section", {"id": "references", "kind": "references"}))
        parts.append("\n".join(_render_reference(reference) for reference in document.references))
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _page_mark(parts: list[str], page: int | None, last: int | None) -> int | None:
    if page is None or page == last:
        return last
    parts.append(f"<!-- kb:page {page} -->")
    return page


def _render_heading(section: Section) -> str:
    title = _one_line(f"{section.number} {section.title}" if section.number else section.title)
    fields = {"id": section.id, "number": section.number, "kind": section.kind, "level": section.level}
    return f"{'#' * min(section.level + 1, 6)} {title}\n{_anchor('section', fields)}"


def _render_block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _escape_block(block.text.strip())
    if isinstance(block, Equation):
        return _render_equation(block)
    if isinstance(block, Table):
        return _render_table(block)
    fields = {"id": block.id, "label": block.label}
    label = f"**Figure {block.number}.**" if block.number else "**Figure.**"
    return f"{label} {_one_line(block.caption)}\n{_anchor('figure', fields)}"


def _render_equation(block: Equation) -> str:
    fields = {
        "id": block.id, "number": block.number, "label": block.label, "env": block.env, "quality": block.quality,
        "src": block.latex_src, "bbox": list(block.bbox) if block.bbox else None,
        "before": block.before, "after": block.after,
    }  # fmt: skip
    if block.latex is not None:
        lines = "\n".join(line for line in block.latex.strip().splitlines() if line.strip())
        return f"$$\n{lines}\n$$\n{_anchor('equation', fields)}"
    glyphs = (block.text or "").replace(FENCE, "'''").strip()
    return f"{FENCE}flattened\n{glyphs}\n{FENCE}\n{_anchor('equation', fields)}"


def _render_table(block: Table) -> str:
    label = f"**Table {block.number}.**" if block.number else "**Table.**"
    fields = {"id": block.id, "label": block.label, "quality": block.quality, "header_rows": len(block.header)}
    rows = [*block.header, *block.rows]
    width = max((len(row) for row in rows), default=0)
    lines = [_render_row(row, width) for row in rows]
    lines.insert(min(1, len(lines)), "|" + " --- |" * width)
    grid = "\n".join(lines) if width else ""
    return f"{label} {_one_line(block.caption)}\n\n{grid}\n{_anchor('table', fields)}"


def _render_row(row: tuple[Cell, ...], width: int) -> str:
    cells = [f"**{_escape_cell(cell.text)}**" if cell.bold and cell.text else _escape_cell(cell.text) for cell in row]
    return "| " + " | ".join(cells + [""] * (width - len(row))) + " |"


def _render_reference(reference: Reference) -> str:
    fields = {
        name: value
        for name, value in dataclasses.asdict(reference).items()
        if name not in ("raw", "index") and value not in (None, "", ())
    }
    return f"- [{reference.index}] {_one_line(reference.raw)} <!-- kb:ref {_json(fields)} -->"


def _anchor(kind: str, fields: dict[str, Any]) -> str:
    kept = {key: value for key, value in fields.items() if value not in (None, "")}
    return f"<!-- kb:{kind} {_json(kept)} -->"


def _json(value: Any) -> str:
    # "--" and ">" could end an HTML comment early, so they are written as JSON escapes.
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("--", "-\\u002d").replace(">", "\\u003e")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escape_block(text: str) -> str:
    """Keep a paragraph one block: no empty lines, and no line that would read as another kind of block."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join("\\" + line if line.startswith(SPECIAL_STARTS) else line for line in lines)


def _escape_cell(text: str) -> str:
    # A bar ends a cell even inside maths, and ``\\|`` is a norm in LaTeX, so a bar is written as an entity.
    line = _one_line(text).replace("&#", "&amp;#").replace("|", "&#124;")
    return "&#42;" + line[1:] if line.startswith("*") else line

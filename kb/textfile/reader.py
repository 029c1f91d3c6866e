"""Read ``text.md`` back into a document, with the place of every block in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.model import (
    Block,
    Cell,
    Document,
    Equation,
    Figure,
    PageReport,
    Paragraph,
    Provenance,
    Reference,
    Section,
    Table,
)
from kb.sections import section_kind
from kb.textfile.writer import FENCE, SPECIAL_STARTS

_ANCHOR = re.compile(r"^<!-- kb:(\w+) (.*?) ?-->\s*$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*\S)\s*$")
_NUMBERED = re.compile(r"^((?:[A-Z]|\d+)(?:\.\d+)*)\.?\s+(?=\S)")
_CAPTION = re.compile(r"^\*\*(Figure|Table)(?: ([^*]*?))?\.\*\*\s*(.*)$", re.DOTALL)
_REFERENCE = re.compile(r"^- \[(\d+)\] (.*?)(?:\s*<!-- kb:ref (.*?) -->)?\s*$")
_NUMBER = re.compile(r"^[-+−]?\d[\d,]*(?:\.\d+)?%?$|^[-+−]?\.\d+%?$")


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """A block, the index of its section in the document, and its character range in the file."""

    section: int
    block: Block
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class TextFile:
    """What a ``text.md`` holds: the document, where its blocks stand, and the raw front matter."""

    document: Document
    blocks: tuple[LocatedBlock, ...]
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One run of lines of the body that belongs together, with its range and the anchor below it."""

    form: str
    text: str
    start: int
    end: int
    anchor: dict[str, Any] = field(default_factory=dict)


def read(text: str, path: Path) -> TextFile:
    """Parse a text file. Raises FileFormatError when its front matter cannot be read."""
    fields, body = frontmatter.parse(text, path)
    builder = _Builder()
    for piece in _pieces(body, len(text) - len(body)):
        builder.add(piece)
    sections = builder.finish()
    document = Document(
        title=str(fields.get("title") or builder.title),
        arxiv_id=frontmatter.identifier(fields, "arxiv_id", path) or None,
        version=fields.get("version"),
        authors=tuple(fields.get("authors") or ()),
        abstract="\n\n".join(builder.abstract),
        sections=sections,
        references=tuple(builder.references),
        provenance=_provenance(fields),
        pages=tuple(PageReport(number, quality, why) for number, quality, why in fields.get("pages_failed") or ()),
        page_count=fields.get("page_count"),
        quality=fields.get("quality", "good"),
        flags=tuple(fields.get("flags") or ()),
    )
    return TextFile(document, tuple(builder.located), fields)


def _provenance(fields: dict[str, Any]) -> Provenance:
    names = ("source", "sha256", "tool", "tool_version", "fetched_at")
    values = {name: str(fields.get(name) or "") for name in names}
    return Provenance(
        route=fields.get("route", "hand"),
        parser_version=int(fields.get("parser_version") or 0),
        routes=dict(fields.get("routes") or {}),
        **values,
    )


def _pieces(body: str, offset: int) -> Iterator[_Piece]:
    """Cut the body into pieces. An anchor line is given to the piece above it."""
    held: _Piece | None = None
    for piece in _raw_pieces(body, offset):
        if piece.form != "anchor":
            if held:
                yield held
            held = piece
            continue
        match = _ANCHOR.match(piece.text)
        name, payload = (match[1], match[2]) if match else ("", "")
        if name == "page":
            if held:
                yield held
            held = None
            yield replace(piece, form="page", text=payload)
        elif held and not held.anchor:
            held = replace(held, anchor=_load(payload) | {"anchor": name})
    if held:
        yield held


def _raw_pieces(body: str, offset: int) -> Iterator[_Piece]:
    run: list[str] = []
    start = position = offset
    closing = ""
    for line in body.splitlines(keepends=True):
        bare = line.strip()
        if closing:
            run.append(line)
            if bare == closing:
                yield _Piece("block", "".join(run), start, position + len(line))
                run, closing = [], ""
        else:
            opens = bare == "$$" or bare.startswith(FENCE)
            alone = bool(_HEADING.match(line)) or line.startswith("<!-- kb:")
            if run and (not bare or opens or alone):
                yield _Piece("block", "".join(run), start, position)
                run = []
            if bare and not run:
                start = position
            if alone:
                yield _Piece("heading" if line.startswith("#") else "anchor", bare, position, position + len(line))
            elif bare:
                run.append(line)
                closing = ("$$" if bare == "$$" else FENCE) if opens else ""
        position += len(line)
    if run:
        yield _Piece("block", "".join(run), start, position)


def _load(payload: str) -> dict[str, Any]:
    try:
        value = json.loads(payload)
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


class _Builder:
    """Collects pieces into sections."""

    def __init__(self) -> None:
        self.title = ""
        self.abstract: list[str] = []
        self.references: list[Reference] = []
        self.located: list[LocatedBlock] = []
        self._sections: list[tuple[Section, list[Block]]] = []
        self._mode = "front"
        self._page: int | None = None
        self._caption: _Piece | None = None

    def add(self, piece: _Piece) -> None:
        if piece.form == "page":
            self._page = int(piece.text) if piece.text.isdigit() else self._page
        elif piece.form == "heading":
            self._flush_caption()
            self._heading(piece)
        elif self._mode == "references":
            self._reference_lines(piece)
        elif self._mode == "abstract":
            self.abstract.append(unescape_block(piece.text))
        elif not self._join_caption(piece):
            self._append(self._block(piece), piece)

    def finish(self) -> tuple[Section, ...]:
        self._flush_caption()
        return tuple(replace(section, blocks=tuple(blocks)) for section, blocks in self._sections)

    def _heading(self, piece: _Piece) -> None:
        match = _HEADING.match(piece.text)
        if match is None:
            return
        depth, title, anchor = len(match[1]), match[2], piece.anchor
        if depth == 1 and not anchor and not self.title:
            self.title = title
            return
        number = anchor.get("number")
        found = _NUMBERED.match(title)
        if number is None and found and not anchor:
            number = found[1]
        if number and title.startswith(str(number)):
            title = title[len(str(number)) :].lstrip(". ") or title
        kind = anchor.get("kind") or section_kind(title, number)
        self._mode = kind if kind in ("abstract", "references") else "body"
        if self._mode == "body":
            fallback = f"s{len(self._sections) + 1}"
            section = Section(
                id=str(anchor.get("id") or fallback), title=title, level=int(anchor.get("level") or max(1, depth - 1)),
                kind=kind, number=number, page=self._page,
            )  # fmt: skip
            self._sections.append((section, []))

    def _append(self, block: Block, piece: _Piece) -> None:
        if not self._sections:
            self._sections.append((Section(id="front", title="", level=1, page=self._page), []))
        self._sections[-1][1].append(block)
        self.located.append(LocatedBlock(len(self._sections) - 1, block, (piece.start, piece.end)))

    def _reference_lines(self, piece: _Piece) -> None:
        self.references += [entry for line in piece.text.splitlines() if (entry := _reference(line))]

    def _join_caption(self, piece: _Piece) -> bool:
        """A table's caption stands above its grid: hold it until the grid comes."""
        caption = _CAPTION.match(piece.text)
        if caption and caption[1] == "Table" and not piece.anchor:
            self._flush_caption()
            self._caption = piece
            return True
        if self._caption and piece.text.lstrip().startswith("|"):
            held, self._caption = self._caption, None
            self._append(_table(held.text, piece, self._page, len(self.located)), replace(piece, start=held.start))
            return True
        self._flush_caption()
        return False

    def _flush_caption(self) -> None:
        if self._caption:
            held, self._caption = self._caption, None
            self._append(Paragraph(unescape_block(held.text), self._page), held)

    def _block(self, piece: _Piece) -> Block:
        text, anchor = piece.text.strip(), piece.anchor
        if text.startswith("$$") and text.endswith("$$") and len(text) > 4:
            return _equation(text[2:-2].strip(), None, anchor, self._page, len(self.located))
        if text.startswith(FENCE + "flattened"):
            glyphs = text.split("\n", 1)[-1].rsplit(FENCE, 1)[0].strip()
            return _equation(None, glyphs, anchor, self._page, len(self.located))
        caption = _CAPTION.match(text)
        if caption and (caption[1] == "Figure" or anchor.get("anchor") == "table"):
            if caption[1] == "Table":
                return _table(text, replace(piece, text=""), self._page, len(self.located))
            fallback = f"fig-{caption[2] or len(self.located) + 1}"
            return Figure(
                id=str(anchor.get("id") or fallback), caption=caption[3].strip(), number=caption[2] or None,
                label=anchor.get("label"), page=self._page,
            )  # fmt: skip
        if text.startswith("|") and "\n" in text:
            return _table("", piece, self._page, len(self.located))
        return Paragraph(unescape_block(piece.text), self._page)


_REFERENCE_FIELDS = {"key", "title", "authors", "year", "arxiv_id", "id_confidence", "doi", "url"}


def read_references(text: str) -> tuple[Reference, ...]:
    """The reference list of a text file alone: much quicker than ``read``."""
    begins = max(text.rfind('"kind": "references"'), 0)
    lines = text[begins:].splitlines()
    return tuple(entry for line in lines if line.startswith("- [") and (entry := _reference(line)))


def _reference(line: str) -> Reference | None:
    match = _REFERENCE.match(line.strip())
    if match is None:
        return None
    known = {key: value for key, value in _load(match[3] or "{}").items() if key in _REFERENCE_FIELDS}
    known["authors"] = tuple(known.get("authors") or ())
    known.setdefault("key", f"ref{match[1]}")
    return Reference(index=int(match[1]), raw=match[2], **known)


def _equation(latex: str | None, glyphs: str | None, anchor: dict[str, Any], page: int | None, at: int) -> Equation:
    box = anchor.get("bbox")
    return Equation(
        id=str(anchor.get("id") or f"eq-at-{at + 1}"), latex=latex, text=glyphs,
        quality=anchor.get("quality") or ("exact" if latex else "flattened"),
        number=anchor.get("number"), label=anchor.get("label"), env=anchor.get("env") or "equation",
        latex_src=anchor.get("src"), before=anchor.get("before") or "", after=anchor.get("after") or "",
        page=page, bbox=tuple(box) if box and len(box) == 4 else None,
    )  # fmt: skip


def _table(caption_text: str, piece: _Piece, page: int | None, at: int) -> Table:
    caption = _CAPTION.match(caption_text.strip())
    anchor = piece.anchor
    grid = [_row(line) for line in piece.text.splitlines() if line.strip().startswith("|")]
    if len(grid) > 1 and all(re.fullmatch(r":?-+:?", cell.text) for cell in grid[1]):
        del grid[1]
    count = int(anchor.get("header_rows", 1))
    number = caption[2] if caption and caption[2] else None
    return Table(
        id=str(anchor.get("id") or f"tab-{number or at + 1}"), caption=caption[3].strip() if caption else "",
        header=tuple(grid[:count]), rows=tuple(grid[count:]), number=number, label=anchor.get("label"),
        quality=anchor.get("quality") or "good", page=page,
    )  # fmt: skip


def _row(line: str) -> tuple[Cell, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(_cell(part.strip()) for part in re.split(r"(?<!\\)\|", inner))


def _cell(text: str) -> Cell:
    bold = len(text) > 4 and text.startswith("**") and text.endswith("**")
    text = text[2:-2] if bold else text
    text = text.replace("\\|", "|").replace("&#42;", "*").replace("&#124;", "|").replace("&amp;#", "&#")
    return Cell(text, parse_number(text), bold)


def parse_number(text: str) -> float | None:
    """The number that a cell is, without its unit; None when the cell is not one number."""
    bare = text.strip().replace("−", "-")
    if not _NUMBER.match(bare):
        return None
    return float(bare.rstrip("%").replace(",", ""))


def unescape_block(text: str) -> str:
    """A paragraph as the file has it, without the backslashes that the writer put before special lines."""
    lines = text.rstrip("\n").splitlines()
    return "\n".join(line[1:] if line[:1] == "\\" and line[1:].startswith(SPECIAL_STARTS) else line for line in lines)

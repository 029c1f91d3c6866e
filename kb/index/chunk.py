"""The text of a paper as drafts of passages: prose by sentences, equations, tables, captions, references.

No passage crosses a section. Prose runs on over the equations and floats between its paragraphs; each of those has a
passage of its own, an equation with the sentence before and after it, a table with its caption and header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.index.drafts import Draft
from kb.index.sentences import (
    ABSTRACT_TOKENS,
    PASSAGE_TOKENS,
    Piece,
    clip,
    count_tokens,
    pack,
    sentence_pieces,
    sentence_spans,
)
from kb.model import Equation, Figure, Kind, Paragraph, Section, Table
from kb.textfile import LocatedBlock, TextFile
from kb.textfile.reader import unescape_block

# Of an equation and of the sentence on either side of it, shown and embedded; the whole of it is in ``latex``.
_FORMULA_TOKENS = 180
_CONTEXT_TOKENS = 80
_REPEATED_CAPTION_CHARS = 200
_CELL_CHARS = 300
_REFERENCE_LINE = re.compile(r"^- \[(\d+)\] .*$", re.MULTILINE)


def text_drafts(file: TextFile, raw: str, path: str) -> Iterator[Draft]:
    """All drafts of a text file, in reading order; ``raw`` is the file's content, which spans are ranges of."""
    yield from _abstract(file, raw, path)
    sections = file.document.sections
    for index, section in enumerate(sections):
        located = [block for block in file.blocks if block.section == index]
        heading = _heading_path(sections, index)
        yield from _section(located, raw, path, heading, section)
    yield from _references(file, raw, path)


def _heading_path(sections: Sequence[Section], index: int) -> tuple[str, ...]:
    level = sections[index].level + 1
    path: list[str] = []
    for section in reversed(sections[: index + 1]):
        if section.level < level:
            level = section.level
            path.insert(0, f"{section.number} {section.title}".strip() if section.number else section.title)
    return tuple(part for part in path if part)


def _abstract(file: TextFile, raw: str, path: str) -> Iterator[Draft]:
    pieces: list[Piece] = []
    cursor = 0
    for number, paragraph in enumerate(file.document.abstract.split("\n\n")):
        start = raw.find(paragraph, cursor) if paragraph else -1
        if start >= 0:
            cursor = start + len(paragraph)
            pieces += sentence_pieces(raw, start, cursor, paragraph=number)
    yield from prose_drafts(pieces, raw, Draft(Kind.PROSE, "", path, (0, 0), ("Abstract",), "abstract", anchor="abstract"))


def prose_drafts(pieces: Sequence[Piece], raw: str, like: Draft) -> Iterator[Draft]:
    """Passages of these sentences with the heading, kind and path of ``like``."""
    for run in pack(pieces, ABSTRACT_TOKENS if like.section_kind == "abstract" else PASSAGE_TOKENS):
        yield Draft(
            like.kind, _joined(run, raw), like.path, (run[0].start, run[-1].stop), like.heading, like.section_kind,
            run[0].page, like.anchor,
        )  # fmt: skip


def _joined(run: Sequence[Piece], raw: str) -> str:
    """The text of a run: sentences of one paragraph as they stand, paragraphs apart by an empty line."""
    paragraphs: dict[int, tuple[int, int]] = {}
    for piece in run:
        first, _ = paragraphs.get(piece.paragraph, (piece.start, 0))
        paragraphs[piece.paragraph] = (first, piece.stop)
    return "\n\n".join(unescape_block(raw[start:stop]).strip() for start, stop in paragraphs.values())


def _section(
    located: Sequence[LocatedBlock], raw: str, path: str, heading: tuple[str, ...], section: Section
) -> Iterator[Draft]:
    pieces: list[Piece] = []
    others: list[Draft] = []
    like = Draft(Kind.PROSE, "", path, (0, 0), heading, section.kind, section.page, section.id)
    for number, (start, stop) in enumerate(block.span for block in located):
        block = located[number].block
        if isinstance(block, Paragraph):
            pieces += sentence_pieces(raw, start, stop, block.page or section.page, number)
        elif isinstance(block, Equation):
            others.append(_equation(located, number, like))
        elif isinstance(block, Table):
            others += _table(block, (start, stop), like)
        else:
            others.append(_figure(block, (start, stop), like))
    yield from sorted([*prose_drafts(pieces, raw, like), *others], key=lambda draft: draft.span)


def _equation(located: Sequence[LocatedBlock], number: int, like: Draft) -> Draft:
    block = located[number].block
    assert isinstance(block, Equation)
    before, after = block.before, block.after
    if not before and number and isinstance(previous := located[number - 1].block, Paragraph):
        before = _last_sentence(previous.text)
    if not after and number + 1 < len(located) and isinstance(following := located[number + 1].block, Paragraph):
        after = _first_sentence(following.text)
    return Draft(
        Kind.EQUATION, equation_text(before, block.latex or block.text or "", after, block.number, bool(block.latex)),
        like.path, located[number].span, like.heading, like.section_kind, block.page or like.page, block.id,
        block.latex or "",
    )  # fmt: skip


def equation_text(before: str, formula: str, after: str, number: str | None, is_latex: bool) -> str:
    """How an equation is shown and embedded: between the sentences that speak of it, with its number."""
    shown = clip(formula.strip(), _FORMULA_TOKENS)
    label = f"({number.strip('()')})" if number else ""
    if is_latex:
        shown = f"$$\n{shown}\n$$"
    if label and not shown.endswith(label):
        shown += f" {label}"
    parts = (clip(before.strip(), _CONTEXT_TOKENS, keep_end=True), shown, clip(after.strip(), _CONTEXT_TOKENS))
    return "\n".join(part for part in parts if part)


def _last_sentence(text: str) -> str:
    start, stop = sentence_spans(text)[-1] if text.strip() else (0, 0)
    return text[start:stop]


def _first_sentence(text: str) -> str:
    start, stop = sentence_spans(text)[0] if text.strip() else (0, 0)
    return text[start:stop]


def _table(block: Table, span: tuple[int, int], like: Draft) -> Iterator[Draft]:
    """The caption and header with as many rows as fit, then the other rows below the same caption and header."""
    name = f"Table {block.number}" if block.number else "Table"
    caption = f"{name}. {block.caption}".strip()
    header = [_row(cells) for cells in block.header]
    rows = [_row(cells) for cells in block.rows]
    room = max(PASSAGE_TOKENS - count_tokens("\n".join([caption, *header])), PASSAGE_TOKENS // 2)
    for group in _groups(rows, room):
        yield Draft(
            Kind.TABLE, "\n".join([caption, *header, *group]), like.path, span, like.heading, like.section_kind,
            block.page or like.page, block.id,
        )  # fmt: skip
        caption = caption[:_REPEATED_CAPTION_CHARS]


def _row(cells: Sequence[object]) -> str:
    return " | ".join(str(getattr(cell, "text", cell))[:_CELL_CHARS] for cell in cells)


def _groups(rows: Sequence[str], room: int) -> Iterator[list[str]]:
    group: list[str] = []
    cost = 0
    for row in rows:
        weight = count_tokens(row)
        if group and cost + weight > room:
            yield group
            group, cost = [], 0
        group.append(row)
        cost += weight
    yield group


def _figure(block: Figure, span: tuple[int, int], like: Draft) -> Draft:
    name = f"Figure {block.number}" if block.number else "Figure"
    text = f"{name}. {block.caption}" if block.caption.strip() else ""
    return Draft(
        Kind.CAPTION, text, like.path, span, like.heading, like.section_kind, block.page or like.page, block.id
    )


def _references(file: TextFile, raw: str, path: str) -> Iterator[Draft]:
    lines = {match[1]: match.span() for match in _REFERENCE_LINE.finditer(raw)}
    for reference in file.document.references:
        span = lines.get(str(reference.index))
        if span is not None:
            anchor = f"ref-{reference.index}"
            yield Draft(Kind.REFERENCE, reference.raw, path, span, ("References",), "references", anchor=anchor)

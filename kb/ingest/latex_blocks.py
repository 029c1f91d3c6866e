"""Blocks of a LaTeX document before the number of every label is known, and how each becomes a block of the model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kb.ingest.latex_algorithms import algorithm_lines
from kb.ingest.latex_context import TextContext
from kb.ingest.latex_equations import RawEquation
from kb.ingest.latex_tables import parse_tabular
from kb.ingest.latex_text import to_line, to_markdown
from kb.model import Block, Figure, Paragraph, Table

QUOTE_OPENS, QUOTE_CLOSES = "\ue000", "\ue001"
# The head of a theorem or proof whose text begins with a new line in the source.
_LONE_HEAD = re.compile(r"^(\*\*[^*\n]{1,200}\.\*\*)\n\n(?=[^\n*-])", re.MULTILINE)
_WORD = re.compile(r"\w")


@dataclass(slots=True)
class RawText:
    tex: str


@dataclass(slots=True)
class RawTable:
    """``grid`` is ``(environment, body)``; None for a table that is a picture."""

    grid: tuple[str, str] | None
    caption: str = ""
    number: str | None = None
    label: str | None = None
    name: str = "tab"


@dataclass(slots=True)
class RawFigure:
    caption: str
    number: str | None
    label: str | None


@dataclass(slots=True)
class RawCode:
    """Verbatim text; ``caption`` and ``number`` for a listing that has them."""

    code: str
    caption: str = ""
    number: str | None = None


@dataclass(slots=True)
class RawAlgorithm:
    body: str
    caption: str
    number: str | None


RawBlock = RawText | RawTable | RawFigure | RawCode | RawAlgorithm | RawEquation


@dataclass(slots=True)
class RawSection:
    title: str
    level: int
    number: str | None
    appendix: bool
    blocks: list[RawBlock] = field(default_factory=list)


def finish_blocks(raw: RawSection, context: TextContext) -> list[Block]:
    """The blocks of a section, when all labels are known."""
    blocks: list[Block] = []
    quoted = False
    for item in raw.blocks:
        if isinstance(item, RawText):
            quoted = _paragraphs(item.tex, context, quoted, blocks)
        elif isinstance(item, RawEquation):
            blocks.append(item.finish(context))
        elif isinstance(item, RawTable):
            blocks += _table(item, context, len(blocks))
        elif isinstance(item, RawFigure):
            caption = to_line(item.caption, context)
            if caption:
                blocks.append(Figure(f"fig-{item.number or f'at-{len(blocks)}'}", caption, item.number, item.label))
        else:
            blocks += _listing(item, context)
    return blocks


def _paragraphs(tex: str, context: TextContext, quoted: bool, blocks: list[Block]) -> bool:
    """Adds a text's paragraphs; ``quoted`` tells, before and after, whether the text is inside a quotation."""
    for part in _LONE_HEAD.sub(r"\1 ", to_markdown(tex, context)).split("\n\n"):
        quoted = quoted or QUOTE_OPENS in part
        bare = part.replace(QUOTE_OPENS, "").replace(QUOTE_CLOSES, "").strip()
        if _WORD.search(bare):
            blocks.append(Paragraph(f"> {bare}" if quoted else bare))
        quoted = quoted and QUOTE_CLOSES not in part
    return quoted


def _table(item: RawTable, context: TextContext, at: int) -> list[Block]:
    caption = to_line(item.caption, context)
    grid = parse_tabular(*item.grid, context) if item.grid else None
    name = f"{item.name}-{item.number or f'at-{at}'}"
    if grid:
        return [Table(name, caption, grid[0], grid[1], item.number, item.label)]
    if not caption:
        # One column only: a box of text.
        return (
            [Paragraph(text) for text in to_markdown(item.grid[1], context).split("\n\n") if _WORD.search(text)]
            if item.grid
            else []
        )
    return [Table(name, caption, (), (), item.number, item.label, "none")]


def _listing(item: RawCode | RawAlgorithm, context: TextContext) -> list[Block]:
    word, text = "Listing", ""
    if isinstance(item, RawAlgorithm):
        word, text = "Algorithm", "\n".join(algorithm_lines(item.body, context))
    else:
        text = "\n".join(line.rstrip() for line in item.code.splitlines() if line.strip())
    if item.number or item.caption:
        head = f"**{word} {item.number}.**" if item.number else f"**{word}.**"
        text = f"{head} {to_line(item.caption, context)}\n{text}"
    return [Paragraph(text.strip())] if _WORD.search(text) else []

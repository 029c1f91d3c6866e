"""The values that kb works with. Frozen, no input or output; every other module speaks in these.

A ``Document`` is one version of one paper's text: sections that hold blocks in reading order.
A ``Paper`` is what the base knows of a paper; a ``Passage`` is a unit of search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

Quality: TypeAlias = Literal["exact", "good", "flattened", "poor", "none"]
Route: TypeAlias = Literal["api", "html", "latex", "pdf", "ocr", "metadata", "hand"]
SectionKind: TypeAlias = Literal[
    "abstract", "intro", "related", "method", "experiments", "limitations",
    "conclusion", "appendix", "references", "other",
]  # fmt: skip


class Kind(StrEnum):
    """What a passage is made of."""

    PROSE = "prose"
    EQUATION = "equation"
    TABLE = "table"
    CAPTION = "caption"
    REFERENCE = "reference"
    NOTE = "note"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text in Markdown: inline maths as ``$...$``, citations as ``[@key]``."""

    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Equation:
    """A display equation.

    ``latex`` has the authors' macros expanded, ``latex_src`` is as the authors typed it (None when the same).
    A formula that came out of a PDF has ``latex=None``, its glyphs in ``text`` and quality ``flattened``.
    """

    id: str
    latex: str | None
    quality: Quality = "exact"
    number: str | None = None
    label: str | None = None
    env: str = "equation"
    latex_src: str | None = None
    text: str | None = None
    before: str = ""
    after: str = ""
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell: its text, the number in it if it is one, and whether it is set in bold (often "best")."""

    text: str
    number: float | None = None
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with spans expanded: every row of ``header`` and ``rows`` has the same number of cells."""

    id: str
    caption: str
    header: tuple[tuple[Cell, ...], ...]
    rows: tuple[tuple[Cell, ...], ...]
    number: str | None = None
    label: str | None = None
    quality: Quality = "exact"
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure is known by its caption; the picture stays in the original file."""

    id: str
    caption: str
    number: str | None = None
    label: str | None = None
    page: int | None = None


Block: TypeAlias = Paragraph | Equation | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks below it, up to the next heading. ``level`` 1 is a top section."""

    id: str
    title: str
    level: int
    kind: SectionKind = "other"
    number: str | None = None
    blocks: tuple[Block, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the reference list. ``arxiv_id`` is only ever read from the entry, never guessed."""

    index: int
    key: str
    raw: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    arxiv_id: str | None = None
    id_confidence: Literal["high", "low"] | None = None
    doi: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class PageReport:
    """What the page gate said of one PDF page. ``reason`` is empty for a good page."""

    number: int
    quality: Quality
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a document came from. ``routes`` names the route of every field that has one of its own."""

    route: Route
    source: str
    sha256: str = ""
    tool: str = ""
    tool_version: str = ""
    parser_version: int = 1
    fetched_at: str = ""
    routes: dict[str, Route] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one version of one paper, as read by the best routes that were open."""

    title: str
    provenance: Provenance
    arxiv_id: str | None = None
    version: int | None = None
    authors: tuple[str, ...] = ()
    abstract: str = ""
    sections: tuple[Section, ...] = ()
    references: tuple[Reference, ...] = ()
    pages: tuple[PageReport, ...] = ()
    page_count: int | None = None
    quality: Quality = "good"
    flags: tuple[str, ...] = ()

    def blocks(self) -> list[tuple[Section, Block]]:
        """Every block with its section, in reading order."""
        return [(section, block) for section in self.sections for block in section.blocks]

    @property
    def equations(self) -> list[Equation]:
        return [block for _, block in self.blocks() if isinstance(block, Equation)]

    @property
    def tables(self) -> list[Table]:
        return [block for _, block in self.blocks() if isinstance(block, Table)]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What arXiv's API (or a person) says about one version of a paper. Dates are ISO strings.

    ``has_pdf`` and ``has_source`` are None while nobody looked.
    """

    title: str
    arxiv_id: str | None = None
    version: int | None = None
    authors: tuple[str, ...] = ()
    abstract: str = ""
    published: str = ""
    updated: str = ""
    categories: tuple[str, ...] = ()
    comment: str = ""
    journal_ref: str = ""
    doi: str = ""
    pdf_url: str | None = None
    withdrawn: bool = False
    has_pdf: bool | None = None
    has_source: bool | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A unit of search. It never crosses a section; ``span`` is its character range in the file it came from.

    ``paper`` is a slug, or the note's path for a note. ``hash`` is the SHA-256 of what is embedded.
    """

    id: str
    paper: str
    kind: Kind
    text: str
    heading: tuple[str, ...]
    section_kind: str
    language: Literal["en", "zh", "mixed"]
    path: str
    span: tuple[int, int]
    title: str = ""
    page: int | None = None
    anchor: str = ""
    latex: str = ""
    date: str = ""
    tags: tuple[str, ...] = ()
    hash: str = ""

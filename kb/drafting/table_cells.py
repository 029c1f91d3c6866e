"""Numbers of a paper's own method in its tables, as sentences that say where they stand and what they are beside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb.drafting.candidates import Candidate, place_of
from kb.drafting.sentences import clean
from kb.index.sentences import clip
from kb.model import Passage, Table

BASE = 0.34
_OURS = re.compile(r"\bours?\b|本文|我们", re.IGNORECASE)
_GOOD = re.compile(
    r"compar|performance|results?\b|evaluat|benchmark|accuracy|scores?\b|win rate|结果|对比|性能", re.IGNORECASE
)
_BAD = re.compile(
    r"ablation|hyper-?param|statistic|dataset|example|prompt|notation|configur|cost|消融|超参|示例", re.IGNORECASE
)
_NUMBER = re.compile(r"^[-+−]?\d[\d,]*(?:\.\d+)?\s*(?:%|±.*|\(.*\))?$")
_VARIANT = re.compile(r"\b(?:disabled|without|w/o|no|ablat\w+|only)\b|[-−]\s", re.IGNORECASE)
_MOST_OTHERS = 3
_CAPTION_TOKENS = 30


@dataclass(frozen=True, slots=True)
class _Cell:
    """A number, what its column is called, and the numbers of other methods for the same."""

    method: str
    measure: str
    number: str
    bold: bool
    others: tuple[str, ...]


def from_tables(
    tables: Sequence[tuple[Table, Passage, float]], names: re.Pattern[str] | None, version: str
) -> list[Candidate]:
    """A candidate for each table that has a number of the paper's own method. ``tables``: table, its passage, its fit."""
    made = []
    for table, passage, fit in tables:
        cells = list(_cells(table, names))
        if not cells:
            continue
        cell = min(cells, key=lambda cell: (_VARIANT.search(cell.method) is not None, not cell.bold))
        score = BASE + 0.2 * fit + (0.08 if cell.bold else -0.06 if _has_bold(table) else 0.0)
        score += 0.1 * bool(_GOOD.search(table.caption)) - 0.2 * bool(_BAD.search(table.caption))
        score -= 0.15 * (passage.section_kind == "appendix")
        number = f"table {table.number}" if table.number else "table"
        evidence = ", ".join(part for part in (version, number, f"p. {table.page}" if table.page else "") if part)
        made.append(
            Candidate(_told(cell, table), "en", evidence or place_of(passage, version), passage.id, score, "table")
        )
    return made


def _has_bold(table: Table) -> bool:
    """Whether the table sets its best numbers in bold."""
    return any(cell.bold and _NUMBER.match(cell.text.strip()) for row in table.rows for cell in row)


def _told(cell: _Cell, table: Table) -> str:
    beside = f" ({'; '.join(cell.others)})" if cell.others else ""
    caption = clip(clean(table.caption).rstrip("."), _CAPTION_TOKENS)
    return f"{cell.method}: {cell.number} {cell.measure}{beside}" + (f" [{caption}]" if caption else "")


def _cells(table: Table, names: re.Pattern[str] | None) -> Iterator[_Cell]:
    """The numbers of rows, else of columns, that are named for the paper's own method."""
    grid = [[cell.text.strip() for cell in row] for row in table.rows]
    bold = [[cell.bold for cell in row] for row in table.rows]
    heads = _headings(table)
    if not grid or not heads:
        return
    found = list(_numbers(grid, bold, heads, names))
    if not found:
        labels = [_label(row) for row in grid]
        turned = [[heads[at], *(row[at] for row in grid)] for at in range(len(heads))]
        turned_bold = [[False, *(row[at] for row in bold)] for at in range(len(heads))]
        found = list(_numbers(turned, turned_bold, ["", *labels], names))
    yield from found


def _numbers(
    grid: Sequence[Sequence[str]], bold: Sequence[Sequence[bool]], heads: Sequence[str], names: re.Pattern[str] | None
) -> Iterator[_Cell]:
    labels = [_label(row) for row in grid]
    for place, row in enumerate(grid):
        if not _is_own(labels[place], names):
            continue
        for at, text in enumerate(row):
            if at and _NUMBER.match(text) and heads[at]:
                others = [
                    f"{labels[n]} {other[at]}"
                    for n, other in enumerate(grid)
                    if n != place and labels[n] and _NUMBER.match(other[at])
                ]
                yield _Cell(
                    labels[place], heads[at], text, bold[place][at], tuple(dict.fromkeys(others[-_MOST_OTHERS:]))
                )


def _is_own(label: str, names: re.Pattern[str] | None) -> bool:
    return bool(label) and (_OURS.search(label) is not None or (names is not None and names.search(label) is not None))


def _label(row: Sequence[str]) -> str:
    """What a row is called: its cells before the first number."""
    parts: list[str] = []
    for text in row:
        if _NUMBER.match(text):
            break
        if text and text not in ("-", "–", *parts):
            parts.append(text)
    return " ".join(parts[:2])


def _headings(table: Table) -> list[str]:
    """The heading of each column, over all rows of the header."""
    width = max((len(row) for row in (*table.header, *table.rows)), default=0)
    heads = []
    for at in range(width):
        texts = [row[at].text.strip() for row in table.header if at < len(row) and row[at].text.strip()]
        heads.append(" ".join(dict.fromkeys(texts)))
    return heads

"""Numbers that a paper's own tables print of one benchmark, each with the headings that say what it is a number of.

Nothing is added up or chosen: a number without its row, its column and its table would be compared with the wrong one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kb.model import Cell, Document, Table

_YEAR = re.compile(r"20(\d\d)(?!\d)")
_SIZE = re.compile(r"\d+(?:\.\d+)?\s?[BMK]")  # of a model: a label, not a measurement
LONGEST_VALUE = 28
LONGEST_CAPTION = 90


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """One cell of a table: the benchmark as printed, whose number it is, under which further headings, and where."""

    benchmark: str
    method: str
    setting: str
    value: str
    where: str


def same_benchmark(asked: str, printed: str) -> bool:
    """Whether a benchmark is named in a heading: AIME24 in ``AIME 2024 (avg@32)``, MATH in ``MATH-500``.

    A name in capitals is not the common word: MATH is not in ``math and code``.
    """
    wanted, words = _words(asked), _words(printed)
    size = len(wanted)
    return any(
        all(map(_is_word, wanted, words[start : start + size])) for start in range(len(words) - size + 1) if size
    )


def _words(text: str) -> list[str]:
    """Runs of letters and runs of digits; a year is its last two digits."""
    return re.findall(r"[^\W\d_]+|\d+", _YEAR.sub(r"\1", unicodedata.normalize("NFKC", text)))


def _is_word(wanted: str, word: str) -> bool:
    if wanted.isupper() and len(wanted) > 2 and sum(map(str.isupper, word)) < 2:
        return False
    return wanted.casefold() == word.casefold()


def printed_numbers(document: Document, benchmark: str) -> list[PrintedNumber]:
    """The numbers of a benchmark in all tables of a text, in reading order."""
    return [number for table in document.tables for number in _of_table(table, benchmark)]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with numbers under its headings: ``cells`` and ``paths`` are those right of the labels."""

    part: str
    name: str
    label: str
    cells: tuple[Cell, ...]
    paths: tuple[str, ...]

    @property
    def group(self) -> str:
        return _path((self.part, self.name))


def _of_table(table: Table, benchmark: str) -> Iterator[PrintedNumber]:
    where, in_caption = _place(table), same_benchmark(benchmark, table.caption)
    rows = _rows(table)
    times = Counter((row.group, row.label) for row in rows)
    for row in rows:
        in_row = same_benchmark(benchmark, _path((row.group, row.label)))
        matching = [same_benchmark(benchmark, path) for path in row.paths]
        # A name that several rows share tells nothing; the numbers left of ours (a group size, a budget) do.
        left = matching.index(True) if any(matching) and (times[row.group, row.label] > 1 or not row.label) else 0
        setting = _path((row.group, *_assigned(row, left)))
        for cell, path, is_ours in zip(row.cells, row.paths, matching, strict=False):
            if not _is_number(cell):
                continue
            if is_ours:
                yield PrintedNumber(path, row.label, setting, cell.text, where)
            elif in_row and not any(matching):
                yield PrintedNumber(_path((row.group, row.label)), path, "", cell.text, where)
            elif in_caption and not any(matching):
                yield PrintedNumber(benchmark, row.label, _path((row.group, path)), cell.text, where)


def _assigned(row: _Row, count: int) -> list[str]:
    pairs = zip(row.paths[:count], row.cells[:count], strict=False)
    return [f"{path} = {cell.text}" for path, cell in pairs if cell.text.strip("–—- ")]


def _rows(table: Table) -> list[_Row]:
    """The rows that hold numbers. Rows without any are headings: of the rows below, or of the columns."""
    header, body = _header(table)
    if not body:
        return []
    paths = [_path(row[column].text for row in header if column < len(row)) for column in range(len(body[0]))]
    count = _label_columns(body)
    part, name, rows, names = "", "", [], []
    for row in filter(None, body):
        texts = [cell.text.strip() for cell in row]
        if any(map(_is_number, row[count:])):
            rows.append(_Row(part, name, _path(texts[:count]), tuple(row[count:]), tuple(paths[count:])))
        elif len(set(filter(None, texts))) > 2:
            part, name = "", ""
            paths = [_path((path, text)) for path, text in zip(paths, texts, strict=False)]
        elif texts[0] and not any(texts[1:]):
            name = texts[0]
            names.append(name)
        else:
            part, name = _path(texts) or part, ""
    if names and rows and not rows[0].label and not rows[0].name:
        # The names stand in the middle of their rows, so that none can be told to belong to the rows below it.
        unclear = "one of " + ", ".join(dict.fromkeys(names))
        return [row if row.label else replace(row, name=unclear) for row in rows]
    return rows


def _header(table: Table) -> tuple[Sequence[tuple[Cell, ...]], Sequence[tuple[Cell, ...]]]:
    """Header and body; the first row of a table without header is its header if it holds no number."""
    if table.header or not table.rows or any(_is_number(cell) for cell in table.rows[0]):
        return table.header, table.rows
    return table.rows[:1], table.rows[1:]


def _label_columns(body: Sequence[Sequence[Cell]]) -> int:
    """How many columns on the left hold labels: those of few numbers, and always the first (a year may be a label)."""
    rows = [row for row in body if any(map(_is_number, row))]
    for column in range(1, min(map(len, rows), default=1)):
        if 2 * sum(_is_number(row[column]) or not row[column].text.strip("–—- ") for row in rows) >= len(rows):
            return column
    return 1


def _is_number(cell: Cell) -> bool:
    """Whether a cell holds a measurement: a number, perhaps with an error or a change behind it, and few words."""
    text = cell.text.strip()
    if cell.number is not None:
        return True
    letters = sum(char.isalpha() for char in re.sub(r"\\[a-zA-Z]+", "", text))
    return bool(re.search(r"\d", text)) and len(text) <= LONGEST_VALUE and letters <= 2 and not _SIZE.fullmatch(text)


def _path(texts: Iterator[str] | Sequence[str]) -> str:
    """Headings above each other in one line, each once."""
    return " / ".join(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _place(table: Table) -> str:
    parts = [f"table {table.number}" if table.number else table.id, f"p. {table.page}" if table.page else ""]
    caption = " ".join(table.caption.split())
    if len(caption) > LONGEST_CAPTION:
        caption = caption[:LONGEST_CAPTION].rsplit(" ", 1)[0] + " …"
    return ", ".join(part for part in parts if part) + (f": {caption}" if caption else "")

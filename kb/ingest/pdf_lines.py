"""Visual lines of a PDF page: what the reader hands over and every later step works on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

_SECTION_NUMBER = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2})*\.?")
CUT_OFF = -1
Box: TypeAlias = tuple[float, float, float, float]
Word: TypeAlias = tuple[float, float, float, float, str]


@dataclass(slots=True)
class Line:
    """One visual line: text, box in points from the top left, and the look of its letters.

    ``size`` is in points; ``math`` is the share of characters set in a mathematics font; ``block`` numbers the
    blocks of the page as the reader saw them; ``full`` tells that the line reaches the right edge of its column.
    ``lead`` counts the characters at the start of a mixed line that are set in bold or italic, a number before them
    included, as in a heading that runs into its text; ``CUT_OFF`` marks such a heading once it is a line of its own.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    italic: bool
    math: float
    page: int
    block: int
    full: bool = False
    font: str = ""
    lead: int = 0

    @property
    def box(self) -> Box:
        return self.x0, self.y0, self.x1, self.y1

    def overlaps_rows(self, other: Line) -> float:
        """How much of the flatter line's height lies in the rows of the other, 0 to 1."""
        shared = min(self.y1, other.y1) - max(self.y0, other.y0)
        return shared / max(min(self.y1 - self.y0, other.y1 - other.y0), 0.1)


@dataclass(slots=True)
class Page:
    """A page: number from 1, size in points, lines in content order.

    ``rules`` are horizontal rules; ``image_share`` is the part that pictures cover (0 where there is ample text);
    ``turned`` is text set across the main direction. ``words``, and ``bold`` boxes of bold type, are read for pages
    with a table caption only.
    """

    number: int
    width: float
    height: float
    lines: list[Line]
    rules: list[Box] = field(default_factory=list)
    image_share: float = 0.0
    turned: list[str] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    bold: list[Box] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join([line.text for line in self.lines])


@dataclass(frozen=True, slots=True)
class UnreadablePage:
    """A page that the reader could not decode."""

    number: int
    reason: str


def bounding_box(lines: list[Line]) -> Box:
    """The box around all lines."""
    return (
        min(line.x0 for line in lines),
        min(line.y0 for line in lines),
        max(line.x1 for line in lines),
        max(line.y1 for line in lines),
    )


def append_line(lines: list[Line], line: Line) -> None:
    """Add a line, or join it to the last one where the reader cut one visual line in two."""
    if lines and _continues(lines[-1], line):
        _join(lines[-1], line)
    else:
        lines.append(line)


def _continues(last: Line, line: Line) -> bool:
    """Whether a line goes on to the right of the last on its baseline, or is an index raised or lowered beside it."""
    size = last.size if last.size > line.size else line.size
    gap = line.x0 - last.x1
    if not -1.6 * size < gap < 2.0 * size:
        return False
    if gap > 0.5 * size and _is_small_number(last, line):
        return False
    level = abs(last.y1 - line.y1) < 0.45 * size
    if last.block == line.block and level and gap >= -1.0:
        return True
    # A raised or lowered index makes the reader begin a new line, or even a new block, in the middle of a line.
    # An index below another one ("G" over "i=1") begins left of where the first ended.
    if gap > 0.6 * size or last.overlaps_rows(line) < 0.3:
        return False
    return gap > -0.5 or line.size < 0.85 * last.size or len(line.text.split(" ", 1)[0]) < 7


def _is_small_number(last: Line, line: Line) -> bool:
    """Whether one of the two is a bare number in much smaller type, as the line numbers of a submission are."""
    if line.size < 0.75 * last.size:
        return line.text.strip().isdigit()
    return last.size < 0.75 * line.size and last.text.strip().isdigit()


def _join(last: Line, line: Line) -> None:
    gap = " " if line.x0 - last.x1 > 0.12 * last.size or line.text[0] == " " or last.text[-1] == " " else ""
    weight_a, weight_b = len(last.text), len(line.text)
    if last.bold or last.lead == weight_a or _SECTION_NUMBER.fullmatch(last.text.strip()):
        last.lead = weight_a + len(gap) + (weight_b if line.bold else line.lead)
    if weight_b > weight_a:
        last.font = line.font
    last.math = (last.math * weight_a + line.math * weight_b) / (weight_a + weight_b)
    last.bold = last.bold and (line.bold or line.math > 0.9)
    last.italic = last.italic and line.italic
    last.size = last.size if weight_a >= weight_b else line.size
    last.text = f"{last.text.rstrip()}{gap}{line.text.lstrip()}"
    last.block = line.block
    last.x1, last.y0, last.y1 = max(last.x1, line.x1), min(last.y0, line.y0), max(last.y1, line.y1)


def finish_lines(page: Page) -> None:
    """Strip the lines, and tell which reach a right edge that many share, as lines of justified text do."""
    counts: dict[int, int] = {}
    for line in page.lines:
        line.text = line.text.strip()
        edge = round(line.x1 / 2)
        counts[edge] = counts.get(edge, 0) + 1
    for line in page.lines:
        edge = round(line.x1 / 2)
        near = counts.get(edge, 0) + counts.get(edge - 1, 0) + counts.get(edge + 1, 0)
        line.full = near >= 5 and line.x1 - line.x0 > 8 * line.size

"""From the boxes that character recognition finds on a page to lines in reading order. Boxes are in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from kb.ingest.pdf_lines import Line


@dataclass(frozen=True, slots=True)
class ReadBox:
    """A stretch of text and where it stands on the picture, from the top left."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str


def lies_sideways(boxes: Sequence[ReadBox]) -> bool:
    """Whether most of the long stretches run up or down the picture."""
    long = [box for box in boxes if len(box.text) > 3] or list(boxes)
    tall = sum(1 for box in long if box.y1 - box.y0 > box.x1 - box.x0)
    return tall > 0.5 * len(long)


def turned(boxes: Sequence[ReadBox], turn: int, width: float, height: float) -> list[ReadBox]:
    """The boxes after the picture of this width and height is turned by 0, 90, 180 or 270 degrees to the left."""
    made = []
    for box in boxes:
        if turn == 90:
            corners = (box.y0, width - box.x1, box.y1, width - box.x0)
        elif turn == 180:
            corners = (width - box.x1, height - box.y1, width - box.x0, height - box.y0)
        elif turn == 270:
            corners = (height - box.y1, box.x0, height - box.y0, box.x1)
        else:
            corners = (box.x0, box.y0, box.x1, box.y1)
        made.append(ReadBox(*corners, box.text))
    return made


def in_reading_order(boxes: Sequence[ReadBox]) -> list[ReadBox]:
    """Row by row; on a page of two columns the left one first, between the stretches that cross both."""
    gutter = _gutter(boxes)
    if gutter is None:
        return _by_rows(boxes)
    ordered: list[ReadBox] = []
    band: list[ReadBox] = []

    def close_band() -> None:
        ordered.extend(_by_rows([box for box in band if box.x1 <= gutter]))
        ordered.extend(_by_rows([box for box in band if box.x1 > gutter]))
        band.clear()

    for box in sorted(boxes, key=lambda box: box.y0):
        if box.x0 < gutter < box.x1:
            close_band()
            ordered.append(box)
        else:
            band.append(box)
    close_band()
    return ordered


def _gutter(boxes: Sequence[ReadBox]) -> float | None:
    """The x between two columns: hardly any stretch crosses it, and many stand on either side."""
    if len(boxes) < 12:
        return None
    left, right = min(box.x0 for box in boxes), max(box.x1 for box in boxes)
    for share in (0.5, 0.48, 0.52, 0.46, 0.54):
        at = left + share * (right - left)
        crossing = sum(1 for box in boxes if box.x0 < at < box.x1)
        before = sum(1 for box in boxes if box.x1 <= at)
        after = len(boxes) - crossing - before
        if crossing <= 0.2 * len(boxes) and min(before, after) >= 0.3 * len(boxes):
            return at
    return None


def _by_rows(boxes: Sequence[ReadBox]) -> list[ReadBox]:
    rows: list[list[ReadBox]] = []
    for box in sorted(boxes, key=lambda box: (box.y0 + box.y1) / 2):
        middle = (box.y0 + box.y1) / 2
        last = rows[-1][0] if rows else None
        if last and abs(middle - (last.y0 + last.y1) / 2) < 0.5 * min(box.y1 - box.y0, last.y1 - last.y0):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in sorted(row, key=lambda box: box.x0)]


def to_lines(boxes: Sequence[ReadBox], page: int) -> list[Line]:
    """The boxes as lines of one size, in blocks that white space parts."""
    if not boxes:
        return []
    size = median(box.y1 - box.y0 for box in boxes)
    lines: list[Line] = []
    block = 0
    for box in boxes:
        if lines and not -size < box.y0 - lines[-1].y1 < 0.9 * size:
            block += 1
        lines.append(Line(box.text, box.x0, box.y0, box.x1, box.y1, size, False, False, 0.0, page, block))
    right = max(line.x1 for line in lines)
    for line in lines:
        line.full = line.x1 > right - 2 * size
    return lines

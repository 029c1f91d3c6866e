"""Split the reference list of a PDF into entries: by marker, by vertical gap, or by hanging indent."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from statistics import median

from kb.ingest.pdf_lines import Line

LONGEST_ENTRY = 12  # lines
_MARKER = re.compile(r"^\s*(?:[\[［]\s?(\d{1,3})\s?[\]］]|(\d{1,3})[.．](?=\s|$|[A-Z\u4e00-\u9fff]))\s*")
_KEY = re.compile(r"^\s*\[[^\W\d_][^\]\[]{1,60}(?:\]|$)")
_YEAR = re.compile(r"(?<!\d)(?:18|19|20)\d\d[a-z]?(?!\d)")
_OPENING = re.compile(r"[A-ZÀ-ÞŁŠŽ\[“\"‘\u4e00-\u9fff]|(?:de|van|von|den|der|di|da|le|la|el|al|d’|d')\b", re.UNICODE)


def split_references(lines: Sequence[Line]) -> tuple[list[list[Line]], list[Line]]:
    """``(entries, rest)``: the lines of a reference list entry by entry, and what stands below the list's end.

    The split that looks most like a list wins.
    """
    if not lines:
        return [], []
    rest: list[Line] = []
    split = _by_number(lines) or _by_key(lines)
    if not split:
        end = _larger_type(lines)
        splits = [_drop_tail(split) for split in (_by_gap(lines[:end]), _by_indent(lines[:end])) if split]
        split, rest = max(splits, key=lambda pair: _worth(pair[0])) if splits else ([list(lines[:end])], [])
        rest = [*rest, *lines[end:]]
    strayed: list[Line] = []
    for index, entry in enumerate(split):
        # A figure between two entries makes one of them far too long.
        if len(entry) > LONGEST_ENTRY or index == len(split) - 1:
            split[index], after = _end_of_entry(entry)
            strayed += after
    return split, strayed + rest


def _larger_type(lines: Sequence[Line]) -> int:
    """Where type larger than the list's begins: the title of a supplement, a heading that was not seen as one."""
    size = median(line.size for line in lines)
    for index, line in enumerate(lines):
        if index >= 3 and line.size > 1.12 * size and len(line.text) > 12 and line.math < 0.3:
            return index
    return len(lines)


def find_unheaded(lines: Sequence[Line]) -> int | None:
    """Where a numbered list begins that no heading announces: ``[1]`` in the last part, followed by many more."""
    for index in range(len(lines) // 2, len(lines)):
        if lines[index].text.startswith(("[1]", "［1］")):
            split = _by_number(lines[index:])
            if len(split) >= 8:
                return index
    return None


def _drop_tail(split: list[list[Line]]) -> tuple[list[list[Line]], list[Line]]:
    """Cut off what follows the list: the last entry kept is a good one among mostly good ones."""
    good = [_looks_like_entry(entry) for entry in split]
    for last in range(len(split) - 1, -1, -1):
        window = good[max(0, last - 4) : last + 1]
        if good[last] and sum(window) >= 0.6 * len(window):
            return split[: last + 1], [line for entry in split[last + 1 :] for line in entry]
    return split, []


def _end_of_entry(entry: list[Line]) -> tuple[list[Line], list[Line]]:
    """The last entry, cut where a wide gap or a page break ends the list."""
    for index in range(1, len(entry)):
        above, line = entry[index - 1], entry[index]
        ended = above.text.rstrip().endswith((".", "]", ")", "。")) or above.text[-1:].isdigit()
        gap = _gap(above, line)
        if ended and (line.page != above.page or (gap is not None and gap > 0.8 * above.size)):
            return entry[:index], entry[index:]
    return entry, []


def _by_number(lines: Sequence[Line]) -> list[list[Line]]:
    """Entries that open with [1], [2], ... or 1., 2., ...: the longest run that counts up by one."""
    starts: list[int] = []
    expected = 1
    for index, line in enumerate(lines):
        match = _MARKER.match(line.text)
        # One or two markers may be lost inside another line.
        if match and expected <= (number := int(match[1] or match[2])) <= expected + 2:
            starts.append(index)
            expected = number + 1
    if len(starts) < 3 or starts[0] > 5 or len(starts) < (starts[-1] + 1) / 15:
        return []
    if starts[0] and not re.match(r"\D*1\D", lines[starts[0]].text):
        # The first marker could not be read: its entry is what stands above the second.
        starts.insert(0, 0)
    return _cut(lines, starts)


def _by_key(lines: Sequence[Line]) -> list[list[Line]]:
    starts = [index for index, line in enumerate(lines) if _KEY.match(line.text)]
    return _cut(lines, starts) if len(starts) >= 3 and starts[0] <= 2 and len(starts) >= len(lines) / 15 else []


def _by_gap(lines: Sequence[Line]) -> list[list[Line]]:
    """Entries with more space above them than lines of one entry have between them."""
    gaps = [_gap(above, line) for above, line in itertools.pairwise(lines)]
    inside = [gap for gap in gaps if gap is not None]
    if len(inside) < 4:
        return []
    low = sorted(inside)[len(inside) // 4]
    size = median(line.size for line in lines)
    threshold = low + 0.22 * size
    starts = [0]
    for index, gap in enumerate(gaps, start=1):
        if (gap is not None and gap > threshold) or (gap is None and _begins_entry(lines, index)):
            starts.append(index)
    return _cut(lines, starts)


def _gap(above: Line, line: Line) -> float | None:
    """The space between two lines of one column; None across a column or page break."""
    if above.page != line.page or line.y0 < above.y0:
        return None
    return line.y0 - above.y1


def _begins_entry(lines: Sequence[Line], index: int) -> bool:
    """At the top of a column: an entry begins unless the one before has no year yet or breaks off."""
    above, line = lines[index - 1], lines[index]
    ended = above.text.rstrip().endswith((".", "。", "]", ")")) or bool(re.search(r"\d$", above.text))
    return ended and bool(_OPENING.match(line.text)) and "," in line.text


def _by_indent(lines: Sequence[Line]) -> list[list[Line]]:
    """Entries whose first line hangs out to the left of the others."""
    starts = []
    for column in _columns(lines):
        left = min(lines[index].x0 for index in column)
        starts += [index for index in column if lines[index].x0 < left + 0.4 * lines[index].size]
    starts.sort()
    if not starts or len(starts) > 0.8 * len(lines):
        return []
    return _cut(lines, starts if starts[0] == 0 else [0, *starts])


def _columns(lines: Sequence[Line]) -> list[list[int]]:
    """Indices of lines by page and column: a column ends where the next line is higher up or on another page."""
    columns: list[list[int]] = []
    for index, line in enumerate(lines):
        above = lines[index - 1] if index else None
        if above is None or above.page != line.page or line.y0 < above.y0 - 2 * line.size:
            columns.append([])
        columns[-1].append(index)
    return columns


def _cut(lines: Sequence[Line], starts: list[int]) -> list[list[Line]]:
    ends = [*starts[1:], len(lines)]
    return [list(lines[start:end]) for start, end in zip(starts, ends, strict=True) if end > start]


def _looks_like_entry(entry: list[Line]) -> bool:
    """Whether lines open like an entry, hold a year, and are of one entry's length."""
    text = " ".join(line.text for line in entry)
    years = len(set(_YEAR.findall(text)))
    return bool(_OPENING.match(text)) and 1 <= years <= 3 and 25 <= len(text) <= 700


def _worth(split: list[list[Line]]) -> float:
    """How good a split is: how many entries look like one, and which share of them that is."""
    good = sum(map(_looks_like_entry, split))
    return good * good / len(split)

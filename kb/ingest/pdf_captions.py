"""Captions of figures and tables in a PDF."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ingest.pdf_lines import Box, Line
from kb.ingest.pdf_text import Joiner, clean
from kb.model import Figure

_CAPTION = re.compile(
    r"^(?P<kind>Figure|Fig\.?|FIGURE|FIG\.|Table|TABLE|Tab\.|Algorithm|图|表)\s*"
    r"(?P<number>(?:[A-Z]\.?)?\d{1,3}(?:[.-]\d{1,2})?|[IVXL]{1,6}|[A-Z](?=\s*[.:：|]))"
    r"(?P<rest>\s*[.:：|—–-]\s*.*|\s+[A-Z\u4e00-\u9fff(].*|\s*)$",
    re.DOTALL,
)
# "Table 3 shows that ..." is a sentence; the text of a caption begins with a mark or a capital letter.
_SENTENCE = re.compile(r"\s+(?:The above|We|In|给出|所示|中|为)\b|\s*(?:给出|所示|中的|显示|展示|列出)")


def caption_start(line: Line) -> re.Match[str] | None:
    """The match (groups ``kind``, ``number``, ``rest``) of a line that opens a caption."""
    if line.text[:1] not in "FTA图表":
        return None
    match = _CAPTION.match(line.text)
    if match is None or (not match["rest"].strip() and len(line.text) > 12) or _SENTENCE.match(match["rest"]):
        return None
    if match["kind"] == "Algorithm":
        return None
    return match


def is_table(match: re.Match[str]) -> bool:
    """Whether a caption is that of a table."""
    return match["kind"].lower().startswith(("tab", "表"))


def caption_end(lines: Sequence[Line], at: int, rules: Sequence[Box] = ()) -> int:
    """The end (exclusive) of the caption that opens at ``at``: lines of its look that follow closely.

    A rule below it ends it.
    """
    first, end = lines[at], at + 1
    while end < len(lines):
        line, above = lines[end], lines[end - 1]
        gap = line.y0 - above.y1
        if line.page != above.page or line.y0 < above.y0 - 2 or caption_start(line):
            break
        if abs(line.size - first.size) > 0.6 or gap > 0.55 * line.size or (line.block != above.block and gap > 2.5):
            break
        is_level = line.overlaps_rows(above) > 0.5
        is_aligned = line.x0 - first.x0 < 0.3 * (first.x1 - first.x0)
        is_centred = abs((line.x0 + line.x1) - (first.x0 + first.x1)) < 2 * line.size
        if not (is_level or is_aligned or is_centred):
            break
        if any(above.y1 - 2 < rule[1] < line.y0 + 2 and rule[0] < line.x1 and rule[2] > line.x0 for rule in rules):
            break
        end += 1
    return end


def read_caption(lines: Sequence[Line], at: int, end: int, joiner: Joiner) -> Figure:
    """The caption in ``lines[at:end]`` as a figure; a table takes number and text over from it."""
    match = caption_start(lines[at])
    assert match is not None
    first = re.sub(r"^[\s.:：|—–-]+", "", clean(match["rest"]))
    rest = joiner.join(lines[at + 1 : end])
    text = joiner.append(first, rest) if first and rest else first or rest
    kind = "tab" if is_table(match) else "fig"
    return Figure(f"{kind}-{match['number']}", text, match["number"], None, lines[at].page)

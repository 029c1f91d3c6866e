"""Display formulas of a PDF: glyphs in places, gathered line by line and kept flat.

Fractions, roots and indices are lost in a PDF's text, so a formula found here is never offered as LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ingest.pdf_lines import Line, bounding_box
from kb.ingest.pdf_text import clean, has_han
from kb.model import Equation

_NUMBERED = re.compile(r"^(?P<body>.*?)(?:^|\s)\s*[（(](?P<number>\d{1,3}(?:[.-]\d{1,3}){0,2}[a-z]?|[A-Z]\.?\d{1,3})[)）]$")
_WORD = re.compile(r"[^\W\d_]{3,}")
_FUNCTIONS = frozenset(
    "min max clip log exp mean std sup inf arg argmin argmax var cov sin cos tanh softmax sigmoid relu sgn sign det rank "
    "diag lim prod sum otherwise where subject such that with and for".split(" ")
)
_SYMBOL = re.compile(r"[=≤≥<>∼≈≡→←↔⇒∈∝:+−±∑∏∫√|∥/·×⊙⊕∂∇∀∃∞ˆ˜¯α-ωΑ-Ω]")
_CODE_LINE = re.compile(r"\d{1,3}:\s|(?:if|for|while|end|return|else)\b")
_RELATION = re.compile(r"[=≤≥<>∼≈≡→←⇒∈∝:]|:=")


def number_of(line: Line) -> str | None:
    """The number in brackets that ends a line of a formula."""
    match = _NUMBERED.match(line.text)
    return match["number"] if match else None


def is_formula(line: Line) -> bool:
    """Whether a line is display maths: mathematics and hardly any words."""
    text = line.text
    if line.math < 0.1 and len(text) > 64:
        return False
    if line.math == 0.0 and not _SYMBOL.search(text):
        return len(text) < 10 and number_of(line) is not None
    if _CODE_LINE.match(text) or has_han(text):
        return False
    if sum(1 for token in text.split() if len(token) > 1 and token.isalpha() and token.islower()) >= 4:
        return False
    words = [word for word in _WORD.findall(text) if word.lower() not in _FUNCTIONS]
    share = sum(map(len, words)) / len(text)
    if len(words) > 3 or any(len(word) > 14 for word in words) or share > 0.34:
        # Names set as indices look like words; what is mostly symbols around a relation, and no full line, is maths.
        return line.math >= 0.4 and share < 0.5 and not line.full and bool(_RELATION.search(text))
    if line.math >= 0.15:
        return True
    # Old or foreign fonts do not tell mathematics by their names: then a relation between symbols has to.
    return bool(_RELATION.search(text)) and not re.match(r"^[\d.,;:%+–—-]*$", text) and len(words) <= 1 and len(text) < 90


def has_number_beside(lines: Sequence[Line], at: int) -> bool:
    """Whether the next line is a number in brackets in the same row: then this one is a formula, whatever its words."""
    if at + 1 == len(lines) or lines[at].full:
        return False
    line, beside = lines[at], lines[at + 1]
    is_number = len(beside.text) < 10 and number_of(beside) is not None and beside.x0 > line.x1
    is_math = line.math > 0.0 or bool(_SYMBOL.search(line.text))
    return is_number and is_math and beside.page == line.page and beside.overlaps_rows(line) > 0.4


def is_fragment(line: Line) -> bool:
    """A loose part of a formula: a few symbols, or a function's name alone."""
    if len(line.text) > 16:
        return False
    words = [word for word in _WORD.findall(line.text) if word.lower() not in _FUNCTIONS]
    return not words and len(line.text.replace(" ", "")) <= 12


def formula_end(lines: Sequence[Line], start: int, body_size: float) -> int:
    """The end (exclusive) of the formula whose first line is at ``start``."""
    top, bottom = lines[start].y0, lines[start].y1
    end = start + 1
    while end < len(lines) and lines[end].page == lines[start].page:
        line = lines[end]
        gap = max(line.y0 - bottom, top - line.y1)
        is_part = gap < 0.9 * body_size and (is_formula(line) or is_fragment(line) or has_number_beside(lines, end))
        # Words in the rows of a formula belong to it: the cases of a function, a condition to its right.
        if not is_part and not (len(line.text) < 60 and not line.full and _lies_within(line, top, bottom)):
            break
        top, bottom = min(top, line.y0), max(bottom, line.y1)
        end += 1
    return end


def _lies_within(line: Line, top: float, bottom: float) -> bool:
    return min(line.y1, bottom) - max(line.y0, top) > 0.6 * (line.y1 - line.y0)


def is_inline(lines: Sequence[Line], at: int) -> bool:
    """Whether a line of mathematics is a line of the paragraph above it rather than a display."""
    line = lines[at]
    if at == 0 or number_of(line) or is_formula(lines[at - 1]):
        return False
    above = lines[at - 1]
    if above.page != line.page or not above.full or line.y0 - above.y1 > 0.25 * line.size:
        return False
    return abs(line.x0 - above.x0) < 0.5 * line.size and not above.text.endswith(":")


def make_equations(lines: Sequence[Line], taken: set[str]) -> list[Equation]:
    """The equations in these lines: one to every number, or one in all. ``taken`` holds the ids used so far."""
    made = []
    for part in _split_by_number(lines):
        glyphs = "\n".join(filter(None, (clean(line.text).strip() for line in part)))
        number = next((found for line in part if (found := number_of(line))), None)
        if number is None and len(re.sub(r"\s", "", glyphs)) < 6:
            continue
        x0, y0, x1, y1 = bounding_box(list(part))
        box = (round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1))
        name = _free_name(f"eq-{number}" if number else f"eq-p{part[0].page}", taken, numbered=number is not None)
        made.append(Equation(name, None, "flattened", number, env="display", text=glyphs, page=part[0].page, bbox=box))
    return made


def _free_name(stem: str, taken: set[str], *, numbered: bool) -> str:
    name = stem if numbered else f"{stem}-1"
    count = 1
    while name in taken:
        count += 1
        name = f"{stem}-{count}"
    taken.add(name)
    return name


def _split_by_number(lines: Sequence[Line]) -> list[Sequence[Line]]:
    parts: list[Sequence[Line]] = []
    start = 0
    for index, line in enumerate(lines):
        if number_of(line) is None:
            continue
        end = index + 1
        # What lies in the rows of the number still belongs to its formula.
        while end < len(lines) and number_of(lines[end]) is None and lines[end].overlaps_rows(line) > 0.5:
            end += 1
        if end > start:
            parts.append(lines[start:end])
            start = end
    if start < len(lines):
        rest = lines[start:]
        if parts and all(is_fragment(line) for line in rest):
            parts[-1] = [*parts[-1], *rest]
        else:
            parts.append(rest)
    return parts

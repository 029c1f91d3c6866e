"""From the lines of a PDF to blocks: paragraphs, flattened formulas, captions, and what is no text at all."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from kb.ingest.pdf_lines import Line, Page
from kb.model import Block, Equation, Figure, Paragraph

_CAPTION = re.compile(
    r"^(?P<kind>Figure|Fig\.|FIGURE|FIG\.|Table|TABLE|Tab\.|图|表)\s*(?P<number>(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,2})?|[IVXL]{1,6})"
    r"(?P<rest>\s*[.:：|—–-]\s*.*|\s+[A-Z\u4e00-\u9fff(].*|\s*)$",
    re.DOTALL,
)
_EQUATION_NUMBER = re.compile(
    r"^(?P<body>.*?)\s*[（(](?P<number>\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?|[A-Z]\.?\d{1,3})[)）]$"
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_FUNCTIONS = frozenset("min max clip log exp mean std sup inf arg argmin argmax var cov sin cos tanh softmax sgn sign det "
                       "rank diag lim prod sum tr ln mod old new ref subject".split(" "))  # fmt: skip
_RELATION = re.compile(r"[=≤≥<>∼≈≡→←∈∝:+−∑∏∫|∥/·×ˆ˜∂∇αβγδθλμπσφψω]")
_SENTENCE_END = re.compile(r"[.?!:;。？！：；]['”’)\]]*$")
_HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00ad": "", "\u00a0": " "}
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")


def clean(text: str) -> str:
    """Ligatures resolved, control characters and glyphs without a code dropped."""
    return _CONTROL.sub("", text.translate(_LIGATURES))


def drop_furniture(pages: Sequence[Page]) -> None:
    """Take running heads, page numbers and margin line numbers out of the pages' lines."""
    counts: Counter[str] = Counter()
    for page in pages:
        for line in {_masked(line) for line in page.lines if _in_margin(line, page)}:
            counts[line] += 1
    often = max(3, 0.25 * len(pages)) if len(pages) > 3 else 2
    repeated = {text for text, count in counts.items() if count >= often}
    for page in pages:
        numbers = _margin_numbers(page)
        page.lines = [
            line
            for index, line in enumerate(page.lines)
            if index not in numbers and not (_in_margin(line, page) and _is_furniture(line, repeated))
        ]


def _in_margin(line: Line, page: Page) -> bool:
    return line.y1 < 0.09 * page.height or line.y0 > 0.90 * page.height


def _masked(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text).strip()


def _is_furniture(line: Line, repeated: set[str]) -> bool:
    return _masked(line) in repeated or bool(re.fullmatch(r"[-–—\s]*(?:\d{1,4}|[ivxlc]{1,5})[-–—\s]*", line.text))


def _margin_numbers(page: Page) -> set[int]:
    """Line numbers that a submission prints in its margin: many bare numbers in one narrow column that count up."""
    columns: dict[int, list[int]] = {}
    for index, line in enumerate(page.lines):
        if line.text.isdigit() and len(line.text) <= 4:
            columns.setdefault(round(line.x1 / 8), []).append(index)
    found: set[int] = set()
    for indices in columns.values():
        values = [int(page.lines[index].text) for index in indices]
        rising = sum(1 for a, b in itertools.pairwise(values) if b == a + 1)
        if len(indices) >= 10 and rising >= 0.8 * (len(indices) - 1):
            found.update(indices)
    return found


def body_size(pages: Sequence[Page]) -> float:
    """The size that most running text is set in. The last pages count less: lists and prompts in small type end a paper."""
    counts: Counter[float] = Counter()
    for page in pages[: max(3, round(0.6 * len(pages)))]:
        for line in page.lines:
            counts[line.size] += len(line.text) if len(line.text) > 40 else 1
    return counts.most_common(1)[0][0] if counts else 10.0


def caption_of(line: Line) -> re.Match[str] | None:
    """The match of a line that opens a caption (groups ``kind``, ``number``, ``rest``)."""
    match = _CAPTION.match(line.text)
    if match is None or (not match["rest"].strip() and len(line.text) > 12):
        return None
    # "Table 3 shows that ..." is a sentence; a caption's text begins with a mark or a capital letter.
    if re.match(r"\s+(?:and|shows?|is|are|in|of|we|The above)\b", match["rest"]):
        return None
    return match


def is_formula(line: Line) -> bool:
    """Whether a line is display maths: mathematics and no running words."""
    words = [word for word in _WORD.findall(line.text) if word.lower() not in _FUNCTIONS]
    if line.math == 0.0 and not _RELATION.search(line.text):
        return bool(_EQUATION_NUMBER.fullmatch(line.text)) and len(line.text) < 10
    if len(words) > 2 or any(len(word) > 12 for word in words):
        return False
    letters = sum(map(len, words))
    return letters <= 0.34 * len(line.text) and (line.math >= 0.15 or bool(_RELATION.search(line.text)))


def is_fragment(line: Line) -> bool:
    """A loose part of a formula: a few symbols, or a function's name alone."""
    words = [word for word in _WORD.findall(line.text) if word.lower() not in _FUNCTIONS]
    return not words and len(line.text.replace(" ", "")) <= 12


class BlockMaker:
    """Turns the lines of one section into blocks."""

    def __init__(self, size: float, hyphenated: frozenset[str]) -> None:
        self._size = size
        self._hyphenated = hyphenated
        self._equations = 0

    def blocks(self, lines: Sequence[Line]) -> list[Block]:
        made: list[Block] = []
        index = 0
        while index < len(lines):
            line = lines[index]
            if caption := caption_of(line):
                index, figure = self._caption(lines, index, caption)
                made.append(figure)
            elif is_formula(line) or self._opens_formula(lines, index):
                end = self._formula_end(lines, index)
                made += self._equation(lines[index:end])
                index = end
            else:
                end = index + 1
                while end < len(lines) and not self._breaks(lines, end):
                    end += 1
                text = self.join(lines[index:end])
                if not self._is_noise(lines[index:end], text):
                    made.append(Paragraph(text, line.page))
                index = end
        return _merge_split_sentences(made)

    def _caption(self, lines: Sequence[Line], at: int, match: re.Match[str]) -> tuple[int, Figure]:
        end = at + 1
        while end < len(lines) and lines[end].block == lines[at].block and lines[end].page == lines[at].page:
            end += 1
        text = re.sub(r"^[\s.:：|—–-]+", "", clean(match["rest"]))
        rest = self.join(lines[at + 1 : end])
        table = match["kind"].lower().startswith(("tab", "表"))
        name = "tab" if table else "fig"
        caption = f"{text} {rest}".strip() if text else rest
        return end, Figure(f"{name}-{match['number']}", caption, match["number"], None, lines[at].page)

    def _opens_formula(self, lines: Sequence[Line], at: int) -> bool:
        """A loose symbol right before a formula at the same height belongs to it."""
        after = lines[at + 1] if at + 1 < len(lines) else None
        return bool(
            is_fragment(lines[at])
            and after
            and is_formula(after)
            and after.y0 < lines[at].y1
            and after.y1 > lines[at].y0
        )

    def _formula_end(self, lines: Sequence[Line], at: int) -> int:
        end = at + 1
        while end < len(lines) and lines[end].page == lines[at].page and not caption_of(lines[end]):
            line = lines[end]
            near = line.y0 < lines[end - 1].y1 + 1.6 * self._size and line.y1 > lines[at].y0 - 2 * self._size
            if not (near and (is_formula(line) or is_fragment(line))):
                break
            end += 1
        return end

    def _equation(self, lines: Sequence[Line]) -> list[Block]:
        glyphs = "\n".join(clean(line.text) for line in lines)
        number = next((match["number"] for line in lines if (match := _EQUATION_NUMBER.match(line.text))), None)
        visible = glyphs.replace(" ", "").replace("\n", "")
        if number is None and len(visible) < 8:
            return [Paragraph(glyphs.replace("\n", " "), lines[0].page)] if len(visible) > 2 else []
        self._equations += 1
        box = (min(line.x0 for line in lines), min(line.y0 for line in lines),
               max(line.x1 for line in lines), max(line.y1 for line in lines))  # fmt: skip
        rounded = (round(box[0], 1), round(box[1], 1), round(box[2], 1), round(box[3], 1))
        name = f"eq-{number}" if number else f"eq-p{lines[0].page}-{self._equations}"
        return [Equation(name, None, "flattened", number, env="display", text=glyphs, page=lines[0].page, bbox=rounded)]

    def _breaks(self, lines: Sequence[Line], at: int) -> bool:
        """Whether a new paragraph begins at ``at``."""
        line, above = lines[at], lines[at - 1]
        if caption_of(line) or (is_formula(line) and not above.text.endswith("-")):
            return True
        if line.page != above.page or line.y1 < above.y0:
            return bool(_SENTENCE_END.search(above.text)) and not line.text[:1].islower()
        if abs(line.size - above.size) > 0.15 * self._size and line.block != above.block:
            return True
        gap = line.y0 - above.y1
        ended = bool(_SENTENCE_END.search(above.text))
        if line.block != above.block:
            return ended or gap > 0.9 * self._size or not line.text[:1].islower()
        indented = line.x0 > above.x0 + 0.7 * self._size
        return (ended and indented) or gap > 0.75 * self._size or (line.bold and not above.bold and ended)

    def _is_noise(self, lines: Sequence[Line], text: str) -> bool:
        """Labels inside a drawing: small, or short and without a sentence."""
        if not text:
            return True
        small = all(line.size < 0.76 * self._size for line in lines)
        return small and len(text) < 200

    def join(self, lines: Sequence[Line]) -> str:
        """Lines as running text: words broken at a line's end are mended, Chinese lines are joined without a space."""
        text = ""
        for line in lines:
            part = clean(line.text).strip()
            if not part:
                continue
            if not text:
                text = part
            elif text[-1] in "-‐" and len(text) > 1 and text[-2].isalpha() and part[0].isalpha():
                text = self._mend(text, part)
            elif _HAN.match(text[-1]) and _HAN.match(part[0]):
                text += part
            else:
                text = f"{text} {part}"
        return text

    def _mend(self, text: str, part: str) -> str:
        head = re.search(r"[^\W\d_]+(?:-[^\W\d_]+)*-?$", text.rstrip("-‐") + "-")
        tail = re.match(r"[^\W\d_]+", part)
        compound = f"{head[0].rstrip('-')}-{tail[0]}".lower() if head and tail else ""
        if part[0].isupper() or compound in self._hyphenated:
            return f"{text[:-1]}-{part}"
        return text[:-1] + part


def hyphenated_words(pages: Sequence[Page]) -> frozenset[str]:
    """The hyphenated compounds that stand inside lines: those keep their hyphen at a line's end too."""
    found: set[str] = set()
    for page in pages:
        for line in page.lines:
            if "-" in line.text:
                found.update(word.lower() for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)+(?=[^-\w]|$)", line.text))
    return frozenset(found)


def _merge_split_sentences(blocks: list[Block]) -> list[Block]:
    """A sentence that a figure or a page break cut in two becomes one paragraph again, before what cut it."""
    merged: list[Block] = []
    for block in blocks:
        back = len(merged) - 1
        while back >= 0 and isinstance(merged[back], Figure):
            back -= 1
        if isinstance(block, Paragraph) and back >= 0 and block.text[:1].islower():
            before = merged[back]
            if isinstance(before, Paragraph) and not _SENTENCE_END.search(before.text) and len(before.text) > 60:
                glue = "" if before.text.endswith("-") else " "
                merged[back] = Paragraph(f"{before.text.removesuffix('-')}{glue}{block.text}", before.page)
                continue
        merged.append(block)
    return merged

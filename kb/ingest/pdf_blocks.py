"""From the lines of one section to its blocks in reading order: paragraphs, formulas, tables, captions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kb.ingest.pdf_captions import caption_end, caption_start, read_caption
from kb.ingest.pdf_formulas import formula_end, has_number_beside, is_formula, is_fragment, is_inline, make_equations
from kb.ingest.pdf_lines import Line
from kb.ingest.pdf_text import Joiner, ends_sentence, has_han, is_han
from kb.model import Block, Equation, Figure, Paragraph, Table

_LIST_ITEM = re.compile(r"^(?:[•‣▪–∗*◦●■-]\s|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s)")
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(slots=True)
class BlockMaker:
    """Turns the lines of a section into blocks. ``tables`` are keyed by ``id()`` of their caption's first line."""

    size: float
    joiner: Joiner
    tables: Mapping[int, Table]
    taken: set[str] = field(default_factory=set)

    def blocks(self, lines: Sequence[Line]) -> list[Block]:
        """The blocks of these lines, sentences that a float or a page cut in two put together again."""
        made: list[tuple[Block, bool]] = []
        captions = [caption_start(line) is not None for line in lines]
        displays = [not captions[at] and _is_display(lines, at) for at in range(len(lines))]
        index = 0
        while index < len(lines):
            if captions[index]:
                end = caption_end(lines, index)
                made.append((self._float(lines, index, end), True))
            elif displays[index]:
                end = formula_end(lines, index, self.size)
                made += [(equation, False) for equation in make_equations(lines[index:end], self.taken)]
            else:
                end = index + 1
                while end < len(lines) and not (captions[end] or displays[end] or self._breaks(lines, end)):
                    end += 1
                text = self.joiner.join(lines[index:end])
                if not _is_noise(lines[index:end], text, self.size):
                    aside = max(line.size for line in lines[index:end]) < 0.93 * self.size
                    made.append((Paragraph(text, lines[index].page), aside))
            index = end
        return _with_context(self._mended(made))

    def _float(self, lines: Sequence[Line], at: int, end: int) -> Block:
        block: Table | Figure = self.tables.get(id(lines[at])) or read_caption(lines, at, end, self.joiner)
        name, count = block.id, 1
        while name in self.taken:
            count += 1
            name = f"{block.id}-{count}"
        self.taken.add(name)
        return replace(block, id=name)

    def _breaks(self, lines: Sequence[Line], at: int) -> bool:
        """Whether a new paragraph begins at ``at``."""
        line, above = lines[at], lines[at - 1]
        ended = ends_sentence(above.text)
        if line.page != above.page or line.y1 < above.y0:
            return ended or not _goes_on(above, line)
        if abs(line.size - above.size) > 0.15 * self.size and line.block != above.block:
            return True
        gap = line.y0 - above.y1
        if gap > 0.9 * self.size:
            return True
        if line.block != above.block:
            reaches = gap < 0.6 * self.size and above.x1 > line.x1 - 2.5 * line.size
            return ended or not (above.full or reaches or line.text[:1].islower())
        indented = line.x0 > above.x0 + 0.7 * self.size
        if _LIST_ITEM.match(line.text) and (ended or not above.full):
            return True
        return ended and (indented or gap > 0.6 * self.size or (line.bold and not above.bold))

    def _mended(self, blocks: list[tuple[Block, bool]]) -> list[Block]:
        """A sentence that floats, footnotes or a page break cut in two becomes one paragraph, before what cut it."""
        merged: list[tuple[Block, bool]] = []
        for block, aside in blocks:
            back = len(merged) - 1
            while back >= 0 and merged[back][1]:
                back -= 1
            if isinstance(block, Paragraph) and not aside and back >= 0 and back < len(merged):
                before = merged[back][0]
                if isinstance(before, Paragraph) and _is_cut(before.text, block.text, apart=back < len(merged) - 1):
                    text = self.joiner.append(before.text, block.text)
                    merged[back] = (Paragraph(text, before.page), False)
                    continue
            merged.append((block, aside))
        return [block for block, _ in merged]


def _is_display(lines: Sequence[Line], at: int) -> bool:
    """Whether a line opens a display formula."""
    line = lines[at]
    if is_formula(line):
        return not is_inline(lines, at)
    if has_number_beside(lines, at):
        return True
    if not is_fragment(line) or at + 1 == len(lines):
        return False
    # A loose symbol right before a formula, in its rows, belongs to it.
    after = lines[at + 1]
    return after.page == line.page and is_formula(after) and line.overlaps_rows(after) > 0.2


def _goes_on(above: Line, line: Line) -> bool:
    """Whether a sentence runs on over the break of a column or page."""
    if abs(line.size - above.size) > 0.1 * line.size:
        return False
    first = line.text[:1]
    return above.full or first.islower() or is_han(first)


def _is_cut(before: str, after: str, *, apart: bool) -> bool:
    """Whether two paragraphs are the halves of one sentence."""
    if len(before) < 30 or ends_sentence(before):
        return False
    if before.endswith("-") or after[:1].islower():
        return not _LIST_ITEM.match(after)
    return apart and is_han(before[-1]) and is_han(after[:1])


def _is_noise(lines: Sequence[Line], text: str, size: float) -> bool:
    """Labels inside a drawing: in small type, or without a single word."""
    if not text:
        return True
    if all(line.size < 0.76 * size for line in lines) and len(text) < 200:
        return True
    return len(text) < 25 and not _WORD.search(text) and not has_han(text)


def _with_context(blocks: list[Block]) -> list[Block]:
    """The sentence before and after every equation, by which words find it."""
    made: list[Block] = []
    for index, block in enumerate(blocks):
        if isinstance(block, Equation):
            before = next((b.text for b in reversed(blocks[:index]) if isinstance(b, Paragraph)), "")
            after = next((b.text for b in blocks[index + 1 :] if isinstance(b, Paragraph)), "")
            block = replace(block, before=_last_sentence(before), after=_first_sentence(after))
        made.append(block)
    return made


def _last_sentence(text: str) -> str:
    return re.split(r"(?<=[.?!])\s+(?=[A-Z])|(?<=[。？！])", text.strip().rstrip("。"))[-1][-400:].strip()


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.?!])\s+(?=[A-Z])|(?<=[。？！])", text.strip())[0][:400].strip()

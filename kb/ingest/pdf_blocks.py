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

LEAST_LABELS = 3
_LIST_ITEM = re.compile(r"^(?:[•‣▪–∗*◦●■-]\s|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s)")
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class _Made:
    """A block with what is needed to put cut sentences together again.

    ``is_aside`` is a float or a note in small type; ``breaks_off`` tells that its last line is full and no sentence ends.
    """

    block: Block
    is_aside: bool = False
    breaks_off: bool = False


@dataclass(slots=True)
class BlockMaker:
    """Turns the lines of a section into blocks. ``tables`` are keyed by ``id()`` of their caption's first line."""

    size: float
    joiner: Joiner
    tables: Mapping[int, Table]
    taken: set[str] = field(default_factory=set)

    def blocks(self, lines: Sequence[Line]) -> list[Block]:
        """The blocks of these lines, sentences that a float or a page cut in two put together again."""
        made: list[_Made] = []
        captions = [caption_start(line) is not None for line in lines]
        displays = [not captions[at] and _is_display(lines, at) for at in range(len(lines))]
        index = 0
        while index < len(lines):
            if captions[index]:
                end = caption_end(lines, index)
                _drop_labels(made, lines[index].page)
                made.append(_Made(self._float(lines, index, end), is_aside=True))
            elif displays[index]:
                end = formula_end(lines, index, self.size)
                made += [_Made(equation) for equation in make_equations(lines[index:end], self.taken)]
            else:
                end = index + 1
                while end < len(lines) and not (captions[end] or displays[end] or self._breaks(lines, end)):
                    end += 1
                made += self._paragraph(lines[index:end])
            index = end
        return _with_context(self._mended(made))

    def _paragraph(self, lines: Sequence[Line]) -> list[_Made]:
        text = self.joiner.join(lines)
        if _is_noise(lines, text, self.size):
            return []
        aside = max(line.size for line in lines) < 0.94 * self.size
        return [_Made(Paragraph(text, lines[0].page), aside, lines[-1].full and not ends_sentence(text))]

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
        if abs(line.size - above.size) > 0.07 * self.size and line.block != above.block:
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

    def _mended(self, blocks: list[_Made]) -> list[Block]:
        """A sentence that floats, footnotes or a page break cut in two becomes one paragraph, before what cut it."""
        merged: list[_Made] = []
        for made in blocks:
            back = len(merged) - 1
            while back >= 0 and merged[back].is_aside:
                back -= 1
            before = merged[back] if back >= 0 else None
            if before and not made.is_aside and _is_cut(before, made, apart=back < len(merged) - 1):
                text = self.joiner.append(_text(before), _text(made))
                merged[back] = _Made(Paragraph(text, before.block.page), False, made.breaks_off)
                continue
            merged.append(made)
        return [made.block for made in merged]


def _drop_labels(made: list[_Made], page: int) -> None:
    """Take out the labels of a drawing: several short pieces right above its caption, none of them a sentence."""
    start = len(made)
    while start and made[start - 1].block.page == page and _is_label(made[start - 1].block):
        start -= 1
    if len(made) - start >= LEAST_LABELS:
        del made[start:]


def _is_label(block: Block) -> bool:
    if isinstance(block, Equation):
        return block.number is None and len(block.text or "") < 60
    if not isinstance(block, Paragraph) or len(block.text) > 60 or ends_sentence(block.text):
        return False
    return not _LIST_ITEM.match(block.text)


def _text(made: _Made) -> str:
    return made.block.text if isinstance(made.block, Paragraph) else ""


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


def _is_cut(before: _Made, after: _Made, *, apart: bool) -> bool:
    """Whether two paragraphs are the halves of one sentence; ``apart`` tells that something stands between them."""
    first, second = _text(before), _text(after)
    if len(first) < 30 or not second or ends_sentence(first) or _LIST_ITEM.match(second):
        return False
    if first.endswith("-") or second[0].islower():
        return True
    return before.breaks_off and (apart or before.block.page != after.block.page)


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

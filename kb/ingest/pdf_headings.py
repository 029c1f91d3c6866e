"""Headings of a PDF: from its outline where it has one, else from fonts, numbering and white space."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb.ingest.pdf_heading_order import drop_strays
from kb.ingest.pdf_lines import CUT_OFF, Line
from kb.ingest.pdf_text import clean, has_han, text_width
from kb.ingest.section_numbers import NUMBER_ALONE, is_roman, split_number
from kb.sections import section_kind

ENOUGH_OUTLINE = 4
LONGEST = 130
_LETTER = re.compile(r"^(?P<number>[A-Z])\.\s+(?=[A-Z])")
_KNOWN = re.compile(
    r"abstract|(?:general )?introduction|related works?|background|preliminaries|methods?|methodology|experiments?|"
    r"results|discussions?|conclusions?|conclusions? and .{3,40}|discussions? and .{3,40}|references|bibliography|"
    r"acknowledge?ments?|appendix|appendices|limitations|future work|contents|notes|summary|"
    r"摘\s*要|引\s*言|绪\s*论|参考文献|结\s*论|结束语|致\s*谢|附\s*录|相关工作|总结与展望",
    re.IGNORECASE,
)
_BARE_END = re.compile(r"(?:abstract|references|bibliography|literature cited|摘\s*要|参考文献)\s*[.:：]?", re.IGNORECASE)
_SPACES = re.compile(r"\W+")
_ENDS_LIKE_TEXT = (".", ",", ";", "。", "，", "；")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and the lines it is set in (``count`` lines from index ``at`` of the line list)."""

    at: int
    count: int
    title: str
    number: str | None
    level: int
    page: int | None = None


def find_headings(
    lines: Sequence[Line], outline: Sequence[tuple[int, str, int]], body_size: float
) -> list[Heading]:
    """The headings among the lines of a document, in order. An outline of four entries or more is believed."""
    if len(outline) >= ENOUGH_OUTLINE:
        found = _from_outline(lines, outline)
        if len(found) >= 0.6 * len(outline):
            return _with_bare_ends(lines, found, body_size)
    return _Finder(lines, body_size).find()


def is_known(title: str) -> bool:
    """Whether a title is one that papers give to sections without a number."""
    return bool(_KNOWN.fullmatch(title.strip(" .:：")))


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Letters and digits of a heading, for comparison."""
    return _SPACES.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _with_bare_ends(lines: Sequence[Line], found: list[Heading], body_size: float) -> list[Heading]:
    """Outlines leave out the unnumbered ends: abstract, references."""
    taken = {heading.at for heading in found}
    kinds = {section_kind(heading.title, heading.number) for heading in found}
    finder = _Finder(lines, body_size)
    extra = [
        heading
        for index, line in enumerate(lines)
        if index not in taken
        and len(line.text) < 30
        and _BARE_END.fullmatch(line.text)
        and section_kind(line.text.strip(" .:：")) not in kinds
        and (heading := finder.heading_at(index))
    ]
    return sorted(found + extra, key=lambda heading: heading.at)


def _from_outline(lines: Sequence[Line], outline: Sequence[tuple[int, str, int]]) -> list[Heading]:
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        by_page.setdefault(line.page, []).append(index)
    found: list[Heading] = []
    used: set[int] = set()
    is_numbered = sum(title.lstrip()[:1].isdigit() for _, title, _ in outline) >= 0.4 * len(outline)
    for level, title, page in outline:
        title = " ".join(title.split())
        # Where the outline has no numbers, "A Survey" is a title and no section A.
        forms = [split_number(title), (None, title)]
        for number, wanted in forms if is_numbered else reversed(forms):
            place = next(
                (
                    place
                    for near in (page, page + 1, page - 1)
                    if (place := _locate(lines, by_page.get(near, []), fold(wanted), used))
                ),
                None,
            )
            if place is not None:
                at, count = place
                used.update(range(at, at + count))
                shown = number or _number_before(_joined(lines, at, count), wanted)
                found.append(Heading(at, count, wanted, shown, level, lines[at].page))
                break
    found.sort(key=lambda heading: heading.at)
    return found


def _locate(lines: Sequence[Line], indices: list[int], wanted: str, used: set[int]) -> tuple[int, int] | None:
    """Where a folded title stands on a page: on one line, or on up to four that follow each other."""
    if not wanted:
        return None
    for position, at in enumerate(indices):
        if at in used or (wanted[:4] not in fold(lines[at].text) and not NUMBER_ALONE.fullmatch(lines[at].text)):
            continue
        for count in range(1, 1 + min(4, len(indices) - position)):
            text = _joined(lines, at, count)
            forms = (fold(text), fold(split_number(text)[1]))
            if wanted in forms:
                return at, count
            if not any(form and wanted.startswith(form) for form in forms) and not NUMBER_ALONE.fullmatch(text):
                break
    for at in indices:
        if at not in used and len(wanted) > 3 and lines[at].bold and fold(lines[at].text).startswith(wanted):
            return at, 1
    return None


def _number_before(text: str, title: str) -> str | None:
    """The number that stands before a title on its line."""
    number, bare = split_number(text)
    return number if fold(bare) == fold(title) else None


def _joined(lines: Sequence[Line], at: int, count: int) -> str:
    return " ".join(line.text for line in lines[at : at + count])


class _Finder:
    """Finds headings by their look: size, weight, numbering, and the space around them."""

    def __init__(self, lines: Sequence[Line], body_size: float) -> None:
        self._lines = lines
        self._size = body_size
        self._roman = sum(1 for line in lines if is_roman(line.text)) >= 3

    def find(self) -> list[Heading]:
        found: list[Heading] = []
        index = 0
        while index < len(self._lines):
            heading = self.heading_at(index)
            if heading is not None:
                found.append(heading)
            index += heading.count if heading else 1
        return drop_strays(self._without_front(found), self._lines, is_known)

    def _without_front(self, found: list[Heading]) -> list[Heading]:
        """Take out title and authors: what stands on the first page above the abstract or the first numbered section."""
        front = [heading for heading in found if self._lines[heading.at].page == self._lines[0].page]
        kinds = [section_kind(heading.title) for heading in front]
        if "abstract" in kinds:
            return found[kinds.index("abstract") :]
        for position, heading in enumerate(front):
            if heading.number or kinds[position] == "intro":
                return found[position:]
        return found

    def heading_at(self, index: int) -> Heading | None:
        """The heading that opens at a line, if one does."""
        line = self._lines[index]
        if len(line.text) > LONGEST or line.math > 0.3 or line.size < 0.85 * self._size:
            return None
        text = clean(line.text)
        number, title = split_number(text)
        if number is None and self._roman and line.italic and (match := _LETTER.match(text)):
            number, title = match["number"], text[match.end() :]
        if not _can_be_title(title, lower=number is not None and line.bold):
            return self._with_number_apart(index)
        if not self._opens(index) or not self._looks_like_heading(index, number, title):
            return None
        count = 1
        while count < 4 and self._goes_on(index + count):
            title = _append(title, clean(self._lines[index + count].text))
            count += 1
        if title.rstrip().endswith(_ENDS_LIKE_TEXT) and number is None and not is_known(title):
            return None
        return self._heading(index, count, title, number)

    def _with_number_apart(self, index: int) -> Heading | None:
        """``3.2`` alone, its title on the next line at the same height."""
        line = self._lines[index]
        if index + 1 == len(self._lines) or not NUMBER_ALONE.fullmatch(line.text):
            return None
        following = self._lines[index + 1]
        beside = abs(following.y1 - line.y1) < 0.5 * line.size
        if not beside or not self._stands_out(line) or not self._stands_out(following):
            return None
        if not _can_be_title(following.text):
            return None
        return self._heading(index, 2, clean(following.text), line.text.rstrip("."))

    def _heading(self, at: int, count: int, title: str, number: str | None) -> Heading:
        level = 1
        if number is not None:
            level = number.count(".") + 1
            if self._roman and re.fullmatch(r"[A-Z]", number) and not re.fullmatch(r"[IVX]", number):
                level = 2
        return Heading(at, count, " ".join(title.split()), number, level, self._lines[at].page)

    def _looks_like_heading(self, index: int, number: str | None, title: str) -> bool:
        line = self._lines[index]
        large = line.size >= 1.08 * self._size
        if number is not None:
            looks = line.bold or large or (self._roman and (title.isupper() or line.italic)) or _is_capitals(title)
            return looks or self._stands_alone(index)
        if self._shares_row(index):
            return False
        if is_known(title):
            return line.bold or large or title.isupper() or line.italic or self._is_alone(index)
        if line.size > 1.9 * self._size:
            return False
        return (line.bold and large) or line.size >= 1.18 * self._size

    def _shares_row(self, index: int) -> bool:
        """Whether the line has a neighbour in its row, as cells and labels have."""
        line = self._lines[index]
        if line.lead == CUT_OFF:
            return False
        beside = [self._lines[at] for at in (index - 1, index + 1) if 0 <= at < len(self._lines)]
        return any(other.page == line.page and other.overlaps_rows(line) > 0.6 for other in beside)

    def _stands_out(self, line: Line) -> bool:
        return line.bold or line.size >= 1.08 * self._size or line.text.isupper()

    def _opens(self, index: int) -> bool:
        """Whether the line begins a block or stands clear of the line above."""
        if index == 0:
            return True
        line, above = self._lines[index], self._lines[index - 1]
        if above.page != line.page or above.block != line.block:
            return True
        return line.y0 - above.y1 > 0.25 * line.size or line.y1 < above.y0

    def _is_alone(self, index: int) -> bool:
        if index + 1 == len(self._lines):
            return True
        line, below = self._lines[index], self._lines[index + 1]
        return below.block != line.block or below.page != line.page

    def _stands_alone(self, index: int) -> bool:
        """A short line with a block of its own, set apart above and below: a heading in plain type."""
        line = self._lines[index]
        if text_width(line.text) > 90 or not self._is_alone(index) or index == 0:
            return False
        if line.text.endswith((*_ENDS_LIKE_TEXT, ":")):
            return False
        above = self._lines[index - 1]
        apart = line.y0 - above.y1 > (0.35 if has_han(line.text) else 0.6) * line.size
        return above.block != line.block and (above.page != line.page or apart or line.y1 < above.y0)

    def _goes_on(self, at: int) -> bool:
        """Whether the line at ``at`` continues the heading above it: same look, same block, right below."""
        if at >= len(self._lines):
            return False
        line, above = self._lines[at], self._lines[at - 1]
        same = abs(line.size - above.size) < 0.3 and line.bold == above.bold and line.font == above.font
        near = 0.5 * line.size < line.y0 - above.y0 < (2.2 if line.block == above.block else 1.6) * line.size
        looks = line.bold or line.size >= 1.08 * self._size
        return same and near and line.page == above.page and looks and split_number(line.text)[0] is None and line.math < 0.3


def _can_be_title(title: str, *, lower: bool = False) -> bool:
    """Whether words can be a heading; with ``lower`` they may begin with a small letter."""
    letters = len(re.sub(r"[\W\d_]", "", title))
    return letters >= 2 and letters >= 0.5 * len(title.replace(" ", "")) and (lower or not title[0].islower())


def _append(title: str, part: str) -> str:
    """A title with its next line; a word broken at the line's end is mended."""
    if title.endswith("-"):
        return title + part if part[:1].isupper() else title[:-1] + part
    return f"{title} {part}"


def _is_capitals(title: str) -> bool:
    """Small capitals come out of a PDF as capitals with spaces in odd places."""
    return title.isupper() and len(title) > 3

"""Headings of a PDF: from its outline where it has one, else from fonts and numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kb.ingest.pdf_lines import Line
from kb.sections import section_kind

ENOUGH_OUTLINE = 4
_NUMBER = re.compile(
    r"^(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3})[.:]?\s+(?=[^\s\d.,;:=+(])|"
    r"^(?:Appendix|APPENDIX|附录)\s*(?P<appendix>[A-Z])[.:]?\s+(?=\S)"
)
_ROMAN = re.compile(r"^(?P<number>[IVX]{1,5})\.\s+(?=[A-Z])|^(?P<bare>[IVX]{2,5})\s+(?=[A-Z][a-z])")
_LETTER = re.compile(r"^(?P<number>[A-Z])\.\s+(?=[A-Z])")
_CHINESE = re.compile(r"^(?P<number>第?[一二三四五六七八九十]{1,3})[、.．章节]\s*(?=\S)")
_KNOWN = re.compile(
    r"abstract|introduction|related works?|background|preliminaries|methods?|methodology|experiments?|results|discussion|"
    r"conclusions?|references|bibliography|acknowledge?ments?|appendix|limitations|future work|摘\s*要|引\s*言|"
    r"参考文献|结\s*论|致\s*谢|附\s*录|相关工作",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and the lines it is set in (``count`` lines from index ``at`` of the line list)."""

    at: int
    count: int
    title: str
    number: str | None
    level: int


def find_headings(lines: Sequence[Line], outline: Sequence[tuple[int, str, int]], body_size: float) -> list[Heading]:
    """The headings among the lines of a document, in order. An outline of four entries or more is believed."""
    if len(outline) >= ENOUGH_OUTLINE:
        found = _from_outline(lines, outline)
        if len(found) >= 0.6 * len(outline):
            return _with_bare_ends(lines, found, body_size)
    return _from_fonts(lines, body_size)


def _with_bare_ends(lines: Sequence[Line], found: list[Heading], body_size: float) -> list[Heading]:
    """Outlines leave out the unnumbered ends: abstract, references."""
    taken = {heading.at for heading in found}
    kinds = {section_kind(heading.title, heading.number) for heading in found}
    extra = [
        heading
        for heading in _from_fonts(lines, body_size)
        if heading.at not in taken
        and heading.number is None
        and (kind := section_kind(heading.title)) in ("abstract", "references")
        and kind not in kinds
    ]
    return sorted(found + extra, key=lambda heading: heading.at)


def fold(text: str) -> str:
    """Letters and digits of a heading, for comparison."""
    return _SPACES.sub("", text).casefold()


def _from_outline(lines: Sequence[Line], outline: Sequence[tuple[int, str, int]]) -> list[Heading]:
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        by_page.setdefault(line.page, []).append(index)
    found: list[Heading] = []
    used: set[int] = set()
    for level, title, page in outline:
        _, bare = split_number(title)
        wanted = fold(bare)
        if not wanted:
            continue
        for number in (page, page + 1, page - 1):
            place = _locate(lines, by_page.get(number, []), wanted, used)
            if place is not None:
                at, count = place
                used.update(range(at, at + count))
                shown, _ = split_number(_joined(lines, at, count))
                found.append(Heading(at, count, bare, shown or split_number(title)[0], level))
                break
    found.sort(key=lambda heading: heading.at)
    return found


def _locate(lines: Sequence[Line], indices: list[int], wanted: str, used: set[int]) -> tuple[int, int] | None:
    """Where a title stands on a page: on one line, or on up to three that follow each other."""
    for position, at in enumerate(indices):
        if at in used:
            continue
        text = ""
        for count in range(1, 4):
            if position + count > len(indices):
                break
            text = fold(split_number(_joined(lines, at, count))[1])
            if text == wanted:
                return at, count
            if not wanted.startswith(text):
                break
    for at in indices:
        if at not in used and len(wanted) > 3 and fold(lines[at].text).startswith(wanted) and lines[at].bold:
            return at, 1
    return None


def _joined(lines: Sequence[Line], at: int, count: int) -> str:
    return " ".join(line.text for line in lines[at : at + count])


def split_number(text: str) -> tuple[str | None, str]:
    """``("3.2", "Title")`` of ``"3.2 Title"``; the number is None where there is none."""
    for pattern in (_NUMBER, _ROMAN, _CHINESE):
        match = pattern.match(text)
        if match:
            groups = match.groupdict()
            return groups.get("number") or groups.get("appendix") or groups.get("bare"), text[match.end() :].strip()
    return None, text.strip()


def _from_fonts(lines: Sequence[Line], body_size: float) -> list[Heading]:
    found: list[Heading] = []
    romans = sum(1 for line in lines if _ROMAN.match(line.text) and len(line.text) < 80) >= 3
    index = 0
    while index < len(lines):
        heading = _heading_at(lines, index, body_size, romans)
        if heading is None:
            index += 1
            continue
        found.append(heading)
        index += heading.count
    return _drop_strays(_drop_front(found, lines), lines)


def _drop_front(found: list[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Take out title and authors: what stands on the first page above the abstract or the first numbered section."""
    for position, heading in enumerate(found):
        if lines[heading.at].page != lines[0].page:
            break
        if heading.number or section_kind(heading.title) in ("abstract", "intro"):
            return found[position:]
    return found


def _heading_at(lines: Sequence[Line], index: int, body_size: float, romans: bool) -> Heading | None:
    line = lines[index]
    if len(line.text) > 130 or line.math > 0.3 or line.size < 0.85 * body_size:
        return None
    number, title = split_number(line.text)
    if number is None and romans and line.italic and (match := _LETTER.match(line.text)):
        number, title = match["number"], line.text[match.end() :]
    if not _can_be_title(title):
        # "3.2" alone, its title on the next line at the same height.
        following = lines[index + 1] if index + 1 < len(lines) else None
        alone = re.fullmatch(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3}\.?", line.text)
        if not (alone and following and abs(following.y1 - line.y1) < 0.5 * line.size and _stands_out(line, body_size)):
            return None
        if not _can_be_title(following.text) or not _stands_out(following, body_size):
            return None
        return _heading(index, 2, following.text, line.text.rstrip("."), romans)
    if not _opens(lines, index):
        return None
    known = bool(_KNOWN.fullmatch(title.strip(" .:：")))
    large = line.size >= 1.08 * body_size
    if number is not None:
        looks = line.bold or large or (romans and (title.isupper() or line.italic)) or _is_capitals(title)
        if not (looks or _stands_alone(lines, index)):
            return None
    elif known:
        if not (line.bold or large or title.isupper() or line.italic or _is_alone(lines, index)):
            return None
    elif not ((line.bold and large) or line.size >= 1.18 * body_size) or line.size > 1.9 * body_size:
        return None
    count = 1
    while count < 3 and _goes_on(lines, index + count):
        title = f"{title} {lines[index + count].text}"
        count += 1
    if title.rstrip().endswith((".", ",", ";")) and not known and number is None:
        return None
    return _heading(index, count, title, number, romans)


def _heading(at: int, count: int, title: str, number: str | None, romans: bool) -> Heading:
    level = 1
    if number is not None:
        level = number.count(".") + 1
        if romans and re.fullmatch(r"[A-Z]", number) and not re.fullmatch(r"[IVX]", number):
            level = 2
    return Heading(at, count, " ".join(title.split()), number, level)


def _can_be_title(title: str) -> bool:
    letters = sum(1 for char in title if char.isalpha())
    return letters >= 2 and letters >= 0.5 * len(title.replace(" ", "")) and not re.match(r"[a-z]", title)


def _stands_out(line: Line, body_size: float) -> bool:
    return line.bold or line.size >= 1.08 * body_size or line.text.isupper()


def _is_capitals(title: str) -> bool:
    """Small capitals come out of a PDF as capitals with spaces in odd places."""
    return title.isupper() and len(title) > 3


def _opens(lines: Sequence[Line], index: int) -> bool:
    """Whether the line begins a block or stands clear of the line above."""
    if index == 0:
        return True
    line, above = lines[index], lines[index - 1]
    if above.page != line.page or above.block != line.block:
        return True
    return line.y0 - above.y1 > 0.25 * line.size or line.y1 < above.y0


def _is_alone(lines: Sequence[Line], index: int) -> bool:
    line = lines[index]
    if index + 1 == len(lines):
        return True
    below = lines[index + 1]
    return below.block != line.block or below.page != line.page


def _stands_alone(lines: Sequence[Line], index: int) -> bool:
    """A short line with a block of its own, set apart above and below: a heading in plain type."""
    line = lines[index]
    if len(line.text) > 90 or not _is_alone(lines, index) or index == 0 or line.text.endswith((".", ",", ";", ":")):
        return False
    above = lines[index - 1]
    return above.block != line.block and (above.page != line.page or line.y0 - above.y1 > 0.6 * line.size)


def _goes_on(lines: Sequence[Line], at: int) -> bool:
    """Whether the line at ``at`` continues the heading above it: same look, same block, right below."""
    if at >= len(lines):
        return False
    line, above = lines[at], lines[at - 1]
    same = abs(line.size - above.size) < 0.3 and line.bold == above.bold and line.block == above.block
    near = 0 <= line.y0 - above.y0 < 2.2 * line.size and line.page == above.page
    return same and near and line.bold and split_number(line.text)[0] is None and line.math < 0.3


def _drop_strays(found: list[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Drop numbers out of sequence (list items, table rows), contents lines, and titles that recur as labels do."""
    counts = Counter(fold(heading.title) for heading in found)
    numbered = [lines[heading.at] for heading in found if heading.number]
    sizes = {round(line.size, 1) for line in numbered}
    plain_sizes = {round(line.size, 1) for line in lines if len(line.text) > 60}
    kept: list[Heading] = []
    last_top = 0
    for heading in found:
        line = lines[heading.at]
        if counts[fold(heading.title)] > 2 or re.search(r"[a-z)?!][\s.]+\d{1,3}$", heading.title):
            continue
        known = bool(_KNOWN.fullmatch(heading.title.strip(" .:：")))
        if len(numbered) >= 4 and heading.number is None and not known:
            # Where sections are numbered, one without a number has to look just like them.
            if not line.bold or round(line.size, 1) not in sizes:
                continue
        plain = heading.number and not (line.bold or line.text.isupper() or round(line.size, 1) not in plain_sizes)
        if plain and not _follows(heading.number, [other.number for other in kept]):
            continue
        if heading.number and re.fullmatch(r"\d{1,2}", heading.number):
            top = int(heading.number)
            if top > last_top + 2 or top < last_top:
                continue
            last_top = top
        elif heading.number and heading.number[0].isdigit() and int(heading.number.split(".")[0]) > last_top + 1:
            continue
        kept.append(heading)
    return kept


def _follows(number: str | None, before: list[str | None]) -> bool:
    """Whether a number comes next after the ones before it: 3.1.2 is followed by 3.1.3, 3.1.2.1, 3.2 or 4."""
    parts = (number or "").split(".")
    if not all(part.isdigit() for part in parts):
        return False
    wanted = tuple(map(int, parts))
    last = next((other for other in reversed(before) if other and all(p.isdigit() for p in other.split("."))), None)
    known = tuple(map(int, last.split("."))) if last else (0,)
    nexts = {(*known, 1), *((*known[:depth], known[depth] + 1) for depth in range(len(known)))}
    return wanted in nexts

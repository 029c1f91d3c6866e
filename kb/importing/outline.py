"""The outline of a report or note: its headings as a tree, with the text below each as spans of the file.

Headings are Markdown's, or, in a file without any, lines that stand alone and are numbered in order, as people type them
into plain text: ``一、阅读论文``, ``1. 阅读``, ``1.1 DAPO: ...``, in bold or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kb.markup import Markup, markup_of
from kb.notes import headings

_HAN_DIGITS = "零一二三四五六七八九"
_TOP = re.compile(
    r"^(?:(?P<han>[一二三四五六七八九十]{1,3})\s*[、.．,，]\s*|(?P<digits>\d{1,2})\s*(?:[、．]\s*|\.\s+))(?P<title>\S.*)$"
)
_SUB = re.compile(r"^(?P<top>\d{1,2})[.．](?P<digits>\d{1,2})[.．、]?\s+(?P<title>\S.*)$")
_NUMBER = re.compile(
    r"^(?:[一二三四五六七八九十]{1,3}\s*[、.．]\s*|(?:\d{1,2}[.．])*\d{1,2}(?:[.．、]\s*|\s+)|[（(]\d{1,2}[）)]\s*)"
)
_ENDS_LIKE_TEXT = ("。", "；", ";", "，", ",", "：", ":", "！", "…")
_LONGEST = 160


@dataclass
class Section:
    """A heading and what is below it. ``text[start:body]`` is the heading line, ``text[body:stop]`` all below.

    ``lead`` is where its own words end and its first part begins. ``number`` counts from 1 at every level: ``1.2``.
    """

    title: str
    level: int
    start: int
    body: int
    stop: int = 0
    number: str = ""
    parts: list[Section] = field(default_factory=list)

    @property
    def lead(self) -> int:
        return self.parts[0].start if self.parts else self.stop


@dataclass(frozen=True)
class Outline:
    """The title of a text, where the words below it begin, and its sections. ``lead`` is where the first one begins."""

    title: str
    body: int
    sections: tuple[Section, ...]
    stop: int

    @property
    def lead(self) -> int:
        return self.sections[0].start if self.sections else self.stop


def outline_of(text: str, start: int = 0) -> Outline:
    """The outline of ``text[start:]``. Its title is a first heading of its own level, or the first line."""
    markup = markup_of(text)
    found = [
        Section(title, level, at, _line_after(text, end))
        for level, title, at, end in headings(text, markup)
        if at >= start
    ]
    if found:
        return _from_markdown(text, start, found)
    found = _plain_headings(text, start, markup)
    title, body = _first_line(text, start, found[0].start if found else len(text))
    return Outline(title, body, tuple(_tree(found, len(text))), len(text))


def bare_title(title: str) -> str:
    """A heading without its number and without marks of bold type."""
    words = re.sub(r"^(\*\*|__)(.+)\1$", r"\2", title.strip())
    return _NUMBER.sub("", words).strip() or words


def _from_markdown(text: str, start: int, found: list[Section]) -> Outline:
    first = found[0]
    if text[start : first.start].strip():
        title, body = _first_line(text, start, first.start)
        return Outline(title, body, tuple(_tree(found, len(text))), len(text))
    tops = _tree(found, len(text))
    title_section = tops[0]
    # What follows the title at the title's own level belongs to it as well: many write every section as "#".
    sections = [*title_section.parts, *tops[1:]]
    _number(sections, "")
    return Outline(title_section.title, title_section.body, tuple(sections), len(text))


def _tree(found: list[Section], stop: int) -> list[Section]:
    tops: list[Section] = []
    path: list[Section] = []
    for section in found:
        while path and path[-1].level >= section.level:
            path.pop().stop = section.start
        (path[-1].parts if path else tops).append(section)
        path.append(section)
    for section in path:
        section.stop = stop
    _number(tops, "")
    return tops


def _number(sections: list[Section], before: str) -> None:
    for count, section in enumerate(sections, start=1):
        section.number = f"{before}{count}"
        _number(section.parts, f"{section.number}.")


def _first_line(text: str, start: int, stop: int) -> tuple[str, int]:
    """The first line with words, and the place behind it; a line that reads as a sentence is no title."""
    for match in re.finditer(r"[^\n]*\n?", text[start:stop]):
        line = match[0].strip()
        if not line:
            continue
        if len(line) > _LONGEST or line.endswith((*_ENDS_LIKE_TEXT, ".")):
            break
        return re.sub(r"^(\*\*|__)(.+)\1$", r"\2", line), start + match.end()
    return "", start


def _line_after(text: str, end: int) -> int:
    after = text.find("\n", end)
    return len(text) if after < 0 else after + 1


def _plain_headings(text: str, start: int, markup: Markup) -> list[Section]:
    """Lines alone that carry the number that is due."""
    lines = [
        (match.start(), match.end(), match[0].strip())
        for match in re.compile(r"[^\n]*\n|[^\n]+\Z").finditer(text, start)
    ]
    lines = [line if not markup.form_at(line[0]) else (line[0], line[1], "$") for line in lines]
    alone = [number for number in range(len(lines)) if _is_alone(lines, number)]
    style = (
        "han" if any((match := _TOP.match(_unbold(lines[n][2]))) and match["han"] == "一" for n in alone) else "digits"
    )
    found: list[Section] = []
    top = 0
    for number in alone:
        at, end, line = lines[number]
        words = _unbold(line)
        if (match := _SUB.match(words)) and top and int(match["top"]) == top:
            found.append(Section(words, 2, at, end))
        elif (match := _TOP.match(words)) and match[style] and not _goes_on_a_list(lines, number, match, style):
            value = _value(match[style])
            if value == 1 and top == 1:
                found = []  # an earlier "1." was a list of one
            if value == top + 1 or (value == 1 and top == 1):
                found.append(Section(words, 1, at, end))
                top = value
    return found


def _is_alone(lines: list[tuple[int, int, str]], number: int) -> bool:
    line = lines[number][2]
    if not line or len(line) > _LONGEST or line.endswith(_ENDS_LIKE_TEXT):
        return False
    return (number == 0 or not lines[number - 1][2]) and (number + 1 == len(lines) or not lines[number + 1][2])


def _goes_on_a_list(lines: list[tuple[int, int, str]], number: int, match: re.Match[str], style: str) -> bool:
    """Whether the line before, over empty lines, is the item before: a list with air between its items.

    Nobody numbers such a list with 一、二、, so there two in a row are a section without words.
    """
    if style == "han":
        return False
    earlier = next((line for _, _, line in reversed(lines[:number]) if line), "")
    before = _TOP.match(_unbold(earlier))
    return bool(before and before[style] and 0 < _value(before[style]) == _value(match[style]) - 1)


def _unbold(line: str) -> str:
    return re.sub(r"^(\*\*|__)(.+)\1$", r"\2", line)


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    tens, ten, ones = number.partition("十")
    if not ten:
        return _HAN_DIGITS.index(number) if number in _HAN_DIGITS else 0
    return (_HAN_DIGITS.index(tens) if tens else 1) * 10 + (_HAN_DIGITS.index(ones) if ones else 0)

"""Notes and the body of paper records as drafts of passages: by heading, with formulas, code and tables kept whole.

People also write reports as plain text, with ``1.1 Title`` or ``一、标题`` alone on a line for a heading. Where a file has
no ``#`` heading at all, such lines are read as headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from kb.index.chunk import equation_text
from kb.index.drafts import Draft
from kb.index.sentences import PASSAGE_TOKENS, Piece, count_tokens, pack, sentence_pieces, sentence_spans
from kb.model import Kind
from kb.sections import section_kind

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_PLAIN_HEADING = re.compile(r"^(?:(\d{1,2}(?:\.\d{1,2})*)[.、．]?\s+(?=\S)|([一二三四五六七八九十]{1,3})[、.．]\s*)(\S.{0,118})$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_ENDS_LIKE_TEXT = ("。", "；", ";", "，", ",", "：", ":")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that belong together below one heading: text, a formula, a table or a fenced block."""

    form: str
    start: int
    stop: int
    heading: tuple[str, ...]


def markdown_drafts(raw: str, start: int, path: str, kind: Kind, title: str) -> Iterator[Draft]:
    """Drafts of ``raw[start:]``. A level-1 heading that is the title is left out of heading paths."""
    for heading, below in groupby(stretches(raw, start), key=lambda stretch: stretch.heading):
        parts = list(below)
        shown = heading[1:] if heading and heading[0] == title else heading
        like = Draft(kind, "", path, (0, 0), shown, section_kind(shown[-1]) if shown else "other")
        yield from _passages(raw, parts, like)
        yield from _equations(raw, parts, like)


def stretches(raw: str, start: int) -> list[Stretch]:
    """All stretches of a Markdown body, in order, without their headings."""
    lines = _lines(raw, start)
    plain = not any(_HEADING.match(text) for text, _ in lines)
    found: list[Stretch] = []
    path: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        text, position = lines[at]
        heading = _heading(lines, at, plain)
        if heading is not None:
            path = [*(entry for entry in path if entry[0] < heading[0]), heading]
            at += 1
            continue
        form, after = _extent(lines, at)
        if text.strip():
            stop = lines[after][1] if after < len(lines) else len(raw)
            found.append(Stretch(form, position, stop, tuple(name for _, name in path)))
        at = after
    return found


def _lines(raw: str, start: int) -> list[tuple[str, int]]:
    lines = []
    position = start
    for line in raw[start:].splitlines(keepends=True):
        lines.append((line.rstrip("\r\n"), position))
        position += len(line)
    return lines


def _heading(lines: Sequence[tuple[str, int]], at: int, plain: bool) -> tuple[int, str] | None:
    text = lines[at][0]
    match = _HEADING.match(text)
    if match:
        return len(match[1]), match[2]
    if not plain:
        return None
    alone = (at == 0 or not lines[at - 1][0].strip()) and (at + 1 == len(lines) or not lines[at + 1][0].strip())
    found = _PLAIN_HEADING.match(text.strip())
    if not alone or not found or text.rstrip().endswith(_ENDS_LIKE_TEXT):
        return None
    return (1 + found[1].count(".") if found[1] else 1), text.strip()


def _extent(lines: Sequence[tuple[str, int]], at: int) -> tuple[str, int]:
    """The form of the stretch that begins here, and the first line after it."""
    text = lines[at][0]
    fence = _FENCE.match(text)
    if fence:
        return "code", _line_after(lines, at + 1, lambda line: line.strip().startswith(fence[1]))
    if text.strip().startswith("$$"):
        if text.strip().count("$$") % 2 == 0:
            return "formula", at + 1
        return "formula", _line_after(lines, at + 1, lambda line: "$$" in line)
    if text.lstrip().startswith("|"):
        after = at
        while after < len(lines) and lines[after][0].lstrip().startswith("|"):
            after += 1
        return "table", after
    after = at + 1
    while after < len(lines) and text.strip() and _continues(lines[after][0]):
        after += 1
    return "text", after


def _continues(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not (bare.startswith(("$$", "|")) or _FENCE.match(line) or _HEADING.match(line))


def _line_after(lines: Sequence[tuple[str, int]], at: int, closes: Callable[[str], bool]) -> int:
    for number in range(at, len(lines)):
        if closes(lines[number][0]):
            return number + 1
    return len(lines)


def _passages(raw: str, parts: Sequence[Stretch], like: Draft) -> Iterator[Draft]:
    pieces: list[Piece] = []
    for part in parts:
        if part.form == "text":
            pieces += sentence_pieces(raw, part.start, part.stop)
        elif part.form == "formula":
            pieces.append(Piece(part.start, part.stop, count_tokens(raw[part.start : part.stop])))
        else:
            pieces += _line_pieces(raw, part)
    for run in pack(pieces):
        span = (run[0].start, run[-1].stop)
        yield replace(like, text=raw[span[0] : span[1]], span=span)


def _line_pieces(raw: str, part: Stretch) -> Iterator[Piece]:
    """A table or fenced block that fits into a passage as one piece, a longer one by lines."""
    whole = raw[part.start : part.stop]
    if count_tokens(whole) <= PASSAGE_TOKENS:
        yield Piece(part.start, part.stop, count_tokens(whole))
        return
    for line, position in _lines(raw[: part.stop], part.start):
        yield Piece(position, min(part.stop, position + len(line) + 1), count_tokens(line))


def _equations(raw: str, parts: Sequence[Stretch], like: Draft) -> Iterator[Draft]:
    """A passage per display formula, beside its place in the running text, so that it is found by its structure."""
    for number, part in enumerate(parts):
        if part.form == "code":
            continue
        for match in _FORMULA.finditer(raw, part.start, part.stop):
            before = raw[part.start : match.start()]
            after = raw[match.end() : part.stop]
            if not before.strip() and number and parts[number - 1].form == "text":
                before = raw[parts[number - 1].start : parts[number - 1].stop]
            if not after.strip() and number + 1 < len(parts) and parts[number + 1].form == "text":
                after = raw[parts[number + 1].start : parts[number + 1].stop]
            text = equation_text(_sentence(before, -1), match[1], _sentence(after, 0), None, True)
            yield replace(like, kind=Kind.EQUATION, text=text, span=match.span(), latex=match[1].strip())


def _sentence(text: str, which: int) -> str:
    if not text.strip():
        return ""
    start, stop = sentence_spans(text.strip())[which]
    return text.strip()[start:stop]

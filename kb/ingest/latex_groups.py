"""Brace groups, bracket options and arguments of TeX.

Braces are matched once for a whole text, so that reading many groups takes time that grows with the text and not
with how deep, or how wrongly, it is nested.
"""

from __future__ import annotations

import re
from functools import lru_cache

MAX_OPTION = 50_000  # characters in a bracket option
CONTROL = re.compile(r"\\([a-zA-Z@]+|.)", re.DOTALL)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_OPTION = re.compile(r"\\.|[{}\[\]]", re.DOTALL)
_SPACE = re.compile(r"[ \t]*(?:\n[ \t]*)?")
_ROW_TOKEN = re.compile(r"\\(?:begin|end)(?=\s*\{)|\\tabularnewline(?![a-zA-Z])|\\.|[{}&]", re.DOTALL)


@lru_cache(maxsize=256)
def closing_braces(text: str) -> dict[int, int]:
    """The place of the closing brace of every opening brace that has one."""
    closes: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            closes[opened.pop()] = match.start()
    return closes


def skip_space(text: str, at: int) -> int:
    """The place after white space that holds at most one line break: an empty line ends a search for arguments."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def read_group(text: str, at: int) -> tuple[str, int] | None:
    """``(inside, end)`` of the brace group that opens at ``at`` or after white space; None if none does."""
    at = skip_space(text, at)
    if not text.startswith("{", at):
        return None
    close = closing_braces(text).get(at)
    return None if close is None else (text[at + 1 : close], close + 1)


@lru_cache(maxsize=256)
def _closing_brackets(text: str) -> dict[int, int]:
    """The place of the bracket that ends an option opened here: as in TeX, the next one inside the same braces."""
    closes = closing_braces(text)
    paired = {**closes, **{close: opening for opening, close in closes.items()}}
    ends: dict[int, int] = {}
    following: list[int | None] = [None]  # by depth of braces, the next closing bracket
    for match in reversed(list(_OPTION.finditer(text))):
        sign, at = match[0], match.start()
        if sign == "]":
            following[-1] = at
        elif sign == "[":
            if following[-1] is not None:
                ends[at] = following[-1]
        elif at in paired and sign in "{}":
            if sign == "}":
                following.append(None)
            else:
                following.pop()
    return ends


def read_option(text: str, at: int, adjacent: bool = False) -> tuple[str, int] | None:
    """``(inside, end)`` of a bracket option; ``adjacent`` wants it to open right at ``at``. None if none opens."""
    at = at if adjacent else skip_space(text, at)
    if not text.startswith("[", at):
        return None
    end = _closing_brackets(text).get(at)
    return None if end is None or end - at > MAX_OPTION else (text[at + 1 : end], end + 1)


def skip_options(text: str, at: int) -> int:
    """The place after all bracket options that stand right at ``at``."""
    while option := read_option(text, at, adjacent=True):
        at = option[1]
    return at


def read_argument(text: str, at: int) -> tuple[str, int] | None:
    """One argument: a brace group, a control word, or a single character."""
    at = skip_space(text, at)
    if at >= len(text):
        return None
    if text[at] == "{":
        return read_group(text, at)
    match = CONTROL.match(text, at)
    return (match[0], match.end()) if match else (text[at], at + 1)


def read_groups(text: str, at: int, count: int) -> tuple[list[str], int]:
    """Up to ``count`` brace groups in a row, options between them passed over, and the place after them."""
    found: list[str] = []
    while len(found) < count:
        after = skip_options(text, at)
        group = read_group(text, after)
        if group is None:
            break
        found.append(group[0])
        at = group[1]
    return found, at


def split_rows(text: str) -> list[str]:
    r"""The rows of a table or of aligned maths: split at ``\\`` outside braces and inner environments."""
    return _split(text, ("\\\\", "\\tabularnewline"))


def split_cells(row: str) -> list[str]:
    """The cells of one row: split at ``&`` outside braces and inner environments."""
    return _split(row, ("&",))


def _split(text: str, marks: tuple[str, ...]) -> list[str]:
    parts: list[str] = []
    start = position = inner = 0
    closes = closing_braces(text)
    while match := _ROW_TOKEN.search(text, position):
        sign, position = match[0], match.end()
        if sign == "{":
            position = closes.get(match.start(), match.start()) + 1
        elif sign == "\\begin":
            inner += 1
        elif sign == "\\end":
            inner -= 1
        elif sign in marks and inner <= 0:
            parts.append(text[start : match.start()])
            if sign != "&":
                position += text.startswith("*", position)
                position = skip_options(text, position)
            start = position
    parts.append(text[start:])
    return parts


@lru_cache(maxsize=256)
def _environment_mark(name: str) -> re.Pattern[str]:
    return re.compile(rf"\\(begin|end)\s*\{{\s*{re.escape(name)}\s*\}}")


def read_environment(text: str, at: int, name: str) -> tuple[str, int]:
    r"""What stands up to the matching ``\end{name}``, and the place after it; all the rest if there is none."""
    depth, position = 1, at
    while match := _environment_mark(name).search(text, position):
        depth += 1 if match[1] == "begin" else -1
        position = match.end()
        if depth == 0:
            return text[at : match.start()], match.end()
    return text[at:], len(text)

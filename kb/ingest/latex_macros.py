"""The authors' own macros, and their expansion in formulas and text.

Half of all display equations cannot be read outside their paper without this. Expansion is bounded in depth, count
and length, so that a macro that calls itself ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from kb.ingest.latex_groups import CONTROL, closing_braces, read_argument, read_environment, read_group, read_option

MAX_DEPTH = 25
MAX_COUNT = 4000  # calls in one piece of text
MAX_CALLS = 500_000  # calls in one document
MAX_LENGTH = 200_000  # characters that one piece of text may grow by
_ENVIRONMENT_DEPTH = 5
_PARAMETER = re.compile(r"#([1-9])")
_STRUCTURE = re.compile(
    r"\\(?:begin|end|(?:sub)*section|chapter|(?:sub)?paragraph|caption|captionof|label|item|footnote|"
    r"appendix)(?![a-zA-Z])"
    r"|\\\[|\\\]|\$\$"
)
# Bodies that steer TeX itself: what they print is, as far as one can tell, their last argument.
_MACHINERY = re.compile(
    r"\\(?:expandafter|csname|mathchoice|futurelet|@ifnextchar|@ifstar|tikz[a-zA-Z]*|begingroup|bgroup|setbox|"
    r"mathpalette|"
    r"special|pdfliteral|settowidth|settoheight|ExplSyntaxOn)(?![a-zA-Z])"
)


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro: how many arguments it takes, the default of an optional first one, its body with ``#1`` marks.

    ``delimiters`` (of ``\\def\\x(#1,#2){...}``) is what stands before the first argument and after each.
    """

    arguments: int
    body: str
    default: str | None = None
    delimiters: tuple[str, ...] = ()
    starred: bool = False

    @property
    def shown(self) -> str:
        """The body, or the last argument alone where the body is machinery."""
        if self.arguments and _MACHINERY.search(self.body):
            return f"#{self.arguments}"
        return self.body

    def is_structural(self) -> bool:
        """Whether the body holds parts of a document (an environment, a heading), which the scan must see."""
        return bool(_STRUCTURE.search(self.body))


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem-like environment: the word it prints, the counter it counts by (None: it has no number)."""

    shown: str
    counter: str | None


@dataclass(slots=True)
class Macros:
    """All that a source defines: macros, environments by their beginning and end, theorems, and how these are counted.

    ``within`` holds ``(counter, parent)`` pairs of counters that start anew with their parent.
    """

    commands: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, tuple[Macro, str]] = field(default_factory=dict)
    theorems: dict[str, Theorem] = field(default_factory=dict)
    within: list[tuple[str, str]] = field(default_factory=list)
    acronyms: dict[str, tuple[str, str]] = field(default_factory=dict)
    counters: set[str] = field(default_factory=set)
    calls_left: int = MAX_CALLS

    def structural(self) -> frozenset[str]:
        """Names of macros whose bodies, or those of macros inside them, the scan must see."""
        names = {name for name, macro in self.commands.items() if macro.is_structural()}
        calls = {name: set(re.findall(r"\\([a-zA-Z@]+)", macro.body)) for name, macro in self.commands.items()}
        for _ in range(MAX_DEPTH):
            more = {name for name, called in calls.items() if name not in names and called & names}
            if not more:
                break
            names |= more
        return frozenset(names)


def expand(text: str, macros: Macros, only: frozenset[str] | None = None) -> str:
    """Text with macros replaced by their bodies; ``only`` limits which."""
    names = frozenset(macros.commands) if only is None else only
    if not names or "\\" not in text:
        return text
    return _Expander(macros, names).run(text, 0)


class _Expander:
    def __init__(self, macros: Macros, names: frozenset[str]) -> None:
        self._macros = macros
        self._names = names
        self._count = 0
        self._length = 0

    def run(self, text: str, depth: int) -> str:
        kept: list[str] = []
        position = copied = 0
        while match := CONTROL.search(text, position):
            position = match.end()
            if match[1] not in self._names or depth > MAX_DEPTH or self._count > MAX_COUNT:
                continue
            if self._macros.calls_left <= 0:
                break
            macro = self._macros.commands[match[1]]
            made = call(macro, text, position, MAX_LENGTH - self._length)
            if made is None:
                continue
            body, end = made
            self._count += 1
            self._macros.calls_left -= 1
            self._length += len(body)
            kept += [text[copied : match.start()], _spaced(self.run(body, depth + 1), text, end)]
            position = copied = end
        kept.append(text[copied:])
        return "".join(kept)


def _spaced(body: str, text: str, end: int) -> str:
    """A body that ends in a control word must not run into the letter after it."""
    return body + " " if text[end : end + 1].isalpha() and re.search(r"\\[a-zA-Z]+$", body) else body


def call(macro: Macro, text: str, at: int, room: int = MAX_LENGTH) -> tuple[str, int] | None:
    """``(body with its arguments, end)`` of a call whose name ends at ``at``; None where arguments are missing.

    ``room`` is how long the result may be.
    """
    if macro.starred and text.startswith("*", at):
        at += 1
    read = (_delimited_arguments if macro.delimiters else _arguments)(macro, text, at)
    if read is None:
        return None
    values, end = read
    uses = [int(match[1]) for match in _PARAMETER.finditer(macro.shown)]
    if len(macro.shown) + sum(len(values[use - 1]) for use in uses if use <= len(values)) > room:
        return None
    if not values and text.startswith("{}", end):
        end += 2
    return _PARAMETER.sub(_pick(values), macro.shown), end


def _pick(values: list[str]) -> Callable[[re.Match[str]], str]:
    def pick(match: re.Match[str]) -> str:
        index = int(match[1]) - 1
        return values[index] if index < len(values) else ""

    return pick


def _arguments(macro: Macro, text: str, at: int) -> tuple[list[str], int] | None:
    values: list[str] = []
    if macro.default is not None:
        option = read_option(text, at)
        values.append(option[0] if option else macro.default)
        at = option[1] if option else at
    while len(values) < macro.arguments:
        argument = read_argument(text, at)
        if argument is None:
            return None
        values.append(argument[0])
        at = argument[1]
    return values, at


def _delimited_arguments(macro: Macro, text: str, at: int) -> tuple[list[str], int] | None:
    """Arguments of a ``\\def`` with text between its parameters: each runs up to the text after it."""
    first, *after = macro.delimiters
    if not text.startswith(first, at):
        return None
    at += len(first)
    closes = closing_braces(text)
    values: list[str] = []
    for mark in after:
        if not mark:
            argument = read_argument(text, at)
            if argument is None:
                return None
            values.append(argument[0])
            at = argument[1]
            continue
        end = at
        while end < len(text) and not text.startswith(mark, end):
            end = closes.get(end, end) + 1
        if end >= len(text) or "\n\n" in text[at:end]:
            return None
        values.append(
            text[at:end].strip().removeprefix("{").removesuffix("}") if text[at:end].startswith("{") else text[at:end]
        )
        at = end + len(mark)
    return values, at


def expand_environments(text: str, macros: Macros) -> str:
    """Replace the authors' own environments by what they stand for, also inside each other."""
    for _ in range(_ENVIRONMENT_DEPTH):
        made = _expand_environments_once(text, macros)
        if made == text or len(made) > len(text) + MAX_LENGTH:
            break
        text = made
    return text


def _expand_environments_once(text: str, macros: Macros) -> str:
    for name, (opening, closing) in macros.environments.items():
        mark = re.compile(rf"\\begin\s*\{{{re.escape(name)}\}}")
        kept: list[str] = []
        position = 0
        while match := mark.search(text, position):
            made = call(opening, text, match.end())
            if made is None:
                kept.append(text[position : match.end()])
                position = match.end()
                continue
            inside, end = read_environment(text, made[1], name)
            kept += [text[position : match.start()], made[0], inside, closing]
            position = end
        kept.append(text[position:])
        text = "".join(kept)
    return text


def read_name(text: str, at: int) -> tuple[str, int] | None:
    """``(name, end)`` of the control word, in braces or bare, that a definition is about."""
    group = read_group(text, at)
    if group:
        name = group[0].strip()
        return (name[1:], group[1]) if name.startswith("\\") else None
    match = re.compile(r"\s*\\([a-zA-Z@]+|[^\sa-zA-Z])").match(text, at)
    return (match[1], match.end()) if match else None

"""The authors' own macros: found in preamble and style files, and expanded in formulas and text.

Half of all display equations cannot be read outside their paper without this. Expansion is bounded in depth, count
and length, so that a macro that calls itself ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_DEPTH = 25
MAX_COUNT = 4000
MAX_LENGTH = 100_000
_DEFINITION = re.compile(
    r"\\(?P<command>(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator|newenvironment|"
    r"renewenvironment|[gex]?def|let|NewDocumentCommand|RenewDocumentCommand|DeclareDocumentCommand|"
    r"DeclarePairedDelimiter|newtheorem)(?P<star>\*?)(?![a-zA-Z@])"
)
_CONTROL = re.compile(r"\\([a-zA-Z@]+|.)", re.DOTALL)
# What structures a document keeps its name even where a paper redefines it.
_KEPT = frozenset(
    "section subsection subsubsection paragraph subparagraph chapter part caption label ref eqref cite citep citet "
    "footnote item begin end maketitle title author date abstract bibliography bibitem input include documentclass "
    "usepackage frac sqrt left right over text mathrm textbf textit emph hline and thanks".split(" ")
)


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro: how many arguments it takes, the default of an optional first one, and its body with ``#1`` marks."""

    arguments: int
    body: str
    default: str | None = None


@dataclass(slots=True)
class Macros:
    """All macros of a source, its theorem-like environments, and environments defined by a beginning and an end."""

    commands: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, tuple[Macro, str]] = field(default_factory=dict)
    theorems: dict[str, str] = field(default_factory=dict)

    def is_structural(self, name: str) -> bool:
        """Whether a macro's body holds parts of a document (an environment, a heading), which parsing must see."""
        body = self.commands[name].body
        return bool(
            re.search(r"\\(?:begin|end|(?:sub)*section|paragraph|caption|label|item|footnote)\b|\\\[|\\\]|\$\$", body)
        )


def read_group(text: str, at: int) -> tuple[str, int] | None:
    """``(inside, end)`` of the brace group that opens at or after ``at`` (white space skipped); None if none does."""
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text) or text[at] != "{":
        return None
    depth, index = 0, at
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return text[at + 1 : index], index + 1
        index += 1
    return None


def read_option(text: str, at: int) -> tuple[str, int] | None:
    """``(inside, end)`` of a bracket option that opens at or after ``at``; None if none does."""
    while at < len(text) and text[at] in " \t\n":
        at += 1
    if at >= len(text) or text[at] != "[":
        return None
    depth = 0
    for index in range(at + 1, min(len(text), at + 5000)):
        char = text[index]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "]" and depth <= 0:
            return text[at + 1 : index], index + 1
    return None


def collect(text: str, macros: Macros) -> str:
    """Take every definition out of a text into ``macros``; returns the text without them."""
    kept: list[str] = []
    position = 0
    while True:
        match = _DEFINITION.search(text, position)
        if match is None:
            kept.append(text[position:])
            return "".join(kept)
        end = _read_definition(text, match, macros)
        if end is None:
            kept.append(text[position : match.end()])
            position = match.end()
        else:
            kept.append(text[position : match.start()])
            position = end


def _read_definition(text: str, match: re.Match[str], macros: Macros) -> int | None:
    command, at = match["command"], match.end()
    if command.endswith("def"):
        return _read_def(text, at, macros)
    if command == "let":
        return _read_let(text, at, macros)
    if command == "newtheorem":
        return _read_theorem(text, at, macros)
    if command.endswith("environment"):
        return _read_environment(text, at, macros)
    name = _read_name(text, at)
    if name is None:
        return None
    word, at = name
    if command == "DeclareMathOperator":
        body = read_group(text, at)
        if body is None:
            return None
        macros.commands[word] = Macro(0, f"\\operatorname{match['star']}{{{body[0]}}}")
        return body[1]
    if command == "DeclarePairedDelimiter":
        left = read_group(text, at)
        right = read_group(text, left[1]) if left else None
        if left is None or right is None:
            return None
        macros.commands[word] = Macro(1, f"\\left{left[0]} #1 \\right{right[0]}")
        return right[1]
    if command.endswith("DocumentCommand"):
        return _read_document_command(text, at, word, macros)
    return _read_newcommand(text, at, word, macros)


def _read_name(text: str, at: int) -> tuple[str, int] | None:
    group = read_group(text, at)
    if group:
        name = group[0].strip()
        return (name[1:], group[1]) if name.startswith("\\") else None
    match = re.compile(r"\s*\\([a-zA-Z@]+|[^\sa-zA-Z])").match(text, at)
    return (match[1], match.end()) if match else None


def _read_newcommand(text: str, at: int, word: str, macros: Macros) -> int | None:
    count, default = 0, None
    option = read_option(text, at)
    if option and option[0].strip().isdigit():
        count, at = int(option[0]), option[1]
        second = read_option(text, at)
        if second:
            default, at = second
    body = read_group(text, at)
    if body is None:
        return None
    _add(macros, word, Macro(count, body[0], default))
    return body[1]


def _read_document_command(text: str, at: int, word: str, macros: Macros) -> int | None:
    spec = read_group(text, at)
    body = read_group(text, spec[1]) if spec else None
    if spec is None or body is None:
        return None
    if re.fullmatch(r"[m\s+]*", spec[0]):
        _add(macros, word, Macro(spec[0].count("m"), body[0]))
    elif re.fullmatch(r"\s*(?:o|O\s*\{[^}]*\})[m\s+]*", spec[0]):
        default = re.search(r"\{([^}]*)\}", spec[0])
        _add(
            macros,
            word,
            Macro(1 + re.sub(r"\{[^}]*\}", "", spec[0]).count("m"), body[0], default[1] if default else ""),
        )
    return body[1]


def _read_def(text: str, at: int, macros: Macros) -> int | None:
    match = re.compile(r"\s*\\([a-zA-Z@]+|[^\sa-zA-Z])([^{}]{0,60}?)(?=\{)").match(text, at)
    if match is None:
        return None
    body = read_group(text, match.end())
    if body is None:
        return None
    parameters = match[2].strip()
    if re.fullmatch(r"(?:#\d)*", parameters):
        _add(macros, match[1], Macro(parameters.count("#"), body[0]))
    return body[1]


def _read_let(text: str, at: int, macros: Macros) -> int | None:
    match = re.compile(r"\s*\\([a-zA-Z@]+)\s*=?\s*\\([a-zA-Z@]+|[^\sa-zA-Z])").match(text, at)
    if match is None:
        return None
    known = macros.commands.get(match[2])
    _add(macros, match[1], known or Macro(0, f"\\{match[2]}"))
    return match.end()


def _read_theorem(text: str, at: int, macros: Macros) -> int | None:
    name = read_group(text, at)
    if name is None:
        return None
    option = read_option(text, name[1])
    shown = read_group(text, option[1] if option else name[1])
    if shown is None:
        return None
    after = read_option(text, shown[1])
    macros.theorems[name[0]] = shown[0]
    return after[1] if after else shown[1]


def _read_environment(text: str, at: int, macros: Macros) -> int | None:
    name = read_group(text, at)
    if name is None:
        return None
    at, count, default = name[1], 0, None
    option = read_option(text, at)
    if option and option[0].strip().isdigit():
        count, at = int(option[0]), option[1]
        second = read_option(text, at)
        if second:
            default, at = second
    begins = read_group(text, at)
    ends = read_group(text, begins[1]) if begins else None
    if begins is None or ends is None:
        return None
    if "\\begin" in begins[0]:
        macros.environments[name[0]] = (Macro(count, begins[0], default), ends[0])
    return ends[1]


def _add(macros: Macros, word: str, macro: Macro) -> None:
    itself = re.search(rf"\\{re.escape(word)}(?![a-zA-Z@])", macro.body)
    if word not in _KEPT and not itself:
        macros.commands[word] = macro


def expand(text: str, macros: Macros, only: frozenset[str] | None = None) -> str:
    """Text with macros replaced by their bodies; ``only`` limits which."""
    names = macros.commands.keys() if only is None else only
    if not names or "\\" not in text:
        return text
    return _Expander(macros, frozenset(names)).run(text, 0)


class _Expander:
    def __init__(self, macros: Macros, names: frozenset[str]) -> None:
        self._macros = macros
        self._names = names
        self._count = 0
        self._length = 0

    def run(self, text: str, depth: int) -> str:
        kept: list[str] = []
        position = 0
        while True:
            match = _CONTROL.search(text, position)
            if match is None:
                kept.append(text[position:])
                break
            name = match[1]
            if name not in self._names or depth > MAX_DEPTH or self._count > MAX_COUNT:
                kept.append(text[position : match.end()])
                position = match.end()
                continue
            made = self._call(text, match.end(), self._macros.commands[name])
            if made is None:
                kept.append(text[position : match.end()])
                position = match.end()
                continue
            body, end = made
            self._count += 1
            self._length += len(body)
            kept.append(text[position : match.start()])
            inner = self.run(body, depth + 1) if self._length < MAX_LENGTH else body
            if re.search(r"\\[a-zA-Z]+$", inner) and end < len(text) and text[end].isalpha():
                inner += " "
            kept.append(inner)
            position = end
        return "".join(kept)

    def _call(self, text: str, at: int, macro: Macro) -> tuple[str, int] | None:
        values: list[str] = []
        if macro.default is not None:
            option = read_option(text, at)
            if option:
                values.append(option[0])
                at = option[1]
            else:
                values.append(macro.default)
        while len(values) < macro.arguments:
            argument = read_argument(text, at)
            if argument is None:
                return None
            values.append(argument[0])
            at = argument[1]
        body = macro.body
        if values:
            body = re.sub(r"#(\d)", lambda mark: values[int(mark[1]) - 1] if int(mark[1]) <= len(values) else "", body)
        elif at < len(text) and text[at] == " " and not macro.arguments:
            # TeX swallows the space after a control word; an empty pair of braces is often put to keep it.
            return body, at
        elif text[at : at + 2] == "{}":
            return body, at + 2
        return body, at


def read_argument(text: str, at: int) -> tuple[str, int] | None:
    """One argument: a brace group, a control word, or a single character."""
    group = read_group(text, at)
    if group:
        return group
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text):
        return None
    match = _CONTROL.match(text, at)
    return (match[0], match.end()) if match else (text[at], at + 1)


def expand_environments(text: str, macros: Macros) -> str:
    """Replace ``\\begin{x}`` and ``\\end{x}`` of the authors' own environments by what they stand for."""
    for name, (opening, closing) in macros.environments.items():
        pattern = re.compile(rf"\\begin\s*\{{{re.escape(name)}\}}")
        position, kept = 0, []
        for match in pattern.finditer(text):
            if match.start() < position:
                continue
            made = _Expander(macros, frozenset())._call(text, match.end(), opening)
            if made:
                kept += [text[position : match.start()], made[0]]
                position = made[1]
        kept.append(text[position:])
        text = re.sub(rf"\\end\s*\{{{re.escape(name)}\}}", lambda _, end=closing: end, "".join(kept))
    return text

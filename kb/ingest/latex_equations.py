"""Display equations of LaTeX: macros expanded, numbers counted as LaTeX counts them, labels kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.ingest.latex_macros import expand
from kb.ingest.latex_text import TextContext, clean_math, to_line
from kb.model import Equation

# One number for the whole environment, or one for every row.
_ONE = ("equation", "multline", "dmath", "equation+", "gather", "flalign")
_ROWS = ("align", "gather", "eqnarray", "flalign", "alignat", "IEEEeqnarray", "dgroup", "xalignat")
_STARRED = ("displaymath", "math", "darray")
MATH_ENVIRONMENTS = frozenset(
    [*_ONE, *_ROWS, *_STARRED, *(f"{name}*" for name in (*_ONE, *_ROWS)), "aligned*", "empheq", "split"]
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{((?:[^{}]|\{[^{}]*\})*)\}")


@dataclass(slots=True)
class EquationCounter:
    """The equation counter, with the section in front where the class numbers within sections."""

    by_section: bool
    count: int = 0
    section: str = ""
    group: str | None = None
    letters: int = 0
    serial: int = 0

    def start_section(self, number: str) -> None:
        if self.by_section:
            self.section, self.count = number, 0

    def open_group(self) -> None:
        """``subequations``: the equations that follow are 3a, 3b, ..."""
        self.group, self.letters = self.next(), 0

    def next(self) -> str:
        self.count += 1
        return f"{self.section}.{self.count}" if self.by_section and self.section else str(self.count)

    def next_in_group(self) -> str:
        if self.group is None:
            return self.next()
        self.letters += 1
        return f"{self.group}{chr(ord('a') + self.letters - 1)}"


@dataclass(slots=True)
class RawEquation:
    """An equation before the labels of the whole document are known."""

    id: str
    env: str
    source: str
    number: str | None
    label: str | None

    def finish(self, context: TextContext) -> Equation:
        latex = clean_math(expand(self.source, context.macros))
        latex = wrap_rows(self.env, latex)
        latex = re.sub(r"\\(?:eq)?ref\s*\{([^{}]*)\}", lambda m: context.labels.get(m[1].strip(), "?"), latex)
        source = wrap_rows(self.env, clean_math(self.source))
        number = to_line(self.number, context) if self.number else None
        return Equation(
            id=self.id, latex=latex, quality="exact", number=number, label=self.label, env=self.env,
            latex_src=source if source != latex else None,
        )  # fmt: skip


def wrap_rows(env: str, latex: str) -> str:
    """Rows and their alignment marks only mean something inside an environment; the inner ones stand in any display."""
    if env not in (*_ROWS, "multline", "split") or ("\\\\" not in latex and "&" not in latex):
        return latex
    inner = "gathered" if env in ("gather", "multline") else "aligned"
    if env == "eqnarray":
        latex = re.sub(r"&\s*(=|\\[a-zA-Z]+|[<>:+-]+)\s*&", r"&\1", latex)
    return f"\\begin{{{inner}}}\n{latex}\n\\end{{{inner}}}"


def read_equation(name: str, inside: str, counter: EquationCounter, context: TextContext) -> RawEquation | None:
    """One display environment; its rows are counted, its labels get their numbers. None when it is empty."""
    if not clean_math(inside).strip():
        return None
    bare = name.rstrip("*")
    if bare in ("alignat", "IEEEeqnarray", "xalignat", "empheq"):
        inside = re.sub(r"^\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}", "", inside, count=1)
    counter.serial += 1
    numbers: list[str] = []
    rows = split_rows(inside) if bare in _ROWS else [inside]
    for row in rows:
        number = _row_number(row, name, counter)
        if number:
            numbers.append(number)
        for label in _LABEL.findall(row):
            context.labels[label.strip()] = number or (numbers[-1] if numbers else "")
    label = _LABEL.search(inside)
    shown = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else numbers[0] if numbers else None
    identifier = f"eq-{numbers[0]}" if numbers else f"eq-n{counter.serial}"
    return RawEquation(identifier, bare, inside, shown, label[1].strip() if label else None)


def _row_number(row: str, name: str, counter: EquationCounter) -> str | None:
    tag = _TAG.search(row)
    if tag:
        return tag[1]
    if name.endswith("*") or name in _STARRED or re.search(r"\\(?:nonumber|notag)(?![a-zA-Z])", row):
        return None
    return counter.next_in_group() if row.strip() else None


def split_rows(inside: str) -> list[str]:
    """The rows of an aligned environment: split at ``\\\\`` outside braces and inner environments."""
    rows: list[str] = []
    start = at = depth = inner = 0
    while at < len(inside):
        if inside.startswith("\\\\", at):
            if depth == 0 and inner == 0:
                rows.append(inside[start:at])
                start = at + 2
            at += 2
        elif inside.startswith("\\begin", at):
            inner += 1
            at += 6
        elif inside.startswith("\\end", at):
            inner -= 1
            at += 4
        elif inside[at] == "\\":
            at += 2
        else:
            depth += (inside[at] == "{") - (inside[at] == "}")
            at += 1
    rows.append(inside[start:])
    return [row for row in rows if row.strip()]

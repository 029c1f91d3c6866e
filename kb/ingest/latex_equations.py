"""Display equations of LaTeX: macros expanded, numbers counted as LaTeX counts them, labels kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_counters import Counters, Target, print_number
from kb.ingest.latex_groups import read_group, read_groups, skip_options, split_rows
from kb.ingest.latex_math import clean_math, expanded_math
from kb.ingest.latex_text import to_line
from kb.model import Equation

# One number for the whole environment, or one for every row.
_ONE = ("equation", "multline", "dmath")
_ROWS = ("align", "gather", "eqnarray", "flalign", "alignat", "IEEEeqnarray", "dgroup", "xalignat", "xxalignat")
_NONE = ("displaymath", "math", "darray", "empheq", "split", "aligned", "gathered", "IEEEeqnarraybox")
MATH_ENVIRONMENTS = frozenset([*_ONE, *_ROWS, *_NONE, *(f"{name}*" for name in (*_ONE, *_ROWS, *_NONE))])
_WITH_ARGUMENT = ("alignat", "IEEEeqnarray", "xalignat", "xxalignat", "empheq", "aligned", "gathered")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_REFERENCE = re.compile(r"\\(eqref|[cC]?ref)\s*\{([^{}]*)\}")
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag|IEEEnonumber)(?![a-zA-Z])")
_TAG = re.compile(r"\\tag(\*?)(?=\s*\{)")
_EQNO = re.compile(r"\\l?eqno(?![a-zA-Z])")
_EQNARRAY_RELATION = re.compile(r"&\s*([^&]{0,40}?)\s*&")


@dataclass(slots=True)
class EquationCounter:
    """Counts equations in a document's counters, with letters inside ``subequations``."""

    counters: Counters
    group: str | None = None
    letters: int = 0
    serial: int = 0

    def open_group(self) -> str:
        """``subequations``: the equations that follow are 3a, 3b, ..."""
        self.group, self.letters = self.counters.step("equation"), 0
        return self.group

    def close_group(self) -> None:
        self.group = None

    def next(self) -> str:
        if self.group is None:
            return self.counters.step("equation")
        self.letters += 1
        return self.group + print_number(self.letters, "alph")


@dataclass(slots=True)
class RawEquation:
    """An equation before the labels of the whole document are known."""

    id: str
    env: str
    source: str
    numbers: list[str]
    labels: list[str]

    def finish(self, context: TextContext) -> Equation:
        latex = self._refer(wrap_rows(self.env, expanded_math(self.source, context.macros)), context)
        source = self._refer(wrap_rows(self.env, clean_math(self.source)), context)
        return Equation(
            id=self.id, latex=latex, quality="exact", number=self._shown_number(context),
            label=", ".join(self.labels) or None, env=self.env, latex_src=source if source != latex else None,
        )  # fmt: skip

    def _shown_number(self, context: TextContext) -> str | None:
        shown = [text for number in self.numbers if (text := to_line(number, context))]
        return None if not shown else shown[0] if len(shown) == 1 else f"{shown[0]}–{shown[-1]}"

    @staticmethod
    def _refer(latex: str, context: TextContext) -> str:
        def number(match: re.Match[str]) -> str:
            target = context.labels.get(match[2].strip())
            shown = target.number if target else "??"
            return f"({shown})" if match[1] == "eqref" else shown

        return _REFERENCE.sub(number, latex)


def wrap_rows(env: str, latex: str) -> str:
    """Rows and their alignment marks only mean something inside an environment; the inner ones stand in any display."""
    if env not in (*_ROWS, "multline", "split", "aligned", "gathered") or not re.search(r"\\\\|(?<!\\)&", latex):
        return latex
    inner = "gathered" if env in ("gather", "multline", "gathered", "dgroup") else "aligned"
    if env == "eqnarray":
        latex = _EQNARRAY_RELATION.sub(r"&\1 ", latex)
    return f"\\begin{{{inner}}}\n{latex}\n\\end{{{inner}}}"


def read_equation(name: str, inside: str, counter: EquationCounter, context: TextContext) -> RawEquation | None:
    """One display environment; its rows are counted, its labels get their numbers. None when it is empty."""
    bare = name.rstrip("*")
    if bare in _WITH_ARGUMENT:
        inside = _without_arguments(bare, inside)
    if not clean_math(inside).strip():
        return None
    counter.serial += 1
    numbers: list[str] = []
    labels: list[str] = []
    rows: list[str] = []
    for row in split_rows(inside) if bare in _ROWS else [inside]:
        if not row.strip():
            continue
        row, number = _row_number(row, name, counter)
        rows.append(row)
        numbers += [number] if number else []
        for label in _LABEL.findall(row):
            labels.append(label.strip())
            context.labels[label.strip()] = Target("equation", number or (numbers[-1] if numbers else ""))
    if len(rows) == 1:
        inside = rows[0]
    identifier = f"eq-{_slug(numbers[0])}" if numbers else f"eq-n{counter.serial}"
    return RawEquation(identifier, bare, inside, numbers, labels)


def _slug(number: str) -> str:
    return re.sub(r"[^\w.*'-]+", "", re.sub(r"\\[a-zA-Z]+", "", number)) or "tag"


def _without_arguments(name: str, inside: str) -> str:
    at = skip_options(inside, 0)
    return inside[at if name in ("aligned", "gathered") else read_groups(inside, at, 1)[1] :]


def _row_number(row: str, name: str, counter: EquationCounter) -> tuple[str, str | None]:
    r"""``(row, number)``; an ``\eqno``, which ends its row, is taken off."""
    tag = _TAG.search(row)
    if tag:
        group = read_group(row, tag.end())
        return row, group[0].strip() if group else None
    eqno = _EQNO.search(row)
    if eqno:
        return row[: eqno.start()], counter.counters.printed(_LABEL.sub("", row[eqno.end() :])).strip("() ")
    if name.endswith("*") or name in _NONE or _UNNUMBERED.search(row):
        return row, None
    return row, counter.next()

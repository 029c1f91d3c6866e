"""Lists of LaTeX as Markdown: the mark of every item, numbered as LaTeX would."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_counters import Counters, Target
from kb.ingest.latex_groups import read_option
from kb.ingest.latex_text import to_line

_LISTS = {
    "itemize": "-", "enumerate": "1", "description": "", "compactitem": "-", "compactenum": "1", "inparaenum": "1",
    "itemize*": "-", "enumerate*": "1", "description*": "", "trivlist": "", "list": "-", "asparaenum": "1",
    "asparaitem": "-", "tablenotes": "", "itemizep": "-", "enumeratep": "1", "tasks": "1", "dinglist": "-",
}  # fmt: skip
_NUMBERED = ("enumi", "enumii", "enumiii", "enumiv")
_PATTERN = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*\*|(?<![a-zA-Z\\])([1aAiI])(?![a-zA-Z])")
_FORMS = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}


@dataclass(slots=True)
class _List:
    name: str
    counter: str | None = None
    label: str = ""


class ListStack:
    """The lists that are open, inner ones last."""

    def __init__(self, counters: Counters, context: TextContext) -> None:
        self._counters = counters
        self._context = context
        self._open: list[_List] = []

    def open(self, name: str, options: str) -> bool:
        """Open a list; False when the environment is none."""
        if name not in _LISTS:
            return False
        options = (
            "" if re.match(r"[a-zA-Z]*\s*=", options) and not re.search(r"label|start|resume", options) else options
        )
        made = _List(name)
        if _LISTS[name] == "1":
            depth = sum(entry.counter is not None for entry in self._open)
            made.counter = _NUMBERED[min(depth, 3)]
            if not re.search(r"\bresume\b", options):
                start = re.search(r"\bstart\s*=\s*(\d+)", options)
                self._counters.values[made.counter] = int(start[1]) - 1 if start else 0
            made.label = _label_format(options, made.counter)
        self._open.append(made)
        return True

    def open_base(self, label: str, counter: str | None) -> None:
        """LaTeX's own ``list`` environment, with a label that prints a counter of the authors."""
        if counter:
            self._counters.values[counter] = 0
        self._open.append(_List("list", counter, label if counter else ""))

    def close(self, name: str) -> None:
        """Close the innermost list of this name, if one is open."""
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index].name == name:
                del self._open[index:]
                return

    def item(self, tex: str, at: int) -> tuple[str, int]:
        """The LaTeX that stands for an item's mark, and the place after the command."""
        option = read_option(tex, at)
        entry = self._open[-1] if self._open else _List("itemize")
        end = option[1] if option else at
        if option:
            shown = option[0].strip()
            bare = to_line(shown, self._context).strip()
            if _LISTS[entry.name] == "" and bare:
                return f"\n\n- \\textbf{{{shown}}} ", end
            return (f"\n\n- {shown} " if re.search(r"\w", bare) else "\n\n- "), end
        if entry.counter is None:
            return "\n\n- ", end
        self._counters.step(entry.counter)
        return f"\n\n{self._mark(entry)} ", end

    def _mark(self, entry: _List) -> str:
        return self._counters.printed(entry.label) if entry.label else f"{self._counters.shown(entry.counter or '')}."

    def target(self) -> Target | None:
        """What a label in the current item points to; None outside of numbered lists."""
        entry = self._open[-1] if self._open else None
        if entry is None or entry.counter is None:
            return None
        return Target("enumi", self._mark(entry).strip("().") or self._counters.shown(entry.counter))


def _label_format(options: str, counter: str) -> str:
    r"""The counter's format by ``[label=(\roman*)]`` or ``[(i)]``; empty for the usual one."""
    given = re.search(r"(?:^|,)\s*label\s*=\s*\{?((?:[^,{}]|\{[^{}]*\})*)", options)
    pattern = given[1] if given else options if "=" not in options and len(options) < 20 else ""
    if not _PATTERN.search(pattern):
        return ""
    return _PATTERN.sub(lambda match: rf"\{match[1] or _FORMS[match[2]]}{{{counter}}}", pattern, count=1)

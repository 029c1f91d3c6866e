r"""LaTeX's counters, simulated: what ``\thesection`` would print, and what every label points to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kb.ingest.latex_macros import Macros

_MARK = re.compile(
    r"\\(?P<form>arabic|alph|Alph|roman|Roman|fnsymbol|chinese|zhnumber)\s*\{?\s*(?P<counter>[a-zA-Z]+)\s*\}?"
    r"|\\the(?P<printed>[a-zA-Z]+)|\\[a-zA-Z@]+\*?|[{}$]"
)
_NEW_COUNTER = re.compile(r"\\newcounter\s*\{(\w+)\}(?:\s*\[(\w+)\])?")
_DEPTH = 6
_HAN = "零一二三四五六七八九十"

HEADINGS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_ENUMERATIONS = {
    "enumi": r"\arabic{enumi}",
    "enumii": r"\alph{enumii}",
    "enumiii": r"\roman{enumiii}",
    "enumiv": r"\Alph{enumiv}",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a label points to: ``kind`` is the counter's name (or ``appendix``), ``number`` as printed."""

    kind: str
    number: str
    title: str = ""


@dataclass(slots=True)
class Counters:
    """Values of counters, the parent that each starts anew with, and how each is printed."""

    values: dict[str, int] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    appendix: bool = False

    def step(self, name: str) -> str:
        """Count one up; counters within this one start anew. Returns what it prints now."""
        self.values[name] = self.values.get(name, 0) + 1
        self._reset_below(name, 0)
        return self.shown(name)

    def _reset_below(self, name: str, depth: int) -> None:
        if depth > _DEPTH:
            return
        for child, parent in self.parents.items():
            if parent == name:
                self.values[child] = 0
                self._reset_below(child, depth + 1)

    def shown(self, name: str, depth: int = 0) -> str:
        """What ``\\the<name>`` prints."""
        return self.printed(self.formats.get(name, rf"\arabic{{{name}}}"), depth)

    def printed(self, form: str, depth: int = 0) -> str:
        """A format such as ``\\thesection.\\arabic{equation}`` with the counters' values."""
        if depth > _DEPTH:
            return ""

        def print_mark(match: re.Match[str]) -> str:
            if match["form"]:
                return print_number(self.values.get(match["counter"], 0), match["form"])
            return self.shown(match["printed"], depth + 1) if match["printed"] else ""

        return _MARK.sub(print_mark, form).strip()

    def place_within(self, child: str, parent: str, printed: bool = True) -> None:
        """``\\numberwithin``: the child starts anew with its parent and prints it in front."""
        self.parents[child] = parent
        if printed:
            self.formats[child] = rf"\the{parent}.\arabic{{{child}}}"

    def start_appendix(self) -> None:
        """``\\appendix``: top headings get letters."""
        top = "chapter" if self.parents.get("section") == "chapter" else "section"
        self.appendix = True
        self.values[top] = 0
        self._reset_below(top, 0)
        self.formats[top] = rf"\Alph{{{top}}}"


def print_number(value: int, form: str) -> str:
    """A number in one of LaTeX's forms."""
    if form in ("alph", "Alph"):
        letter = chr(ord("a") + value - 1) if 1 <= value <= 26 else str(value)
        return letter.upper() if form == "Alph" else letter
    if form in ("roman", "Roman"):
        return _roman(value).upper() if form == "Roman" else _roman(value)
    if form in ("chinese", "zhnumber") and 0 <= value <= 10:
        return _HAN[value]
    return str(value)


def _roman(value: int) -> str:
    signs = ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    shown = ""
    for worth, sign in signs:
        shown += sign * (value // worth)
        value %= worth
    return shown or "0"


def counters_for(preamble: str, body: str, macros: Macros) -> Counters:
    """The counters of a document as its class and preamble set them up."""
    found = re.search(r"\\document(?:class|style)\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}", preamble)
    name = found[1].strip().lower() if found else ""
    counters = Counters(
        formats=dict(_ENUMERATIONS) | {"subfigure": r"\alph{subfigure}", "subtable": r"\alph{subtable}"}
    )
    by_chapter = bool(re.search(r"book|report|thesis|memoir|ctexrep", name)) and bool(
        re.search(r"\\chapter\s*[\[{]", body)
    )
    if by_chapter:
        counters.place_within("section", "chapter")
        for child in ("equation", "figure", "table"):
            counters.place_within(child, "chapter")
    else:
        counters.parents["section"] = ""
    counters.place_within("subsection", "section")
    counters.place_within("subsubsection", "subsection")
    counters.place_within("paragraph", "subsubsection")
    if name.startswith("ieee"):
        counters.formats |= {"section": r"\Roman{section}", "subsection": r"\thesection-\Alph{subsection}"}
        counters.formats["subsubsection"] = r"\thesubsection\arabic{subsubsection}"
    elif name.startswith("revtex"):
        counters.formats |= {"section": r"\Roman{section}", "subsection": r"\thesection.\Alph{subsection}"}
    for child, parent in macros.within:
        counters.place_within(child, parent)
    for match in _NEW_COUNTER.finditer(preamble):
        counters.values[match[1]] = 0
        if match[2]:
            counters.place_within(match[1], match[2], printed=False)
    return counters

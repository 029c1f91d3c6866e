"""The scan of a LaTeX body: headings, environments and paragraphs into sections of blocks, counters running along."""

from __future__ import annotations

import re

from kb.ingest.latex_blocks import QUOTE_CLOSES, QUOTE_OPENS, RawCode, RawSection, RawTable, RawText
from kb.ingest.latex_context import TextContext
from kb.ingest.latex_counters import HEADINGS, Counters, Target
from kb.ingest.latex_equations import MATH_ENVIRONMENTS, EquationCounter, read_equation
from kb.ingest.latex_floats import FLOATS, read_float
from kb.ingest.latex_front import ABSTRACTS, FRONT_COMMANDS
from kb.ingest.latex_groups import read_environment, read_group, read_groups, read_option, skip_options
from kb.ingest.latex_lists import ListStack
from kb.ingest.latex_macros import Theorem
from kb.ingest.latex_math import skip_math
from kb.ingest.latex_tables import TABULARS
from kb.ingest.latex_text import to_line

_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 1,
    "subsection": 2,
    "subsubsection": 3,
    "paragraph": 4,
    "subparagraph": 5,
}
_STRUCTURE = re.compile(
    r"\\(?P<heading>part|chapter|section|subsection|subsubsection|paragraph|subparagraph)(?P<star>\*?)(?=\s*[\[{])"
    r"|\\(?P<mark>begin|end)\s*\{(?P<name>[^{}]+)\}|(?P<display>\\\[|\$\$)|(?P<inline>\$|\\\()"
    r"|\\(?P<word>appendix|appendices|item|captionof|twocolumn|kbverbatim|label|setcounter|addtocounter|numberwithin|"
    r"counterwithin|"
    r"refstepcounter|stepcounter|the[a-zA-Z]+|renewcommand|def|acknowledge?ments?|"
    r"bibliography)(?P<starred>\*?)(?![a-zA-Z])"
    rf"|\\(?P<front>{'|'.join(FRONT_COMMANDS)})\*?(?![a-zA-Z])|(?P<sign>\\[^a-zA-Z])"
)
_DROPPED = frozenset(
    "tikzpicture pgfpicture picture filecontents filecontents* CCSXML IEEEbiography IEEEbiographynophoto biography "
    "forest "
    "pspicture axis icmlauthorlist thebibliography refsection titlepage@ highlights graphicalabstract overpic".split(
        " "
    )
)
_GROUPS = {
    "minipage": 1, "multicols": 1, "adjustwidth": 2, "CJK": 2, "CJK*": 2, "spacing": 1, "list": 2, "adjustbox": 1,
    "otherlanguage": 1, "varwidth": 1, "turn": 1, "rotate": 1, "addmargin": 1, "tabbing": 0, "bibunit": 0,
}  # fmt: skip
_THEOREMS = {name: name.title() for name in (
    "theorem lemma proposition corollary definition remark assumption example claim conjecture problem fact "
    "observation property "
    "hypothesis note condition question").split()} | {
    "thm": "Theorem", "lem": "Lemma", "prop": "Proposition", "cor": "Corollary", "defn": "Definition", "rem": "Remark"}  # fmt: skip
_IN_LINE = frozenset(
    (
        "CJK",
        "CJK*",
        "small",
        "footnotesize",
        "scriptsize",
        "otherlanguage*",
        "sloppypar",
        "bf",
        "it",
        "em",
        "sc",
        "NoHyper",
    )
)
_QUOTES = frozenset(("quote", "quotation", "displayquote", "verse"))
_ESCAPES = re.compile(r"escapeinside\s*=\s*(?:\{([^{}]{1,4})\}\s*\{([^{}]{1,4})\}|\{?([^\s{},])([^\s{},])\}?)")
_TITLE_OPTION = re.compile(r"(?:^|,)\s*title\s*=\s*")
_PARAMETERS = re.compile(r"\s*(?:[\d.]*\\(?:line|text|column)width|[\d.]+(?:pt|em|ex|cm|mm|in)?|[tbchlr|]{1,3})\s*")


class Scanner:
    """Reads a body once (``run``) into ``sections`` and ``abstract``; labels and counters are kept in the context."""

    def __init__(self, context: TextContext, counters: Counters, depth: int = 3) -> None:
        self.sections = [RawSection("", 1, None, False)]
        self.abstract: list[str] = []
        self.counters = counters
        self._context = context
        self._equations = EquationCounter(counters)
        self._lists = ListStack(counters, context)
        self._numbered_depth = depth
        self._anchor = Target("section", "")
        self._restated: dict[str, str] = {}

    def run(self, tex: str) -> None:
        """Scan a body or a part of one; environments that only wrap are scanned inside."""
        position = copied = 0
        while match := _STRUCTURE.search(tex, position):
            if match["sign"]:
                position = match.end()
                continue
            if match["inline"]:
                end = skip_math(tex, match.end(), "$" if match["inline"] == "$" else "\\)")
                position = match.end() if end < 0 else end + 1
                continue
            self._text(tex[copied : match.start()])
            position = copied = self._handle(tex, match)
        self._text(tex[copied:])

    def _handle(self, tex: str, match: re.Match[str]) -> int:
        if match["heading"]:
            return self._heading(tex, match)
        if match["mark"] == "begin":
            return self._begin(tex, match.end(), match["name"].strip())
        if match["mark"] == "end":
            return self._end(match.end(), match["name"].strip())
        if match["display"]:
            return self._display(tex, match)
        if match["front"]:
            groups, end = read_groups(tex, skip_options(tex, match.end()), FRONT_COMMANDS[match["front"]])
            return end if groups else match.end()
        return self._word(tex, match)

    def _text(self, tex: str) -> None:
        if not tex:
            return
        blocks = self.sections[-1].blocks
        if blocks and isinstance(blocks[-1], RawText):
            blocks[-1].tex += tex
        else:
            blocks.append(RawText(tex))

    def _display(self, tex: str, match: re.Match[str]) -> int:
        closing = "\\]" if match["display"] == "\\[" else "$$"
        end = tex.find(closing, match.end())
        if end < 0:
            return match.end()
        self._equation("displaymath", tex[match.end() : end])
        return end + len(closing)

    def _equation(self, name: str, inside: str) -> None:
        raw = read_equation(name, inside, self._equations, self._context)
        if raw is not None:
            self.sections[-1].blocks.append(raw)

    def _heading(self, tex: str, match: re.Match[str]) -> int:
        option = read_option(tex, match.end())
        group = read_group(tex, option[1] if option else match.end())
        if group is None:
            return match.end()
        name, title = match["heading"], group[0]
        number = None
        chapters = self.counters.parents.get("section") == "chapter"
        if not match["star"] and name != "part" and HEADINGS.index(name) - 1 <= self._numbered_depth:
            number = self.counters.step(name)
        labels = re.findall(r"\\label\s*\{([^{}]*)\}", title)
        title = re.sub(r"\\label\s*\{[^{}]*\}", "", title).strip()
        title = title.rstrip(".:：。") if name.endswith("paragraph") else title
        kind = "appendix" if self.counters.appendix and name in ("section", "chapter") else name
        self._anchor = Target(kind, number or self._anchor.number, title)
        self._context.labels |= {label.strip(): self._anchor for label in labels}
        level = _LEVELS[name] + (1 if chapters and name not in ("part", "chapter") else 0)
        if title:
            self.sections.append(RawSection(title, level, number, self.counters.appendix))
        return group[1]

    def _begin(self, tex: str, at: int, name: str) -> int:
        inside, end = "", at
        if name in MATH_ENVIRONMENTS or name in FLOATS or name in TABULARS or name in _DROPPED or name in ABSTRACTS:
            inside, end = read_environment(tex, at, name)
        if name in MATH_ENVIRONMENTS:
            self._equation(name, inside)
        elif name in FLOATS:
            self._float(name, inside)
        elif name in TABULARS:
            self._tabular((name, inside))
        elif name in ABSTRACTS:
            self.abstract.append(inside)
        elif name == "subequations":
            self._anchor = Target("equation", self._equations.open_group())
        elif name in ("appendices", "appendix"):
            self.counters.start_appendix()
        elif name in ("ack", "acks", "acknowledgments", "acknowledgements"):
            self.sections.append(RawSection("Acknowledgments", 1, None, False))
        elif name not in _DROPPED:
            return self._wrapper(tex, at, name)
        return end

    def _tabular(self, grid: tuple[str, str]) -> None:
        """A table outside of a float; a caption right before it is its own."""
        blocks = self.sections[-1].blocks
        held = next(
            (block for block in reversed(blocks[-2:]) if isinstance(block, RawTable) and block.grid is None), None
        )
        if held is not None:
            held.grid = grid
        else:
            blocks.append(RawTable(grid))

    def _end(self, at: int, name: str) -> int:
        if name == "subequations":
            self._equations.close_group()
        self._lists.close(name)
        self._text(f"{QUOTE_CLOSES}\n\n" if name in _QUOTES else "" if name in _IN_LINE else "\n\n")
        return at

    def _wrapper(self, tex: str, at: int, name: str) -> int:
        """An environment whose inside is read on as it stands: lists, theorems, centring, boxes."""
        if name in ("restatable", "restatable*"):
            groups, at = read_groups(tex, skip_options(tex, at), 2)
            if len(groups) == 2:
                end = self._theorem(tex, at, groups[0])
                self._restated[groups[1].strip()] = f"{self._theorem_word(groups[0])} {self._anchor.number}"
                return end
        if self._theorem_word(name) or name == "proof":
            return self._theorem(tex, at, name)
        self._text(f"\n\n{QUOTE_OPENS}" if name in _QUOTES else "" if name in _IN_LINE else "\n\n")
        if name == "list":
            return self._list(tex, at)
        option = read_option(tex, at, adjacent=True)
        if self._lists.open(name, option[0] if option else ""):
            return option[1] if option else at
        title = _TITLE_OPTION.search(option[0]) if option else None
        if option and title:
            group = read_group(option[0], title.end())
            self._text(f"\\textbf{{{group[0] if group else option[0][title.end() :].split(',')[0]}}}\n\n")
        at = read_groups(tex, option[1] if option else at, _GROUPS.get(name, 0))[1]
        while (group := read_group(tex, at)) and tex.startswith("{", at) and _PARAMETERS.fullmatch(group[0]):
            at = group[1]
        return at

    def _list(self, tex: str, at: int) -> int:
        r"""``\begin{list}{(\roman{x})}{\usecounter{x} ...}``: the base of the authors' own lists."""
        groups, end = read_groups(tex, at, 2)
        used = re.search(r"\\usecounter\s*\{(\w+)\}", groups[1]) if len(groups) == 2 else None
        self._lists.open_base(groups[0] if groups else "", used[1] if used else None)
        return end

    def _theorem_word(self, name: str) -> str:
        bare = name.rstrip("*")
        theorems = self._context.macros.theorems
        if name not in theorems and bare not in theorems and bare.lower() in _THEOREMS:
            theorems[bare] = Theorem(_THEOREMS[bare.lower()], bare)
        known = theorems.get(name) or theorems.get(bare)
        return known.shown if known else ""

    def _theorem(self, tex: str, at: int, name: str) -> int:
        option = read_option(tex, at)
        shown = self._theorem_word(name)
        known = self._context.macros.theorems.get(name) or self._context.macros.theorems.get(name.rstrip("*"))
        if name == "proof" and not shown:
            self._text(f"\n\n\\textbf{{{option[0] if option else '证明' if self._context.chinese else 'Proof'}.}} ")
            return option[1] if option else at
        if known and known.counter and not (name.endswith("*") and name not in self._context.macros.theorems):
            number = self.counters.step(known.counter)
            self._anchor = Target(name, number)
            shown = f"{shown} {number}"
        note = f" ({option[0]})" if option else ""
        self._text(f"\n\n\\textbf{{{shown}{note}.}} ")
        return option[1] if option else at

    def _float(self, name: str, inside: str) -> None:
        for block in read_float(name, inside, self.counters, self._context):
            if isinstance(block, RawText):
                self.run(block.tex)
            else:
                self.sections[-1].blocks.append(block)

    def _word(self, tex: str, match: re.Match[str]) -> int:
        word, at = match["word"], match.end()
        if word == "item":
            text, at = self._lists.item(tex, at)
            self._anchor = self._lists.target() or self._anchor
            self._text(text)
        elif word == "label":
            group = read_group(tex, at)
            if group:
                self._context.labels[group[0].strip()] = self._anchor
            return group[1] if group else at
        elif word in ("appendix", "appendices"):
            self.counters.start_appendix()
        elif word == "kbverbatim":
            return self._verbatim(tex, at)
        elif word == "captionof":
            return self._caption(tex, match)
        elif word == "twocolumn":
            option = read_option(tex, at)
            self.run(option[0] if option else "")
            return option[1] if option else at
        elif word in ("acknowledgments", "acknowledgements", "acknowledgment", "acknowledgement"):
            self.sections.append(RawSection("Acknowledgments", 1, None, False))
        elif word.startswith("the"):
            known = word[3:] in self.counters.values or word[3:] in self.counters.formats
            self._text(self.counters.shown(word[3:]) if known else match[0])
        elif word in ("refstepcounter", "stepcounter"):
            group = read_group(tex, at)
            if group:
                self._anchor = Target(group[0].strip(), self.counters.step(group[0].strip()))
            return group[1] if group else at
        elif word == "bibliography":
            return read_groups(tex, at, 1)[1]
        else:
            return read_counter_command(tex, word, bool(match["starred"]), at, self.counters)
        return at

    def _caption(self, tex: str, match: re.Match[str]) -> int:
        """``\\captionof`` outside of a float: it belongs to the table before it, or stands for a figure."""
        groups, end = read_groups(tex, match.end(), 2)
        if len(groups) < 2:
            return end
        label = re.compile(r"\s*\\label\s*\{[^{}]*\}").match(tex, end)
        end = label.end() if label else end
        blocks = self.sections[-1].blocks
        held = next(
            (block for block in reversed(blocks[-2:]) if isinstance(block, RawTable) and not block.caption), None
        )
        made = read_float(
            groups[0], f"\\caption{{{groups[1]}}}{label[0] if label else ''}", self.counters, self._context
        )
        for block in made:
            if held is not None and isinstance(block, RawTable):
                held.caption, held.number, held.label = block.caption, block.number, block.label
            else:
                blocks.append(block)
        return end

    def _verbatim(self, tex: str, at: int) -> int:
        group = read_group(tex, at)
        if group is None:
            return at
        name, _, code = self._context.verbatim.texts[int(group[0])].partition("\n")
        option = read_option(code, 0, adjacent=True) if name != "verbatim" else None
        start = option[1] if option else 0
        language = read_group(code, start) if name == "minted" else None
        start = language[1] if language else start
        caption, number = self._listing_caption(option[0] if option else "")
        code = _without_escapes(code[start:], option[0] if option else "", self._context)
        self.sections[-1].blocks.append(RawCode(code, caption, number))
        return group[1]

    def _listing_caption(self, options: str) -> tuple[str, str | None]:
        found = re.search(r"(?:^|,)\s*caption\s*=\s*(?=\{)", options)
        braced = read_group(options, found.end()) if found else None
        bare = re.search(r"(?:^|,)\s*caption\s*=\s*([^,{}]+)", options)
        caption = braced[0] if braced else bare[1] if bare else ""
        number = self.counters.step("lstlisting") if caption else None
        label = re.search(r"(?:^|,)\s*label\s*=\s*\{?([^,{}]+)", options)
        if label:
            self._context.labels[label[1].strip()] = Target("lstlisting", number or "")
        return caption, number

    def restated(self) -> dict[str, str]:
        """Names of theorems that are stated again later, and what they print: ``{"main": "Theorem 1"}``."""
        return self._restated


def _without_escapes(code: str, options: str, context: TextContext) -> str:
    """LaTeX between the ``escapeinside`` marks of a listing as the text that it prints."""
    marks = _ESCAPES.search(options)
    if marks is None:
        return code
    opening, closing = re.escape(marks[1] or marks[3]), re.escape(marks[2] or marks[4])
    return re.sub(rf"{opening}([^\n]*?){closing}", lambda match: to_line(match[1], context), code)


def read_counter_command(tex: str, word: str, starred: bool, at: int, counters: Counters) -> int:
    """``\\setcounter`` and its kin, and ``\\renewcommand{\\thefigure}{...}``; returns the place after it."""
    if word in ("renewcommand", "def"):
        match = re.compile(r"\s*\{?\s*\\the([a-zA-Z]+)\s*\}?\s*(?=\{)").match(tex, at)
        body = read_group(tex, match.end()) if match else None
        if match is None or body is None:
            return at
        counters.formats[match[1]] = body[0]
        return body[1]
    groups, end = read_groups(tex, at, 2)
    if len(groups) < 2:
        return end
    name, value = groups[0].strip(), groups[1].strip()
    if word in ("numberwithin", "counterwithin"):
        counters.place_within(name, value, printed=not starred)
    elif re.fullmatch(r"-?\d+", value):
        counters.values[name] = int(value) + (counters.values.get(name, 0) if word == "addtocounter" else 0)
    elif (copied := re.fullmatch(r"\\value\s*\{(\w+)\}", value)) and word == "setcounter":
        counters.values[name] = counters.values.get(copied[1], 0)
    return end

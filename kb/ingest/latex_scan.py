"""The scan of a LaTeX body: headings, environments and paragraphs into sections of blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from kb.ingest.latex_equations import MATH_ENVIRONMENTS, EquationCounter, RawEquation, read_equation
from kb.ingest.latex_macros import read_group, read_option
from kb.ingest.latex_tables import TABULARS, parse_tabular
from kb.ingest.latex_text import TextContext, to_line, to_markdown
from kb.model import Block, Equation, Figure, Paragraph, Section, Table
from kb.sections import section_kind

_LEVELS = {
    "part": 0,
    "chapter": 1,
    "section": 1,
    "subsection": 2,
    "subsubsection": 3,
    "paragraph": 4,
    "subparagraph": 5,
}
_STRUCTURE = re.compile(
    r"\\(?P<heading>part|chapter|section|subsection|subsubsection|paragraph|subparagraph)(?P<star>\*?)(?=\s*[\[{])|"
    r"\\begin\s*\{(?P<begin>[^{}]+)\}|\\end\s*\{(?P<end>[^{}]+)\}|(?P<display>\\\[|\$\$)|"
    r"\\(?P<appendix>appendix|appendices)(?![a-zA-Z])|\\label\s*\{(?P<label>[^{}]*)\}|\\(?P<verb>verb|lstinline)\*?(?=[^a-zA-Z\s])"
)
_FLOATS = ("figure", "figure*", "wrapfigure", "SCfigure", "subfigure", "teaserfigure", "table", "table*", "wraptable",
           "sidewaystable", "sidewaystable*", "longtable", "threeparttable", "algorithm", "algorithm*", "algorithm2e",
           "listing", "marginfigure", "margintable", "sidewaysfigure", "floatrow", "figwindow", "tabwindow", "SCtable")  # fmt: skip
_VERBATIM = ("verbatim", "verbatim*", "lstlisting", "minted", "Verbatim", "alltt", "lstcode", "python", "code")
_DROPPED = ("tikzpicture", "pgfplots", "picture", "filecontents", "filecontents*", "comment", "CCSXML", "IEEEbiography",
            "tabbing", "axis", "forest", "pspicture", "keywords", "IEEEkeywords", "forlang", "CJKfilecontents")  # fmt: skip
_THEOREMS = {"theorem": "Theorem", "lemma": "Lemma", "proposition": "Proposition", "corollary": "Corollary",
             "definition": "Definition", "remark": "Remark", "assumption": "Assumption", "example": "Example",
             "claim": "Claim", "conjecture": "Conjecture", "proof": "Proof", "problem": "Problem", "fact": "Fact"}  # fmt: skip


@dataclass(slots=True)
class _RawSection:
    title: str
    level: int
    number: str | None
    appendix: bool
    blocks: list[_RawBlock] = field(default_factory=list)


@dataclass(slots=True)
class _RawText:
    tex: str


@dataclass(slots=True)
class _RawFloat:
    kind: str
    caption: str | None
    number: str | None
    label: str | None
    grids: list[tuple[str, str]]
    code: str = ""


_RawBlock = _RawText | RawEquation | _RawFloat


class Scanner:
    """Reads a body once (``run``); ``sections`` then renders it, when the number of every label is known."""

    def __init__(self, context: TextContext, equations_by_section: bool) -> None:
        self._context = context
        self._sections: list[_RawSection] = [_RawSection("", 1, None, False)]
        self._abstract = ""
        self._equations = EquationCounter(equations_by_section)
        self._counters = [0] * 6
        self._floats: dict[str, int] = {}
        self._theorems: dict[str, int] = {}
        self._appendix = False
        self._anchor = ""
        self._start = 0

    def run(self, tex: str) -> None:
        """Scan a body (or part of one: environments that only wrap are scanned inside)."""
        position = 0
        while match := _STRUCTURE.search(tex, position):
            self._text(tex[position : match.start()])
            position = self._handle(tex, match)
        self._text(tex[position:])

    def _handle(self, tex: str, match: re.Match[str]) -> int:
        if match["heading"]:
            return self._heading(tex, match)
        if match["begin"]:
            return self._begin(tex, match)
        if match["display"]:
            close = "\\]" if match["display"] == "\\[" else "$$"
            end = tex.find(close, match.end())
            end = len(tex) if end < 0 else end
            self._equation("displaymath", tex[match.end() : end])
            return end + len(close)
        if match["appendix"]:
            self._appendix, self._counters = True, [0] * 6
            self._equations.start_section("")
        elif match["label"]:
            self._context.labels[match["label"].strip()] = self._anchor
        elif match["verb"]:
            mark = tex[match.end()]
            end = tex.find(mark, match.end() + 1)
            end = len(tex) - 1 if end < 0 else end
            self._text(tex[match.start() : end + 1])
            return end + 1
        else:
            self._text("\n\n")
        return match.end()

    def _text(self, tex: str) -> None:
        if not tex:
            return
        blocks = self._sections[-1].blocks
        if blocks and isinstance(blocks[-1], _RawText):
            blocks[-1].tex += tex
        else:
            blocks.append(_RawText(tex))

    def _heading(self, tex: str, match: re.Match[str]) -> int:
        option = read_option(tex, match.end())
        group = read_group(tex, option[1] if option else match.end())
        if group is None:
            return match.end()
        level = _LEVELS[match["heading"]]
        number = None if match["star"] or level in (0, 4, 5) else self._next_number(level)
        if number:
            self._anchor = number
        self._sections.append(_RawSection(group[0].strip().rstrip("."), max(level, 1), number, self._appendix))
        return group[1]

    def _next_number(self, level: int) -> str:
        self._counters[level] += 1
        for deeper in range(level + 1, 6):
            self._counters[deeper] = 0
        parts = [str(count) for count in self._counters[1 : level + 1]]
        if self._appendix and parts:
            parts[0] = chr(ord("A") + min(self._counters[1], 26) - 1) if self._counters[1] else "A"
        if level == 1:
            self._equations.start_section(parts[0])
        return ".".join(parts)

    def _begin(self, tex: str, match: re.Match[str]) -> int:
        name = match["begin"].strip()
        if name in MATH_ENVIRONMENTS:
            inside, end = _inside(tex, match.end(), name)
            self._equation(name, inside)
            return end
        if name in _DROPPED or name.startswith("pgf"):
            return _inside(tex, match.end(), name)[1]
        if name == "abstract":
            inside, end = _inside(tex, match.end(), name)
            self._abstract = self._abstract or inside
            return end
        if name == "thebibliography":
            return _inside(tex, match.end(), name)[1]
        if name in _FLOATS:
            inside, end = _inside(tex, match.end(), name)
            self._float(name, inside)
            return end
        if name in TABULARS:
            inside, end = _inside(tex, match.end(), name)
            self._sections[-1].blocks.append(_RawFloat("table", None, None, None, [(name, inside)]))
            return end
        if name in _VERBATIM:
            inside, end = _inside(tex, match.end(), name)
            code = re.sub(r"^\s*(?:\[[^\]]*\])?(?:\{[^}]*\})?", "", inside, count=1) if name != "verbatim" else inside
            self._sections[-1].blocks.append(_RawFloat("code", None, None, None, [], code.strip("\n")))
            return end
        if name in ("subequations",):
            self._equations.open_group()
            return match.end()
        if name == "appendices":
            self._appendix, self._counters = True, [0] * 6
            return match.end()
        return self._wrapper(tex, match.end(), name)

    def _wrapper(self, tex: str, at: int, name: str) -> int:
        """An environment whose inside is read on as it stands: lists, theorems, centring, boxes."""
        shown = self._context.macros.theorems.get(name) or _THEOREMS.get(name.rstrip("*"))
        if shown:
            option = read_option(tex, at)
            label = shown
            if shown != "Proof":
                self._theorems[shown] = self._theorems.get(shown, 0) + 1
                self._anchor = str(self._theorems[shown])
                label = f"{shown} {self._anchor}" if not name.endswith("*") else shown
            note = f" ({option[0]})" if option else ""
            self._text(f"\n\n\\textbf{{{label}{note}.}} ")
            return option[1] if option else at
        self._text("\n\n")
        option = read_option(tex, at)
        at = option[1] if option else at
        for _ in range({"minipage": 1, "multicols": 1, "tcolorbox": 0, "wrapfigure": 2, "adjustwidth": 2, "CJK": 2,
                        "CJK*": 2, "spacing": 1, "list": 2, "subtable": 1}.get(name, 0)):  # fmt: skip
            group = read_group(tex, at)
            at = group[1] if group else at
        return at

    def _equation(self, name: str, inside: str) -> None:
        raw = read_equation(name, inside, self._equations, self._context)
        if raw is not None:
            self._sections[-1].blocks.append(raw)

    def _float(self, name: str, inside: str) -> None:
        kind = "table" if "tab" in name else "code" if "algorithm" in name or name == "listing" else "figure"
        caption = _find_command(inside, "caption")
        label = re.search(r"\\label\s*\{([^{}]*)\}", inside)
        grids = _tabulars(name, inside)
        if kind == "figure" and grids and not re.search(r"\\includegraphics|tikzpicture", inside):
            kind = "table"
        number = None
        if caption is not None:
            self._floats[kind] = self._floats.get(kind, 0) + 1
            number = str(self._floats[kind])
            for found in re.finditer(r"\\label\s*\{([^{}]*)\}", inside):
                self._context.labels[found[1].strip()] = number
        code = _algorithm_text(inside) if kind == "code" else ""
        shown = grids if kind == "table" else []
        self._sections[-1].blocks.append(
            _RawFloat(kind, caption, number, label[1].strip() if label else None, shown, code)
        )

    # ------------------------------------------------------------ rendering

    def abstract(self) -> str:
        return to_markdown(self._abstract, self._context) if self._abstract else ""

    def sections(self) -> tuple[Section, ...]:
        made: list[Section] = []
        for index, raw in enumerate(self._sections):
            title = to_line(raw.title, self._context)
            blocks = tuple(self._with_context(self._blocks(raw)))
            if not title and not blocks:
                continue
            kind = "appendix" if raw.appendix else section_kind(title, raw.number)
            name = f"S{raw.number}" if raw.number else f"s{index + 1}"
            made.append(Section(name, title, raw.level, kind, raw.number, blocks))
        return tuple(made)

    def _blocks(self, raw: _RawSection) -> list[Block]:
        blocks: list[Block] = []
        for item in raw.blocks:
            if isinstance(item, _RawText):
                text = to_markdown(item.tex, self._context)
                blocks += [Paragraph(part) for part in text.split("\n\n") if re.search(r"\w", part)]
            elif isinstance(item, RawEquation):
                blocks.append(item.finish(self._context))
            else:
                blocks += self._float_blocks(item, len(blocks))
        return blocks

    def _float_blocks(self, item: _RawFloat, at: int) -> list[Block]:
        caption = to_line(item.caption, self._context) if item.caption is not None else ""
        blocks: list[Block] = []
        if item.kind == "table":
            for index, (name, body) in enumerate(item.grids):
                grid = parse_tabular(name, body, self._context)
                if grid:
                    suffix = f"-{index + 1}" if index else ""
                    identifier = f"tab-{item.number or f'at-{at}'}{suffix}"
                    blocks.append(Table(identifier, caption, grid[0], grid[1], item.number, item.label))
            if not blocks and caption:
                blocks.append(Figure(f"tab-{item.number}", caption, item.number, item.label))
        elif item.kind == "code":
            if caption:
                blocks.append(Paragraph(f"**Algorithm {item.number}.** {caption}"))
            if item.code:
                blocks.append(Paragraph(to_markdown(item.code, self._context) if caption else item.code))
        elif caption:
            blocks.append(Figure(f"fig-{item.number}", caption, item.number, item.label))
        return blocks

    @staticmethod
    def _with_context(blocks: list[Block]) -> list[Block]:
        """Every equation with the sentence before and after it."""
        made: list[Block] = []
        for index, block in enumerate(blocks):
            if isinstance(block, Equation):
                before = _last_sentence(blocks[index - 1]) if index else ""
                after = _first_sentence(blocks[index + 1]) if index + 1 < len(blocks) else ""
                block = replace(block, before=before, after=after)
            made.append(block)
        return made


def _last_sentence(block: Block) -> str:
    if not isinstance(block, Paragraph):
        return ""
    return re.split(r"(?<=[.!?。！？])\s+", block.text)[-1][-400:]


def _first_sentence(block: Block) -> str:
    if not isinstance(block, Paragraph):
        return ""
    return re.split(r"(?<=[.!?。！？])\s+", block.text)[0][:400]


def _inside(tex: str, at: int, name: str) -> tuple[str, int]:
    """What stands up to the matching ``\\end{name}``, and where it ends."""
    pattern = re.compile(rf"\\(begin|end)\s*\{{{re.escape(name)}\}}")
    depth, position = 1, at
    while match := pattern.search(tex, position):
        depth += 1 if match[1] == "begin" else -1
        position = match.end()
        if depth == 0:
            return tex[at : match.start()], match.end()
    return tex[at:], len(tex)


def _find_command(tex: str, command: str) -> str | None:
    """The argument of the last such command that has text: sub-captions come before the caption of the whole."""
    found: str | None = None
    for match in re.finditer(rf"\\{command}(?:of\s*\{{\w+\}})?\*?(?=\s*[\[{{])", tex):
        option = read_option(tex, match.end())
        group = read_group(tex, option[1] if option else match.end())
        if group and group[0].strip():
            found = group[0]
    return found


def _tabulars(name: str, inside: str) -> list[tuple[str, str]]:
    if name in TABULARS:
        return [(name, inside)]
    found: list[tuple[str, str]] = []
    position = 0
    pattern = re.compile(r"\\begin\s*\{(" + "|".join(re.escape(tabular) for tabular in TABULARS) + r")\}")
    while match := pattern.search(inside, position):
        body, position = _inside(inside, match.end(), match[1])
        if match[1] != "array":
            found.append((match[1], body))
    return found


_ALGORITHM_WORDS = {"REQUIRE": "Require: ", "ENSURE": "Ensure: ", "STATE": "", "STATEX": "", "RETURN": "return ", "KwIn": "Input: ",
                    "KwOut": "Output: ", "KwData": "Data: ", "KwResult": "Result: ", "INPUT": "Input: ", "OUTPUT": "Output: "}  # fmt: skip


def _algorithm_text(inside: str) -> str:
    """An algorithm's steps as paragraphs of a list."""
    text = re.sub(r"\\caption\s*(?:\[[^\]]*\])?\s*\{", r"\\kbdropped{", inside)
    while match := re.search(r"\\kbdropped(?=\{)", text):
        group = read_group(text, match.end())
        text = text[: match.start()] + (text[group[1] :] if group else text[match.end() :])
    text = re.sub(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\[[^\]]*\])?", "\n", text)

    def step(match: re.Match[str]) -> str:
        word = match[1]
        shown = _ALGORITHM_WORDS.get(word.upper() if word.upper() in _ALGORITHM_WORDS else word)
        if shown is None:
            shown = {"FOR": "for ", "WHILE": "while ", "IF": "if ", "ELSE": "else ", "ELSIF": "else if ", "FORALL": "for all ",
                     "REPEAT": "repeat ", "UNTIL": "until "}.get(word.upper(), "end " if word.upper().startswith("END") else "")  # fmt: skip
        return f"\n\n- {shown}"

    return re.sub(
        r"\\(Require|Ensure|State|Statex|Return|For|While|If|Else|ElsIf|ForAll|Repeat|Until|End(?:For|While|If|Procedure|Function)|"
        r"Procedure|Function|KwIn|KwOut|KwData|KwResult|Input|Output)(?![a-zA-Z])",
        step,
        text,
        flags=re.IGNORECASE,
    )

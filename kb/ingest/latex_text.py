"""Running LaTeX as readable Markdown: inline maths kept, accents and dashes as characters, citations as ``[@key]``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from kb.ingest.latex_macros import Macros, expand, read_argument, read_group, read_option

_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323", "b": "\u0331", "k": "\u0328", "r": "\u030a",
}  # fmt: skip
_SYMBOLS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "i": "ı", "j": "ȷ", "S": "§", "P": "¶", "copyright": "©", "pounds": "£", "dag": "†", "ddag": "‡", "ldots": "…",
    "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—", "textbackslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textless": "<", "textgreater": ">", "textbar": "|", "textbullet": "•", "bullet": "•",
    "textquotesingle": "'", "textquotedblleft": "“", "textquotedblright": "”", "textregistered": "®", "texttrademark": "™",
    "LaTeX": "LaTeX", "TeX": "TeX", "quad": " ", "qquad": " ", "checkmark": "✓", "cmark": "✓", "xmark": "✗",
    "slash": "/", "times": "×", "newline": "\n", "linebreak": " ", "par": "\n\n", "textdegree": "°", "degree": "°",
    "textdollar": "$", "lbrack": "[", "rbrack": "]", "textunderscore": "_", "ng": "ŋ", "th": "þ", "eg": "e.g.", "ie": "i.e.",
}  # fmt: skip
_MATH_SYMBOLS = frozenset("rightarrow leftarrow Rightarrow uparrow downarrow pm sim approx leq geq le ge neq infty alpha beta "
                          "gamma delta epsilon varepsilon zeta eta theta lambda mu nu xi pi rho sigma tau phi varphi chi psi "
                          "omega Delta Gamma Lambda Omega Phi Pi Psi Sigma Theta cdot star ast circ".split(" "))  # fmt: skip
# Commands whose arguments are no text: how many brace groups to drop.
_DROPPED = {
    "label": 1, "vspace": 1, "hspace": 1, "includegraphics": 1, "setlength": 2, "addtolength": 2, "input": 1, "thispagestyle": 1,
    "pagestyle": 1, "bibliographystyle": 1, "bibliography": 1, "addcontentsline": 3, "setcounter": 2, "addtocounter": 2,
    "definecolor": 3, "color": 1, "rowcolor": 1, "cellcolor": 1, "columncolor": 1, "usepackage": 1, "fontsize": 2, "phantom": 1,
    "hyphenation": 1, "graphicspath": 1, "captionsetup": 1, "nocite": 1, "index": 1, "hypersetup": 1, "stepcounter": 1,
    "refstepcounter": 1, "vskip": 0, "hskip": 0, "vphantom": 1, "hphantom": 1, "rule": 2, "raisebox": 1, "cmidrule": 1,
    "cline": 1, "pdfbookmark": 2, "markboth": 2, "enlargethispage": 1, "selectfont": 0, "arraystretch": 0, "tabcolsep": 0,
    "setlist": 1, "crefname": 3, "Crefname": 3, "lstset": 1, "tikzset": 1, "usetikzlibrary": 1, "bstctlcite": 1,
    "hypertarget": 1, "newcounter": 1, "theoremstyle": 1, "allowdisplaybreaks": 0, "renewcommand": 2, "newcommand": 2,
    "PackageWarning": 2, "nolinkurl": 0, "pagenumbering": 1, "printbibliography": 0, "tableofcontents": 0, "balance": 0,
    "itemsep": 0, "parskip": 0, "parindent": 0, "topsep": 0, "leftmargin": 0, "textwidth": 0, "linewidth": 0, "columnwidth": 0,
    "baselineskip": 0, "hfill": 0, "vfill": 0, "hline": 0, "toprule": 0, "midrule": 0, "bottomrule": 0, "noindent": 0,
    "centering": 0, "raggedright": 0, "maketitle": 0, "newpage": 0, "clearpage": 0, "cleardoublepage": 0, "appendix": 0,
    "small": 0, "footnotesize": 0, "scriptsize": 0, "tiny": 0, "normalsize": 0, "large": 0, "Large": 0, "LARGE": 0, "huge": 0,
    "Huge": 0, "bf": 0, "it": 0, "em": 0, "rm": 0, "sf": 0, "sc": 0, "tt": 0, "sl": 0, "bfseries": 0, "itshape": 0, "scshape": 0,
    "sffamily": 0, "ttfamily": 0, "upshape": 0, "mdseries": 0, "rmfamily": 0, "protect": 0, "xspace": 0, "smallskip": 0,
    "medskip": 0, "bigskip": 0, "relax": 0, "ignorespaces": 0, "unskip": 0, "leavevmode": 0, "displaystyle": 0, "textstyle": 0,
    "boldmath": 0, "unboldmath": 0, "looseness": 0, "sloppy": 0, "fussy": 0, "flushright": 0, "flushleft": 0, "null": 0,
    "begingroup": 0, "endgroup": 0, "bgroup": 0, "egroup": 0, "newblock": 0, "thinspace": 0, "makeatletter": 0,
    "makeatother": 0, "qed": 0, "qedhere": 0, "strut": 0, "onecolumn": 0, "twocolumn": 0, "pagebreak": 0, "nopagebreak": 0,
    "endfirsthead": 0, "endhead": 0, "endfoot": 0, "endlastfoot": 0, "footnotemark": 0, "Bstrut": 0, "Tstrut": 0,
}  # fmt: skip
_CITES = re.compile(r"(?:full|foot|no|super|paren|text|auto|smart|Paren|Text|Auto)?[cC]ite[a-zA-Z]*")
_REFS = frozenset("ref eqref cref Cref autoref pageref nameref vref autoref* cref* subref labelcref fullref".split(" "))
_LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "))
_SPACES = re.compile(r"[ \t]*\n[ \t]*|[ \t]{2,}")


@dataclass(slots=True)
class TextContext:
    """What running text is read with: the authors' macros and the number of every label."""

    macros: Macros = field(default_factory=Macros)
    labels: dict[str, str] = field(default_factory=dict)


def to_markdown(tex: str, context: TextContext) -> str:
    """A piece of running LaTeX as one or more Markdown paragraphs (apart by blank lines)."""
    text = _Converter(context).run(expand_text(tex, context.macros))
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", text)]
    tidy = [re.sub(r" ([,.;:)\]])", r"\1", part) for part in paragraphs if part]
    return "\n\n".join(tidy)


def to_line(tex: str, context: TextContext) -> str:
    """The same on one line, without emphasis marks: for titles, cells and captions."""
    return to_markdown(tex, context).replace("\n\n", " ").replace("**", "").strip()


def expand_text(tex: str, macros: Macros) -> str:
    return expand(tex, macros)


def clean_math(latex: str) -> str:
    """Maths without what only steers the setting of it."""
    latex = re.sub(
        r"\\(?:label|tag\*?)\s*\{[^{}]*\}|\\(?:nonumber|notag|displaystyle|textstyle|!)(?![a-zA-Z])", "", latex
    )
    latex = re.sub(r"\\ensuremath\s*\{", "{", latex)
    latex = latex.replace("\\xspace", "")
    return "\n".join(line.strip() for line in latex.strip().splitlines() if line.strip())


class _Converter:
    def __init__(self, context: TextContext) -> None:
        self._context = context
        self._notes: list[str] = []

    def run(self, tex: str) -> str:
        out: list[str] = []
        at = 0
        while at < len(tex):
            char = tex[at]
            if char == "\\":
                at = self._command(tex, at, out)
            elif char == "$":
                at = self._math(tex, at, out)
            elif char in "{}":
                at += 1
            elif char in "-`'~":
                for raw, shown in _LIGATURES:
                    if tex.startswith(raw, at):
                        out.append(shown)
                        at += len(raw)
                        break
                else:
                    out.append({"`": "‘", "'": "’"}.get(char, char))
                    at += 1
            else:
                end = at + 1
                while end < len(tex) and tex[end] not in "\\${}-`'~":
                    end += 1
                out.append(tex[at:end])
                at = end
        return "".join(out)

    def _math(self, tex: str, at: int, out: list[str]) -> int:
        double = tex.startswith("$$", at)
        mark = "$$" if double else "$"
        end = at + len(mark)
        while end < len(tex) and not tex.startswith(mark, end):
            end += 2 if tex[end] == "\\" else 1
        inside = " ".join(clean_math(tex[at + len(mark) : end]).split())
        if inside:
            out.append(f"${inside}$")
        return end + len(mark)

    def _command(self, tex: str, at: int, out: list[str]) -> int:
        match = re.compile(r"\\([a-zA-Z@]+\*?|.)", re.DOTALL).match(tex, at)
        if match is None:
            return at + 1
        name, end = match[1], match.end()
        bare = name.rstrip("*")
        if len(name) == 1 and not name.isalpha():
            return self._symbol(name, tex, end, out)
        if bare in _REFS:
            return self._reference(bare, tex, end, out)
        if _CITES.fullmatch(bare):
            return self._citation(tex, end, out)
        handler = _HANDLERS.get(bare)
        if handler:
            return handler(self, tex, end, out)
        if bare in _ACCENTS:
            return self._accent(bare, tex, end, out)
        if bare in _SYMBOLS:
            out.append(_SYMBOLS[bare])
            return self._skip_space(tex, end)
        if bare in _MATH_SYMBOLS:
            out.append(f"$\\{bare}$")
            return end
        return self._drop(bare, tex, end)

    def _symbol(self, name: str, tex: str, end: int, out: list[str]) -> int:
        if name in "%&_#${}":
            out.append(name)
        elif name == "\\":
            option = read_option(tex, end) if tex[end : end + 1] == "[" else None
            out.append("\n")
            return option[1] if option else end
        elif name == "(":
            close = tex.find("\\)", end)
            close = len(tex) if close < 0 else close
            out.append(f"${' '.join(clean_math(tex[end:close]).split())}$")
            return close + 2
        elif name in _ACCENTS:
            return self._accent(name, tex, end, out)
        elif name in " ,;:\n/":
            out.append(" " if name != "/" else "")
        return end

    def _accent(self, name: str, tex: str, end: int, out: list[str]) -> int:
        argument = read_argument(tex, end)
        if argument is None:
            return end
        letter = self.run(argument[0]).replace("ı", "i").replace("ȷ", "j")
        out.append(unicodedata.normalize("NFC", letter[:1] + _ACCENTS[name]) + letter[1:])
        return argument[1]

    def _reference(self, name: str, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        if group is None:
            return end
        numbers = [self._context.labels.get(label.strip(), "?") for label in group[0].split(",")]
        shown = ", ".join(numbers)
        out.append(f"({shown})" if name == "eqref" else shown)
        return group[1]

    def _citation(self, tex: str, end: int, out: list[str]) -> int:
        notes: list[str] = []
        while (option := read_option(tex, end)) is not None and len(notes) < 2:
            notes.append(self.run(option[0]).strip())
            end = option[1]
        group = read_group(tex, end)
        if group is None:
            return end
        keys = "; ".join(f"@{key.strip()}" for key in group[0].split(",") if key.strip())
        note = ", ".join(note for note in notes if note)
        if keys:
            out.append(f"[{keys}{', ' + note if note else ''}]")
        return group[1]

    def _drop(self, name: str, tex: str, end: int) -> int:
        count = _DROPPED.get(name)
        if count is None or count:
            option = read_option(tex, end) if tex[end : end + 1] == "[" else None
            end = option[1] if option else end
        for _ in range(count or 0):
            group = read_group(tex, end)
            if group is None:
                break
            end = group[1]
        return self._skip_space(tex, end) if count == 0 else end

    @staticmethod
    def _skip_space(tex: str, at: int) -> int:
        if tex.startswith("{}", at):
            return at + 2
        return at + 1 if at < len(tex) and tex[at] == " " else at


type_handler = Callable[[_Converter, str, int, list[str]], int]


def _wrapped(before: str, after: str) -> type_handler:
    def handle(converter: _Converter, tex: str, end: int, out: list[str]) -> int:
        group = read_argument(tex, end)
        if group is None:
            return end
        inside = converter.run(group[0])
        bare = inside.strip()
        marks = (before, after) if bare and "\n\n" not in bare and before not in bare else ("", "")
        lead = inside[: len(inside) - len(inside.lstrip())]
        tail = inside[len(inside.rstrip()) :]
        out.append(f"{lead}{marks[0]}{bare}{marks[1]}{tail}" if before else inside)
        return group[1]

    return handle


def _footnote(converter: _Converter, tex: str, end: int, out: list[str]) -> int:
    option = read_option(tex, end) if tex[end : end + 1] == "[" else None
    group = read_group(tex, option[1] if option else end)
    if group is None:
        return end
    out.append(f" (footnote: {' '.join(converter.run(group[0]).split())})")
    return group[1]


def _href(converter: _Converter, tex: str, end: int, out: list[str]) -> int:
    address = read_group(tex, end)
    shown = read_group(tex, address[1]) if address else None
    if address is None or shown is None:
        return end
    text = converter.run(shown[0]).strip()
    out.append(text if text == address[0] else f"[{text}]({address[0]})")
    return shown[1]


def _url(_: _Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    if group is None:
        return end
    out.append(group[0].replace("\\", ""))
    return group[1]


def _last_of(count: int) -> type_handler:
    """A command that shows only its last argument, as ``\\textcolor{red}{text}`` and ``\\resizebox{w}{h}{text}``."""

    def handle(converter: _Converter, tex: str, end: int, out: list[str]) -> int:
        while tex[end : end + 1] == "[" and (option := read_option(tex, end)):
            end = option[1]
        for _ in range(count - 1):
            group = read_group(tex, end)
            if group is None:
                return end
            end = group[1]
        group = read_group(tex, end)
        if group is None:
            return end
        out.append(converter.run(group[0]))
        return group[1]

    return handle


def _item(converter: _Converter, tex: str, end: int, out: list[str]) -> int:
    option = read_option(tex, end)
    out.append("\n\n- ")
    if option:
        out.append(f"{converter.run(option[0]).strip()} ")
    return option[1] if option else end


def _verb(_: _Converter, tex: str, end: int, out: list[str]) -> int:
    mark = tex[end : end + 1]
    close = tex.find(mark, end + 1) if mark else -1
    if close < 0:
        return end
    out.append(f"`{tex[end + 1 : close]}`")
    return close + 1


def _environment_mark(_: _Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    out.append("\n\n")
    return group[1] if group else end


def _ensuremath(_: _Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    if group is None:
        return end
    out.append(f"${clean_math(group[0])}$")
    return group[1]


_HANDLERS: dict[str, type_handler] = {
    "textbf": _wrapped("**", "**"),
    "emph": _wrapped("", ""),
    "texttt": _wrapped("`", "`"),
    "footnote": _footnote,
    "thanks": _footnote,
    "href": _href,
    "url": _url,
    "path": _url,
    "textcolor": _last_of(2),
    "colorbox": _last_of(2),
    "fcolorbox": _last_of(3),
    "resizebox": _last_of(3),
    "scalebox": _last_of(2),
    "rotatebox": _last_of(2),
    "adjustbox": _last_of(2),
    "parbox": _last_of(2),
    "makebox": _last_of(1),
    "multicolumn": _last_of(3),
    "multirow": _last_of(3),
    "hyperlink": _last_of(2),
    "texorpdfstring": _last_of(2),
    "foreignlanguage": _last_of(2),
    "item": _item,
    "verb": _verb,
    "lstinline": _verb,
    "begin": _environment_mark,
    "end": _environment_mark,
    "ensuremath": _ensuremath,
}

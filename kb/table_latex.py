"""A table as LaTeX in the style of booktabs, to be put into a paper with \\input; XeLaTeX or LuaLaTeX set it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.column_widths import balanced
from kb.inline_math import split_math
from kb.table_box import display_width
from kb.tables import FilledTable

if TYPE_CHECKING:
    from kb.table_formats import Shown, ShownCell

# What a document needs before \begin{document}; printed above the table as comments.
PREAMBLE = (r"\usepackage{booktabs,array,longtable}", r"\usepackage{amsmath,amssymb}")
CHINESE_PREAMBLE = (r"\usepackage{ctex}",)
LINE = 92  # characters of \small text on a line of an A4 page with ordinary margins
GAP = 3  # characters between columns
LONGEST_WORD = 34
PAGE_LINES = 44
MOST_COLUMNS = 9
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "{": r"\{", "}": r"\}", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
}  # fmt: skip
# Signs that text fonts of LaTeX lack.
_SIGNS = {
    "×": r"\times", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx",
    "→": r"\to", "←": r"\leftarrow", "↑": r"\uparrow", "↓": r"\downarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow",
    "∈": r"\in", "∑": r"\sum", "∏": r"\prod", "√": r"\surd", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla",
    "·": r"\cdot", "−": "-", "∧": r"\wedge", "∨": r"\vee", "¬": r"\neg", "∪": r"\cup", "∩": r"\cap", "⊂": r"\subset",
    "⊆": r"\subseteq", "∥": r"\parallel", "‖": r"\Vert", "∼": r"\sim", "✓": r"\checkmark", "⟨": r"\langle",
    "⟩": r"\rangle", "∘": r"\circ", "∝": r"\propto", "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists",
}  # fmt: skip
_CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]+")
_DRAFT = {"en": "draft:", "zh": "草稿："}


def escape_latex(text: str) -> str:
    """Text for LaTeX; maths between dollars stays maths."""
    pieces = split_math(" ".join(text.split()))
    return "".join(_math(piece) if is_math else _words(piece) for is_math, piece in pieces)


def _words(text: str) -> str:
    # Two hyphens or two quotes in a row would be set as one sign.
    return re.sub(r"(?<=([-']))(?=\1)", "{}", "".join(map(_character, text)))


def _character(char: str) -> str:
    if char in _TEX:
        return _TEX[char]
    if char.isascii() or char >= "\u3000":
        return char
    if char in _SIGNS:
        return rf"\ensuremath{{{_SIGNS[char]}}}"
    name = unicodedata.name(char, "")
    if match := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", name):
        return _greek(char, match[1] == "SMALL", match[2].lower().replace("lamda", "lambda"))
    kind = unicodedata.decomposition(char).partition(" ")[0]
    if kind in ("<super>", "<sub>"):
        command = "textsuperscript" if kind == "<super>" else "textsubscript"
        return rf"\{command}{{{_character(unicodedata.normalize('NFKC', char))}}}"
    return char


def _greek(char: str, is_small: bool, name: str) -> str:
    """A Greek letter by its command; those that look like Latin ones have none."""
    alike = {"alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I", "kappa": "K", "mu": "M",
             "nu": "N", "omicron": "O", "rho": "P", "tau": "T", "chi": "X"}  # fmt: skip
    if is_small:
        name = "varsigma" if char == "ς" else name
        return "o" if name == "omicron" else rf"\ensuremath{{\{name}}}"
    return alike.get(name) or rf"\ensuremath{{\{name.capitalize()}}}"


def _math(formula: str) -> str:
    """A formula whose comment and parameter signs are escaped and whose Chinese is set as text."""
    inner = re.sub(r"(?<!\\)[%#]", lambda match: "\\" + match[0], formula.strip("$"))
    if r"\begin" not in inner:
        inner = re.sub(r"(?<!\\)&", r"\\&", inner).replace(r"\\", " ")
    return "$" + _CHINESE.sub(lambda match: rf"\text{{{match[0]}}}", inner) + "$"


def latex(table: FilledTable, shown: Shown, notes: Sequence[str]) -> str:
    """A float, or a table that goes over pages when it is longer than one."""
    shares = _shares(table)
    spec = "".join(
        rf">{{\raggedright\arraybackslash}}p{{\dimexpr{share:.3f}\linewidth-2\tabcolsep}}" for share in shares
    )
    head = " & ".join(rf"\textbf{{{escape_latex(heading)}}}" for heading in table.headings) + r" \\"
    rows = [_row(row, table.language) for row in shown]
    needed = PREAMBLE + (CHINESE_PREAMBLE if _CHINESE.search(head + "".join(rows)) else ())
    comments = "% needs in the preamble (XeLaTeX or LuaLaTeX):\n" + "".join(f"% {line}\n" for line in needed)
    if len(table.headings) > MOST_COLUMNS:
        comments += "% too many columns for a line of A4: choose some of them, or turn the table\n"
    foot = "".join(rf"\par\footnotesize [{n}] {escape_latex(note)}" + "\n" for n, note in enumerate(notes, start=1))
    caption = rf"\caption{{{escape_latex(table.title)}}}"
    if _lines(table, shares) > PAGE_LINES:
        return comments + _long(spec, caption, head, rows, foot)
    body = "\n".join([r"\begin{table}[htbp]", r"\centering\small", caption, rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}",
                      r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"])  # fmt: skip
    return comments + body + ("\n" + r"\par\smallskip\raggedright" + "\n" + foot if foot else "\n") + "\\end{table}\n"


def _long(spec: str, caption: str, head: str, rows: Sequence[str], foot: str) -> str:
    lines = [r"\begingroup\small", rf"\begin{{longtable}}{{@{{}}{spec}@{{}}}}", caption + r" \\", r"\toprule", head,
             r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot",
             *rows, r"\end{longtable}"]  # fmt: skip
    return "\n".join(lines) + "\n" + foot + "\\endgroup\n"


def _row(row: Sequence[ShownCell], language: str) -> str:
    line = " & ".join(_cell(cell, language) for cell in row) + r" \\"
    # A bracket or star at the beginning would be read as the argument of the line break or rule before it.
    return ("{}" + line if line.startswith(("[", "*")) else line) + r" \addlinespace"


def _cell(cell: ShownCell, language: str) -> str:
    draft = rf"\emph{{{_DRAFT[language]}}} " if cell.is_draft else ""
    sign = rf"~{{\footnotesize[{escape_latex(cell.sign)}]}}" if cell.sign else ""
    return f"{draft}{escape_latex(cell.text)}{sign}"


def _shares(table: FilledTable) -> list[float]:
    """The part of the line for each column."""
    columns = [[heading, *(row[i].text for row in table.rows)] for i, heading in enumerate(table.headings)]
    widths = balanced(columns, LINE - GAP * len(columns), _set_width, _longest_word)
    total = sum(widths) + GAP * len(columns)
    return [(width + GAP) / max(total, LINE) for width in widths]


def _set_width(text: str) -> int:
    """About how many characters wide a text is when it is set."""
    return display_width(re.sub(r"[{}^_$]", "", re.sub(r"\\[a-zA-Z]+ ?", "x", text)))


def _longest_word(text: str) -> int:
    """The longest piece that cannot be broken: Chinese breaks anywhere, a formula hardly."""
    pieces = split_math(text)
    words = [word for is_math, piece in pieces if not is_math for word in re.split(r"[\s\u2e80-\uffef]+", piece)]
    widths = [_set_width(piece) for is_math, piece in pieces if is_math] + [_set_width(word) for word in words]
    return min(LONGEST_WORD, max(widths, default=0))


def _lines(table: FilledTable, shares: Sequence[float]) -> int:
    def height(texts: Sequence[str]) -> int:
        return max(
            -(-_set_width(text) // max(4, int(share * LINE) - GAP)) for text, share in zip(texts, shares, strict=True)
        )

    return sum(max(1, height([cell.text for cell in row])) for row in table.rows)

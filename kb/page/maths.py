"""LaTeX formulas as MathML, which browsers set by themselves: no script, no fonts to fetch.

``math_core`` refuses what it does not know, so a formula is either converted whole or shown as it was typed.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from math_core import LatexToMathML

# Names that MathJax and KaTeX know, and therefore note apps, beside those of LaTeX.
_MACROS = {
    "part": r"\partial", "and": r"\land", "or": r"\lor", "R": r"\mathbb{R}", "N": r"\mathbb{N}", "Z": r"\mathbb{Z}",
    "empty": r"\emptyset", "isin": r"\in", "infin": r"\infty",
}  # fmt: skip
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_LABEL = re.compile(r"\\label\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")
_LIMITS = re.compile(r"\\mathop\s*\{\s*\\(?:mathrm|text|rm|operatorname)\s*\{([^{}]*)\}\s*\}\s*(?:\\limits)?")
_TEXT = re.compile(r"\\text\s*\{[^{}$]*\}")
_STAR = re.compile(r"\\(?!operatorname|hspace|vspace)([A-Za-z]+)\*")
_PLAIN_CASES = re.compile(r"\\cases\s*\{")


def formula_html(latex: str, display: bool) -> str:
    """A formula as HTML: MathML, or its LaTeX where it cannot be converted. ``\\tag`` stands at the right."""
    kind = "display" if display else "inline"
    tags = _TAG.findall(latex)
    mathml = to_mathml(latex, display)
    if mathml is None:
        return f'<code class="latex {kind}">{html.escape(latex.strip())}</code>'
    if not display:
        return mathml
    number = f'<span class="number">({html.escape(", ".join(tags))})</span>' if tags else ""
    return f'<span class="formula">{mathml}{number}</span>'


@lru_cache(maxsize=4096)
def to_mathml(latex: str, display: bool) -> str | None:
    """MathML of a formula; None when part of it is not known."""
    from math_core import LatexError

    common = _common(latex)
    for form in (_in_lines(common), common) if display else (common,):
        try:
            return _converter().convert_with_local_state(form, displaystyle=display)
        except LatexError:
            continue
    return None


@lru_cache(maxsize=1)
def _converter() -> LatexToMathML:
    from math_core import LatexToMathML

    return LatexToMathML(macros=_MACROS, fancy_error=False)


def _common(latex: str) -> str:
    """The formula without what has no look, and with plain TeX's forms written as LaTeX's."""
    text = _LABEL.sub("", _TAG.sub("", _INVISIBLE.sub("", latex)))
    text = _STAR.sub(r"\\\1 *", text)
    text = _LIMITS.sub(r"\\operatorname*{\1}", text)
    text = _TEXT.sub(lambda match: re.sub(r"(?<!\\)_", r"\\_", match[0]), text)
    return _cases_as_environment(text).strip()


def _in_lines(text: str) -> str:
    """A display formula with line ends outside all environments and braces, as lines below each other."""
    depth = 0
    for token in re.findall(r"\\(?:begin|end)(?=\s*\{)|\\\\|\\.|[{}]", text):
        depth += {"\\begin": 1, "{": 1, "\\end": -1, "}": -1}.get(token, 0)
        if token == "\\\\" and not depth:
            break
    else:
        return text
    inner = re.sub(r"\\(begin|end)\s*\{(align|gather)\*?\}", r"\\\1{\2ed}", text)
    lines = re.sub(r"^(?:\s*\\\\)+|(?:\\\\\s*)+$", "", inner).strip()
    return f"\\begin{{gathered}}{lines}\\end{{gathered}}"


def _cases_as_environment(text: str) -> str:
    """``\\cases{a & b \\\\ c & d}`` as the environment of that name."""
    while (match := _PLAIN_CASES.search(text)) is not None:
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0) if text[end - 1] != "\\" else 0
            end += 1
        if depth:
            return text
        text = f"{text[: match.start()]}\\begin{{cases}}{text[match.end() : end - 1].replace('$', '')}\\end{{cases}}{text[end:]}"
    return text

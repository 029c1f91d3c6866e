"""Display formulas of a note against those of the record and of the paper's text, by structure.

People write ``\\mu`` for a paper's ``\\mathrm{mean}(\\mathbf r)``, leave out arguments, and put several equations into
one display. So both sides are cut into single equations and brought to one spelling before their structures are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from kb.check.dossier import Dossier
from kb.check.values import ClaimVerdict, Evidence, Statement
from kb.search.formula import normalise, runs, without_indices

LEAST_SCORE = 0.65
_LEAST_TOKENS = 5
_INDEX_WEIGHT = 0.3
_CUT = re.compile(r"\\q?quad(?![a-zA-Z])|\\\\|[,，;；\n]|\\text\{\s*(?:where|and|if|s\.t\.)[^}]*\}")
_NESTED = r"(?:[^(){}]|\([^()]*\)|\{(?:[^{}]|\{[^{}]*\})*\})*"
_CALL = re.compile(
    r"(?:\\(?:mathrm|text|operatorname|mathsf|rm)\s*\{?\s*|\\)?(?P<name>mean|std)\b\s*\}?\s*(?:_\{?\w+\}?)?\s*"
    rf"(?:\(\s*(?:\\\{{)?{_NESTED}(?:\\\}})?\s*\)|\\\{{{_NESTED}\\\}}|\{{{_NESTED}\}}|\\?[A-Za-z]+(?:\{{\w+\}})?(?:[_^]\{{?[\w,]+\}}?)*(?:\([^()]*\))?)"
)
_BAR = re.compile(r"\\(?:bar|overline)\s*(?:\{[^{}]*\}|\\?[A-Za-z]+)")
_SMALL = re.compile(r"\+\s*(?:\\(?:var)?epsilon|\\delta|10\^\{?-\d+\}?)\s*(?=\})")
_ARGUMENTS = re.compile(r"(?<=[A-Za-z}])\s*\((?:[^()=+\-]|\\[a-z]+|(?<=_\{t)[+-]1|(?<=[a-z])[+-]\w(?=\}))*\)")
_SIZES = re.compile(r"\\(?:left|right|[Bb]ig+[lr]?)(?![A-Za-z])|\\[!,;: ]")


def formula_claims(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """Whether a formula is one of the paper's. A formula that is not there is not found, never contradicted."""
    if statement.form != "formula" or statement.subject not in dossiers or not parts(statement.text):
        return
    dossier = dossiers[str(statement.subject)]
    shown = " ".join(statement.text.split())
    best = best_formula(shown, dossier)
    if best and best[1] >= LEAST_SCORE:
        yield ClaimVerdict(dossier.slug, statement.line, "formula", shown, shown, "found", best[0])
    elif not statement.musing and statement.topical:
        near = Evidence(f"nearest: {best[0].text}", best[0].where, best[0].level) if best else None
        yield ClaimVerdict(dossier.slug, statement.line, "formula", shown, shown, "not found", near)


def best_formula(latex: str, dossier: Dossier) -> tuple[Evidence, float] | None:
    """The paper's formula that shares most structure with the first equation of this one, and how much (0 to 1)."""
    wanted = parts(latex)[:1]
    scored = [
        (similarity(one, other), evidence)
        for one in wanted
        for evidence, known in dossier.equations
        for other in parts(known)
    ]
    best = max(scored, key=lambda pair: pair[0], default=None)
    return (best[1], best[0]) if best else None


def parts(latex: str) -> list[str]:
    """The right sides of the equations of a display, in one spelling; those of a few symbols are left out."""
    sides = []
    for equation in _equations(canonical(latex)):
        pieces = re.split(r"(?<![<>!:])=|\\triangleq|\\coloneqq|\\approx|:=", equation)
        sides += pieces[1:] if len(pieces) > 1 else pieces
    return [side for side in sides if len(normalise(side)) >= _LEAST_TOKENS]


def _equations(text: str) -> Iterator[str]:
    """Cut at commas and spaces that stand in no bracket."""
    begin = 0
    for match in _CUT.finditer(text):
        piece = text[begin : match.start()]
        if (
            piece.count("{") == piece.count("}")
            and piece.count("(") <= piece.count(")")
            and piece.count("[") <= piece.count("]")
        ):
            yield piece
            begin = match.end()
    yield text[begin:]


def similarity(one: str, other: str) -> float:
    """How much of their structure two formulas share, 0 to 1; indices count little, since everybody sets their own."""
    first, second = normalise(one), normalise(other)
    bare = _shared(_closed(without_indices(first)), _closed(without_indices(second)))
    return (1 - _INDEX_WEIGHT) * bare + _INDEX_WEIGHT * _shared(first, second)


def _closed(tokens: list[str]) -> list[str]:
    """Without the braces around what lost its index and is one symbol now."""
    kept: list[str] = []
    for token in tokens:
        if token == "}" and len(kept) >= 2 and kept[-2] == "{":
            kept[-2:] = kept[-1:]
        else:
            kept.append(token)
    return kept


def _shared(first: list[str], second: list[str]) -> float:
    def weight(found: Counter[tuple[str, ...]]) -> int:
        return sum(len(run) ** 2 * count for run, count in found.items())

    one, other = runs(first), runs(second)
    return 2 * weight(one & other) / (weight(one) + weight(other) or 1)


def canonical(latex: str) -> str:
    """Means as ``\\mu``, standard deviations as ``\\sigma``, without arguments and small constants below a line."""
    text = _SIZES.sub(" ", latex)
    text = _CALL.sub(lambda match: r"\mu " if match["name"] == "mean" else r"\sigma ", text)
    text = _BAR.sub(r"\\mu ", text)
    return _SMALL.sub("", _ARGUMENTS.sub("", text))

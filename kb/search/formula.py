"""Formula search: LaTeX compared by its structure, whatever the symbols are called.

A formula becomes a list of tokens in which white space, sizes, fonts and brackets' ``\\left`` are gone and every symbol
is replaced by a name that says only how often and in which order it came. Two formulas are alike when they share runs
of such tokens; a query may be a part of a longer formula.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|[a-zA-Z]|\d+(?:\.\d+)?|[^\s]")
_IGNORED = frozenset(
    r"\left \right \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \Biggl \Biggr \middle \displaystyle "
    r"\textstyle \limits \nolimits \quad \qquad \, \; \: \! \  \nonumber \notag \label \begin \end & \\ \mathrm \mathbf "
    r"\mathit \mathsf \mathtt \mathcal \mathbb \mathfrak \boldsymbol \bm \text \textbf \textrm \operatorname \operatorname* "
    r"\rm \bf \it \cal \mbox \ensuremath \hfill \, ~".split(" ")
)
_SAME = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\leq": r"\le", r"\geq": r"\ge", r"\neq": r"\ne", r"\widehat": r"\hat",
    r"\widetilde": r"\tilde", r"\overline": r"\bar", r"\cdot": "*", r"\times": "*", r"\lvert": "|", r"\rvert": "|",
    r"\mid": "|", r"\vert": "|", r"\|": r"\norm", r"\lVert": r"\norm", r"\rVert": r"\norm", r"\Vert": r"\norm",
    r"\triangleq": "=", r"\coloneqq": "=", r"\defeq": "=", r"\doteq": "=", r"\to": r"\rightarrow", r"\ldots": r"\dots",
    r"\cdots": r"\dots", r"\{": "(", r"\}": ")", "[": "(", "]": ")", r"\langle": "(", r"\rangle": ")",
    r"\varepsilon": r"\epsilon", r"\varphi": r"\phi", r"\lbrace": "(", r"\rbrace": ")", r"\lbrack": "(", r"\rbrack": ")",
}  # fmt: skip
# Commands that make structure keep their names; every other command is a symbol, as a letter is.
_STRUCTURE = frozenset(
    r"\frac \sqrt \sum \prod \int \log \exp \ln \min \max \argmin \argmax \hat \bar \tilde \vec \dot \norm \nabla \partial "
    r"\le \ge \ne \approx \sim \in \rightarrow \infty \pm \mathbb{E} \binom \prime \top \dagger \odot \otimes \oplus "
    r"\cup \cap \setminus \subseteq \forall \exists \underbrace \dots \equiv \propto \sin \cos \tanh \det".split(" ")
)
_NAMED = frozenset("mean std clip min max log exp var cov sg sign softmax argmax argmin kl".split(" "))
LONGEST_RUN = 4


@dataclass(frozen=True, slots=True)
class FormulaHit:
    """An equation's key and how much of the query's structure it holds, 0 to 1."""

    key: str
    score: float


def normalise(latex: str) -> list[str]:
    """The structure of a formula as tokens; symbols are ``v1``, ``v2``, ... in the order of their first use."""
    latex = re.sub(r"\\(?:label|tag\*?)\s*\{[^{}]*\}|\\(?:begin|end)\s*\{[^{}]*\}", " ", latex)
    latex = re.sub(
        r"\\(?:mathrm|text|textrm|operatorname\*?|mathsf|textit|mathit|mbox|rm)\s*\{\s*([a-zA-Z]{2,})\s*\}",
        r" \\word@\1@ ",
        latex,
    )
    words = re.compile(r"\\word@([a-zA-Z]+)@")
    tokens: list[str] = []
    position = 0
    for match in words.finditer(latex):
        tokens += _tokens(latex[position : match.start()])
        tokens.append(match[1].lower())
        position = match.end()
    tokens += _tokens(latex[position:])
    return _renamed(_without_bare_groups(tokens))


def _tokens(latex: str) -> list[str]:
    found = []
    for raw in _TOKEN.findall(latex):
        token = _SAME.get(raw, raw)
        if token not in _IGNORED:
            found.append(token)
    return found


def _without_bare_groups(tokens: list[str]) -> list[str]:
    """Braces around one token say nothing: ``x_{i}`` is ``x_i``. Other braces stay, as groups."""
    kept: list[str] = []
    for token in tokens:
        if token == "}" and len(kept) >= 2 and kept[-2] == "{":
            kept[-2:] = [kept[-1]]
        elif token in ".,;" and token != "":
            continue
        else:
            kept.append(token)
    return kept


def _renamed(tokens: Sequence[str]) -> list[str]:
    names: dict[str, str] = {}
    renamed: list[str] = []
    for token in tokens:
        bare = token.removeprefix("\\")
        if len(token) == 1 and not token.isalpha():
            renamed.append(token)
        elif token in _STRUCTURE or bare in _NAMED:
            renamed.append(bare)
        elif re.fullmatch(r"\d+(?:\.\d+)?", token):
            renamed.append(token)
        else:
            renamed.append(names.setdefault(token, f"v{len(names) + 1}"))
    return renamed


def runs(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """All runs of one to four tokens. Inside a run symbols are named anew, so that a part compares like a whole."""
    found: Counter[tuple[str, ...]] = Counter()
    for length in range(1, LONGEST_RUN + 1):
        for start in range(len(tokens) - length + 1):
            found[_local(tokens[start : start + length])] += 1
    return found


def _local(run: Sequence[str]) -> tuple[str, ...]:
    names: dict[str, str] = {}
    return tuple(
        names.setdefault(token, f"v{len(names) + 1}") if re.fullmatch(r"v\d+", token) else token for token in run
    )


def without_indices(tokens: Sequence[str]) -> list[str]:
    """Tokens without subscripts and superscripts: the same formula as another paper would index it."""
    kept: list[str] = []
    position = 0
    while position < len(tokens):
        if tokens[position] in ("_", "^"):
            position = _group_end(tokens, position + 1)
            continue
        kept.append(tokens[position])
        position += 1
    return kept


def _group_end(tokens: Sequence[str], at: int) -> int:
    depth = 0
    while at < len(tokens):
        depth += (tokens[at] == "{") - (tokens[at] == "}")
        at += 1
        if depth == 0:
            break
    return at


def search_formulas(query: str, equations: Iterable[tuple[str, str]], most: int = 20) -> list[FormulaHit]:
    """The equations (``(key, latex)``) that hold the query's structure best, best first.

    A run counts by its length and its rarity among the equations; what an equation has beyond the query costs little.
    Half of the score is for the formula as it is, half for it without its indices.
    """
    wanted = normalise(query)
    if not wanted:
        return []
    read = [(key, normalise(latex)) for key, latex in equations]
    whole = _scores(wanted, [tokens for _, tokens in read])
    bare = _scores(without_indices(wanted), [without_indices(tokens) for _, tokens in read])
    hits = [FormulaHit(key, (a + b) / 2) for (key, _), a, b in zip(read, whole, bare, strict=True)]
    hits.sort(key=lambda hit: (-hit.score, hit.key))
    return [hit for hit in hits[:most] if hit.score > 0.15]


def _scores(wanted: Sequence[str], candidates: Sequence[Sequence[str]]) -> list[float]:
    sought = runs(wanted)
    shared = [runs(tokens) & sought for tokens in candidates]
    spread: Counter[tuple[str, ...]] = Counter()
    for common in shared:
        spread.update(common.keys())
    weights = {run: len(run) ** 2 * log(1 + len(candidates) / (1 + spread[run])) for run in sought}
    total = sum(weights[run] * count for run, count in sought.items()) or 1.0
    scores = []
    for common, tokens in zip(shared, candidates, strict=True):
        score = sum(weights[run] * count for run, count in common.items()) / total
        excess = max(0, len(tokens) - len(wanted)) / max(len(tokens), 1)
        scores.append(score * (1 - 0.25 * excess))
    return scores

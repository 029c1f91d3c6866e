"""LaTeX formulas as readable Unicode for the terminal. Small on purpose: what it does not know stays visible as LaTeX."""

from __future__ import annotations

import re

_GREEK = (
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ "
    "sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω Pi Π"
).split()
_SIGNS = (
    "sum Σ prod Π int ∫ partial ∂ nabla ∇ infty ∞ cdot · times × pm ± le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ sim ~ equiv ≡ "
    "in ∈ ni ∋ notin ∉ subset ⊂ subseteq ⊆ setminus ∖ cup ∪ cap ∩ emptyset ∅ forall ∀ exists ∃ wedge ∧ vee ∨ to → rightarrow → "
    "leftarrow ← Rightarrow ⇒ mapsto ↦ mid | vert | lvert | rvert | Vert ‖ top ᵀ dots … ldots … cdots ⋯ star ⋆ prime ′ succ ≻ ell ℓ"
).split()
_NAMES = dict(zip(_GREEK[::2] + _SIGNS[::2], _GREEK[1::2] + _SIGNS[1::2], strict=True))
_WORDS = {"log", "exp", "min", "max", "arg", "argmax", "argmin", "tanh", "sin", "cos", "det", "Pr", "operatorname"}
_SPACES = {",": " ", ";": " ", ":": " ", " ": " ", "!": "", "quad": "  ", "qquad": "   ", "left": "", "right": "", "big": "",
           "Big": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "displaystyle": "", "limits": ""}  # fmt: skip
_ACCENTS = {"hat": "\u0302", "bar": "\u0304", "overline": "\u0304", "tilde": "\u0303", "vec": "\u20d7", "dot": "\u0307"}
_TRANSPARENT = {"mathrm", "text", "mathbf", "boldsymbol", "mathcal", "mathit", "textrm", "mathsf", "operatorname"}
_DOUBLE_STRUCK = {"E": "𝔼", "1": "𝟙", "R": "ℝ", "N": "ℕ", "P": "ℙ"}
_UPPER = dict(zip("0123456789+-=()nijkaltmT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱʲᵏᵃˡᵗᵐᵀ", strict=True))
_LOWER = dict(zip("0123456789+-=()aijklmnprtu", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐᵢⱼₖₗₘₙₚᵣₜᵤ", strict=True))
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_&]|[^\\{}^_&]", re.DOTALL)


def to_unicode(latex: str) -> str:
    """A formula on one line or several (``\\\\`` breaks). Commands that are not known stay as they are written."""
    text = _Reader(_TOKEN.findall(latex)).sequence(until=None)
    lines = (re.sub(r" {2,}", "  ", line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


class _Reader:
    """Recursive descent over LaTeX tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def sequence(self, until: str | None) -> str:
        parts: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at] != until:
            parts.append(self.item())
        self.at += 1
        return "".join(parts)

    def argument(self) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.item() if self.at < len(self.tokens) else ""

    def item(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        if token == "{":
            return self.sequence(until="}")
        if token in "^_":
            return _script(self.argument(), _UPPER if token == "^" else _LOWER, token)
        if token == "&":
            return " "
        return self.command(token[1:]) if token.startswith("\\") else token

    def command(self, name: str) -> str:
        if name in ("frac", "tfrac", "dfrac"):
            top, bottom = self.argument(), self.argument()
            return f"{_grouped(top)}/{_grouped(bottom)}"
        if name in ("binom", "tbinom", "dbinom"):
            top, bottom = self.argument(), self.argument()
            return f"C({top}, {bottom})"
        if name == "sqrt":
            return f"√{_grouped(self.argument())}"
        if name in _ACCENTS:
            body = self.argument()
            return body[:1] + _ACCENTS[name] + body[1:] if len(body) <= 2 else f"{name}({body})"
        if name == "mathbb":
            body = self.argument()
            return _DOUBLE_STRUCK.get(body, body)
        if name in _TRANSPARENT:
            return self.argument()
        if name in ("begin", "end"):
            self.argument()
            return "\n" if name == "begin" else ""
        if name == "\\":
            return "\n"
        return _NAMES.get(name) or _SPACES.get(name, name if name in _WORDS or len(name) == 1 else f"\\{name}")


def _script(body: str, table: dict[str, str], sign: str) -> str:
    if body and all(letter in table for letter in body):
        return "".join(table[letter] for letter in body)
    return f"{sign}{body}" if len(body) == 1 else f"{sign}({body})"


def _grouped(body: str) -> str:
    return body if re.fullmatch(r"\w+|\w[\u0300-\u036f]\w*|\([^()]*\)|\|[^|]*\|", body) else f"({body})"

"""Formulas in the terminal."""

from __future__ import annotations

import pytest

from reproductions.formula import to_unicode
from reproductions.registry import methods


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\hat{A}_{i,t} = \frac{r_i - \bar r}{\sigma + \epsilon}", "Â_(i,t) = (rᵢ - r̄)/(σ + ε)"),
        (r"\sum_{k=t}^{T} \gamma^{k-t} r_k", "Σₖ₌ₜᵀ γᵏ⁻ᵗ rₖ"),
        (r"\frac12 x^2", "1/2 x²"),
        (r"\binom{K}{2}", "C(K, 2)"),
        (r"\left(1 - \mathrm{clip}(\rho)\right)", "(1 - clip(ρ))"),
        (r"\mathbb{E}_{a \sim \pi}[Q] \le \sqrt{n}", "𝔼_(a ~ π)[Q] ≤ √n"),
        (r"x \\ y", "x\ny"),
        (r"\begin{cases} 1 & a > 0 \\ 0 & a \le 0 \end{cases}", "1  a > 0\n0  a ≤ 0"),
        (r"A^{\mathrm{team}}", "A^(team)"),
        (r"\unheardof{x}", r"\unheardofx"),
        (r"P(A|B)", "P(A|B)"),
    ],
)
def test_reads_like_the_formula(latex: str, text: str) -> None:
    # Combining accents may be composed or not; compare what a reader sees.
    import unicodedata

    assert unicodedata.normalize("NFC", to_unicode(latex)) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("name", sorted(methods()))
def test_no_command_stays_in_a_method_s_formula(name: str) -> None:
    text = to_unicode(methods()[name].formula)
    assert text and "\\" not in text and "{" not in text.replace("\\{", "")

"""Formulas are found by their structure, whatever their symbols are called."""

from __future__ import annotations

import pytest

from kb.search.formula import normalise, search_formulas

EQUATIONS = [
    ("grpo", r"\hat{A}_{i,t} = \frac{r_i - \mathrm{mean}(\mathbf{r})}{\mathrm{std}(\mathbf{r})}"),
    ("z-score", r"A^{i}_{k}=\frac{R^i-\mu_k}{\sigma_k}"),
    ("gae", r"\hat A_t = \sum_{l=0}^{\infty} (\gamma\lambda)^l \delta_{t+l}"),
    ("td", r"\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t)"),
    ("clip", r"\min\left(r_t(\theta) A_t, \mathrm{clip}(r_t(\theta), 1-\epsilon, 1+\epsilon) A_t\right)"),
    ("softmax", r"\mathrm{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V"),
    ("kl", r"\frac{\pi_{ref}(o)}{\pi_\theta(o)} - \log\frac{\pi_{ref}(o)}{\pi_\theta(o)} - 1"),
]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (r"\frac{r - \mu}{\sigma}", "z-score"),
        (r"\dfrac{x-m}{s}", "z-score"),
        (r"\frac { R _ { i } - \mu } { \sigma }", "z-score"),
        (r"\frac{x - \text{mean}(x)}{\text{std}(x)}", "grpo"),
        (r"\sum_{k=0}^{\infty} (a b)^k d_{t+k}", "gae"),
        (r"r + \gamma V(s') - V(s)", "td"),
        (r"\min(\rho A, \operatorname{clip}(\rho, 1-\varepsilon, 1+\varepsilon) A)", "clip"),
        (r"\frac{X Y^T}{\sqrt{n}}", "softmax"),
        (r"\frac{p(x)}{q(x)} - \log \frac{p(x)}{q(x)} - 1", "kl"),
    ],
)
def test_the_right_formula_comes_first(query: str, wanted: str) -> None:
    assert search_formulas(query, EQUATIONS)[0].key == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\left( a + b \right)", r"(x+y)"),
        (r"\mathbf{x}_{i}", r"z_i"),
        (r"\tfrac{a}{b}", r"\frac{\alpha}{\beta}"),
        (r"a \leq b", r"u \le v"),
        (r"P(A \mid B)", r"Q(X|Y)"),
        (r"\begin{aligned} a &= b \end{aligned}", r"x = y"),
    ],
)
def test_what_is_only_typed_in_another_way_is_the_same(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_the_same_symbol_twice_is_not_two_symbols() -> None:
    assert normalise("a - a") != normalise("a - b")


def test_words_find_nothing() -> None:
    assert search_formulas("", EQUATIONS) == []

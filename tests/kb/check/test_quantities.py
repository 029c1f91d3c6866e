"""Numbers are read with their units, ranges and labels; numbers inside names are none."""

from __future__ import annotations

import pytest

from kb.check.quantities import quantities


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("在AMC上做到+7.8~17.2pp，AIME上+5.0~17.5pp", [((7.8, 17.2), "%"), ((5.0, 17.5), "%")]),
        ("AIME +5.0 至 +17.5 个百分点", [((5.0, 17.5), "%")]),
        ("训练时间从 684s 涨到 1345s", [((684.0,), "s"), ((1345.0,), "s")]),
        ("46.8%→51.7%", [((46.8,), "%"), ((51.7,), "%")]),
        ("a buffer of 16,384 tokens", [((16384.0,), "")]),
        ("开销约 ~2x", [((2.0,), "x")]),
        ("a rate of 1 × 10−6", [((1e-6,), "")]),
        ("trained on 13k prompts", [((13.0,), "k")]),
    ],
)
def test_values_and_units(text: str, wanted: list[tuple[tuple[float, ...], str]]) -> None:
    assert [(quantity.values, quantity.unit) for quantity in quantities(text)] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Qwen2.5-32B 和 GPT-4、Gemini 2.5 flash",
        "arXiv:2503.14476 与 (2602.08847v2)",
        "2026.04.12–04.18 的周报，3.15-3.21 读过",
        "COMA (2018, Foerster et al.)，ICLR'26，AIME 2024",
        "agent 1 与 step 2，第六章第3节，见 [17]",
        r"$\frac{1}{N}\sum_{i=1}^N r_i$ 与 $K-1$",
        "![图](img/TRPO--3.png) <img src='5.png' style='zoom:80%'/>",
    ],
)
def test_numbers_in_names_dates_places_and_formulas_are_no_claims(text: str) -> None:
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        (r"用的是 $K=16$", "k", 16),
        (r"取 $\lambda = 0.95$ 左右", "lambda", 0.95),
        (r"$\epsilon_{\text{high}}=0.28$", "eps_high", 0.28),
        ("eps_low is 0.2", "eps_low", 0.2),
        ("clip 的上界放宽到 0.28", "eps_high", 0.28),
        ("ddof=1", "ddof", 1),
        ("γ=0.99", "gamma", 0.99),
        ("学习率 1e-6", "lr", 1e-6),
        ("a constant learning rate of 1e-6", "lr", 1e-6),
    ],
)
def test_labels(text: str, label: str, value: float) -> None:
    (quantity,) = quantities(text)
    assert (quantity.label, quantity.low) == (label, value)


def test_a_bound_of_something_else_is_not_a_bound_of_the_clip_range() -> None:
    (quantity,) = quantities("长度上界 20480")
    assert quantity.label != "eps_high"


def test_numbers_in_words_count_where_they_are_asked_for() -> None:
    assert quantities("four changes") == []
    assert [quantity.low for quantity in quantities("four changes and 两层", spelled=True)] == [4, 2]


def test_units_that_cannot_be_compared_are_other_numbers() -> None:
    (seconds,), (times,), (bare,) = quantities("5 s"), quantities("5x"), quantities("scores 5")
    assert not seconds.same(times)
    assert not bare.same(times)
    assert bare.same(quantities("5%")[0])

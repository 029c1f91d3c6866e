"""Numbers, names and quotations of an answer against the passages it cites. Values worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kb.drafting.numbers import holds_name, names_in, numbers_in
from kb.drafting.support import Cited, quoted, unsupported


def found(text: str) -> set[tuple[Fraction, str]]:
    return {(number.value, number.unit) for number in numbers_in(text)}


@pytest.mark.parametrize(
    "text",
    [
        "50%",
        "50 %",
        "５０％",
        r"$50\%$",
        "50 percent",
        "百分之五十",
        "五成",
        "fifty percent",
        "50.0%",
    ],
)
def test_every_way_to_write_half_a_hundred_percent(text: str) -> None:
    assert found(text) == {(Fraction(50), "%")}


def test_points_are_not_percent() -> None:
    for text in ("50 points", "50 percentage points", "50 个百分点", "五十个百分点"):
        assert found(text) == {(Fraction(50), "points")}
    assert unsupported("4.2 个百分点", [], [Cited("by 4.2 points")]) == []
    assert unsupported("提升 4.2%", [], [Cited("by 4.2 points")]) == ["the number 4.2% is not in the cited passages"]


@pytest.mark.parametrize(
    "text", ["10,000", "10000", "10k", "10K", "1万", "一万", "ten thousand", "10 thousand", "10{,}000"]
)
def test_every_way_to_write_ten_thousand(text: str) -> None:
    assert found(text) == {(Fraction(10_000), "")}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("−0.96", Fraction(-96, 100)), ("(-0.96)", Fraction(-96, 100)), ("+0.19", Fraction(19, 100)), ("负三点五倍", None),
        ("一百二十三个", Fraction(123)), ("二零二四年", Fraction(2024)), ("十二项", Fraction(12)), ("两个智能体", Fraction(2)),
        ("三点五倍", Fraction(7, 2)), ("一千零五", Fraction(1005)), ("三万五千", Fraction(35_000)), ("1.2亿", Fraction(120_000_000)),
        ("八分之一", Fraction(1, 8)), ("1/8", Fraction(1, 8)), ("twenty-five", Fraction(25)),
        ("three hundred and two", Fraction(302)), ("two million", Fraction(2_000_000)), ("half", Fraction(1, 2)), ("twice", Fraction(2)),
        ("提升一倍", Fraction(2)), ("一半", Fraction(1, 2)), ("7B", Fraction(7_000_000_000)), (".5", Fraction(1, 2)),
    ],
)  # fmt: skip
def test_numbers_in_digits_and_in_words(text: str, value: Fraction | None) -> None:
    if value is None:
        assert (Fraction(7, 2), "") in found(text)
    else:
        assert found(text) == {(value, "")}


@pytest.mark.parametrize(
    "text",
    [
        "one model",
        "一种方法",
        "第一",
        "十分重要",
        "万一",
        "三元组",
        "GPT-4",
        "A3C",
        "pass@1",
        "AIME24",
        "统一",
        "No one else",
    ],
)
def test_what_is_no_number(text: str) -> None:
    assert numbers_in(text) == []


def test_a_range_has_no_minus_and_a_name_of_a_model_keeps_its_digits() -> None:
    assert found("3-5 steps") == {(Fraction(3), ""), (Fraction(5), "")}
    assert names_in("在Qwen2.5-32B上，GPT-4 和 pass@1") == ["Qwen2.5-32B", "GPT-4", "pass@1"]
    assert (
        holds_name("with GPT 4, not", "GPT-4")
        and not holds_name("with GPT-40", "GPT-4")
        and not holds_name("xGPT-4", "GPT-4")
    )


PROSE = Cited(
    "DAPO reaches 50 points on AIME 2024 with Qwen2.5-32B, where GRPO has 30; it needs 50% of the steps and 16 samples."
)
TABLE = Cited("Table 1. Accuracy (%)\nmodel | AIME\nours | 52.4", is_table=True)


@pytest.mark.parametrize(
    "answer",
    ["50 points in 50% of the steps", "AIME 2024 上 50 分，GRPO 30 分", "用百分之五十的步数", "十六条采样", "sixteen samples", "320 亿参数", "50 with Qwen2.5 32B"],
)  # fmt: skip
def test_what_the_passages_say_in_other_words_is_supported(answer: str) -> None:
    assert unsupported(answer, [], [PROSE]) == []


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("51 points", "51 points"), ("raises accuracy by 30%", "30%"), ("快三倍", "三倍"), ("three times faster", "three"), ("-50 points", "-50 points"),
        ("百分之三十", "百分之三十"), ("twice the samples", "twice"), ("减半", "减半"), ("160 samples", "160"), ("5 points", "5 points"),
    ],
)  # fmt: skip
def test_a_made_up_number_is_named(answer: str, number: str) -> None:
    assert unsupported(answer, [], [PROSE]) == [f"the number {number} is not in the cited passages"]


def test_a_percentage_out_of_a_table_needs_no_sign_there() -> None:
    assert unsupported("accuracy of 52.4%", [], [TABLE]) == []
    assert unsupported("accuracy of 52.4%", [], [Cited(TABLE.text)]) == [
        "the number 52.4% is not in the cited passages"
    ]


def test_a_made_up_name_is_named_and_a_name_of_the_title_is_not() -> None:
    assert unsupported("beats GPT-4", [], [PROSE]) == ["the name GPT-4 is not in the cited passages"]
    assert unsupported("2-GRPO, R1-Zero", [], [Cited("It samples 2 outputs.")], "R1-Zero: GRPO") == []


def test_quotations_stand_word_for_word_in_one_passage() -> None:
    assert unsupported('it "reaches 50 points"', ["Reaches  50 points on AIME"], [PROSE]) == []
    assert unsupported("它“reaches 50 points … GRPO has 30”", [], [PROSE]) == []
    assert unsupported("", ["GRPO has 30 … reaches 50 points"], [PROSE]) != []
    assert unsupported("它「大幅提升」", [], [PROSE]) == ["the quotation “大幅提升” is not in the cited passages"]
    assert unsupported("", ["reaches points"], [PROSE]) == [
        "the quotation “reaches points” is not in the cited passages"
    ]
    assert unsupported("", ["eaches 50 point"], [PROSE]) != []
    assert unsupported("", ["30 Table 1"], [PROSE, TABLE]) != []


def test_apostrophes_are_no_quotation_marks() -> None:
    assert quoted("the agents' share isn't the team's") == []
    assert quoted("a 'counterfactual baseline' and ‘joint policy’") == ["counterfactual baseline", "joint policy"]

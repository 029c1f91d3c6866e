"""What the page gate lets through: text, also where symbols have no code; not garbage, not pictures of pages."""

from __future__ import annotations

import pytest

from kb.ingest.page_gate import judge_page

PROSE = "The advantage of an answer is its reward minus the mean reward of the whole group of answers. " * 8


def test_prose_is_good() -> None:
    assert judge_page(3, PROSE, 0.0).reason == ""
    assert judge_page(3, PROSE, 0.0).number == 3


def test_a_picture_without_text_is_a_scan() -> None:
    assert judge_page(1, "12", 0.9).reason.startswith("scan")


def test_an_empty_page_without_a_picture_is_no_scan() -> None:
    assert judge_page(1, "", 0.0).reason == ""


def test_a_short_page_with_a_small_picture_is_no_scan() -> None:
    assert judge_page(1, "The end.", 0.3).reason == ""


@pytest.mark.parametrize("odd", ["\x05", "\ufffd", "\ue012"])
def test_characters_without_a_code_are_garbage(odd: str) -> None:
    report = judge_page(1, f"群体{odd}优势{odd}估计" * 40, 0.0)
    assert (report.quality, report.reason.split(":")[0]) == ("none", "garbage")


def test_a_few_lost_symbols_are_allowed() -> None:
    assert judge_page(1, "群体优势估计方法的比较与分析综述研究\x05" * 40, 0.0).reason == ""


def test_a_page_of_formulas_with_all_its_words_passes() -> None:
    assert judge_page(1, PROSE + "\x0e\x0f" * 60, 0.0).reason == ""


def test_words_without_vowels_are_garbage() -> None:
    shifted = "".join(chr((ord(char) - 96) % 26 + 97) if char.islower() else char for char in PROSE)
    assert judge_page(1, PROSE, 0.0).reason == ""
    assert judge_page(1, shifted.replace("u", "b").replace("i", "j"), 0.0).reason.startswith("garbage")


def test_latin_abbreviations_on_a_chinese_page_are_no_garbage() -> None:
    assert judge_page(1, "强化学习的方法有DQN和PPG以及GRPP，还有TRPB。" * 20, 0.0).reason == ""

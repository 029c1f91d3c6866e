"""Numbers out of the tables of papers: each with the row, column, group and caption that it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.ingest.pdf import parse_pdf
from kb.model import Cell, Document, Provenance, Section, Table
from kb.printed_numbers import PrintedNumber, printed_numbers, same_benchmark
from kb.textfile.reader import parse_number


def row(text: str) -> tuple[Cell, ...]:
    return tuple(Cell(part.strip(), parse_number(part.strip())) for part in text.split("|"))


def numbers(header: list[str], body: list[str], benchmark: str, caption: str = "Results") -> list[PrintedNumber]:
    table = Table("tab-1", caption, tuple(map(row, header)), tuple(map(row, body)), "3", page=7)
    sections = (Section("s", "Experiments", 1, "experiments", blocks=(table,)),)
    return printed_numbers(Document("x", Provenance("pdf", "x"), sections=sections), benchmark)


def found(*arguments: object) -> list[tuple[str, str, str, str]]:
    return [(n.benchmark, n.method, n.setting, n.value) for n in numbers(*arguments)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "printed", "same"),
    [
        ("AIME24", "AIME 2024 (avg@32)", True), ("AIME 2024", "AIME'24", True), ("aime-24", "AIME24avg@32", True),
        ("AIME24", "AIME 2025", False), ("MATH", "MATH-500", True), ("MATH500", "MATH", False),
        ("ＡＩＭＥ24", "AIME 2024", True), ("MATH", "math and code tasks", False), ("MATH", "MathQA", False),
        ("math", "MATH-500 (EM)", True), ("Sokoban", "sokoban, easy", True), ("AIME24", "AIME 24 / 25", True),
    ],
)  # fmt: skip
def test_names_of_benchmarks(asked: str, printed: str, same: bool) -> None:
    assert same_benchmark(asked, printed) is same


def test_a_benchmark_in_the_columns_gives_a_number_a_row() -> None:
    header = ["Model | AIME 2024 | AIME 2024 | MATH", "Model | pass@1 | cons@64 | pass@1"]
    assert found(header, ["A | 10.5 | 20 | 30", "B | – | 40±0.5 | 50"], "AIME24") == [
        ("AIME 2024 / pass@1", "A", "", "10.5"), ("AIME 2024 / cons@64", "A", "", "20"),
        ("AIME 2024 / cons@64", "B", "", "40±0.5"),
    ]  # fmt: skip


def test_rows_below_a_group_heading_say_their_group() -> None:
    body = ["Qwen-7B | Qwen-7B", "GRPO | 30.1", "Qwen-32B | Qwen-32B", "GRPO | 41.2"]
    assert found(["Method | AIME24"], body, "AIME 2024") == [
        ("AIME24", "GRPO", "Qwen-7B", "30.1"), ("AIME24", "GRPO", "Qwen-32B", "41.2"),
    ]  # fmt: skip


def test_a_benchmark_in_the_rows_gives_a_number_a_column() -> None:
    assert found(["Benchmark | GPT | Ours"], ["Math | Math | Math", "AIME24 | 9.3 | 50", "GSM8K | 90 | 95"], "AIME24") == [
        ("Math / AIME24", "GPT", "", "9.3"), ("Math / AIME24", "Ours", "", "50"),
    ]  # fmt: skip


def test_a_benchmark_in_the_caption_gives_every_number_with_its_column() -> None:
    assert found(["Method | Easy | Hard"], ["A | 1 | 2"], "Sokoban", "Success on Sokoban") == [
        ("Sokoban", "A", "Easy", "1"), ("Sokoban", "A", "Hard", "2"),
    ]  # fmt: skip


def test_headings_inside_a_table_are_added_to_those_above() -> None:
    body = ["Set | GPT | Ours", "AIME24 | 1 | 2", "Set | PPO | GRPO", "AIME24 | 3 | 4"]
    assert [(n.method, n.value) for n in numbers(["Part | x | y"], body, "AIME24")] == [
        ("x / GPT", "1"), ("y / Ours", "2"), ("x / GPT / PPO", "3"), ("y / Ours / GRPO", "4"),
    ]  # fmt: skip


def test_rows_whose_name_stands_in_their_middle_are_given_to_none() -> None:
    body = [" | w/o | 1", " | 2 | 3", "Small | | ", " | 4 | 5", " | w/o | 6", "Large | | ", " | 2 | 7"]
    assert found(["Model | G | AIME24"], body, "AIME24") == [
        ("AIME24", "", "one of Small, Large / G = w/o", "1"), ("AIME24", "", "one of Small, Large / G = 2", "3"),
        ("AIME24", "", "one of Small, Large / G = 4", "5"), ("AIME24", "", "one of Small, Large / G = w/o", "6"),
        ("AIME24", "", "one of Small, Large / G = 2", "7"),
    ]  # fmt: skip


def test_rows_of_one_name_are_told_apart_by_the_numbers_before_ours() -> None:
    body = ["GRPO | 2 | 30", "GRPO | 16 | 31", "PPO | 1 | 9"]
    assert found(["Method | G | AIME24"], body, "AIME24") == [
        ("AIME24", "GRPO", "G = 2", "30"), ("AIME24", "GRPO", "G = 16", "31"), ("AIME24", "PPO", "", "9"),
    ]  # fmt: skip


def test_several_label_columns_are_kept_together_and_words_are_no_numbers() -> None:
    body = ["GRPO | 7B | 30 | best of 8 tries by far"]
    assert found(["Method | Size | AIME24 | AIME24 remark"], body, "AIME24") == [("AIME24", "GRPO / 7B", "", "30")]


def test_a_table_without_header_takes_its_first_row_and_the_place_is_named() -> None:
    only = numbers([], ["Method | AIME24", "A | 3"], "AIME24")
    assert [(n.method, n.value, n.where) for n in only] == [("A", "3", "table 3, p. 7: Results")]
    assert numbers(["Method | MATH"], ["A | 3"], "AIME24") == []


def test_tables_of_real_papers_give_their_numbers(corpus: Path) -> None:
    dapo = printed_numbers(parse_pdf(corpus / "papers" / "2503.14476.pdf"), "AIME24")
    assert [(number.method, number.value) for number in dapo] == [
        ("DeepSeek-R1-Zero-Qwen-32B", "47"), ("Naive GRPO", "30"), ("+ Overlong Filtering", "36"),
        ("+ Clip-Higher", "38"), ("+ Soft Overlong Punishment", "41"), ("+ Token-level Loss", "42"),
        ("+ Dynamic Sampling (DAPO)", "50"),
    ]  # fmt: skip
    assert all(number.where.startswith("table 1") for number in dapo)
    r1 = printed_numbers(parse_pdf(corpus / "papers" / "2501.12948.pdf"), "AIME 2024")
    found = {(number.method, number.benchmark.rpartition(" / ")[2]): number.value for number in r1}
    assert found["DeepSeek-R1-Zero", "pass@1"] == "71.0" and found["DeepSeek-R1-Zero", "cons@64"] == "86.7"
    assert found["DeepSeek-R1-Distill-Qwen-32B", "pass@1"] == "72.6"
    assert found["DeepSeek-R1-Distill-Llama-70B", "cons@64"] == "86.7"

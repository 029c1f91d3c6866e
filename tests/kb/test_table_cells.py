"""Cells out of facts, fields, methods and runs: the four kinds of cells, marks, and nothing that looks like a no by chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kb.bench.summaries import summaries
from kb.compare import chosen_records, compare
from kb.errors import UsageError
from kb.facts import read_record
from kb.library import Library, Paper
from kb.table_cells import Sources, Summary, paper_cell
from kb.workspace import load_workspace


def record(**fields: Any) -> Any:
    return read_record(Paper("x", Path("papers/x"), {"title": "A Title", **fields}, ""))


FACTS = {
    "critic": {"value": False, "level": "code", "evidence": "x.py"},
    "extra_rollouts": {"zh": "no, 只多前向", "en": "no, forward passes", "level": "paper", "evidence": "v1"},
    "needs": {"value": "not stated", "level": "paper", "evidence": "looked in v1"},
    "idea": {"en": "an idea", "level": "draft", "evidence": "p. 3"},
    "formula": {"value": "$A$", "level": "secondary", "evidence": "digest"},
}


@pytest.mark.parametrize(
    ("key", "language", "text", "state", "mark"),
    [
        ("critic", "en", "no", "no", "C"), ("critic", "zh", "否", "no", "C"),
        ("extra_rollouts", "zh", "否，只多前向", "no", "P"), ("extra_rollouts", "en", "no, forward passes", "no", "P"),
        ("needs", "zh", "未说明", "not stated", "P"), ("problem", "zh", "未查", "not checked", ""),
        ("idea", "en", "an idea", "draft", ""), ("venue", "en", "ICLR 2026", "value", ""),
        ("authors", "en", "A. B, C. D", "value", ""), ("aggregation", "en", "not checked", "not checked", ""),
    ],
)  # fmt: skip
def test_kinds_of_cells(key: str, language: str, text: str, state: str, mark: str) -> None:
    cell = paper_cell(record(facts=FACTS, venue="ICLR 2026", authors=["A. B", "C. D"]), key, language, Sources())
    assert (cell.text, cell.state, cell.mark) == (text, state, mark)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"aliases": ["ABC"], "id": "2401.00001", "venue": "NeurIPS 2025"}, "ABC (NeurIPS'25)"),
        ({"id": "2401.00001"}, "A Title (2401.00001)"), ({"aliases": ["ABC"]}, "ABC"),
        ({"title": "ABC: What It Does", "id": "2401.00001"}, "ABC (2401.00001)"),
        ({"title": "A Phrase That Is Too Long for a Name: A Study"}, "A Phrase That Is Too Long for a Name: A Study"),
        ({"venue": "Machine Learning 8"}, "A Title (Machine Learning 8)"),
        ({"withdrawn": True, "id": "2401.00001"}, "[withdrawn] A Title (2401.00001)"),
    ],
)  # fmt: skip
def test_a_paper_is_named_with_its_venue_or_id(fields: dict[str, Any], name: str) -> None:
    assert paper_cell(record(**fields), "paper_venue", "en", Sources()).text == name


def test_cells_of_a_provisional_formula_are_marked() -> None:
    methods = {"x": {"provisional": "body not read", "group": "prompt", "critic": False, "formula": "A", "flags": []}}
    one = record(method="x", facts=FACTS)
    formula = paper_cell(one, "formula", "en", Sources(methods))
    assert formula.mark == "S~" and "body not read" in formula.source
    assert paper_cell(one, "critic", "en", Sources(methods)).mark == "C"
    assert paper_cell(one, "method.group", "en", Sources(methods)).mark == "M~"
    assert paper_cell(one, "method.critic", "zh", Sources(methods)).text == "否"
    assert paper_cell(one, "method.formula", "en", Sources(methods)).text == "$A$"
    methods["x"]["provisional"] = ""
    assert paper_cell(one, "formula", "en", Sources(methods)).mark == "S"
    none = paper_cell(record(), "method.group", "zh", Sources(methods))
    assert (none.text, none.state) == ("未复现", "not checked")


def test_methods_that_differ_are_named_and_an_unknown_trait_is_refused() -> None:
    methods = {"x": {"group": "prompt", "provisional": ""}, "y": {"group": "history", "provisional": ""}}
    assert paper_cell(record(method=["x", "y"]), "method.group", "en", Sources(methods)).text == "x: prompt; y: history"
    with pytest.raises(UsageError, match=r"method\.grop"):
        paper_cell(record(method="x"), "method.grop", "en", Sources(methods))


def test_runs_show_mean_interval_and_number() -> None:
    runs = {("x", "world", "bias"): Summary(0.5, 0.25, 0.75, 4, "notes/experiments/e")}
    cell = paper_cell(record(method="x"), "runs.world.bias", "en", Sources({}, runs))
    assert (cell.text, cell.mark, cell.evidence) == ("0.5 [0.25, 0.75], n=4", "R", "notes/experiments/e")
    assert paper_cell(record(method="x"), "runs.world.other", "en", Sources({}, runs)).text == "not run"
    assert paper_cell(record(method="y"), "runs.world.bias", "zh", Sources({}, runs)).text == "未运行"


def test_runs_are_read_out_of_the_experiment_log(workspace: Path) -> None:
    folder = workspace / "notes" / "experiments" / "e"
    folder.mkdir(parents=True)

    def line(seed: int, value: float | None, preset: str = "paper", method: str = "dapo") -> str:
        row = {"inputs_hash": f"{seed}{preset}{value}", "suite": "s", "method": method, "preset": preset, "world": "w",
               "seed": seed, "metrics": {"bias": value}, "cost": {}}  # fmt: skip
        return json.dumps(row) + "\n"

    # The second line of seed 1 replaces the first; a missing value and another preset do not count.
    lines = [line(1, 9.0), line(1, 1.0), line(2, 2.0), line(3, 3.0), line(4, None), line(1, 50.0, "authors_code")]
    (folder / "runs.jsonl").write_text("".join(lines), encoding="utf-8")
    found = summaries(load_workspace(workspace))[("dapo", "w", "bias")]
    # mean 2, sd 1, t(0.975, 2) = 4.302653: half width 4.302653 / sqrt(3) = 2.484138
    assert (found.mean, found.n) == (2.0, 3)
    assert (found.low, found.high) == pytest.approx((-0.484138, 4.484138), abs=1e-5)
    assert found.where == "notes/experiments/e"


def test_runs_of_two_experiments_are_not_pooled(workspace: Path) -> None:
    for slug, values in {"few": [9.0, 9.0], "many": [1.0, 2.0, 3.0]}.items():
        folder = workspace / "notes" / "experiments" / slug
        folder.mkdir(parents=True)
        rows = [
            {"inputs_hash": f"{slug}{seed}", "suite": "s", "method": "dapo", "preset": "paper", "world": "w", "seed": seed,
             "metrics": {"bias": value}, "cost": {}}
            for seed, value in enumerate(values)
        ]  # fmt: skip
        (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = summaries(load_workspace(workspace))[("dapo", "w", "bias")]
    assert (found.mean, found.n, found.where) == (2.0, 3, "notes/experiments/many")


def test_the_full_table_of_seven_papers_has_no_unchecked_cell(root: Path) -> None:
    library = Library.load(load_workspace(root))
    names = "dapo gigpo mappa dr_mas sharp ccpo c3".split()
    for language in ("zh", "en"):
        table = compare(library, chosen_records(library, names, None, False), language=language)
        assert [row[0].text.split(" ")[0].casefold() for row in table.rows] == [
            "dapo", "gigpo", "mappa", "dr.mas", "sharp", "ccpo", "c3",
        ]  # fmt: skip
        assert len(table.headings) >= 7
        for row in table.rows:
            assert all(cell.state in ("value", "no") and cell.mark and cell.evidence for cell in row[1:])


def test_columns_of_every_source_together_with_their_headings(root: Path) -> None:
    library = Library.load(load_workspace(root))
    records = chosen_records(library, ["sharp", "gigpo"], None, False)
    keys = ["unit_of_credit", "method.group", "venue", "formula"]
    table = compare(library, records, columns=keys, language="zh")
    assert table.headings == ("论文", "信用单元", "比较组", "venue", "优势 / 信用")
    sharp, gigpo = table.rows
    assert sharp[4].provisional and not gigpo[4].provisional
    assert gigpo[3].text == "NeurIPS 2025" and sharp[3].state == "not checked"


def test_a_column_that_nobody_knows_is_refused_with_near_names(root: Path) -> None:
    library = Library.load(load_workspace(root))
    with pytest.raises(UsageError) as caught:
        compare(library, chosen_records(library, ["dapo"], None, False), columns=["critc"])
    assert "critic" in caught.value.hint


def test_the_landscape_table_is_the_notes_eleven_rows_in_order(root: Path) -> None:
    library = Library.load(load_workspace(root))
    records = chosen_records(library, [], None, False, "landscape")
    table = compare(library, records, table="landscape", language="zh")
    names = "Stronger-MAS Dr.MAS MARFT MAPoRL MHGPO CURE GiGPO MASPRM SPO DAPO Turn-PPO".split()
    assert [row[0].text.split(" (")[0] for row in table.rows] == names
    assert table.headings == ("论文", "解决的问题", "核心方法")
    assert all(cell.mark for row in table.rows for cell in row[1:])


def test_landscape_cells_are_the_notes_own_words_or_a_recorded_correction(root: Path, corpus: Path) -> None:
    note = (corpus.parent / "domain" / "landscape-at-grpo.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in note.splitlines() if line.startswith("│")]
    library = Library.load(load_workspace(root))
    records = chosen_records(library, [], None, False, "landscape")
    table = compare(library, records, table="landscape", language="zh")
    assert [row[0].split(" (")[0] for row in rows[1:]] == [row[0].text.split(" (")[0] for row in table.rows]
    for written, cells, one in zip(rows[1:], table.rows, records, strict=True):
        corrected = {claim.verdict for claim in one.claims} & {"contradicted", "incomplete"}
        for words, cell in zip(written[1:], cells[1:], strict=True):
            same = "".join(words.split()) in "".join(cell.text.split())
            assert same or corrected, (words, cell.text)

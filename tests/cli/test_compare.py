"""``kb compare`` through the real command line: tables, columns, formats, files, and what it says when there is nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_workspace import fill_workspace, text_document

from kb.textfile import write

Run = Callable[..., Any]


@pytest.fixture
def filled(workspace: Path) -> Path:
    fill_workspace(workspace)
    return workspace


def test_the_ending_of_the_output_says_its_format(kb: Run, filled: Path) -> None:
    for name, start in {"t.md": "| ", "t.csv": "Paper,", "t.tex": "% needs", "t.html": "<!DOCTYPE", "t.json": "{",
                        "t.txt": "┌"}.items():  # fmt: skip
        ran = kb("compare", "fairshare", "--lang", "en", "-o", name)
        assert ran.code == 0 and f"wrote {name}" in ran.err and not ran.out
        assert Path(name).read_text(encoding="utf-8").startswith(start)
    assert kb("compare", "fairshare", "--format", "csv", "-o", "t.txt").code == 0
    assert Path("t.txt").read_text(encoding="utf-8").startswith("Paper,")


def test_only_the_signs_that_are_there_are_explained(kb: Run, filled: Path) -> None:
    ran = kb("compare", "fairshare", "--columns", "problem,critic", "--lang", "zh")
    assert "| FAIRSHARE (2401.00001) |" in ran.out and "否 [P]" in ran.out
    assert ran.err.strip() == "[P] 论文原文"
    assert kb("compare", "fairshare", "--evidence", "none").err == ""


def test_results_out_of_the_record_and_out_of_the_papers_tables(kb: Run, filled: Path) -> None:
    plain = json.loads(kb("compare", "--all", "--table", "results", "--format", "json", "--lang", "en").out)
    assert [row[6]["text"] for row in plain["rows"]] == ["12.5%"]
    assert "--benchmark NAME adds" in kb("compare", "--all", "--table", "results").err
    asked = json.loads(
        kb("compare", "--all", "--table", "results", "--benchmark", "return", "--format", "json", "--lang", "en").out
    )
    assert len(asked["rows"]) == 60
    first = dict(zip(asked["columns"], asked["rows"][0], strict=True))
    assert first["Benchmark"]["text"] == "return" and first["Method"]["text"] == "method 0"
    assert first["Value"] == {"text": "0.5", "state": "value", "level": "table", "evidence": "table 1, p. 3: Returns"}
    assert first["Model"]["state"] == "not checked"
    nothing = kb("compare", "--all", "--table", "results", "--benchmark", "Nowhere")
    assert nothing.code == 0 and "no numbers of 'Nowhere'" in nothing.err


def test_a_table_of_ones_own_names_its_papers_and_columns(kb: Run, filled: Path) -> None:
    folder = filled / "templates" / "tables"
    folder.mkdir(parents=True)
    text = 'papers = ["bare", "fairshare"]\n[[columns]]\nkey = "paper"\ntitle = {en = "P"}\n'
    (folder / "mine.toml").write_text(text + '[[columns]]\nkey = "year"\ntitle = {en = "Y"}\n', encoding="utf-8")
    ran = kb("compare", "--table", "mine", "--format", "csv")
    assert ran.out.splitlines() == ["P,Y", "Only a record,2020", "FAIRSHARE (2401.00001),2024"]
    (folder / "mine.toml").write_text("title = 3\n", encoding="utf-8")
    broken = kb("compare", "--table", "mine", "--all")
    assert broken.code == 1 and "mine.toml" in broken.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare"], "no papers to compare"), (["compare", "--tag", "none"], "no paper has the tag"),
        (["compare", "fairshare", "--table", "nothing"], "no table"), (["compare", "fairshre"], "did you mean fairshare"),
        (["compare", "fairshare", "--columns", "critc"], "did you mean critic"),
        (["compare", "fairshare", "--format", "xls"], "one of md, csv"),
        (["compare", "fairshare", "--lang", "de"], "one of zh, en"),
        (["compare", "fairshare", "--columns", "runs.only"], "runs.WORLD.METRIC"),
    ],
)  # fmt: skip
def test_mistakes_are_usage_errors_with_a_hint(kb: Run, filled: Path, arguments: list[str], words: str) -> None:
    ran = kb(*arguments)
    assert ran.code == 2 and words in ran.err and not ran.out


def test_transposed_papers_are_columns(kb: Run, filled: Path) -> None:
    lines = kb("compare", "fairshare", "bare", "--transpose", "--columns", "critic", "--lang", "en").out.splitlines()
    assert lines[0] == "| Paper | FAIRSHARE (2401.00001) | Only a record |"
    assert lines[2] == "| Critic | no [P] | not checked |"


def test_a_corrected_text_is_read_again(kb: Run, filled: Path) -> None:
    text = write(text_document()).replace("| method 0 | 0.5 |", "| method 0 | 99.5 |")
    (filled / "papers" / "fairshare" / "text.md").write_text(text, encoding="utf-8")
    ran = kb("compare", "--all", "--table", "results", "--benchmark", "return", "--format", "csv", "--evidence", "none")
    assert ",method 0,未查,,,99.5,," in ran.out.replace("not checked", "未查")

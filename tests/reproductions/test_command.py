"""``python -m reproductions``: the same answers for people and machines."""

from __future__ import annotations

import json

import pytest

from reproductions.__main__ import main
from reproductions.describe import example_data, example_text, run_example
from reproductions.registry import methods


def test_the_list_names_every_method_and_the_paper_without_a_formula(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert {line.split()[0] for line in text.split("\n\n")[0].splitlines()[1:]} == set(methods())
    assert "langmarl" in text.split("\n\n")[1]
    assert main(["list", "--json"]) == 0
    assert [item["name"] for item in json.loads(capsys.readouterr().out)] == sorted(methods())


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_can_be_shown_and_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    method = methods()[name]
    assert main(["show", name]) == 0
    shown = capsys.readouterr().out
    assert method.title in shown and all(preset in shown for preset in method.presets)
    assert ("PROVISIONAL" in shown) == bool(method.provisional)
    assert main(["show", name, "--latex"]) == 0
    assert method.formula.splitlines()[0] in capsys.readouterr().out
    assert main(["run", name, "--example"]) == 0
    assert "advantage" in capsys.readouterr().out
    assert main(["run", name, "--example", "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert len(columns["advantage"]) == int(method.example().batch.acted_pknt.sum())


def test_the_example_is_a_table_of_inputs_and_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "dr_mas", "--example"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["prompt", "rollout", "agent", "turn", "reward", "advantage"]
    assert lines[3].split() == ["0", "0", "0", "0", "1", "1.09544"]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["show", "gropo"], "no method 'gropo'", "did you mean grpo"),
        (["show", "langmarl"], "no formula", "kb show langmarl"),
        (["run", "grpo", "--example", "--preset", "verk"], "'verk' is not known", "did you mean verl"),
    ],
)
def test_errors_say_what_to_type(
    arguments: list[str], error: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    text = capsys.readouterr().err
    assert error in text and hint in text and "Traceback" not in text


def test_records_among_the_parameters_are_printed_as_their_fields() -> None:
    run = run_example("ccpo_v1")
    assert example_data(run)["parameters"]["memory"]["mean"] == [0.3, 0.7, 0.4]
    assert "memory=History(mean [3], variance [3])" in example_text(run)

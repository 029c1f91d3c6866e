"""``kb repro`` shows and runs what the package ``reproductions`` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_list_names_methods_their_evidence_and_what_has_no_formula(kb: Run) -> None:
    out = kb("repro", "list").out
    assert "dr_mas" in out and "provisional" in out and "langmarl" in out
    names = [item["name"] for item in json.loads(kb("repro", "list", "--json").out)]
    assert names == sorted(names) and "grpo" in names


def test_show_as_text_and_as_latex(kb: Run) -> None:
    assert "σ" in kb("repro", "show", "dr_mas").out
    assert "\\sigma" in kb("repro", "show", "dr_mas", "--latex").out


def test_run_prints_the_worked_example(kb: Run) -> None:
    # Five calls of the solver in the worked example: 1.095443 for reward 1, -0.730295 for reward 0.
    out = kb("repro", "run", "dr_mas", "--example", "--preset", "authors_code").out
    assert "1.09544" in out and "-0.730295" in out


@pytest.mark.parametrize("command", [("show", "dr_mass"), ("run", "dr_mass"), ("show", "langmarl")])
def test_a_name_that_there_is_not_is_an_error_with_a_hint(kb: Run, command: tuple[str, str]) -> None:
    ran = kb("repro", *command)
    assert ran.code == 2 and ran.err.startswith("error:") and "Traceback" not in ran.err

"""The file of worked values itself: every case says where its numbers come from, and is compared with by some test."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

CASES = json.loads((Path(__file__).parent.parent / "golden" / "single_agent.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_a_source_that_is_not_this_project(name: str) -> None:
    case = CASES[name]
    origin, _, what = case["source"].partition(": ")
    assert origin == "formula" or (what and re.search(r"\d", origin)), "no package and version"
    assert "reproductions" not in case["source"]
    assert 0 < case["tolerance"] <= 1e-5 or name == "shapley_permutation_shapiq"
    assert case["inputs"] and case["expected"]


def test_every_case_is_asked_for_by_a_test() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in CASES if f'"{name}"' not in sources] == []

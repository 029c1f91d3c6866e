"""A method is three files with one name: its record, its formula, its test."""

from __future__ import annotations

import re
from pathlib import Path

from kb.library import Library
from kb.workspace import load_workspace
from reproductions.registry import methods


def recorded(root: Path) -> dict[str, str]:
    """Method names to the slug of the record that names them."""
    found: dict[str, str] = {}
    for paper in Library.load(load_workspace(root)).papers.values():
        named = paper.fields.get("method") or ()
        for name in (named,) if isinstance(named, str) else named:
            found[str(name)] = paper.slug
    return found


def test_every_method_of_a_paper_has_a_record_and_every_record_names_a_method_that_exists(root: Path) -> None:
    known = recorded(root)
    of_papers = {name for name, method in methods().items() if re.search(r"\d{4}\.\d{4,5}", method.paper)}
    assert of_papers - known.keys() == set()
    assert known.keys() - methods().keys() == set()


def test_every_method_has_a_test_of_its_own(root: Path) -> None:
    folder = root / "tests" / "reproductions"
    assert [name for name in methods() if not (folder / f"test_{name}.py").is_file()] == []


def test_a_method_is_provisional_in_code_where_its_record_rests_on_second_hand_text(root: Path) -> None:
    for name in ("sharp", "mhgpo", "stratified_grpo", "cosac", "turn_ppo", "spo", "treerl"):
        assert methods()[name].provisional, name

"""``kb import`` as people run it; ``tests/kb/importing`` has what it makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from note_papers import fill_with_papers

Kb = Callable[..., Any]  # returns the Ran of conftest.py

REPORT = "# 周报 2026.04.19–04.25\n\n## 阅读\n\n### DAPO\n\n$x$ ![p](gone.png)\n\n## to-do\n\n- GRPO\n"


@pytest.fixture
def report(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    fill_with_papers(workspace)
    path = tmp_path_factory.mktemp("old") / "weekly.md"
    path.write_text(REPORT, encoding="utf-8")
    return path


def test_what_is_made_goes_to_stdout_and_a_second_run_makes_nothing(kb: Kb, workspace: Path, report: Path) -> None:
    made = "notes/2026-04-19-dapo.md  reading  dapo\nnotes/reports/2026-04-19-imported.md  report\nqueue: added GRPO\n"
    planned = kb("import", report, "--dry-run")
    assert (planned.code, planned.out) == (0, made)
    assert "2 notes, 1 change of the queue, 0 pictures would be made" in planned.err
    assert list((workspace / "notes").iterdir()) == []
    ran = kb("import", report)
    assert (ran.code, ran.out) == (0, made)
    assert ran.err == (
        "1 picture not found beside the sources, as gone.png\n"
        "2 notes, 1 change of the queue, 0 pictures made; there already: 0 notes\n"
    )
    again = kb("import", report)
    assert (again.code, again.out) == (0, "") and "there already: 2 notes" in again.err


def test_json_says_what_became_of_everything(kb: Kb, report: Path) -> None:
    done = json.loads(kb("import", report, "--json").out)
    assert [(note["path"], note["state"], note["source"]) for note in done["notes"]] == [
        ("notes/2026-04-19-dapo.md", "new", "weekly.md#1.1"),
        ("notes/reports/2026-04-19-imported.md", "new", "weekly.md"),
    ]
    assert done["tasks"] == [{"fate": "added", "text": "GRPO", "papers": ["grpo"], "added": "2026-04-19"}]
    assert done["images_missing"] == ["gone.png"]


def test_a_file_that_cannot_be_read_stops_nothing_and_shows_in_the_exit_code(kb: Kb, report: Path) -> None:
    bad = report.with_name("bad.txt")
    bad.write_bytes(bytes(range(128, 256)))
    ran = kb("import", report.parent)
    assert ran.code == 3 and "notes/2026-04-19-dapo.md" not in ran.err and "not imported: bad.txt" in ran.err
    alone = kb("import", bad)
    assert alone.code == 1 and alone.out == "" and "Traceback" not in alone.err


def test_wrong_words_are_usage_errors(kb: Kb, report: Path) -> None:
    for words in ((report.parent / "gone",), (report, "--date", "soon")):
        ran = kb("import", *words)
        assert ran.code == 2 and "hint: " in ran.err

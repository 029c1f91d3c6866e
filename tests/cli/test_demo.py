"""``kb demo`` runs the main job and leaves people's folders as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

COMPARED = {
    "dapo": ("2503.14476", "DAPO"),
    "gigpo": ("2505.10978", "GiGPO"),
    "mappa": ("2601.23228", "MAPPA"),
    "dr_mas": ("2602.08847", "Dr.MAS"),
    "sharp": ("2602.08335", "SHARP"),
    "ccpo": ("2603.21563", "CCPO"),
    "c3": ("2603.06859", "C3"),
}


def test_the_demo_shows_search_table_and_report_offline(kb: Callable[..., Any], workspace: Path) -> None:
    for slug, (number, name) in COMPARED.items():
        target = workspace / "papers" / slug / "paper.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f'---\nid: "{number}"\ntitle: About {name}\naliases: [{name}]\n---\n', encoding="utf-8")
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file() and ".kb" not in path.parts}
    ran = kb("demo")
    assert ran.code == 0, ran.err
    assert "$ kb compare dapo gigpo mappa dr_mas sharp ccpo c3 --table credit" in ran.out
    assert "2602.08847" in ran.out
    report = (workspace / ".kb" / "report-2026-04-19.md").read_text(encoding="utf-8")
    assert "研究周报" in report
    after = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file() and ".kb" not in path.parts}
    assert after == before

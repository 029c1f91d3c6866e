"""``kb demo`` runs the main job and leaves people's folders as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_the_demo_shows_search_table_and_report_offline(kb: Callable[..., Any], root: Path, workspace: Path) -> None:
    for slug in ("dapo", "gigpo", "mappa", "dr_mas", "sharp", "ccpo", "c3"):
        target = workspace / "papers" / slug / "paper.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((root / "papers" / slug / "paper.md").read_bytes())
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file() and ".kb" not in path.parts}
    ran = kb("demo")
    assert ran.code == 0, ran.err
    assert "$ kb compare dapo gigpo mappa dr_mas sharp ccpo c3 --table credit" in ran.out
    assert "2602.08847" in ran.out
    report = (workspace / ".kb" / "report-2026-04-19.md").read_text(encoding="utf-8")
    assert "研究周报" in report
    after = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file() and ".kb" not in path.parts}
    assert after == before

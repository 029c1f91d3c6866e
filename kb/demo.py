"""``kb demo``: the main job on a workspace that is there already, offline. Where there is none, on the packaged records."""

from __future__ import annotations

import shutil
from pathlib import Path

from kb.errors import UsageError
from kb.workspace import Workspace, cache_dir, find_workspace, load_workspace

QUESTIONS = ("优势归一化 为什么会让梯度不稳定", "leave-one-out counterfactual baseline")
COMPARED = ("dapo", "gigpo", "mappa", "dr_mas", "sharp", "ccpo", "c3")
WEEK = "2026-04-19"


def demo_workspace() -> Workspace:
    """The workspace around the current folder if it has papers, else a copy of the packaged records in the cache."""
    try:
        workspace = find_workspace()
    except UsageError:
        return _packaged()
    return workspace if any(workspace.papers.glob("*/paper.md")) else _packaged()


def _packaged() -> Workspace:
    """Records are copied once a version; what a person did to the copy stays."""
    here = Path(__file__).resolve().parent
    records = here / "demo_papers" if (here / "demo_papers").is_dir() else here.parent / "papers"
    root = cache_dir() / "demo"
    (root / "notes").mkdir(parents=True, exist_ok=True)
    for record in sorted(records.glob("*/paper.md")):
        target = root / "papers" / record.parent.name / "paper.md"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(record, target)
    if not (root / "kb.toml").exists():
        (root / "kb.toml").write_text('language = "zh"\nweek_start = "sunday"\n', encoding="utf-8")
    return load_workspace(root)

"""A workspace with one full week of work in it, 19 to 25 April 2026, and something before and after it; all of it ours."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from kb.experiments import append_runs
from kb.library import Library
from kb.model import Document, Paragraph, Provenance, Reference, Section
from kb.report import WeekReport, gather
from kb.textfile import write
from kb.weeks import between
from kb.workspace import Workspace, load_workspace

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WEEK = between("2026-04-19", "2026-04-25")
BEFORE = between("2026-04-12", "2026-04-18")
THOUGHTS = "归一化和分解是两码事：$\\sigma_k$ 只改尺度。\n\n见 ![图](图/a.png) 与 [代码](../code.py)。\n\n## 小节\n\n```\n# 不是标题\n```"


def record(identifier: str, title: str, alias: str, more: str = "", body: str = "") -> str:
    head = f"id: \"{identifier}\"\ntitle: '{title}'\nauthors: [A. One, B. Two, C. Three, D. Four]\npublished: 2026-01-02\naliases: [{alias}]\n"
    return f"---\n{head}{more}---\n\n{body}"


FORMULA = "## 关键公式\n\n$$\nA = \\frac{R - \\mu}{\\sigma}\n$$\n\nv1 equation 5, read in the paper.\n"
IDEA = "facts:\n  idea: {zh: 逐智能体归一化, en: normalise per agent, level: paper, evidence: 'v1, section 4'}\n  critic: {value: 'no', level: paper, evidence: 'v1'}\n"
FILES = {
    "kb.toml": 'language = "zh"\nweek_start = "sunday"\n',
    "papers/drmas/paper.md": record("2602.08847", "Dr. MAS: Stable Training", "Dr.MAS", "version: 1\n" + IDEA, FORMULA),
    "papers/gigpo/paper.md": record("2505.10978", "Group in Group", "GiGPO", "added: 2026-04-20\n", FORMULA),
    "papers/ccpo/paper.md": record("2603.21563", "Counterfactual Credit", "CCPO", "facts:\n  problem: {zh: 谁的功劳, level: paper, evidence: v1}\n"),
    "papers/old/paper.md": record("2401.00001", "An Old Paper", "OLD", "added: 2026-03-01\n"),
    "notes/2026-04-21-drmas.md": f"---\ndate: 2026-04-21\npapers: [Dr.MAS, CCPO]\n---\n# Dr.MAS 笔记\n\n{THOUGHTS}\n",
    "notes/2026-04-22 服务.md": "---\nkind: project\n---\n# 开发一个服务\n\n每个令牌独立计费。\n",
    "notes/2026-04-23-q.md": "---\nkind: question\n---\n# 为什么是组内？\n\n因为方差。\n",
    "notes/2026-04-24-随笔.md": "---\nkind: 随笔\n---\n# 随想\n\n别丢了这一段。\n",
    "notes/2026-04-26-next.md": "# 下周的事\n\n不在本周。\n",
    "notes/图/a.png": "",
    "code.py": "pass\n",
    "notes/queue.md": (
        "# 队列\n\n"
        "- [ ] CCPO (2603.21563)  <!-- added 2026-04-12 -->\n"
        "- [ ] 写一个最小版：先理解架构  <!-- added 2026-04-05 -->\n"
        "  - 只要工具循环\n"
        "- [x] GiGPO (2505.10978)  <!-- added 2026-04-12, done 2026-04-22 -->\n"
        "- [-] OLD (2401.00001)：太旧  <!-- added 2026-04-12, dropped 2026-04-23 -->\n"
        "- [x] 早就做完  <!-- added 2026-04-01, done 2026-04-02 -->\n"
        "- [ ] 以后的事  <!-- added 2026-04-27 -->\n"
    ),
}  # fmt: skip


def fill(root: Path) -> Workspace:
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (root / "notes" / "图" / "a.png").write_bytes(PNG)
    return load_workspace(root)


def gathered(root: Path, language: str = "zh") -> WeekReport:
    return gather(Library.load(load_workspace(root)), WEEK, language)


def add_text(root: Path, slug: str, *references: Reference) -> None:
    """The text of a paper that has nothing but a list of references."""
    section = Section("S1", "Introduction", 1, "intro", "1", (Paragraph("Words."),))
    document = Document(title=slug, provenance=Provenance("latex", "x"), sections=(section,), references=references)
    (root / "papers" / slug / "text.md").write_text(write(document), encoding="utf-8")


def cites(index: int, title: str, year: int = 2020, arxiv_id: str | None = None) -> Reference:
    return Reference(index, f"r{index}", f"Somebody. {title}. {year}", title, (), year, arxiv_id)


def add_metadata(root: Path, slug: str, version: int, updated: str, **more: Any) -> None:
    path = root / "papers" / slug / "files" / f"v{version}" / "metadata.json"
    path.parent.mkdir(parents=True)
    path.write_text(
        json.dumps({"title": slug, "arxiv_id": "x", "version": version, "updated": updated, **more}), encoding="utf-8"
    )


def add_runs(root: Path, slug: str, day: str, method: str, values: list[float], first_seed: int = 0) -> None:
    rows = [
        {
            "inputs_hash": f"{method}{first_seed + seed}{day}", "suite": slug, "method": method, "preset": "paper", "world": "w", "seed": first_seed + seed,
            "metrics": {"pearson": value}, "cost": {"episodes": 1.0}, "error": None, "lacks": None, "at": f"{day}T10:00:00",
        }
        for seed, value in enumerate(values)
    ]  # fmt: skip
    append_runs(root / "notes" / "experiments" / slug / "runs.jsonl", rows)

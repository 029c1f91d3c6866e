"""A made paper with an answer for the usual columns and a Chinese one, in a workspace that is indexed."""

from __future__ import annotations

from pathlib import Path

from kb.index.embedding.hashing import HashingEmbedder
from kb.index.reconcile import reconcile
from kb.model import Cell, Document, Paragraph, Provenance, Section, Table
from kb.textfile import write
from kb.workspace import Workspace, load_workspace

RECORD = """\
---
id: "2401.00007"
title: 'SHAREX: Fair credit for teams of agents'
version: 2
aliases: []
tags: []  # none yet
facts:
  critic: {value: no, level: paper, evidence: "v2, section 2"}   # read by me
---

## 笔记

我的话。
"""
PROBLEM = (
    "However, existing methods give every agent the same reward, which remains a serious challenge in large teams."
)
IDEA = "We propose SHAREX, a new method that gives each agent its share by removing its message and asking again."
HEADLINE = "SHAREX achieves 61.5% accuracy on AIME24, outperforming the best baseline by 4.2 points."
LIMITATION = (
    "A limitation of our method is that it needs twice as many rollouts and cannot be used with more than 8 agents."
)
OTHER_LIMITATION = "Our experiments cover only text, and we leave images to future work."


def row(*texts: str, bold: bool = False) -> tuple[Cell, ...]:
    return tuple(Cell(text, None, bold and bool(at)) for at, text in enumerate(texts))


def document() -> Document:
    """The English paper."""
    table = Table("tab-1", "Main results: accuracy (%) of all methods", (row("Method", "AIME24", "MATH"),),
                  (row("GRPO", "55.0", "80.1"), row("PPO", "57.3", "81.0"), row("SHAREX", "61.5", "83.9", bold=True)), "1", page=3)  # fmt: skip
    return Document(
        title="SHAREX: Fair credit for teams of agents",
        provenance=Provenance("pdf", "paper.pdf", "ab", "made", "1"),
        arxiv_id="2401.00007",
        version=2,
        abstract=f"Teams of language agents solve long tasks together. {PROBLEM} {IDEA} {HEADLINE}",
        sections=(
            Section("S1", "Introduction", 1, "intro", "1", (Paragraph("Teams of agents are used for many tasks [@a]. " + PROBLEM.replace("However, e", "Yet e"), 1),), 1),
            Section("S2", "Method", 1, "method", "2", (Paragraph("Each agent i has a policy and a message. The share is a difference of two rewards.", 2),), 2),
            Section("S3", "Experiments", 1, "experiments", "3", (Paragraph("We use a learning rate of 0.001 and train for 30 epochs with 16 seeds.", 3), table), 3),
            Section("S4", "Limitations", 1, "limitations", "4", (Paragraph(f"{LIMITATION} {OTHER_LIMITATION}", 4),), 4),
        ),
    )  # fmt: skip


def chinese_document() -> Document:
    """A Chinese paper."""
    return Document(
        title="团队信用分配",
        provenance=Provenance("pdf", "zh.pdf", "cd", "made", "1"),
        abstract="大模型智能体常常合作完成任务。然而，现有方法给每个智能体同样的奖励，难以区分贡献，这仍是一个挑战。本文提出一种新方法，通过删去一条消息来估计每个智能体的贡献。",
        sections=(
            Section("S1", "实验", 1, "experiments", "1", (Paragraph("在 AIME24 基准上，我们的方法准确率达到 61.5%，优于基线 4.2 个百分点。", 2),), 2),
            Section("S2", "局限", 1, "limitations", "2", (Paragraph("本文方法的局限在于需要额外采样，目前无法用于八个以上的智能体。", 3),), 3),
        ),
    )  # fmt: skip


def fill(root: Path, model: str = "hashing") -> Workspace:
    """Write and index both papers."""
    files = {
        "kb.toml": f'language = "en"\n[embedding]\nmodel = "{model}"\n[store]\nkind = "exact"\n',
        "papers/sharex/paper.md": RECORD,
        "papers/sharex/text.md": write(document()),
        "papers/zh/paper.md": "---\ntitle: 团队信用分配\nyear: 2025\n---\n",
        "papers/zh/text.md": write(chinese_document()),
        "papers/bare/paper.md": "---\ntitle: Only a record\nyear: 2020\n---\n",
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    workspace = load_workspace(root)
    reconcile(workspace, HashingEmbedder())
    return workspace

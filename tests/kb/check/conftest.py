"""A workspace of made papers, all of them ours, with an index over them, for the checks of notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.index.embedding.hashing import HashingEmbedder
from kb.index.reader import Index
from kb.index.reconcile import reconcile
from kb.library import Library
from kb.model import Document, Equation, Paragraph, Provenance, Section
from kb.textfile import write
from kb.workspace import load_workspace

TANDEM = """\
---
id: "2402.00011"
title: 'TANDEM: training two agents by the shares of their work'
authors: [Ada Byron, Li Lei]
published: '2024-02-03'
version: 3
venue: ICML 2024
aliases: [TANDEM]
facts:
  idea:
    zh: 两级优势（小组+队员），需要人工标注的步骤，不需要奖励模型
    en: A two-level advantage (group+member); hand-labelled steps are needed, a reward model is not
    level: paper
    evidence: section 3
  comparison_group:
    zh: 同一问题的全部样本，含自身
    en: all samples of one question, own included
    level: paper
    evidence: section 3
  needs:
    zh: 人工标注的步骤、每步的奖励
    en: hand-labelled steps and a reward per step
    level: paper
    evidence: section 3
  normalisation: {zh: 样本标准差, en: sample standard deviation, level: code, evidence: train.py}
  critic: {value: "no", level: paper, evidence: section 3}
  extra_rollouts: {zh: "yes, 仅在训练初期", en: "yes, early in training only", level: paper, evidence: section 3}
  tree_sampling: {value: "yes", level: unverified, evidence: our reading}
  multi_agent: {value: "yes", level: paper, evidence: section 1}
  aggregation: {zh: "PPO clip 0.2，学习率 3e-6", en: "PPO clip 0.2, learning rate 3e-6", level: code, evidence: train.py}
results:
- {benchmark: AIME 2024, model: Qwen2.5-7B, metric: avg@32, value: 41, baseline: plain, baseline_value: 30,
   level: paper, evidence: table 2}
- {benchmark: AMC, model: Qwen2.5-7B, metric: gain, value: +3.5 to +6.0 points, level: paper, evidence: abstract}
claims_in_notes:
- claim: TANDEM 在每一步都重新采样
  note: weekly 2024-03-01, 1
  verdict: contradicted
  correction: {zh: 只在训练初期采样，之后沿用旧样本, en: It samples early in training and keeps the old samples}
  level: paper
  evidence: section 4
- claim: 评委是更强的模型，比如 GPT-4
  note: weekly 2024-03-01, 1
  verdict: contradicted
  correction: {zh: 评委是 Qwen2.5-72B, en: The judge is Qwen2.5-72B}
  level: code
  evidence: judge.py
- claim: TANDEM 的开销约为两倍
  note: weekly 2024-03-01, 1
  verdict: unverified
  correction: {zh: 没有查到, en: Not found}
  level: unverified
  evidence: searched, not found
---

## 摘要

两个智能体按贡献分奖励。

## 关键公式

$$
A_i=\\frac{r_i-\\mathrm{mean}(\\mathbf r)}{\\mathrm{std}(\\mathbf r)}
$$

Equation 2, read in the paper.
"""
SOLO = """\
---
id: "2301.00022"
title: Proximal sharing
authors: [Grace Hopper]
published: '2023-01-05'
aliases: [SOLO]
facts:
  critic: {value: "yes", level: paper, evidence: section 2}
  comparison_group: {zh: 其余 k-1 条, en: the other k-1 samples, level: paper, evidence: section 2}
---
"""


def _text() -> Document:
    return Document(
        title="TANDEM: training two agents by the shares of their work",
        provenance=Provenance("latex", "source.tar.gz", "ab", "kb-latex", "1"),
        arxiv_id="2402.00011",
        version=1,
        abstract="We present Twin Agents Nested Deep Estimation Method (TANDEM).",
        sections=(
            Section(
                "S4", "Experiments", 1, "experiments", "4",
                (
                    Paragraph("We hired 37 annotators and trained for 16 epochs on 13k prompts.", 6),
                    Paragraph("The agents share a replay memory, which requires a central server.", 6),
                    Equation("eq-7", r"L=\sum_t \gamma^t \delta_t + \beta H(\pi)", number="7", page=7),
                ),
                6,
            ),
        ),
    )  # fmt: skip


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Two papers: TANDEM with facts, results, corrections and a text; SOLO with a few facts."""
    for slug, record in (("tandem", TANDEM), ("solo", SOLO)):
        (tmp_path / "papers" / slug).mkdir(parents=True)
        (tmp_path / "papers" / slug / "paper.md").write_text(record, encoding="utf-8")
    (tmp_path / "papers" / "tandem" / "text.md").write_text(write(_text()), encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "kb.toml").write_text('[embedding]\nmodel = "hashing"\n[store]\nkind = "exact"\n', encoding="utf-8")
    return Library.load(load_workspace(tmp_path))


@pytest.fixture
def index(library: Library) -> Iterator[Index]:
    reconcile(library.workspace, HashingEmbedder())
    with Index.open(library.workspace) as opened:
        yield opened

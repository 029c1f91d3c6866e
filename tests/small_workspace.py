"""A small workspace of two papers and two notes, all of them ours, and an embedder that counts what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kb.index.embedding.hashing import HashingEmbedder
from kb.index.embedding.protocol import EmbedderIdentity, FloatArray
from kb.model import Cell, Document, Equation, Figure, Paragraph, Provenance, Reference, Section, Table
from kb.textfile import write
from kb.workspace import Workspace, load_workspace

PROVENANCE = Provenance("latex", "source.tar.gz", "ab", "kb-latex", "1")
RECORD = """\
---
id: "2401.00001"
title: 'Fair Shares: credit for teams'
authors: [Ada Byron, 李雷]
published: 2024-01-02
aliases: [FAIRSHARE]
tags: [multi-agent, credit]
facts:
  problem:
    zh: 团队奖励不能说明每个智能体的贡献
    en: A team reward does not say
      what each agent has contributed
    level: paper
    evidence: v1, section 1
  critic: {value: no, level: paper, evidence: "v1, section 2"}
  formula: {value: '$A_i = q_i - \\bar q$', level: paper, evidence: "v1, equation 1"}
results:
  - {benchmark: Toy, model: tiny, metric: return, value: 12.5, unit: "%", baseline: COMA, baseline_value: 10}
---

## 摘要

这篇论文把团队奖励按贡献分给每个智能体。

## 关键公式

$$
A_i = q_i - \\bar q
$$

Advantage of one agent, equation 1.
"""
NOTE = """\
---
tags: [周报]
---
# 周报 2026-04-12

## 信用分配

优势归一化会放大噪声。组内只有一个样本时，GRPO的优势是零！为什么？

$$\\hat A = \\frac{r - \\mu}{\\sigma}$$

其中 $\\mu$ 是组内均值。

```python
advantage = (reward - reward.mean()) / reward.std()  # 保持原样
```

| 方法 | critic |
| --- | --- |
| GRPO | 无 |
"""
PLAIN_NOTE = """\
研究周报 · 2026.04.19

本周清单

1. 读论文
2. 写代码

一、阅读论文

1.1 DAPO: 一篇论文

它把 clip 的上界放宽。
"""


def text_document() -> Document:
    """A text with all kinds of blocks; section 2 is long enough for several passages."""
    long = " ".join(f"Sentence number {n} says that agent {n} gets its share of the reward." for n in range(60))
    grid = tuple((Cell(f"method {n}"), Cell(f"{n}.5", n + 0.5)) for n in range(60))
    return Document(
        title="Fair Shares: credit for teams",
        provenance=PROVENANCE,
        arxiv_id="2401.00001",
        version=1,
        abstract="We split a team reward. Each agent gets its part.",
        sections=(
            Section("S1", "Introduction", 1, "intro", "1", (Paragraph("Credit is hard, e.g. in teams. See Fig. 2.", 1),), 1),
            Section(
                "S2", "Method", 1, "method", "2",
                (
                    Paragraph(long, 2),
                    Equation("eq-1", r"A_i = q_i - \bar q", number="1", page=2),
                    Paragraph("Here q is what an agent adds. It is not negative.", 2),
                    Table("tab-1", "Returns", ((Cell("name"), Cell("return")),), grid, "1", page=3),
                    Figure("fig-2", "Shares over time", "2", page=3),
                ),
                2,
            ),
            Section("S2.1", "Baselines", 2, "method", "2.1", (Paragraph("# not a heading\nCOMA is one.", 3),), 3),
        ),
        references=(Reference(1, "coma", "Foerster. Counterfactual multi-agent policy gradients. 2018"),),
    )  # fmt: skip


def fill_workspace(root: Path, store: str = "exact") -> Workspace:
    """Write the files of the small workspace below ``root``."""
    files = {
        "kb.toml": f'[embedding]\nmodel = "hashing"\n[store]\nkind = "{store}"\n',
        "papers/fairshare/paper.md": RECORD,
        "papers/fairshare/text.md": write(text_document()),
        "papers/bare/paper.md": "---\ntitle: Only a record\nyear: 2020\n---\n",
        "papers/bare/files/v1/metadata.json": '{"title": "Only a record", "abstract": "Sparse \\u5956\\u52b1 only."}',
        "notes/2026-04-12.md": NOTE,
        "notes/reports/plain.md": PLAIN_NOTE,
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return load_workspace(root)


class CountingEmbedder:
    """The hashing embedder, which remembers what it embedded and refuses texts that contain a word."""

    def __init__(self, refuse: str = "", revision: str = "1") -> None:
        self._inner = HashingEmbedder()
        self._refuse = refuse
        self._revision = revision
        self.passages: list[str] = []
        self.calls = 0

    @property
    def identity(self) -> EmbedderIdentity:
        return replace(self._inner.identity, revision=self._revision)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        self.calls += 1
        if self._refuse and any(self._refuse in text for text in texts):
            raise RuntimeError("bad word")
        self.passages += texts
        return self._inner.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._inner.embed_queries(texts)

"""Fused hits: a fact that a record tells in both languages is one hit, and drafts are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORD = """---
id: "2503.14476"
title: Token Losses
facts:
  limitation:
    zh: 奖励只在结尾给出，熵坍缩没有被解决
    en: rewards come only at the end and entropy collapse is not solved
    level: paper
  idea:
    en: entropy collapse is met by clipping higher
    level: draft
---
"""


def test_a_fact_in_two_languages_is_one_hit_and_a_draft_none(kb: Callable[..., Any], workspace: Path) -> None:
    folder = workspace / "papers" / "token_losses"
    folder.mkdir(parents=True)
    (folder / "paper.md").write_text(RECORD, encoding="utf-8")
    assert kb("index").code == 0
    for question in ("entropy collapse", "熵坍缩"):
        hits = json.loads(kb("search", question, "--keyword", "--json").out)["hits"]
        texts = [hit["text"] for hit in hits if hit["paper"] == "token_losses"]
        assert sum("collapse" in text or "坍缩" in text for text in texts) == 1, texts
        assert not any("clipping higher" in text for text in texts)

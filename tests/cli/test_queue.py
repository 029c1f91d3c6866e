"""``kb queue`` as people run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from note_papers import fill_with_papers

Kb = Callable[..., Any]  # returns the Ran of conftest.py


@pytest.fixture
def queue(workspace: Path) -> Path:
    fill_with_papers(workspace)
    return workspace / "notes" / "queue.md"


def test_add_next_done_drop_and_list(kb: Kb, queue: Path) -> None:
    assert kb("queue", "add", "dapo", "核对", "2x", "--date", "2026-04-12").out == "DAPO (2503.14476)：核对 2x\n"
    assert kb("queue", "add", "arXiv:2506.11902v2", "--date", "2026-04-19").out == "arXiv:2506.11902\n"
    assert kb("queue", "add", "写 一段", "--date", "2026-04-19").out == "写 一段\n"
    assert queue.read_text(encoding="utf-8") == (
        "# 阅读队列\n\n"
        "- [ ] DAPO (2503.14476)：核对 2x  <!-- added 2026-04-12 -->\n"
        "- [ ] arXiv:2506.11902  <!-- added 2026-04-19 -->\n"
        "- [ ] 写 一段  <!-- added 2026-04-19 -->\n"
    )
    first = kb("queue", "next", "--date", "2026-04-26")
    assert (first.out, first.err) == ("DAPO (2503.14476)：核对 2x\n", "added 2026-04-12, 2 weeks; 2 more open\n")
    assert kb("queue", "done", "DAPO", "--date", "2026-04-26").out == "done: DAPO (2503.14476)：核对 2x\n"
    assert kb("queue", "drop", "2", "--date", "2026-04-26").out == "dropped: 写 一段\n"
    assert kb("queue", "list", "--date", "2026-04-27").out == "  1  arXiv:2506.11902  (added 2026-04-19, 1 week)\n"
    everything = kb("queue", "list", "--all", "--date", "2026-04-27").out
    assert "  x  DAPO (2503.14476)：核对 2x  (done 2026-04-26)\n" in everything
    assert "  -  写 一段  (dropped 2026-04-26)\n" in everything
    (task,) = json.loads(kb("queue", "list", "--json", "--date", "2026-04-27").out)
    assert (task["papers"], task["age_days"], task["state"]) == (["2506.11902"], 8, "open")


def test_adding_or_closing_twice_says_so_and_changes_nothing(kb: Kb, queue: Path) -> None:
    kb("queue", "add", "grpo", "--date", "2026-04-12")
    before = queue.read_bytes()
    again = kb("queue", "add", "GRPO")
    assert (again.code, again.out) == (0, "") and "already there since 2026-04-12" in again.err
    assert queue.read_bytes() == before
    kb("queue", "done", "1", "--date", "2026-04-13")
    assert "already done on 2026-04-13" in kb("queue", "done", "grpo").err


def test_what_is_not_there_is_a_usage_error(kb: Kb, queue: Path) -> None:
    assert "the queue is empty" in kb("queue", "next").err
    assert not queue.exists()
    gone = kb("queue", "done", "nothing")
    assert gone.code == 2 and "no task 'nothing'" in gone.err
    assert kb("queue", "add", "x", "--date", "soon").code == 2
    assert kb("queue", "add", " ").code == 2
    assert not queue.exists()


def test_ingest_takes_what_the_queue_names(kb: Kb, queue: Path) -> None:
    queue.write_text("- [ ] DAPO\n- [ ] (2506.11902)\n- [x] GRPO\n", encoding="utf-8")
    ran = kb("ingest", "--queued", "--dry-run")
    assert "2503.14476" in ran.out and "2506.11902" in ran.out and "2402.03300" not in ran.out
    queue.write_text("- [x] GRPO\n", encoding="utf-8")
    nothing = kb("ingest", "--queued")
    assert (nothing.code, nothing.out) == (0, "") and "nothing to ingest" in nothing.err

"""``kb update`` against a server on this machine: one request, nothing overwritten, exit codes, offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arxiv_server import THROTTLED, ArxivServer, FakePaper, Trouble, serving

Run = Callable[..., Any]


@pytest.fixture
def arxiv(kb: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArxivServer]:
    with serving() as server:
        monkeypatch.setenv("KB_ARXIV_URL", server.url)
        monkeypatch.setenv("KB_ARXIV_INTERVAL", "0.01")
        monkeypatch.delenv("KB_OFFLINE")
        yield server


def record(workspace: Path, slug: str, identifier: str, version: int = 1) -> Path:
    folder = workspace / "papers" / slug
    folder.mkdir()
    (folder / "paper.md").write_text(
        f'---\nid: "{identifier}"\ntitle: Paper {slug}\nversion: {version}\n'
        'facts:\n  idea: {value: i, level: paper, evidence: "v1, section 2"}\n---\n',
        encoding="utf-8",
    )
    return folder


def state(workspace: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(workspace.rglob("*")) if p.is_file() and ".kb" not in p.parts}


def test_one_request_asks_about_all_and_newer_ones_are_listed(kb: Run, arxiv: ArxivServer, workspace: Path) -> None:
    for number in range(1, 41):
        record(workspace, f"p{number}", f"2401.{number:05}")
        arxiv.add(FakePaper(f"2401.{number:05}", f"Paper p{number}", 3 if number == 7 else 1))
    before = state(workspace)
    ran = kb("update", "--check")
    assert ran.code == 3
    assert "p7 (2401.00007): v3 of 2025-06-02; read here: v1" in ran.out
    assert "  fact idea (v1, section 2: the text may have changed)" in ran.out
    assert "kb ingest 2401.00007v1 2401.00007v3" in ran.out
    assert "1 with a newer version, 0 withdrawn, 1 things rest on older ones" in ran.err
    assert len(arxiv.paths("/api/query")) == 1 and arxiv.requests[0].query["max_results"] == "40"
    assert state(workspace) == before


def test_without_check_the_new_record_is_kept_beside_and_nothing_is_overwritten(
    kb: Run, arxiv: ArxivServer, workspace: Path
) -> None:
    folder = record(workspace, "p", "2401.00001")
    arxiv.add(FakePaper("2401.00001", "Paper p", 2, comment="This paper has been withdrawn by the authors"))
    before = state(workspace)
    ran = kb("update")
    assert ran.code == 0 and "WITHDRAWN: This paper has been withdrawn" in ran.out
    kept = folder / "files" / "v2" / "metadata.json"
    assert json.loads(kept.read_text(encoding="utf-8"))["withdrawn"] is True
    assert {name: data for name, data in state(workspace).items() if name != str(kept)} == before
    kept.write_text(kept.read_text(encoding="utf-8").replace("Paper p", "Paper p, mine"), encoding="utf-8")
    after = state(workspace)
    assert kb("update").code == 0 and state(workspace) == after
    assert "WITHDRAWN" in kb("show", "p").out


def test_up_to_date_papers_are_said_to_be(kb: Run, arxiv: ArxivServer, workspace: Path) -> None:
    record(workspace, "p", "2401.00001")
    arxiv.add(FakePaper("2401.00001", "Paper p", 1))
    ran = kb("update", "--check")
    assert (ran.code, ran.out) == (0, "") and "1 papers are up to date" in ran.err


def test_an_id_that_arxiv_refuses_hides_no_other(kb: Run, arxiv: ArxivServer, workspace: Path) -> None:
    for number in (1, 2, 3):
        record(workspace, f"p{number}", f"2401.0000{number}")
    arxiv.add(FakePaper("2401.00001", "Paper", 2), FakePaper("2401.00003", "Paper", 1))
    arxiv.refused_ids.add("2401.00002")
    data = json.loads(kb("update", "--check", "--json").out)
    assert [one["paper"] for one in data["news"]] == ["p1"]
    assert "p2" in data["problems"] and data["asked"] == 3
    assert data["news"][0]["stale"][0]["what"] == "idea"


def test_chosen_papers_alone_are_asked_about(kb: Run, arxiv: ArxivServer, workspace: Path) -> None:
    for number in (1, 2):
        record(workspace, f"p{number}", f"2401.0000{number}")
        arxiv.add(FakePaper(f"2401.0000{number}", "Paper", 2))
    out = kb("update", "--check", "p2").out
    assert "p2 (" in out and "p1 (" not in out
    assert arxiv.requests[0].query["id_list"] == "2401.00002"


def test_offline_is_a_clear_error_and_opens_nothing(kb: Run, arxiv: ArxivServer, workspace: Path) -> None:
    record(workspace, "p", "2401.00001")
    ran = kb("--offline", "update")
    assert ran.code == 4 and ran.err.startswith("error: offline") and "hint:" in ran.err
    assert not arxiv.arrived


def test_a_busy_arxiv_ends_with_the_networks_exit_code(kb: Run, arxiv: ArxivServer, workspace: Path) -> None:
    record(workspace, "p", "2401.00001")
    arxiv.trouble("/api/query", *[Trouble(503, THROTTLED, {"Retry-After": "600"})] * 4)
    ran = kb("update", "--check")
    assert ran.code == 4 and "cannot be reached now" in ran.err

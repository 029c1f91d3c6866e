"""``kb ingest`` as people run it: what it prints where, how it ends, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arxiv_server import THROTTLED, ArxivServer, Trouble, full_paper, serving
from made_papers import make_pdf

from kb.cli.ingest_progress import IngestProgress
from kb.index.lock import writing
from kb.workspace import load_workspace

TITLE = "Shared Credit for Teams"
Kb = Callable[..., Any]  # returns the Ran of conftest.py


@pytest.fixture
def arxiv(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArxivServer]:
    with serving() as server:
        monkeypatch.delenv("KB_OFFLINE")
        monkeypatch.setenv("KB_ARXIV_URL", server.url)
        monkeypatch.setenv("KB_ARXIV_INTERVAL", "0.001")
        yield server


@pytest.fixture
def pdf(workspace: Path) -> Path:
    path = workspace / "in" / "paper.pdf"
    path.parent.mkdir()
    path.write_bytes(make_pdf(TITLE, "2503.14476v2"))
    return path


def ingest(kb: Kb, *words: object) -> Any:
    return kb("ingest", "--date", "2026-04-19", "--no-ocr", "--no-index", *words)


def test_results_go_to_stdout_and_a_second_run_says_already_there(kb: Kb, pdf: Path) -> None:
    ran = ingest(kb, pdf)
    assert (ran.code, ran.out, ran.err) == (0, f"added shared_credit_teams: {TITLE}  [good, pdf]\n", "")
    assert ingest(kb, pdf).out == "already there: shared_credit_teams\n"


def test_one_bad_file_is_an_error_with_its_reason(kb: Kb, pdf: Path) -> None:
    pdf.write_bytes(b"<html>no</html>")
    ran = ingest(kb, pdf)
    assert ran.code == 1
    assert "error: " in ran.err and "not a PDF (HTML)" in ran.err
    assert "Traceback" not in ran.err and ran.out == ""


def test_a_batch_ends_with_counts_and_a_list_of_failures(kb: Kb, pdf: Path, workspace: Path) -> None:
    (pdf.parent / "bad.pdf").write_bytes(b"")
    ran = ingest(kb, pdf.parent, "2503.1447x")
    assert ran.code == 3
    assert "added shared_credit_teams" in ran.out
    assert "1 added, 2 failed" in ran.err
    assert f"not ingested: {pdf.parent / 'bad.pdf'}: empty file" in ran.err
    assert "not ingested: 2503.1447x: '2503.1447x' is neither an arXiv id nor a file that exists" in ran.err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "nothing to ingest"),
        (["DAPO"], "neither an arXiv id nor a file"),
        (["--as", "x", "2503.14476", "2402.03300"], "--as names one paper"),
        (["--as", "../x", "2503.14476"], "cannot be a folder name"),
        (["--date", "soon", "2503.14476"], "is no day"),
    ],
)
def test_a_wrong_command_is_a_usage_error(kb: Kb, words: list[str], part: str) -> None:
    ran = kb("ingest", *words)
    assert ran.code == 2
    assert part in ran.err and "Traceback" not in ran.err


def test_json_is_all_of_stdout(kb: Kb, pdf: Path) -> None:
    (outcome,) = json.loads(ingest(kb, pdf, "--json").out)
    assert (outcome["state"], outcome["slug"], outcome["quality"]) == ("added", "shared_credit_teams", "good")


def test_the_first_network_failure_of_a_newcomer(kb: Kb, arxiv: ArxivServer, workspace: Path) -> None:
    arxiv.add(full_paper("2503.14476", TITLE))
    arxiv.trouble("/", *[Trouble(429, THROTTLED, {"Retry-After": "5400"})] * 9)
    ran = ingest(kb, "2503.14476")
    assert ran.code == 4
    assert "error: arXiv cannot be reached now: it answered 429" in ran.err
    assert "run the same command again from" in ran.err
    assert "Traceback" not in ran.err
    assert list((workspace / "papers").iterdir()) == []
    listed = json.loads(kb("status", "--json").out)["failures"]
    assert [(failure["source"], failure["transient"]) for failure in listed] == [("2503.14476", True)]
    arxiv._troubles.clear()
    assert ingest(kb, "2503.14476").code == 0
    assert json.loads(kb("status", "--json").out)["failures"] == []


def test_offline_is_told_and_ends_as_a_network_failure(kb: Kb) -> None:
    ran = ingest(kb, "2503.14476")
    assert ran.code == 4
    assert "offline" in ran.err and "KB_OFFLINE" in ran.err


def test_a_search_is_ingested_and_a_dry_run_only_lists_it(kb: Kb, arxiv: ArxivServer, workspace: Path) -> None:
    arxiv.add(*(full_paper(f"2503.0000{number}", f"Paper of Number {number}") for number in (1, 2, 3)))
    ran = ingest(kb, "--search", "all:credit", "--max", 2, "--dry-run")
    assert ran.out == "[1/2] would ingest 2503.00001\n[2/2] would ingest 2503.00002\n"
    assert list((workspace / "papers").iterdir()) == []
    ran = ingest(kb, "--search", "all:credit", "--max", 2, "--no-pdf")
    assert ran.code == 0
    assert ran.out.count("added ") == 2
    assert arxiv.paths("/pdf/") == []


def test_what_was_added_can_be_searched_at_once(kb: Kb, pdf: Path, workspace: Path) -> None:
    (workspace / "kb.toml").write_text('[embedding]\nmodel = "hashing"\n', encoding="utf-8")
    (pdf.parent / "bad.pdf").write_bytes(b"")
    ran = kb("ingest", "--no-ocr", "--json", pdf.parent)
    assert ran.code == 3
    assert {outcome["state"] for outcome in json.loads(ran.out)} == {"added", "failed"}
    hits = kb("search", "share of the reward")
    assert hits.code == 0 and "shared_credit_teams" in hits.out


def test_a_second_process_is_told_who_writes(kb: Kb, pdf: Path, workspace: Path) -> None:
    with writing(load_workspace(workspace), "kb index"):
        ran = ingest(kb, pdf)
    assert ran.code == 1
    assert f"is being written by kb index (process {os.getpid()}" in ran.err
    assert ingest(kb, pdf).code == 0


def test_a_folder_that_cannot_be_written_is_told(kb: Kb, pdf: Path, workspace: Path) -> None:
    # A file where the folder should be fails in the same way for every user, the superuser too.
    (workspace / ".kb").write_text("", encoding="utf-8")
    ran = ingest(kb, pdf)
    assert ran.code == 1
    assert f"cannot write {workspace / '.kb'}" in ran.err and "Traceback" not in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write every folder")
def test_a_read_only_workspace_is_told(kb: Kb, pdf: Path, workspace: Path) -> None:
    (workspace / "papers").chmod(0o555)
    ran = ingest(kb, pdf)
    assert ran.code == 1 and "Permission denied" in ran.err


def test_ctrl_c_says_what_was_kept(kb: Kb, pdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pdf.parent / "z-second.pdf").write_bytes(make_pdf("Another Title"))
    done = IngestProgress.done

    def interrupted(self: IngestProgress, outcome: Any) -> None:
        done(self, outcome)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(IngestProgress, "done", interrupted)
        ran = ingest(kb, pdf.parent)
    assert ran.code == 130
    assert "interrupted: 1 papers of this run are kept" in ran.err
    again = ingest(kb, pdf.parent)
    assert again.code == 0
    assert "already there" in again.out and "[2/2] added" in again.out


def test_a_killed_run_is_gone_on_with(kb: Kb, arxiv: ArxivServer, workspace: Path) -> None:
    ids = [f"2503.0000{number}" for number in range(1, 5)]
    arxiv.add(*(full_paper(identifier, f"Paper of Number {identifier[-1]}") for identifier in ids))
    arxiv.trouble("/pdf/2503.00003", Trouble(200, b"%PDF-1.4 never seen whole", delay=30))
    command = [sys.executable, "-c", "from kb.cli import main; main()", "ingest", "--no-index", "--no-ocr", *ids]
    process = subprocess.Popen(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    _wait_until(lambda: "/pdf/2503.00003v1" in arxiv.arrived)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(list((workspace / "papers").glob("*/text.md"))) == 2
    ran = ingest(kb, *ids)
    assert ran.code == 0
    assert [line.split("] ")[1].split()[0] for line in ran.out.splitlines()] == [
        "already",
        "already",
        "updated",
        "added",
    ]
    assert len(list((workspace / "papers").glob("*/text.md"))) == 4
    assert not list((workspace / "papers").rglob("*.part"))
    assert len(arxiv.paths("/pdf/2503.00001v1")) == 1


def _wait_until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)

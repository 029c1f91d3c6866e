"""Killed with SIGKILL at any step, the index loses nothing that was kept, and the next run goes on from there."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from small_workspace import CountingEmbedder, fill_workspace

from kb.index.doctor import examine
from kb.index.filters import Filters
from kb.index.reader import Index
from kb.index.recipe import NoIndexError
from kb.index.reconcile import reconcile
from kb.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not there")

# Runs in its own process: kills itself when the named place is reached for the n-th time.
DRIVER = """
import os, signal, sys
from pathlib import Path

root, place, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.path.insert(0, sys.argv[4])
left = times

def hit(name):
    global left
    if name == place:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

import kb.index.embedding_step as embedding_step
import kb.index.passages as passages
import kb.index.reconcile as reconciling
import kb.index.views as views
from kb.index.exact import ExactStore
from kb.index.lock import writing
from kb.index.vectors import VectorCache
from kb.workspace import load_workspace
from small_workspace import CountingEmbedder

def before(owner, name, label):
    original = getattr(owner, name)
    def wrapped(*args, **kwargs):
        hit(label)
        return original(*args, **kwargs)
    setattr(owner, name, wrapped)

embedding_step.BATCH = 4
before(passages, "index_text", "inside a document's transaction")
before(reconciling, "read_document", "before a document")
before(VectorCache, "put", "before a batch is kept")
before(reconciling, "fill_exact", "before the vector file")
before(reconciling, "make_current", "before the index is put in use")
before(ExactStore, "commit", "before the vector file is replaced")
before(Path, "replace", "in the middle of an atomic write")
before(reconciling, "fill", "before Chroma is filled")
before(passages.PassageStore, "set_views_current", "before the end is noted")
try:
    from kb.index.chroma import ChromaStore
    before(ChromaStore, "upsert", "inside of filling Chroma")
except ImportError:
    pass

workspace = load_workspace(root)
with writing(workspace, "kb index"):
    reconciling.reconcile(workspace, CountingEmbedder(revision=sys.argv[5]))
"""


def run_until_killed(workspace: Workspace, place: str, times: int, revision: str = "1") -> None:
    tests = str(Path(__file__).resolve().parents[2])
    arguments = [sys.executable, "-c", DRIVER, str(workspace.root), place, str(times), tests, revision]
    ended = subprocess.run(arguments, capture_output=True, text=True, encoding="utf-8")
    assert ended.returncode == -signal.SIGKILL, f"{place}: not reached\n{ended.stderr}"


def cached(workspace: Workspace) -> set[bytes]:
    path = workspace.derived / "vectors.sqlite"
    if not path.exists():
        return set()
    with sqlite3.connect(path) as connection:
        return {row[0] for row in connection.execute("SELECT hash FROM vectors")}


def answers(workspace: Workspace) -> tuple[object, ...]:
    with Index.open(workspace) as index:
        vector = CountingEmbedder().embed_queries(["GRPO 的优势归一化 reward share"])[0]
        return index.keyword("share OR 优势 OR coma", 100), index.dense(vector, 100), index.counts(), index.remarks


PLACES = [
    ("before a document", 1),
    ("before a document", 3),
    ("inside a document's transaction", 2),
    ("inside a document's transaction", 40),
    ("before the index is put in use", 1),
    ("before a batch is kept", 1),
    ("before a batch is kept", 4),
    ("before the vector file", 1),
    ("before the vector file is replaced", 1),
    ("in the middle of an atomic write", 1),
    ("in the middle of an atomic write", 3),
    ("before the end is noted", 1),
]


@pytest.mark.parametrize(("place", "times"), PLACES)
def test_killed_at_a_step_of_the_first_run(tmp_path: Path, place: str, times: int) -> None:
    whole = fill_workspace(tmp_path / "whole")
    reconcile(whole, CountingEmbedder())
    killed = fill_workspace(tmp_path / "killed")
    run_until_killed(killed, place, times)
    kept = cached(killed)
    embedder = CountingEmbedder()
    report = reconcile(killed, embedder)
    assert cached(killed) >= kept
    assert len(embedder.passages) == report.embedded == len(cached(killed)) - len(kept)  # what was kept was used
    assert answers(killed) == answers(whole)
    assert examine(killed) == []
    assert reconcile(killed, embedder).is_noop
    assert list((killed.derived / "index").rglob(".*")) == []  # nor does a file that was never finished stay


@pytest.mark.parametrize("place", ["before Chroma is filled", "inside of filling Chroma", "before the end is noted"])
def test_killed_while_chroma_is_filled(tmp_path: Path, place: str) -> None:
    workspace = fill_workspace(tmp_path, "chroma")
    run_until_killed(workspace, place, 1)
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    assert embedder.passages == []
    assert examine(workspace) == []


@pytest.mark.parametrize(("place", "times"), [("before a document", 2), ("before a batch is kept", 2), ("before the vector file", 1)])
def test_killed_while_another_model_is_built_the_old_index_still_answers(tmp_path: Path, place: str, times: int) -> None:
    workspace = fill_workspace(tmp_path)
    reconcile(workspace, CountingEmbedder(revision="1"))
    before = answers(workspace)
    run_until_killed(workspace, place, times, revision="2")
    assert answers(workspace) == before
    reconcile(workspace, CountingEmbedder(revision="2"))
    assert answers(workspace) == before  # the same vectors under another name
    assert len(list((workspace.derived / "index").glob("*/"))) == 1


@pytest.mark.parametrize(
    ("place", "times", "is_new"),
    [("before a document", 1, False), ("inside a document's transaction", 3, False), ("before the vector file", 1, True)],
)
def test_killed_in_a_later_run_a_note_is_the_old_or_the_new_one_and_never_half(
    tmp_path: Path, place: str, times: int, is_new: bool
) -> None:
    old, new = fill_workspace(tmp_path / "old"), fill_workspace(tmp_path / "new")
    edited = fill_workspace(tmp_path / "edited")
    for workspace in (new, edited):
        if workspace is edited:
            reconcile(edited, CountingEmbedder())
        (workspace.notes / "2026-04-12.md").write_text("# 新\n\n优势归一化，新的一句。\n", encoding="utf-8")
    reconcile(old, CountingEmbedder())
    reconcile(new, CountingEmbedder())
    run_until_killed(edited, place, times)
    assert note_in(edited) == note_in(new if is_new else old) != note_in(old if is_new else new)
    reconcile(edited, CountingEmbedder())
    assert answers(edited) == answers(new)


def note_in(workspace: Workspace) -> list[str]:
    with Index.open(workspace) as index:
        note = Filters(papers=("notes/2026-04-12.md",))
        return sorted(passage.text for passage in index.passages(sorted(index.allowed(note) or ())))


def test_before_anything_is_kept_there_is_no_index_rather_than_an_empty_one(tmp_path: Path) -> None:
    workspace = fill_workspace(tmp_path)
    run_until_killed(workspace, "before a document", 1)
    with pytest.raises(NoIndexError):
        Index.open(workspace)

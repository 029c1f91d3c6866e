"""``kb index`` and ``kb doctor`` as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_workspace import fill_workspace

from kb.workspace import load_workspace

Run = Callable[..., Any]


@pytest.fixture
def filled(workspace: Path) -> Path:
    fill_workspace(workspace)
    return workspace


def test_index_says_what_it_did_and_then_that_there_is_nothing_to_do(kb: Run, filled: Path) -> None:
    first = kb("index")
    assert first.code == 0 and first.out == ""
    assert "index: 4 papers and notes read, 0 removed, " in first.err
    second = kb("index")
    assert second.code == 0 and "index: up to date, " in second.err


def test_a_run_in_part_has_exit_code_3_and_names_the_file(kb: Run, filled: Path) -> None:
    (filled / "notes" / "gbk.md").write_bytes("优势".encode("gbk"))
    ran = kb("index")
    assert ran.code == 3 and "not indexed: notes/gbk.md: notes/gbk.md is not UTF-8" in ran.err
    as_json = kb("index", "--json")
    assert as_json.code == 3
    assert list(json.loads(as_json.out)["failures"]) == ["notes/gbk.md"]


def test_rebuild_reads_all_files_and_embeds_nothing(kb: Run, filled: Path) -> None:
    kb("index")
    report = json.loads(kb("index", "--rebuild", "--json").out)
    assert (report["read"], report["embedded"]) == (4, 0)


def test_another_model_is_said_to_be_one(kb: Run, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from small_workspace import CountingEmbedder

    kb("index")
    monkeypatch.setattr("kb.index.embedding.registry.embedder_of", lambda _: CountingEmbedder(revision="2"))
    assert "the index was made anew: model: hashing (1, 256 dimensions) -> hashing (2, 256 dimensions)" in kb("index").err


def test_doctor_finds_and_repairs(kb: Run, filled: Path) -> None:
    assert kb("doctor").code == 1  # there is no index yet
    kb("index")
    sound = kb("doctor")
    assert (sound.code, sound.out) == (0, "") and "as it should be" in sound.err
    (path,) = (filled / ".kb" / "index").glob("*/vectors.f32")
    path.write_bytes(b"junk")
    ill = kb("doctor")
    assert ill.code == 3 and ill.out.startswith("exact vectors: ") and "kb doctor --repair" in ill.err
    assert json.loads(kb("doctor", "--json").out)[0]["repaired"] is False
    assert kb("doctor", "--repair").code == 0
    assert kb("doctor").code == 0


def test_a_command_that_finds_the_lock_taken_says_by_whom(kb: Run, filled: Path) -> None:
    from kb.index.lock import writing

    with writing(load_workspace(filled), "kb ingest"):
        ran = kb("index")
    assert ran.code == 1 and f"is being written by kb ingest (process {os.getpid()}" in ran.err


def test_a_run_with_nothing_to_do_imports_nothing_heavy(filled: Path, root: Path) -> None:
    code = "import sys\nfrom kb.cli import main\ntry:\n    main(['index'])\nfinally:\n    print(*sys.modules)\n"
    environment = {**os.environ, "KB_OFFLINE": "1", "KB_WORKSPACE": str(filled)}
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, encoding="utf-8", check=True)
    assert "up to date" in ran.stderr
    assert not {"numpy", "torch", "chromadb", "sentence_transformers", "pymupdf", "httpx"} & set(ran.stdout.split())


def test_indexing_leaves_what_people_wrote_as_it_is(kb: Run, filled: Path) -> None:
    def written() -> dict[str, tuple[bytes, int]]:
        paths = [path for path in filled.rglob("*") if path.is_file() and ".kb" not in path.parts]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}

    before = written()
    kb("index")
    kb("doctor", "--repair")
    assert written() == before

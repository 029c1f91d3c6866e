"""The index follows the files: what is done, what is not done again, and what a bad file or model may not stop."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_workspace import NOTE, RECORD, CountingEmbedder, fill_workspace

from kb.errors import KbError
from kb.index.exact import EXACT_FILE, ExactStore
from kb.index.reader import Index
from kb.index.recipe import CHUNKER_VERSION, current_folder
from kb.index.reconcile import IndexReport, reconcile
from kb.index.state import index_state
from kb.workspace import Workspace, load_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return fill_workspace(tmp_path)


def folder_of(workspace: Workspace) -> Path:
    folder = current_folder(workspace)
    assert folder is not None
    return folder


def contents(workspace: Workspace) -> dict[str, object]:
    """All that an answer can depend on: every passage, every keyword row, every vector."""
    folder = folder_of(workspace)
    with sqlite3.connect(folder / "passages.sqlite") as connection:
        columns = "id, owner, position, kind, section_kind, language, heading, path, start, stop, page, anchor, latex, hash, text"
        passages = connection.execute(f"SELECT {columns} FROM passages ORDER BY id").fetchall()
        words = connection.execute(
            "SELECT p.id, k.title, k.heading, k.body FROM keyword k LEFT JOIN passages p ON p.n = k.rowid ORDER BY p.id"
        ).fetchall()
        documents = connection.execute("SELECT owner, kind, title, date FROM documents ORDER BY owner").fetchall()
        tags = connection.execute("SELECT owner, tag FROM tags ORDER BY owner, tag").fetchall()
    store = ExactStore(folder / EXACT_FILE, 256)
    rows = {identifier: store._matrix[row].tobytes() for row, identifier in enumerate(store._ids)}
    return {"passages": passages, "words": words, "documents": documents, "tags": tags, "vectors": rows}


def counts(report: IndexReport) -> tuple[int, int, int]:
    return report.read, report.removed, report.embedded


def test_the_second_run_reads_and_embeds_nothing(workspace: Workspace) -> None:
    embedder = CountingEmbedder()
    first = reconcile(workspace, embedder)
    assert first.read == 4 and first.embedded == len(embedder.passages) > 10
    second = reconcile(workspace, embedder)
    assert second.is_noop and second.passages == first.passages
    assert len(embedder.passages) == first.embedded
    assert index_state(workspace).startswith(f"{first.passages} passages of 2 papers and 2 notes")


def test_a_changed_note_costs_only_its_changed_passages(workspace: Workspace) -> None:
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    embedder.passages.clear()
    note = workspace.notes / "2026-04-12.md"
    note.write_text(NOTE + "\n## 新的一节\n\n一个新想法。\n", encoding="utf-8")
    assert counts(reconcile(workspace, embedder)) == (1, 0, 1)
    assert [text.split("\n")[-1] for text in embedder.passages] == ["一个新想法。"]


def test_a_file_that_was_only_touched_is_not_read_again(workspace: Workspace) -> None:
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    os.utime(workspace.notes / "2026-04-12.md", ns=(1_000_000_000, 1_000_000_000))
    assert reconcile(workspace, embedder).is_noop
    assert "changed since" not in index_state(workspace)


def test_a_change_of_the_same_size_in_the_same_tick_is_seen(workspace: Workspace) -> None:
    note = workspace.notes / "2026-04-12.md"
    reconcile(workspace, CountingEmbedder())
    before = note.stat()
    note.write_text(NOTE.replace("零！", "一！"), encoding="utf-8")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert reconcile(workspace, CountingEmbedder()).read == 1


def test_what_is_gone_from_the_files_is_gone_from_every_part(workspace: Workspace) -> None:
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    shutil.rmtree(workspace.papers / "fairshare")
    assert counts(reconcile(workspace, embedder)) == (0, 1, 0)
    assert "fairshare" not in json.dumps(contents(workspace), default=str)
    with Index.open(workspace) as index:
        assert index.keyword("foerster OR coma OR fairshar", 5) == []


def test_a_text_that_comes_later_is_added_to_its_paper(workspace: Workspace) -> None:
    text = workspace.papers / "fairshare" / "text.md"
    content = text.read_bytes()
    text.unlink()
    reconcile(workspace, CountingEmbedder())
    text.write_bytes(content)
    assert reconcile(workspace, CountingEmbedder()).read == 1
    with Index.open(workspace) as index:
        assert index.keyword("coma", 5) != []


def test_a_bad_file_is_listed_and_stops_nothing(workspace: Workspace) -> None:
    bad_yaml = workspace.papers / "broken" / "paper.md"
    bad_yaml.parent.mkdir()
    bad_yaml.write_text("---\ntitle: [\n---\n", encoding="utf-8")
    (workspace.notes / "gbk.md").write_bytes("优势".encode("gbk"))
    report = reconcile(workspace, CountingEmbedder())
    assert report.read == 4 and set(report.failures) == {"broken", "notes/gbk.md"}
    assert "paper.md:" in report.failures["broken"] and "not UTF-8" in report.failures["notes/gbk.md"]
    again = reconcile(workspace, CountingEmbedder())
    assert set(again.failures) == set(report.failures)
    bad_yaml.write_text("---\ntitle: now it is right\n---\n", encoding="utf-8")
    (workspace.notes / "gbk.md").unlink()
    assert reconcile(workspace, CountingEmbedder()).failures == {}


def test_a_file_that_turns_bad_leaves_the_index_as_one_made_anew(workspace: Workspace) -> None:
    record = workspace.papers / "fairshare" / "paper.md"
    reconcile(workspace, CountingEmbedder())
    record.write_text("---\nid: 2401.00001\n---\n", encoding="utf-8")
    assert "quote it" in reconcile(workspace, CountingEmbedder()).failures["fairshare"]
    incremental = contents(workspace)
    shutil.rmtree(workspace.derived)
    reconcile(workspace, CountingEmbedder())
    assert contents(workspace) == incremental


def test_after_random_edits_the_index_is_as_one_made_anew(workspace: Workspace) -> None:
    dice = random.Random(20260412)
    sentences = ["优势归一化会放大噪声。", "Credit is shared.", "$$a = b$$", "# 标题", "```\nx\n```", "| a | b |\n| - | - |", "同一句。"]
    for step in range(40):
        edit_at_random(workspace, dice, sentences)
        if step % 4 == 3:
            reconcile(workspace, CountingEmbedder())
    incremental = contents(workspace)
    shutil.rmtree(workspace.derived)
    reconcile(workspace, CountingEmbedder())
    assert contents(workspace) == incremental


def edit_at_random(workspace: Workspace, dice: random.Random, sentences: list[str]) -> None:
    note = workspace.notes / f"n{dice.randrange(5)}.md"
    folder = workspace.papers / f"p{dice.randrange(3)}"
    body = "\n\n".join(dice.choices(sentences, k=dice.randrange(1, 8))) + "\n"
    match dice.randrange(6):
        case 0 | 1:
            note.write_text(body, encoding="utf-8")
        case 2:
            note.unlink(missing_ok=True)
        case 3:
            folder.mkdir(exist_ok=True)
            title = dice.choice(["One", "另一篇", "[broken"])
            (folder / "paper.md").write_text(f"---\ntitle: {title}\ntags: [{dice.choice('ab')}]\n---\n{body}", encoding="utf-8")
        case 4:
            folder.mkdir(exist_ok=True)
            (folder / "text.md").write_text(f"# T\n\n## 1 Method\n\n{body}", encoding="utf-8")
        case _:
            shutil.rmtree(folder, ignore_errors=True)


def test_deleting_the_derived_zone_changes_no_answer_and_needs_no_parser(workspace: Workspace) -> None:
    reconcile(workspace, CountingEmbedder())
    before = contents(workspace)
    shutil.rmtree(workspace.derived)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from kb.index.embedding.hashing import HashingEmbedder\n"
        "from kb.index.reconcile import reconcile\n"
        "from kb.workspace import load_workspace\n"
        "import socket\n"
        "socket.socket.connect = None\n"
        "reconcile(load_workspace(Path(sys.argv[1])), HashingEmbedder())\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(workspace.root)], capture_output=True, text=True, encoding="utf-8", check=True)
    assert not {"pymupdf", "selectolax", "httpx", "torch", "chromadb", "arxiv"} & set(ran.stdout.split())
    assert contents(workspace) == before


def test_another_model_is_built_beside_and_put_in_use_when_whole(workspace: Workspace) -> None:
    reconcile(workspace, CountingEmbedder())
    old = folder_of(workspace)
    with pytest.raises(KbError):
        reconcile(workspace, CountingEmbedder(revision="2", refuse="e"))
    assert folder_of(workspace) == old  # the new one is not whole, so the old one still answers
    with Index.open(workspace) as index:
        assert index.remarks == [] and index.vectors.count() > 10
    report = reconcile(workspace, CountingEmbedder(revision="2"), keep_old=True)
    assert report.replaced_recipe == ("model: hashing (1, 256 dimensions) -> hashing (2, 256 dimensions)",)
    assert folder_of(workspace) != old and old.exists()
    reconcile(workspace, CountingEmbedder(revision="2"))
    assert not old.exists()


def test_an_older_chunker_is_named_and_its_vectors_are_used_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    reconcile(workspace, CountingEmbedder())
    embedder = CountingEmbedder()
    monkeypatch.setattr("kb.index.recipe.Recipe.__init__.__defaults__", (1, CHUNKER_VERSION + 1, 1))
    report = reconcile(workspace, embedder)
    assert report.replaced_recipe == (f"chunker: {CHUNKER_VERSION} -> {CHUNKER_VERSION + 1}",)
    assert report.embedded == 0 and embedder.passages == []


def test_a_deleted_vector_file_is_filled_again_from_the_cache(workspace: Workspace) -> None:
    reconcile(workspace, CountingEmbedder())
    before = contents(workspace)
    (folder_of(workspace) / EXACT_FILE).unlink()
    with Index.open(workspace) as index:
        assert index.remarks == ["the vectors are behind the texts; kb index goes on where it stopped"]
    embedder = CountingEmbedder()
    report = reconcile(workspace, embedder)
    assert not report.is_noop and report.embedded == 0
    assert contents(workspace) == before


def test_vectors_in_the_store_are_those_of_the_model(workspace: Workspace) -> None:
    from kb.index.drafts import embedded_text

    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    with Index.open(workspace) as index:
        vector = embedder.embed_queries(["share"])[0]
        for identifier, cosine in index.dense(vector, 1000):
            passage = index.passage(identifier)
            own = embedder.embed_passages([embedded_text(passage.title, passage.heading, passage.text)])[0]
            assert cosine == pytest.approx(float(own @ vector), abs=2e-3)


def test_a_text_that_the_model_refuses_is_listed_and_the_others_are_embedded(workspace: Workspace) -> None:
    embedder = CountingEmbedder(refuse="不能说明")
    report = reconcile(workspace, embedder)
    assert report.failures == {"fairshare": "the model refuses a passage: RuntimeError: bad word"}
    assert report.embedded == len(embedder.passages) > 10
    mended = reconcile(workspace, CountingEmbedder())
    assert mended.failures == {} and mended.embedded == 1


def test_a_model_that_fails_for_everything_stops_after_a_few_texts(workspace: Workspace) -> None:
    class Broken(CountingEmbedder):
        def embed_passages(self, texts: object) -> object:  # type: ignore[override]
            self.calls += 1
            raise OSError("no memory")

    embedder = Broken()
    with pytest.raises(KbError, match="3 texts in a row failed with OSError: no memory") as caught:
        reconcile(workspace, embedder)
    assert "0 vectors are kept" in caught.value.hint
    assert embedder.calls <= 6
    with Index.open(workspace) as index:  # keywords can be searched all the same
        assert index.keyword("coma", 5) != [] and index.remarks != []


def test_vectors_that_are_not_numbers_are_refused(workspace: Workspace) -> None:
    class Nan(CountingEmbedder):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            return np.full_like(super().embed_passages(texts), np.nan)

    with pytest.raises(KbError, match="not finite"):
        reconcile(workspace, Nan())


def test_only_one_process_writes_and_the_other_is_told_who_does(workspace: Workspace) -> None:
    from kb.index.lock import writing

    code = (
        "import sys\nfrom pathlib import Path\nfrom kb.index.lock import writing\nfrom kb.workspace import load_workspace\n"
        "with writing(load_workspace(Path(sys.argv[1])), 'kb index'):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(workspace.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(KbError, match=rf"is being written by kb index \(process {holder.pid} on "), writing(workspace, "kb doctor"):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with writing(workspace, "kb doctor"):  # a killed holder leaves nothing behind
        assert f"process {os.getpid()}" in (workspace.derived / "write.owner").read_text(encoding="utf-8")


def test_records_and_notes_stay_as_they_are(workspace: Workspace) -> None:
    reconcile(workspace, CountingEmbedder())
    assert (workspace.papers / "fairshare" / "paper.md").read_text(encoding="utf-8") == RECORD
    assert (workspace.notes / "2026-04-12.md").read_text(encoding="utf-8") == NOTE
    assert load_workspace(workspace.root) == workspace

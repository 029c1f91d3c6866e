"""Chroma as a server that a group shares, and what goes wrong between it and us."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_workspace import CountingEmbedder, fill_workspace

from kb.errors import KbError, NetworkError, OfflineError, UsageError
from kb.index.chroma import ChromaStore, drop_collections
from kb.index.embedding.hashing import HashingEmbedder
from kb.index.reader import Index
from kb.index.recipe import Recipe
from kb.index.reconcile import reconcile
from kb.index.stores import StoreConfig, store_config
from kb.workspace import Workspace, load_workspace

RECIPE = Recipe(HashingEmbedder.identity)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real ``chroma run`` on this machine."""
    command = Path(sys.executable).with_name("chroma")
    if not command.exists():
        pytest.skip("the chroma command is not installed")
    port = free_port()
    folder = tmp_path_factory.mktemp("chroma-server")
    arguments = [str(command), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log, cwd=folder, env={**os.environ, "ANONYMIZED_TELEMETRY": "False"})
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                pytest.skip(f"chroma run ended: {(folder / 'log').read_text(encoding='utf-8')[-300:]}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def served_workspace(root: Path, url: str, extra: str = "") -> Workspace:
    fill_workspace(root)
    config = f'[embedding]\nmodel = "hashing"\n[store]\nurl = "{url}"\n{extra}'
    (root / "kb.toml").write_text(config, encoding="utf-8")
    return load_workspace(root)


def test_a_workspace_is_indexed_into_the_server_and_searched_there(server: str, tmp_path: Path) -> None:
    workspace = served_workspace(tmp_path, server)
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    assert not (tmp_path / ".kb" / "chroma").exists()
    with Index.open(workspace) as index:
        assert isinstance(index.vectors, ChromaStore)
        hits = index.dense(embedder.embed_queries(["优势归一化会放大噪声"])[0], 3)
        assert "优势归一化" in index.passage(hits[0][0]).text
    (tmp_path / "notes" / "2026-04-12.md").unlink()
    reconcile(workspace, embedder)
    with Index.open(workspace) as index:
        hits = index.dense(embedder.embed_queries(["优势归一化会放大噪声"])[0], 100)
        assert len(index.passages([identifier for identifier, _ in hits])) == len(hits)
        assert not any("优势归一化" in p.text for p in index.passages([identifier for identifier, _ in hits]))


def test_two_workspaces_on_a_server_leave_each_other_alone(server: str, tmp_path: Path) -> None:
    first, second = served_workspace(tmp_path / "a", server), served_workspace(tmp_path / "b", server)
    reconcile(first, CountingEmbedder())
    (second.notes / "2026-04-12.md").unlink()
    reconcile(second, CountingEmbedder())
    drop_collections(second, store_config(second), keep="none of these")
    with Index.open(first) as index:
        assert index.vectors.count() > 10
    with Index.open(second) as index:
        assert index.vectors.count() == 0


def test_a_group_names_its_collection(server: str, tmp_path: Path) -> None:
    mine = served_workspace(tmp_path / "mine", server, 'collection = "lab"\n')
    theirs = served_workspace(tmp_path / "theirs", server, 'collection = "lab"\n')
    reconcile(mine, CountingEmbedder())
    store = ChromaStore(theirs, store_config(theirs), RECIPE)
    assert store.count() > 10
    store.close()


def test_another_model_gets_another_collection_and_the_old_one_goes(tmp_path: Path) -> None:
    workspace = fill_workspace(tmp_path, "chroma")
    reconcile(workspace, CountingEmbedder())
    reconcile(workspace, CountingEmbedder(revision="2"))
    old = ChromaStore(workspace, store_config(workspace), Recipe(replace(HashingEmbedder.identity, revision="1")))
    new = ChromaStore(workspace, store_config(workspace), Recipe(replace(HashingEmbedder.identity, revision="2")))
    assert old.count() == 0 and new.count() > 10
    old.close()
    new.close()


@pytest.mark.filterwarnings("ignore:legacy embedding function config")
def test_chroma_is_told_never_to_embed_and_to_use_cosine(tmp_path: Path) -> None:
    store = ChromaStore(Workspace(tmp_path), StoreConfig(chroma=True), RECIPE)
    collection = store._collection
    assert collection.configuration["hnsw"]["space"] == "cosine"
    assert collection._embedding_function is None
    assert collection.metadata["revision"] == RECIPE.model.revision
    store.upsert(["a"], np.eye(1, 256, dtype=np.float32))
    with pytest.raises(ValueError, match="embedding function"):
        collection.query(query_texts=["a question"])
    store.close()


def test_a_server_that_is_not_there_is_named_and_what_was_done_is_kept(tmp_path: Path) -> None:
    workspace = served_workspace(tmp_path, f"http://127.0.0.1:{free_port()}")
    embedder = CountingEmbedder()
    with pytest.raises(NetworkError, match="does not answer") as caught:
        reconcile(workspace, embedder)
    assert caught.value.exit_code == 4 and "chroma run" in caught.value.hint
    embedded = len(embedder.passages)
    (tmp_path / "kb.toml").write_text('[store]\nkind = "exact"\n', encoding="utf-8")
    reconcile(load_workspace(tmp_path), embedder)
    assert len(embedder.passages) == embedded > 10


def test_offline_no_server_elsewhere_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_OFFLINE", "1")
    with pytest.raises(OfflineError, match=r"lab\.example"):
        ChromaStore(Workspace(tmp_path), StoreConfig(chroma=True, url="http://lab.example:8000"), RECIPE)


@pytest.mark.parametrize("table", ['kind = "qdrant"', 'url = "localhost:8000"', 'kind = "exact"\nurl = "http://127.0.0.1:1"'])
def test_a_store_table_that_makes_no_sense_is_a_usage_error(tmp_path: Path, table: str) -> None:
    (tmp_path / "kb.toml").write_text(f"[store]\n{table}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"kb.toml: store\."):
        store_config(load_workspace(tmp_path))


def test_a_store_of_another_chroma_release_is_named_and_refilled_without_embedding(tmp_path: Path) -> None:
    from kb.index.doctor import examine, repair

    workspace = fill_workspace(tmp_path, "chroma")
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    embedded = len(embedder.passages)
    for path in (tmp_path / ".kb" / "chroma").rglob("*"):
        if path.is_file():
            path.write_bytes(b"a form that this release cannot read")
    with pytest.raises(KbError) as caught:
        ChromaStore(workspace, store_config(workspace), RECIPE)
    assert "kb doctor --repair" in caught.value.hint
    findings = examine(workspace)
    assert [finding.where for finding in findings] == ["Chroma"]
    repair(workspace, findings)
    reconcile(workspace, embedder)
    assert examine(workspace) == [] and len(embedder.passages) == embedded


def test_no_socket_is_opened_for_an_embedded_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    workspace = fill_workspace(tmp_path, "chroma")
    reconcile(workspace, CountingEmbedder())
    store = ChromaStore(workspace, store_config(workspace), RECIPE)
    assert store.query(np.eye(1, 256, dtype=np.float32)[0], 3)
    store.close()

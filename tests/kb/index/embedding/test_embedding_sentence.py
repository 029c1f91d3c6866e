"""Any sentence-transformers model by folder: its prompts, its fingerprint, its faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from kb.errors import KbError
from kb.index.embedding import local_models, sentence, speed_memory
from kb.index.embedding.registry import open_embedder
from kb.index.embedding.unigram import SPECIAL, build_tokenizer

needs_torch = pytest.mark.skipif(not sentence.is_available(), reason="sentence-transformers is not installed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in sentence-transformers layout: one random layer of 8 numbers over the letters."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "letters"
    pieces = [*SPECIAL, "▁", *"abcdefghijklmnopqrstuvwxyz: 奖励"]
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config).save_pretrained(folder)
    tokenizer = build_tokenizer(pieces, [-1.0] * len(pieces))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>").save_pretrained(folder)
    layers = [("", "Transformer"), ("1_Pooling", "Pooling")]
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (path, kind) in enumerate(layers)
    ]
    (folder / "1_Pooling").mkdir()
    write(folder / "modules.json", modules)
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 24})
    write(folder / "config_sentence_transformers.json", {"prompts": {"query": "ask: ", "document": "doc: "}})
    return folder


def write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


@needs_torch
def test_the_models_own_prompts_are_its_prefixes(model: Path) -> None:
    embedder = open_embedder("letters", root=model.parent)
    identity = embedder.identity
    assert (identity.dimension, identity.max_tokens) == (8, 24)
    assert (identity.query_prefix, identity.passage_prefix) == ("ask: ", "doc: ")
    bare = open_embedder(str(model), query_prefix="", passage_prefix="")
    assert bare.identity.fingerprint != identity.fingerprint
    np.testing.assert_allclose(embedder.embed_queries(["奖励 abc"]), bare.embed_queries(["ask: 奖励 abc"]), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_passages(["x"]), bare.embed_passages(["doc: x"]), atol=1e-6)
    assert np.abs(embedder.embed_queries(["x"]) - embedder.embed_passages(["x"])).max() > 1e-3


@needs_torch
def test_vectors_have_length_one_and_the_precision_is_timed_once(
    model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = open_embedder(str(model))
    texts = ["abc", "奖励", "long " * 30, "x\ud800y", "", "q", "r", "s"]
    vectors = embedder.embed_passages(texts)
    assert (vectors.shape, vectors.dtype) == ((8, 8), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    memory = json.loads((cache / "embedding-speed.json").read_text(encoding="utf-8"))
    assert [entry["winner"] in ("fp32", "bf16") for entry in memory.values()] == [True]

    def again(*_: object) -> None:
        raise AssertionError("timed twice")

    monkeypatch.setattr(speed_memory, "timed", again)
    np.testing.assert_allclose(open_embedder(str(model)).embed_passages(texts), vectors, atol=1e-6)
    assert embedder.embed_passages([]).shape == (0, 8)


@needs_torch
def test_the_revision_follows_the_files(model: Path, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(model, tmp_path / "copy"))
    assert local_models.revision(copy) == local_models.revision(model)
    (copy / "README.md").write_text("words about the model", encoding="utf-8")
    assert local_models.revision(copy) == local_models.revision(model)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert local_models.revision(copy) != local_models.revision(model)
    snapshot = tmp_path / "snapshots" / ("0123456789" * 4)
    snapshot.mkdir(parents=True)
    assert local_models.revision(snapshot) == "commit " + "0123456789" * 4


@needs_torch
def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    write(tmp_path / "broken" / "config.json", {"hidden_size": 8, "model_type": "no such architecture"})
    with pytest.raises(KbError, match="broken does not load"):
        open_embedder("./broken", root=tmp_path).embed_queries(["q"])
    (tmp_path / "broken" / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(KbError, match=r"config\.json cannot be read"):
        _ = open_embedder("./broken", root=tmp_path).identity


@pytest.fixture
def hub() -> Iterator[str]:
    """A server that knows no model."""

    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815 - the name that the server calls

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Nothing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def pull_from(endpoint: str, cache: Path) -> list[str]:
    """Kind, exit code and message of the error when a model is pulled there (the endpoint is read on import)."""
    program = (
        "import sys\n"
        "from kb.errors import KbError\n"
        "from kb.index.embedding.registry import pull_model\n"
        "try: pull_model('somebody/some-model')\n"
        "except KbError as error: print(type(error).__name__, error.exit_code, error, sep='|')\n"
    )
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(cache)}
    environment.pop("HF_HUB_OFFLINE", None)
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=True)
    return run.stdout.strip().split("|", 2)


def test_pulling_an_unknown_model_says_so(hub: str, tmp_path: Path) -> None:
    kind, code, message = pull_from(hub, tmp_path)
    assert (kind, code) == ("KbError", "1"), message
    assert "somebody/some-model" in message


def test_pulling_without_a_network_is_a_network_error(tmp_path: Path) -> None:
    kind, code, message = pull_from("http://127.0.0.1:9", tmp_path)
    assert (kind, code) == ("NetworkError", "4")
    assert "cannot pull somebody/some-model" in message

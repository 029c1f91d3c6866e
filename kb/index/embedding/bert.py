"""A BERT sentence encoder in numpy: token ids to mean-pooled unit vectors, from memory-mapped weights.

One query costs a few hundredths of a second from a cold start, because only the rows of the word embeddings that
occur are read. In bulk it is as fast as torch in fp32 (``tests/benchmarks/bench_embedding.py``).
Axis letters: t token of all sequences laid end to end, s sequence, a head, h hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kb.index.embedding.protocol import FloatArray, TokenIds
from kb.index.embedding.tensor_file import read_tensors

# Values that stay in a core's cache through the passes of GELU.
_GELU_CHUNK = 1 << 15


class _Layer(NamedTuple):
    """Weights of one transformer layer; matrices are ``[out, in]``."""

    query_w: FloatArray
    query_b: FloatArray
    key_w: FloatArray
    key_b: FloatArray
    value_w: FloatArray
    value_b: FloatArray
    mix_w: FloatArray
    mix_b: FloatArray
    mix_norm_w: FloatArray
    mix_norm_b: FloatArray
    up_w: FloatArray
    up_b: FloatArray
    down_w: FloatArray
    down_b: FloatArray
    down_norm_w: FloatArray
    down_norm_b: FloatArray


_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)


class BertEncoder:
    """A BertModel with mean pooling (Devlin et al., arXiv 1810.04805; no padding, no dropout, segment 0)."""

    def __init__(self, weights: Path, layers: int, heads: int, epsilon: float = 1e-12) -> None:
        """Map ``weights`` (safetensors). Raises ValueError when it is damaged or lacks a tensor."""
        tensors = read_tensors(weights)
        try:
            self._words, self._positions, self._segments = (
                tensors[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
            )
            self._norm = [tensors[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")]
            self._layers = [
                _Layer(*(tensors[f"encoder.layer.{n}.{name}.{part}"] for name in _PARTS for part in ("weight", "bias")))
                for n in range(layers)
            ]
        except KeyError as error:
            raise ValueError(f"{weights} has no tensor {error}") from None
        self._heads = heads
        self._epsilon = np.float32(epsilon)

    def encode(self, sequences: Sequence[TokenIds]) -> FloatArray:
        """Unit vectors ``float32 [sequence, hidden]`` of token id sequences ``int64 [token]``."""
        lengths = [len(sequence) for sequence in sequences]
        starts = np.cumsum([0, *lengths])
        x_th = self._words[np.concatenate(sequences)].astype(np.float32)
        x_th += self._positions[np.concatenate([np.arange(length) for length in lengths])]
        x_th += self._segments[0]
        self._normalise(x_th, *self._norm)
        for layer in self._layers:
            x_th += _linear(self._attend(layer, x_th, starts), layer.mix_w, layer.mix_b)
            self._normalise(x_th, layer.mix_norm_w, layer.mix_norm_b)
            wide = _linear(x_th, layer.up_w, layer.up_b)
            _gelu(wide)
            x_th += _linear(wide, layer.down_w, layer.down_b)
            self._normalise(x_th, layer.down_norm_w, layer.down_norm_b)
        # The mean over tokens and the sum differ by a factor that the norm takes out.
        pooled: FloatArray = np.add.reduceat(x_th, starts[:-1], axis=0)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return pooled

    def _attend(self, layer: _Layer, x_th: FloatArray, starts: TokenIds) -> FloatArray:
        """Softmax attention of each sequence over its own tokens."""
        hidden = x_th.shape[1]
        query = _linear(x_th, layer.query_w, layer.query_b)
        query *= np.float32((hidden // self._heads) ** -0.5)
        key = _linear(x_th, layer.key_w, layer.key_b)
        value = _linear(x_th, layer.value_w, layer.value_b)
        context = np.empty_like(x_th)
        for begin, end in pairwise(starts.tolist()):
            q_ath, k_ath, v_ath = (
                part[begin:end].reshape(end - begin, self._heads, -1).transpose(1, 0, 2) for part in (query, key, value)
            )
            weight = q_ath @ k_ath.transpose(0, 2, 1)
            weight -= weight.max(axis=2, keepdims=True)
            np.exp(weight, out=weight)
            weight /= weight.sum(axis=2, keepdims=True)
            context[begin:end] = (weight @ v_ath).transpose(1, 0, 2).reshape(end - begin, hidden)
        return context

    def _normalise(self, x_th: FloatArray, scale: FloatArray, shift: FloatArray) -> None:
        """Layer normalisation in place."""
        x_th -= x_th.mean(axis=1, keepdims=True)
        variance = np.einsum("th,th->t", x_th, x_th) / np.float32(x_th.shape[1])
        x_th /= np.sqrt(variance + self._epsilon)[:, None]
        x_th *= scale
        x_th += shift


def _linear(x_th: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    out: FloatArray = x_th @ weight.T
    out += bias
    return out


def _gelu(x: FloatArray) -> None:
    """``x * Phi(x)`` in place; Phi by Abramowitz and Stegun 7.1.26, absolute error of erf below 1.5e-7."""
    flat = x.reshape(-1)
    for first in range(0, flat.size, _GELU_CHUNK):
        part = flat[first : first + _GELU_CHUNK]
        size = np.abs(part)
        z = size * np.float32(0.5**0.5)
        t = 1 / (1 + np.float32(0.3275911) * z)
        tail = t * np.float32(1.061405429)
        for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail += np.float32(coefficient)
            tail *= t
        z *= z
        tail *= np.exp(-z)  # erfc(|x| / sqrt 2)
        tail *= size
        tail *= np.float32(0.5)
        np.maximum(part, 0, out=part)
        part -= tail

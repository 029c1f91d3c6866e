"""Texts to vectors without torch: tokenizer, numpy encoder, length-sorted batches, one thread a core."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kb.index.embedding.bert import BertEncoder
from kb.index.embedding.protocol import FloatArray, TokenIds

# About four passages: more fall out of the cache, fewer pay Python's overhead more often.
_BATCH_TOKENS = 1024
_TOKENIZE_AT_ONCE = 256


class Tokenizer(Protocol):
    """Texts to token ids, cut at the model's limit."""

    def encode(self, texts: Sequence[str]) -> list[TokenIds]: ...


class WordPieceTokenizer:
    """A tokenizer that is small enough to be read whole from its ``tokenizer.json``."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        from tokenizers import Tokenizer as RustTokenizer

        self._tokenizer: Any = RustTokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)

    def encode(self, texts: Sequence[str]) -> list[TokenIds]:
        """Token ids of each text, ``int64 [token]``."""
        return [np.array(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]


class TorchFreeEngine:
    """A tokenizer and an encoder; ``encode`` gives the same vectors whatever the order or number of texts."""

    def __init__(self, tokenizer: Tokenizer, encoder: BertEncoder) -> None:
        self._tokenizer = tokenizer
        self._encoder = encoder

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors ``float32 [text, dimension]``."""
        sequences: list[TokenIds] = []
        for first in range(0, len(texts), _TOKENIZE_AT_ONCE):
            sequences += self._tokenizer.encode(texts[first : first + _TOKENIZE_AT_ONCE])
        batches = _batches(sequences)
        parts = self._encode_batches([[sequences[at] for at in batch] for batch in batches])
        vectors = np.empty((len(texts), parts[0].shape[1]), np.float32)
        vectors[np.concatenate(batches)] = np.concatenate(parts)
        return vectors

    def _encode_batches(self, batches: list[list[TokenIds]]) -> list[FloatArray]:
        threads = min(_cores(), len(batches))
        if threads == 1:
            return [self._encoder.encode(batch) for batch in batches]
        from threadpoolctl import threadpool_limits

        # Whole batches side by side beat one batch on all cores: what is not a matrix product runs in parallel too.
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self._encoder.encode, batches))


def _batches(sequences: list[TokenIds]) -> list[list[int]]:
    """Positions of the sequences, longest first (so that no long one is left alone at the end), in batches."""
    batches: list[list[int]] = []
    room = 0
    for at in sorted(range(len(sequences)), key=lambda at: -len(sequences[at])):
        if room < len(sequences[at]):
            batches.append([])
            room = max(_BATCH_TOKENS, len(sequences[at]))
        batches[-1].append(at)
        room -= len(sequences[at])
    return batches


def _cores() -> int:
    """Cores that this process may use; ``OMP_NUM_THREADS`` is honoured, as worker processes are told with it."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdigit() and int(told) > 0:
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

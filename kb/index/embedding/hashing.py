"""An embedder without a model, for tests and dry runs: hashed English words and Chinese bigrams."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from kb.index.embedding.protocol import EmbedderIdentity, FloatArray

_DIMENSION = 256
_TOKENS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")


class HashingEmbedder:
    """Deterministic on every machine; texts that share words or bigrams point the same way."""

    identity = EmbedderIdentity(name="hashing", revision="1", dimension=_DIMENSION, max_tokens=1_000_000)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [passage, 256]``, length 1; all texts without a token share one direction."""
        import numpy as np

        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in enumerate(texts):
            for token, count in Counter(_tokens(text)).items():
                digest = hashlib.blake2b(token.encode("utf-8"), digest_size=2).digest()
                vectors[row, digest[0]] += count**0.5 if digest[1] & 1 else -(count**0.5)
        # Tokens of opposite sign in one place can cancel out; the store takes no zero vector.
        vectors[~vectors.any(axis=1), 0] = 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        """As passages: there is no prefix."""
        return self.embed_passages(texts)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for run in _TOKENS.findall(text.lower()):
        if run[0].isascii() or len(run) == 1:
            found.append(run)
        else:
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
    return found

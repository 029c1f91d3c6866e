"""What an embedder is, and what of it goes into the fingerprint of an index recipe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float32]
    TokenIds: TypeAlias = npt.NDArray[np.int64]
else:
    FloatArray = TokenIds = Any


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Two embedders with equal identities write into the same vector space.

    ``revision`` names the exact weights (and, where kb makes the tokenizer, its version): a digest or a commit.
    Prefixes are put before each text; texts longer than ``max_tokens`` are cut by the model's tokenizer.
    """

    name: str
    revision: str
    dimension: int
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any field."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


class Embedder(Protocol):
    """Text to vectors of length 1. Loading is lazy: the identity alone costs no weights."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [passage, dimension]``. Raises KbError when the model cannot be loaded."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [query, dimension]``. Raises KbError when the model cannot be loaded."""
        ...


def with_prefix(prefix: str, texts: Sequence[str]) -> list[str]:
    """The texts as every engine gets them: lone surrogates replaced (no tokenizer takes them), ends stripped.

    Some releases of sentence-transformers strip and some do not, so that it has to happen before them.
    """
    return [prefix + text.encode("utf-8", "replace").decode("utf-8").strip() for text in texts]

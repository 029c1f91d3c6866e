"""The passages of one paper that may answer a column: its queries asked of the index, one ranking out of all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.index.filters import Filters
from kb.index.reader import Index
from kb.library import TEXT_NAME, Paper
from kb.model import Kind, Passage
from kb.search.glossary import Glossary
from kb.search.hybrid import RRF_K, search
from kb.search.tokens import has_han
from kb.search.translate import translate

if TYPE_CHECKING:
    from kb.index.embedding.protocol import Embedder, EmbedderIdentity, FloatArray

_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Found:
    """A passage and how well it fits the queries of a column, 1 for the best."""

    passage: Passage
    fit: float


class RememberedQueries:
    """An embedder that embeds each question once, and those known ``ahead`` in one go: they are the same for every paper."""

    def __init__(self, embedder: Embedder, ahead: Iterable[str], glossary: Glossary) -> None:
        self._embedder = embedder
        self._ahead = tuple(ahead)
        self._glossary = glossary
        self._known: dict[str, FloatArray] = {}

    @property
    def identity(self) -> EmbedderIdentity:
        return self._embedder.identity

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np

        if not self._known:
            self._learn([part for query in self._ahead for part in self._parts(query)])
        self._learn(texts)
        return np.stack([self._known[text] for text in texts])

    def _parts(self, query: str) -> list[str]:
        """What a search embeds for a query: a Chinese one goes out translated, too."""
        found = translate(query, self._glossary) if has_han(query) else None
        return [query] if found is None or not found.terms else [found.text, found.variants, query]

    def _learn(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, self._embedder.embed_queries(new), strict=True)


class PaperSearch:
    """Asks one paper. Where the embedding model cannot be used, keywords alone answer, and ``remark`` says so."""

    def __init__(self, index: Index, paper: Paper, glossary: Glossary, embedder: Embedder | None) -> None:
        self._index = index
        self._glossary = glossary
        self._embedder = embedder
        self._slug = paper.slug
        self.remark = ""

    def ask(self, queries: Sequence[str], kind: Kind) -> list[Found]:
        """Passages of this kind of the paper's own text, best first. What its record says is not its text."""
        total: dict[str, float] = {}
        passages: dict[str, Passage] = {}
        for query in queries:
            for rank, passage in enumerate(self._one(query, kind), start=1):
                passages[passage.id] = passage
                total[passage.id] = total.get(passage.id, 0.0) + 1.0 / (RRF_K + rank)
        best = max(total.values(), default=1.0)
        ranked = sorted(total.items(), key=lambda item: (-item[1], item[0]))
        return [Found(passages[key], score / best) for key, score in ranked]

    def _one(self, query: str, kind: Kind) -> list[Passage]:
        filters = Filters(papers=(self._slug,), kinds=(kind,))
        try:
            answer = search(self._index, query, self._glossary, self._embedder, filters, most=_DEPTH)
        except KbError as error:
            if self._embedder is None:
                raise
            self._embedder = None
            self.remark = f"keywords alone were used: {error.message}"
            return self._one(query, kind)
        return [hit.passage for hit in answer.hits if is_own_text(hit.passage)]


def is_own_text(passage: Passage) -> bool:
    """Whether a passage is the paper's own: its text, or the abstract that arXiv has of it, without its references."""
    own = passage.path.endswith((f"/{TEXT_NAME}", "/metadata.json"))
    return own and passage.section_kind != "references" and passage.heading != ("Notes",)


def check_indexed(index: Index, paper: Paper) -> None:
    """Raise KbError when the index does not hold the paper's text as it is now."""
    states = index.files().get(paper.slug, {})
    own = [path for path in states if path.endswith((f"/{TEXT_NAME}", "/metadata.json"))]
    text = paper.text_path
    if text is None:
        if not own:
            raise KbError(
                f"{paper.slug} has a record but no text to draft from", f"kb ingest {paper.arxiv_id or 'FILE.pdf'}"
            )
        return
    state = next((states[path] for path in own if path.endswith(f"/{TEXT_NAME}")), None)
    if state is None or state.sha256 != hashlib.sha256(text.read_bytes()).hexdigest():
        raise KbError(f"the text of {paper.slug} is not in the index as it is now", "kb index, then draft again")

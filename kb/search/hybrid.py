"""A question to ranked passages: keywords and vectors, each in the language of the passages, fused by rank.

Chinese questions are translated term by term for English passages; how much that does and why the lists are fused as
they are stands in ``notes/decisions/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.index.filters import Filters
from kb.index.reader import Index, any_of
from kb.model import Kind, Passage
from kb.search.glossary import Glossary
from kb.search.tokens import has_han, query_tokens
from kb.search.translate import Translation, translate, translate_to_chinese

if TYPE_CHECKING:
    from kb.index.embedding.protocol import Embedder

RRF_K = 20
KEYWORD_WEIGHT = 1.3
DEPTH = 100
# Below these a ranking holds nothing that answers the question: measured on questions about other subjects.
LEAST_COVERAGE = 0.34
LEAST_COSINE = 0.83


@dataclass(frozen=True, slots=True)
class Scores:
    """Why a passage stands where it stands: its place and score in each list, 0 for a list that lacks it."""

    fused: float
    keyword_rank: int = 0
    keyword: float = 0.0
    dense_rank: int = 0
    dense: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and its scores."""

    passage: Passage
    scores: Scores


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question found. ``is_good`` is False when nothing found has much to do with it."""

    question: str
    translation: Translation
    hits: tuple[Hit, ...]
    terms: tuple[str, ...]
    is_good: bool
    remarks: tuple[str, ...] = field(default=())


def search(
    index: Index,
    question: str,
    glossary: Glossary,
    embedder: Embedder | None,
    filters: Filters | None = None,
    most: int = 30,
) -> Answer:
    """The best passages for a question. Without ``embedder`` only keywords are used."""
    filters = filters or Filters()
    translation = translate(question, glossary) if has_han(question) else translate_to_chinese(question, glossary)
    own = query_tokens(question)
    # Repeats are meant: FTS5 counts a token as often as it is asked for.
    tokens = [*own, *translation.keyword_tokens()] if translation.terms else own
    keyword = index.keyword(any_of(tokens), DEPTH, filters) if tokens else []
    dense = _dense(index, question, translation, embedder, filters) if embedder is not None else []
    # Twice as many: of a fact that is told in both languages one telling is left out.
    ranked = fuse(keyword, dense)[: 2 * max(most, 1)]
    passages = {passage.id: passage for passage in index.passages([identifier for identifier, _ in ranked])}
    found = [Hit(passages[identifier], scores) for identifier, scores in ranked if identifier in passages]
    hits = tuple(_told_once(found)[: max(most, 1)])
    good = _is_good(hits, translation, own, bool(dense))
    return Answer(question, translation, hits, tuple(dict.fromkeys(tokens)), good, tuple(index.remarks))


Ranking = Sequence[tuple[str, float]]


def fuse(keyword: Ranking, dense: Sequence[Ranking]) -> list[tuple[str, Scores]]:
    """Reciprocal rank fusion of rankings (``(id, score)``, best first). Ties go to the id, so order is fixed.

    The dense rankings share one weight, the keyword ranking has a little more; ``Scores`` shows the best of them.
    """
    fused: dict[str, float] = {}
    words = {identifier: (rank, score) for rank, (identifier, score) in enumerate(keyword, start=1)}
    near: dict[str, tuple[int, float]] = {}
    for ranking in dense:
        for rank, (identifier, score) in enumerate(ranking, start=1):
            near[identifier] = min(near.get(identifier, (rank, score)), (rank, score), key=lambda place: place[0])
            fused[identifier] = fused.get(identifier, 0.0) + 1.0 / len(dense) / (RRF_K + rank)
    for identifier, (rank, _) in words.items():
        fused[identifier] = fused.get(identifier, 0.0) + KEYWORD_WEIGHT / (RRF_K + rank)
    none = (0, 0.0)
    scored = [(key, Scores(total, *words.get(key, none), *near.get(key, none))) for key, total in fused.items()]
    return sorted(scored, key=lambda item: (-item[1].fused, item[0]))


def _told_once(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without a fact's second telling in the other language: the better placed one stays."""
    told: dict[tuple[str, tuple[int, int]], str] = {}
    kept = []
    for hit in hits:
        passage = hit.passage
        if passage.kind is Kind.FACT:
            first = told.setdefault((passage.path, passage.span), passage.language)
            if first != passage.language:
                continue
        kept.append(hit)
    return kept


def _dense(
    index: Index, question: str, translation: Translation, embedder: Embedder, filters: Filters
) -> list[Ranking]:
    """Nearest passages: the question as it is for passages in its language, translated for the others.

    A Chinese question put to English passages untranslated drags good rankings down, so it is not. Its translation is
    put twice, once with the usual terms and once with all of them: a term's other forms find what the usual one misses.
    """
    allowed = index.allowed(filters)
    if not translation.has_han or not translation.terms:
        return [index.dense(embedder.embed_queries([question])[0], DEPTH, allowed)]
    vectors = embedder.embed_queries([translation.text, translation.variants, question])
    usual, all_forms, chinese = (index.dense(vector, DEPTH, allowed) for vector in vectors)
    languages = {p.id: p.language for p in index.passages([key for key, _ in [*usual, *all_forms, *chinese]])}
    own = [(key, score) for key, score in chinese if languages.get(key) == "zh"]
    rankings: list[Ranking] = []
    for english in (usual, all_forms):
        kept = [(key, score) for key, score in english if languages.get(key) != "zh"]
        rankings.append(sorted(kept + own, key=lambda item: (-item[1], item[0]))[:DEPTH])
    return rankings


def _is_good(hits: Sequence[Hit], translation: Translation, own: Sequence[str], has_vectors: bool) -> bool:
    """Whether the best passages share enough of the question's terms, or lie close enough to it."""
    if not hits:
        return False
    if has_vectors and max(hit.scores.dense for hit in hits) >= LEAST_COSINE + 0.04:
        return True
    covered = max(_coverage(hit.passage, translation, own) for hit in hits[:5])
    near = max(hit.scores.dense for hit in hits) >= LEAST_COSINE if has_vectors else True
    return covered >= LEAST_COVERAGE and near


def _coverage(passage: Passage, translation: Translation, own: Sequence[str]) -> float:
    """The share of the question's terms that a passage holds, in either language."""
    held = set(query_tokens(f"{passage.title} {' '.join(passage.heading)} {passage.text}"))
    concepts = [set(query_tokens(" ".join((term, *forms)))) for term, forms in translation.terms]
    concepts += [{token} for token in own if not any(token in concept for concept in concepts)]
    if not concepts:
        return 0.0
    return sum(bool(concept & held) for concept in concepts) / len(concepts)

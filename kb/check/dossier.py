"""Everything that is known of one paper, as pieces of evidence: its record, what was recorded about notes, its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kb.check.concepts import Lexicon, Reading
from kb.check.values import RECORDED, Evidence
from kb.facts import NOT_CHECKED, NOT_STATED, Fact, NoteClaim, Record, Result, formulas
from kb.index.sentences import sentence_spans
from kb.model import Kind, Passage
from kb.search.tokens import query_tokens

if TYPE_CHECKING:
    from kb.index.embedding.protocol import Embedder
    from kb.index.filters import Filters
    from kb.index.reader import Index

_MOST_PASSAGES = 40
_SHOWN = 220


@dataclass(frozen=True)
class Dossier:
    """One paper's evidence. Without an index the paper's own text is not looked at."""

    record: Record
    lexicon: Lexicon
    index: Index | None = None
    embedder: Embedder | None = None
    names: frozenset[str] = field(default=frozenset())

    @property
    def slug(self) -> str:
        return self.record.paper.slug

    @property
    def has_text(self) -> bool:
        """Whether the paper's own text can be looked at."""
        return self.index is not None and self.record.paper.text_path is not None

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """The facts that say something: drafts, and cells that nobody filled, are no evidence."""
        empty = (NOT_CHECKED, NOT_STATED)
        return {
            column: fact
            for column, fact in self.record.facts.items()
            if fact.level != "draft" and fact.value("en") not in empty
        }

    @cached_property
    def pieces(self) -> tuple[Evidence, ...]:
        """The record in pieces: facts, results, corrections of notes, sentences of the summary."""
        found = [fact_evidence(fact) for fact in self.facts.values()]
        found += [result_evidence(row) for row in self.record.results]
        found += [claim_evidence(claim) for claim in self.record.claims if claim.verdict != "unverified"]
        body = self.record.paper.body
        for start, stop in sentence_spans(body):
            sentence = " ".join(body[start:stop].split())
            if sentence and "$$" not in sentence and not sentence.startswith("#"):
                found.append(Evidence(sentence, "summary", "secondary"))
        return tuple(found)

    @cached_property
    def firm(self) -> tuple[Evidence, ...]:
        """The pieces that somebody read in the paper or its code, without what is said against a note.

        A correction of a wrong statement may repeat its wrong number; that of a confirmed one only says more.
        """
        found = [fact_evidence(fact) for fact in self.facts.values()]
        found += [result_evidence(row) for row in self.record.results]
        found += [claim_evidence(claim) for claim in self.record.claims if claim.verdict == "confirmed"]
        return tuple(piece for piece in found if piece.is_firm)

    @cached_property
    def equations(self) -> list[tuple[Evidence, str]]:
        """The formulas of the record, and of the paper's text where that was ingested, as LaTeX."""
        fact = self.facts.get("formula")
        # A formula below the record's text says in words where it was read; its cell says it by level.
        level = fact.level if fact else "unverified"
        found = [(Evidence(_flat(latex), "record, formulas", level), latex) for latex in formulas(self.record.paper)]
        if fact is not None:
            found.append((fact_evidence(fact), fact.value("en").strip("$")))
        if self.index is not None:
            rows = self.index.equations(_filters(self.slug, (Kind.EQUATION,)))
            passages = {passage.id: passage for passage in self.index.passages([key for key, _ in rows])}
            for key, latex in rows:
                if key in passages and "paper.md" not in passages[key].path:
                    found.append((Evidence(_flat(latex), place_of(passages[key])), latex))
        return found

    def read(self, text: str) -> Reading:
        """A text's concepts without the paper's own names."""
        return self.lexicon.read(text).without(self.names)

    def passages(self, words: Iterable[str]) -> list[Passage]:
        """Passages of the paper's text that hold one of these words, best first; none without an index."""
        tokens = list(dict.fromkeys(token for word in words for token in query_tokens(word)))
        if self.index is None or not tokens:
            return []
        from kb.index.reader import any_of

        hits = self.index.keyword(any_of(tokens), _MOST_PASSAGES, _filters(self.slug, ()))
        found = self.index.passages([key for key, _ in hits])
        return [passage for passage in found if passage.kind != Kind.FACT and not passage.path.endswith("paper.md")]

    def about(self, question: str) -> list[Passage]:
        """The passages of the paper's text that are nearest to a sentence in either language."""
        if self.index is None:
            return []
        from kb.search.hybrid import search

        answer = search(
            self.index, question, self.lexicon.glossary, self.embedder, _filters(self.slug, (Kind.PROSE,)), most=8
        )
        return [hit.passage for hit in answer.hits if answer.is_good and not hit.passage.path.endswith("paper.md")]


def fact_evidence(fact: Fact) -> Evidence:
    """A fact as evidence: both languages, because a note may be in either."""
    text = " / ".join(dict.fromkeys(fact.text.values()))
    return Evidence(text, f"fact {fact.column} ({fact.evidence})", fact.level)


def result_evidence(row: Result) -> Evidence:
    """A headline number as one line."""
    value = f"{row.value:g}{row.unit}" if isinstance(row.value, int | float) else str(row.value)
    base = "" if row.baseline_value is None else f", {row.baseline} {row.baseline_value}{row.unit}"
    if row.baseline and row.baseline_value is None:
        base = f", over {row.baseline}"
    return Evidence(
        f"{row.benchmark}, {row.model}, {row.metric}: {value}{base}", f"results ({row.evidence})", row.level
    )


def claim_evidence(claim: NoteClaim) -> Evidence:
    """What the sources say about a note's statement."""
    text = " / ".join(dict.fromkeys(claim.correction.values()))
    return Evidence(text, f"{RECORDED} ({claim.evidence})", claim.level)


def place_of(passage: Passage) -> str:
    """Section and page of a passage."""
    section = " > ".join(part for part in passage.heading if part)
    page = f"p. {passage.page}" if passage.page else ""
    return ", ".join(part for part in (section, page) if part) or passage.path


def passage_evidence(passage: Passage, at: int = 0) -> Evidence:
    """A passage as evidence, cut to the part around a place in it."""
    text = _flat(passage.text)
    start = max(0, min(at, len(passage.text)) - _SHOWN // 2)
    shown = _flat(passage.text[start : start + _SHOWN])
    return Evidence(shown if len(text) > _SHOWN else text, place_of(passage), "paper")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _filters(slug: str, kinds: tuple[Kind, ...]) -> Filters:
    from kb.index.filters import Filters

    return Filters(papers=(slug,), kinds=kinds)

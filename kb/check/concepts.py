"""Texts as concepts, so that a Chinese sentence and an English one can be compared: terms with their translations,
names, numbers, and whether each is denied.

A concept is held by a text that has one of its wordings with all their words; no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from kb.search.glossary import Glossary
from kb.search.tokens import has_han, is_stop_stem, normalize, query_tokens
from kb.search.translate import translate

_BREAK = re.compile(r" / |[，,。；;：:！!？?（()）、|│\n]|\bbut\b|而是|但是?|不过")
_NEGATOR = re.compile(
    r"无需|无须|不需要?|不用|没有?|并非|而非|不(?!同|断|仅|只|过|错|管|论|一样|够|少|妨|如|对称|确定|是很)|"
    r"无(?!偏|穷|限|论|疑)|去掉了?|去除|消除了?|摆脱|免去|未(?!来|必)|"
    r"\b(?:no(?!\.)|not(?! only)|without|never|neither|nor|drops?|removes?|eliminates?)\b|n't\b",
    re.IGNORECASE,
)
_PASSIVE_NO = re.compile(r"\b(?:is|are|was|were) not\b|\b(?:is|are)n't\b|-free\b", re.IGNORECASE)
_LATIN = re.compile(r"[A-Za-z0-9]+(?:[-./_+@][A-Za-z0-9]+)*")
_INDEXED = re.compile(
    r"(\\?[A-Za-z]+)\s*[\^_]\s*\{?\s*(?:\\(?:text|mathrm)\s*)?\{?\s*([A-Za-z]+)\s*\}?\s*(?:\}|(?=[^A-Za-z}]|$))"
)
_HARD = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing a text speaks of: its wordings (each a set of tokens, all needed). ``hard`` ones hold a digit."""

    surface: str
    wordings: tuple[frozenset[str], ...]
    negated: bool = False

    @property
    def hard(self) -> bool:
        return bool(_HARD.search(self.surface))

    def held_by(self, tokens: Collection[str]) -> bool:
        return any(wording <= tokens for wording in self.wordings if isinstance(tokens, set | frozenset))


@dataclass(frozen=True)
class Reading:
    """A text's concepts, and the tokens that it affirms and denies."""

    concepts: tuple[Concept, ...]
    affirmed: frozenset[str]
    denied: frozenset[str]

    @cached_property
    def tokens(self) -> frozenset[str]:
        return self.affirmed | self.denied

    def holds(self, concept: Concept) -> bool:
        """Whether the text speaks of the concept at all."""
        return concept.held_by(self.tokens)

    def agrees(self, concept: Concept) -> bool:
        """Whether the text denies the concept just where the concept was denied."""
        if concept.negated:
            return concept.held_by(self.denied)
        return concept.held_by(self.affirmed)

    def without(self, tokens: Collection[str]) -> Reading:
        """Without the concepts that are these words, such as a paper's own name."""
        kept = tuple(c for c in self.concepts if not any(wording <= set(tokens) for wording in c.wordings))
        return Reading(kept, self.affirmed, self.denied)


class Lexicon:
    """Reads texts by a glossary; what was read once is kept."""

    def __init__(self, glossary: Glossary) -> None:
        self.glossary = glossary
        self._known: dict[str, Reading] = {}

    def read(self, text: str) -> Reading:
        """The concepts of a text, in order, each once."""
        if text not in self._known:
            self._known[text] = self._read(text)
        return self._known[text]

    def _read(self, text: str) -> Reading:
        concepts: dict[str, Concept] = {}
        affirmed: set[str] = set()
        denied: set[str] = set()
        for part, negated in _parts(normalize(_INDEXED.sub(r" \1_\2 ", text))):
            found = list(self._concepts(part, negated))
            for concept in found:
                concepts.setdefault(concept.surface.casefold(), concept)
            tokens = set(query_tokens(part)).union(*(wording for concept in found for wording in concept.wordings))
            (denied if negated else affirmed).update(tokens)
        return Reading(tuple(concepts.values()), frozenset(affirmed), frozenset(denied))

    def _concepts(self, part: str, negated: bool) -> Iterator[Concept]:
        if has_han(part):
            translation = translate(part, self.glossary)
            for term, forms in translation.terms:
                wordings = [frozenset(query_tokens(form)) for form in (term, *forms)]
                yield Concept(term, tuple(wording for wording in wordings if wording), negated)
            for word in translation.untranslated:
                yield Concept(word, (frozenset(query_tokens(word)),), negated)
        for match in _LATIN.finditer(part):
            tokens = query_tokens(match[0])
            if len(tokens) == 1 and is_stop_stem(tokens[0]):
                continue
            whole, pieces = frozenset(tokens[:1]), frozenset(tokens[1:])
            # The letters of a symbol with an index say nothing one by one.
            split = bool(pieces) and "_" not in match[0]
            yield Concept(match[0], (whole, pieces) if split else (whole,), negated)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Clauses cut at their negator: what stands behind it is denied."""
    at = 0
    for match in [*_BREAK.finditer(text), None]:
        clause = text[at : match.start() if match else len(text)]
        at = match.end() if match else at
        if _PASSIVE_NO.search(clause):
            yield clause, True
            continue
        negator = _NEGATOR.search(clause)
        if negator is None:
            yield clause, False
        else:
            yield clause[: negator.start()], False
            yield clause[negator.end() :], True


def cover(wanted: Reading, held: Reading) -> float:
    """The share of the wanted concepts that a text speaks of, 0 to 1; 0 when nothing is wanted."""
    if not wanted.concepts:
        return 0.0
    return sum(held.holds(concept) for concept in wanted.concepts) / len(wanted.concepts)

"""Sentences of a paper, scored for a column. The score orders candidates; it is no probability."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb.drafting.columns import DraftColumn
from kb.drafting.passages import Found
from kb.drafting.sentences import LONGEST, Sentence, clean, sentences
from kb.index.sentences import language_of
from kb.model import Passage
from kb.search.tokens import query_tokens
from kb.sections import section_kind

FIT_WEIGHT = 0.2
POINTS_BACK = 0.25
LEADS_NOWHERE = 0.2
SAME_SECTION = 0.08
_ALIKE = 0.6
# Where a paper stops telling what is known and says what it does itself.
_TURN = re.compile(
    r"\b(?:in this (?:paper|work|article|study|report)|this (?:paper|work|article|report) (?:\w+ )?(?:propos|introduc|present|describ|develop)"
    r"|(?:here,? )?we (?:\w+ ){0,2}(?:propos|introduc|present|develop|describ|demonstrat|measure|explor|adapt|show|study|investigat))"
    r"|我们(?:\w{0,4})提出|本文", re.IGNORECASE)  # fmt: skip
_HEADING_NUMBER = re.compile(r"^(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+")
_OUTER_KINDS = ("intro", "related", "conclusion", "appendix")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed value: its words, the passage it stands in, where a reader finds it, and its score (higher is better)."""

    text: str
    language: str
    evidence: str
    passage: str
    score: float
    section_kind: str = "other"


@dataclass(frozen=True, slots=True)
class Reading:
    """One paper as it is read for one column: its names for its own method, and where it turns to its own work."""

    column: DraftColumn
    names: re.Pattern[str] | None
    version: str
    turns: dict[str, tuple[int, int]]

    def passage_score(self, found: Found) -> float:
        """What every sentence of a passage starts from."""
        sections = self.column.sections
        return FIT_WEIGHT * found.fit + sections.get(kind_of(found.passage), self.column.elsewhere)

    def sentence_score(self, sentence: Sentence, passage: Passage) -> float:
        """What a sentence adds for itself."""
        column, text = self.column, sentence.text
        score = sum(weight for weight, cue in column.cues if cue.search(text)) + column.early / (1 + sentence.place)
        if self.names is not None and self.names.search(text):
            score += column.own
        turn = self.turns.get(kind_of(passage))
        if turn is not None:
            score += column.before if (passage.span[0], sentence.place) < turn else -column.before
        return score


def from_sentences(
    column: DraftColumn, found: Sequence[Found], names: re.Pattern[str] | None, version: str
) -> list[Candidate]:
    """The sentences of these passages that may answer the column, unsorted."""
    by_passage = {hit.passage.id: sentences(hit.passage.text) for hit in found}
    reading = Reading(column, names, version, _turns([hit.passage for hit in found], by_passage))
    made = [
        _candidate(reading, sentence, hit.passage, reading.passage_score(hit))
        for hit in found
        for sentence in by_passage[hit.passage.id]
    ]
    return [candidate for candidate in made if candidate is not None]


def _turns(passages: Sequence[Passage], by_passage: dict[str, tuple[Sentence, ...]]) -> dict[str, tuple[int, int]]:
    """For the abstract and the introduction, the place of the first sentence that says what this paper does."""
    found: dict[str, tuple[int, int]] = {}
    for passage in passages:
        kind = kind_of(passage)
        if kind in ("abstract", "intro"):
            for sentence in by_passage[passage.id]:
                if _TURN.search(sentence.text):
                    place = (passage.span[0], sentence.place)
                    found[kind] = min(found.get(kind, place), place)
                    break
    return found


def _candidate(reading: Reading, sentence: Sentence, passage: Passage, base: float) -> Candidate | None:
    column, text = reading.column, sentence.text
    if column.need is not None and not column.need.search(text):
        return None
    score = base + reading.sentence_score(sentence, passage)
    match = column.value.search(text) if column.value is not None else None
    if match is not None:
        shown = match[match.lastindex or 0].strip()
    else:
        shown = _window(column, sentence)
        if sentence.points_back and shown.startswith(text):
            score -= POINTS_BACK
        if shown.endswith((":", "：")):
            score -= LEADS_NOWHERE
    if score < column.least:
        return None
    return Candidate(shown, language(shown), place_of(passage, reading.version), passage.id, score, kind_of(passage))


def kind_of(passage: Passage) -> str:
    """The kind of a passage's section: a part of the introduction, say, belongs to the introduction, but what is headed as
    limitations is that wherever it stands."""
    kinds = [section_kind(_HEADING_NUMBER.sub("", heading)) for heading in passage.heading]
    if "limitations" in kinds:
        return "limitations"
    outer = section_kind(passage.heading[0]) if len(kinds) > 1 else "other"
    return outer if outer in _OUTER_KINDS else passage.section_kind


def _window(column: DraftColumn, sentence: Sentence) -> str:
    """The sentence with the one before it where it points back, and the one after it where it only leads on."""
    text = sentence.text
    if sentence.points_back and sentence.before and len(sentence.before) + len(text) < LONGEST:
        text = f"{clean(sentence.before)} {text}"
    is_lead = column.leads is not None and column.leads.search(sentence.text)
    room = LONGEST if is_lead else column.follow
    if sentence.after and len(text) + len(sentence.after) < room:
        text = f"{text} {sentence.after}"
    return text


def best(candidates: Iterable[Candidate], most: int) -> list[Candidate]:
    """The best of them, none like another; a second one out of the same kind of section has to be better."""
    left = list(candidates)
    chosen: list[Candidate] = []
    shown: list[set[str]] = []
    while left and len(chosen) < most:
        kinds = {candidate.section_kind for candidate in chosen}
        top = max(left, key=lambda c: (c.score - SAME_SECTION * (c.section_kind in kinds), -len(c.text), c.text))
        left.remove(top)
        words = set(query_tokens(top.text))
        if not any(_alike(words, other) for other in shown):
            chosen.append(top)
            shown.append(words)
    return chosen


def _alike(one: set[str], other: set[str]) -> bool:
    smaller = min(len(one), len(other))
    return smaller > 0 and len(one & other) / smaller > _ALIKE


def place_of(passage: Passage, version: str) -> str:
    """Where a reader finds a passage: version, section or abstract, page."""
    parts = [version, _section(passage), f"p. {passage.page}" if passage.page else ""]
    return ", ".join(part for part in parts if part)


def _section(passage: Passage) -> str:
    if passage.section_kind == "abstract":
        return "abstract"
    heading = passage.heading[-1] if passage.heading else ""
    number = re.match(r"((?:[A-Z]|\d+)(?:\.\d+)*)\s", heading)
    if number:
        return f"{'appendix' if number[1][0].isalpha() else 'section'} {number[1]}"
    return f"section {heading}" if heading else ""


def fingerprint(text: str) -> str:
    """What a proposal is known again by: its words, whatever becomes of spaces and punctuation."""
    return hashlib.sha256(" ".join(query_tokens(text)).encode("utf-8", "replace")).hexdigest()[:12]


def language(text: str) -> str:
    """The key that a value of this text has in a record."""
    return "zh" if language_of(text) == "zh" else "en"

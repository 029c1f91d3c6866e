"""The sentences of a passage that may stand alone as the value of a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kb.index.sentences import sentence_spans
from kb.search.tokens import HAN

LONGEST = 420
_SHORTEST_WORDS, _SHORTEST_HAN = 5, 8
_MOST_CAPITALS = 0.6  # of the words; a line of names and institutes has more

_CITATION = re.compile(
    r"\s?\[@[^\]]+\]|\s?\[\d+(?:\s*[,–-]\s*\d+)*\]"
    r"|\s?\[[A-Z][^\[\]]{0,200}?\b(?:19|20)\d\d[a-z]?(?:[,;][^\[\]]*)?\]"
    r"|\s?\((?:(?:see|e\.g\.,?|cf\.)\s*)?[^()]{0,200}?\b(?:19|20)\d\d[a-z]?(?:[,;][^()]*)?\)"
)
_BULLET = re.compile(r"^(?:[•◦▪*–-]|\(?[ivx\d]{1,4}[.)])\s+")
_WORD = re.compile(r"[A-Za-z]{2,}")
_HAN_CHAR = re.compile(f"[{HAN}]")
# Prose has small words; lists of authors, formulas in glyphs and rows of a table have none.
_GLUE = re.compile(r"\b(?:the|a|an|of|to|in|is|are|we|that|and|for|with|our|this|on|by|as|can)\b", re.IGNORECASE)
_NOT_PROSE = re.compile(
    r"@\w|^\s*(?:figure|table|proof|lemma|theorem|proceedings|copyright)\b|\bet al\.$", re.IGNORECASE
)
_POINTS_BACK = re.compile(
    r"(?:it|its|they|their|them|these|those|such|that|here|he|she|doing so|this (?!paper|work|article|report|study|section|survey)\w+|"
    r"(?:to|for|due to|because of|given|despite) (?:this|these|that)|both (?:of|approaches|methods)|the (?:former|latter)|another|"
    r"one (?:of them|such)|(?:we|future)\b.{0,60}\bthis(?! (?:paper|work))|其|它|它们|该|这|这种|此)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it can be shown: on one line, without citations. ``place`` is 0 for the first of its passage."""

    text: str
    place: int
    before: str = ""
    after: str = ""

    @property
    def points_back(self) -> bool:
        """Whether it says ``it`` or ``this`` of something that stands before it."""
        return _POINTS_BACK.match(self.text) is not None


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a passage's text that read as prose, in order, each with its neighbours in the same paragraph."""
    found = []
    place = 0
    for paragraph in text.split("\n\n"):
        joined = re.sub(r"\s*\n\s*", " ", paragraph)
        shown = [clean(joined[start:stop]) for start, stop in sentence_spans(joined)]
        prose = [is_prose(part) for part in shown]
        for at, part in enumerate(shown):
            if prose[at]:
                before = shown[at - 1] if at else ""
                after = shown[at + 1] if at + 1 < len(shown) and prose[at + 1] else ""
                found.append(Sentence(part, place, before, after))
            place += 1
    return tuple(found)


def clean(text: str) -> str:
    """Without citations, bullets and line breaks."""
    bare = _CITATION.sub("", " ".join(text.split()))
    return re.sub(r"\s+([,.;:)])", r"\1", _BULLET.sub("", bare)).strip()


def is_prose(text: str) -> bool:
    """Whether a text is a sentence of words, in English or Chinese, of a length that fits a cell."""
    if len(text) > LONGEST or _NOT_PROSE.search(text):
        return False
    if len(_HAN_CHAR.findall(text)) >= _SHORTEST_HAN:
        return True
    words = _WORD.findall(text)
    letters, capitals = sum(map(len, words)), sum(word[0].isupper() for word in words)
    if len(words) < _SHORTEST_WORDS or capitals > _MOST_CAPITALS * len(words):
        return False
    return len(_GLUE.findall(text)) > len(words) / 10 and letters > 0.6 * len(text.replace(" ", ""))

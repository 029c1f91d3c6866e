"""From lines to running text: ligatures, broken words and addresses, Chinese lines, letters set apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from kb.ingest.pdf_lines import Line, Page

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00ad": "", "\u00a0": " "}
)
# Where a font of TeX has no map to Unicode, its ligatures come out as their places in the OT1 and T1 encodings.
_RAW_LIGATURE = re.compile(r"(?<=[A-Za-z ])[\x0b-\x0f\x1b-\x1f](?=[a-z ])|^[\x0c\x0d\x1c\x1d](?=[a-z])")
_RAW_LETTERS = dict(zip("\x0b\x0c\x0d\x0e\x0f\x1b\x1c\x1d\x1e\x1f", "ff fi fl ffi ffl".split(" ") * 2, strict=True))
_MATH_LETTER = re.compile("[\U0001d400-\U0001d7ff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_SPREAD = re.compile(r"\b(?:\w ){4,}\w\b")
_HAN = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")
_WIDE = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef]")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+(?=[^-\w])")
_HEAD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*$")
_TAIL = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|et al|cf|Figs?|Eqs?|Sec|Tab|vs|resp|Dr|Prof)|\b[A-Z])\.$")
_ADDRESS = re.compile(r"(?:https?://|www\.|doi\.org/)\S*$")


def clean(text: str) -> str:
    """Ligatures resolved, control characters and glyphs without a code dropped, letters set apart drawn together."""
    if text.isascii() and text.isprintable():
        return _SPREAD.sub(lambda match: match[0].replace(" ", ""), text) if " " in text[1:2] else text
    text = text.translate(_LIGATURES)
    if _MATH_LETTER.search(text):
        # Mathematical italics are letters with a look: 𝜋 is found as π.
        text = _MATH_LETTER.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    if _CONTROL.search(text):
        text = _RAW_LIGATURE.sub(lambda match: _RAW_LETTERS[match[0]], text)
        text = _CONTROL.sub("", text)
    return text


def is_han(char: str) -> bool:
    """Whether a character is Chinese or Japanese, its punctuation included."""
    return bool(_HAN.match(char))


def has_han(text: str) -> bool:
    """Whether a text has a Chinese or Japanese character."""
    return not text.isascii() and _HAN.search(text) is not None


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does: with a mark, closing quotes and brackets aside, and no abbreviation."""
    bare = text.rstrip("\"'”’)]）」")
    if not bare or bare[-1] not in ".?!:;。？！：；．":
        return False
    return bare[-1] != "." or not _ABBREVIATION.search(bare[-12:])


def text_width(text: str) -> int:
    """Characters, where a Chinese, Japanese or Korean one counts as two."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


class Joiner:
    """Joins lines into running text, guided by the words that stand unbroken elsewhere in the document."""

    def __init__(self, pages: Sequence[Page]) -> None:
        words: set[str] = set()
        for page in pages:
            # The halves of words that broke at a line's end are no words.
            words.update(page.text.lower().replace("-\n", "-\0").split())
        hyphenated = " ".join([word for word in words if "-" in word])
        self._compounds = set(_COMPOUND.findall(hyphenated + " "))
        self._words = words

    def join(self, lines: Sequence[Line]) -> str:
        """Lines as one stretch: broken words are mended, Chinese lines follow each other without a space."""
        text = ""
        for line in lines:
            part = clean(line.text).strip()
            if part:
                text = self.append(text, part) if text else part
        return text

    def append(self, text: str, part: str) -> str:
        """The text with one more line."""
        last, first = text[-1], part[0]
        if last in "-‐" and len(text) > 1:
            if _ADDRESS.search(text[-300:]):
                return text + part
            if text[-2].isalpha() and first.isalpha():
                return self._mend(text[:-1], part)
        if not last.isascii() and not first.isascii() and is_han(last) and is_han(first):
            return text + part
        if _is_broken_address(text, part):
            return text + part
        return f"{text} {part}"

    def _mend(self, text: str, part: str) -> str:
        """Join the halves of a word that broke at a hyphen; a compound keeps its hyphen."""
        head, tail = _HEAD.search(text[-60:]), _TAIL.match(part)
        if part[0].isupper() or head is None or tail is None:
            return f"{text}-{part}"
        first, second = head[0].lower(), tail[0].lower()
        whole = first + second
        if f"{first}-{second}" in self._compounds:
            return f"{text}-{part}"
        # Both halves are words here and the whole is not: sequence-aligned.
        halves = len(first) > 3 and len(second) > 2 and first in self._words and second in self._words
        return f"{text}-{part}" if halves and whole not in self._words else text + part


def _is_broken_address(text: str, part: str) -> bool:
    """Whether an address runs to the end of the text and goes on in the part."""
    if "/" not in text[-200:] or not (found := _ADDRESS.search(text[-300:])):
        return False
    first = part.split(" ", 1)[0]
    if found[0][-1] in "/_=?&#%~":
        return True
    return first[0] in "/.?&=_-" or bool(re.search(r"[/_=?&%]|\d[\w-]*\d{2}", first))

"""Whether the text layer of a PDF page can be believed: text, garbage from broken fonts, or a scan.

Thresholds are measured: ordinary papers have at most 4 % odd characters on their worst page, garbage at least 27 %.
"""

from __future__ import annotations

import re
import unicodedata

from kb.model import PageReport

ODD_SHARE = 0.10
VOWEL_SHARE = 0.60
FEW_LETTERS = 50
FEW_WORDS = 30
_WORD = re.compile(r"[A-Za-z]{3,}")
_VOICELESS = re.compile(r"(?<![A-Za-z])[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{3,}(?![A-Za-z])")
_ODD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")


def judge_page(number: int, text: str, image_share: float) -> PageReport:
    """The gate's word on one page. ``image_share`` is the part of the page that pictures cover, 0 to 1."""
    visible = len(text) - text.count(" ") - text.count("\n")
    odd = len(_ODD.findall(text))
    letters = sum(map(str.isalpha, text)) if visible < 4 * FEW_LETTERS else visible
    if letters < FEW_LETTERS and image_share > 0.5:
        return PageReport(number, "none", "scan: a picture of a page, no text")
    share = odd / visible if visible else 0.0
    voiceless = len(_VOICELESS.findall(text))
    if share <= ODD_SHARE and voiceless < (1 - VOWEL_SHARE) * FEW_WORDS:
        return PageReport(number, "good")
    words = _WORD.findall(text)
    voiced = 1 - voiceless / len(words) if words else 0.0
    # A page of formulas whose symbols have no code may still have all its words.
    allowed = 3 * ODD_SHARE if len(words) >= 80 and voiced > 0.85 else ODD_SHARE
    if share > allowed:
        return PageReport(number, "none", f"garbage: {share:.0%} of the characters cannot be read")
    if len(words) >= FEW_WORDS and voiced < VOWEL_SHARE and _is_latin(text):
        return PageReport(number, "none", f"garbage: only {voiced:.0%} of the words can be words")
    return PageReport(number, "good")


def _is_latin(text: str) -> bool:
    # Words of a Chinese or Arabic page that happen to be Latin are often abbreviations without vowels.
    sample = [char for char in text[:2000] if char.isalpha()]
    latin = sum(1 for char in sample if char.isascii() or unicodedata.name(char, "").startswith("LATIN"))
    return latin > 0.6 * len(sample)

"""Words of a text as the keyword index holds them: English stems, Han bigrams, ids, formula names.

Every token is lower-case letters and digits only, so that FTS5 keeps it whole under its ``ascii`` and ``unicode61``
tokenizers and no quoting is needed. A compound such as ``AT-GRPO``, ``Dr.MAS`` or ``leave-one-out`` gives itself
without punctuation and its parts, so that ``multi-agent``, ``multiagent`` and ``multi agent`` find each other.

Traditional characters stay as they are written.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff"
_WORD = rf"[^\W_{HAN}{_KANA}]"
# A run of Han or kana, or a word with its inner punctuation.
_PIECE = re.compile(rf"[{HAN}{_KANA}]+|{_WORD}+(?:[-./_+&@:\u2010-\u2015]{_WORD}+)*")
_HAS_HAN = re.compile(f"[{HAN}]")
_HAN_RUN = re.compile(f"[{HAN}{_KANA}]")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")

# Parts of a compound: Qwen2.5, v1.5 and an arXiv id with its version stay one part each.
_PART = re.compile(rf"{_WORD}*?\d+(?:\.\d+)+{_WORD}*|{_WORD}+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+(?:\.\d+)*")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s|[^\W\d_aeiouy]{3,}s")

_BRITISH_IZE = re.compile(r"(?<=..)(al|im|ar|er|ant|en|on|or|il|ic|iv|et|gan|gn)is(ations?|e[sdr]?|ers|ing)$")
_BRITISH_OUR = re.compile(r"\b(behavi|col|fav|flav|hon|hum|lab|neighb)our")

# Commands that only say how a formula looks; the others (\sigma, \sum, \log) are words that people look for.
_LATEX_STYLE = re.compile(
    r"\\(?:math|text|operatorname)[a-z]*\*?|\\(?:left|right|big|bigg|Big|Bigg|begin|end|quad|qquad|label|tag"
    r"|displaystyle|limits|nolimits|emph|bf|it|rm|cal|[dt]?frac|hat|bar|tilde|vec|overline|underline"
    r"|[lc]?dots)(?![A-Za-z])"
)
_LATEX_ACCENT = re.compile(r"\\['`^\"~=.]\s*\{?([A-Za-z])\}?")
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξπρσςτυφχψωΓΔΘΛΞΠΣΦΨΩϵϕϑ∇∂∑∞",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma sigma tau upsilon phi "
        "chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega epsilon phi theta nabla partial sum "
        "infty".split(),
        strict=True,
    )
)
# A letter alone is a symbol; a run of them is Greek prose.
_GREEK_SYMBOL = re.compile(r"(?<![\u0370-\u03ff])([\u0391-\u03f5∇∂∑∞])(?![\u0370-\u03ff])")

# Stems too common to choose between passages; left out of questions, never out of the index.
_STOP_STEMS = frozenset(
    "a about an and are as at be been but by can could did do doe for from had has have how if in into is it may of on "
    "or our over should so such than that the their them then there these they this those to under via was we were "
    "what when where whether which while who whi will with without would you your".split()
)


def has_han(text: str) -> bool:
    """Whether a Chinese character occurs in the text."""
    return _HAS_HAN.search(text) is not None


def index_text(text: str) -> str:
    """The tokens of a text, parted by spaces, for a column of the FTS5 table.

    A run of Han characters gives its bigrams and, after them, its characters: a question of one character (``熵``)
    finds it inside ``策略熵`` too.
    """
    tokens: list[str] = []
    for piece in _PIECE.findall(normalize(text)):
        tokens.extend(_index_tokens(piece))
    return " ".join(tokens)


def query_tokens(text: str) -> list[str]:
    """The tokens to look for, each once, in the order of the question; stop words only if nothing else is there."""
    found = dict.fromkeys(token for piece in _PIECE.findall(normalize(text)) for token in _query_tokens(piece))
    return [token for token in found if token not in _STOP_STEMS] or list(found)


def words(text: str) -> list[str]:
    """The words of a text that is not Chinese, compounds in their parts, in order and with repeats."""
    return [part for piece in _PIECE.findall(normalize(text)) for part in _PART.findall(piece)]


def word_stems(text: str) -> list[str]:
    """The stems of ``words``, to compare phrases."""
    return [stem(word) for word in words(text)]


def is_stop_stem(token: str) -> bool:
    """Whether a stem is too common to choose between passages."""
    return token in _STOP_STEMS


def normalize(text: str) -> str:
    """Compatibility forms folded (full width, ligatures, 𝜎), accents gone, Greek symbols and LaTeX as plain words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "\\" in text:
        text = _LATEX_STYLE.sub(" ", _LATEX_ACCENT.sub(r"\1", text))
    if not text.isascii():
        text = _strip_accents(text)
        text = _GREEK_SYMBOL.sub(lambda match: f" {_GREEK.get(match[1], match[1])} ", text)
    return _THOUSANDS.sub("", _POSSESSIVE.sub("", text))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of one word without punctuation, British spelling folded into American."""
    if _PLURAL_ACRONYM.fullmatch(word):
        word = word[:-1]
    word = word.lower()
    if word.isascii() and word.isalpha():
        word = _BRITISH_OUR.sub(r"\1or", _BRITISH_IZE.sub(r"\1iz\2", word))
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english", 0)  # ours is the cache


@lru_cache(maxsize=1 << 16)
def _index_tokens(piece: str) -> tuple[str, ...]:
    if _HAN_RUN.match(piece):
        return (*_bigrams(piece), *piece) if len(piece) > 1 else (piece,)
    return tuple(_word_tokens(piece))


@lru_cache(maxsize=1 << 12)
def _query_tokens(piece: str) -> tuple[str, ...]:
    return tuple(_bigrams(piece) if _HAN_RUN.match(piece) else _word_tokens(piece))


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _word_tokens(piece: str) -> list[str]:
    """The whole without punctuation, then its parts, then the parts of a CamelCase part."""
    if piece.isalpha() and (piece.islower() or piece[1:].islower()):
        return [stem(piece)]
    parts = _PART.findall(piece)
    tokens = [_joined(parts)]
    for part in parts:
        tokens.append(_joined([part]))
        tokens.extend(_camel_parts(part))
    return list(dict.fromkeys(tokens))


def _joined(parts: list[str]) -> str:
    # A point between digits becomes a letter: 3.5 is neither 35 nor the words 3 and 5.
    whole = "".join(part.replace(".", "d") for part in parts)
    return stem(whole) if whole.isalpha() else whole.lower()


def _camel_parts(part: str) -> list[str]:
    if not part.isascii() or part.replace(".", "").isdigit() or _PLURAL_ACRONYM.fullmatch(part):
        return []
    pieces = _CAMEL.findall(part)
    return [_joined([piece]) for piece in pieces if len(piece) > 1] if len(pieces) > 1 else []


def _strip_accents(text: str) -> str:
    # Only Latin letters: a mark on other scripts is part of the letter.
    if not any("\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff" for char in text):
        return text
    out = []
    for char in text:
        if "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff":
            char = "".join(c for c in unicodedata.normalize("NFD", char) if not unicodedata.combining(c))
        out.append(char)
    return "".join(out)

"""The numbers that a text states, in digits or in words, English or Chinese, so that two texts can be compared.

``50%``, ``50 percent``, ``５０％`` and ``百分之五十`` are one number, ``50 points`` and ``50 个百分点`` another; so are
``10k``, ``10,000`` and ``一万``. A name with digits (``GPT-4``, ``pass@1``) is one thing of its own: its digits are no
number.

``kb.check.quantities`` looks at numbers from the other side: where they stand in a text, of which symbol, in which range
and with which sign, so that a statement can be cut around them. Here only values count, exact and whatever their wording,
because a draft in other words must hold no value that its source has not.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

_SCALE = {"k": 10**3, "m": 10**6, "b": 10**9, "bn": 10**9, "thousand": 10**3, "million": 10**6, "billion": 10**9,
          "百": 100, "千": 10**3, "万": 10**4, "亿": 10**8}  # fmt: skip
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: value for value, word in enumerate(_SMALL)} | {word: 20 + 10 * at for at, word in enumerate(_TENS)}
_PROPORTIONS = {"half": Fraction(1, 2), "halved": Fraction(1, 2), "halves": Fraction(1, 2), "halving": Fraction(1, 2), "quarter": Fraction(1, 4),
                "twice": Fraction(2), "double": Fraction(2), "doubled": Fraction(2), "doubles": Fraction(2), "doubling": Fraction(2),
                "triple": Fraction(3), "tripled": Fraction(3), "dozen": Fraction(12), "一半": Fraction(1, 2), "减半": Fraction(1, 2),
                "一倍": Fraction(2), "翻倍": Fraction(2), "翻番": Fraction(2)}  # fmt: skip

_LATEX = ((r"\%", "%"), ("{,}", ","), (r"\,", ""), ("$", ""), ("−", "-"), ("‐", "-"), ("‑", "-"))
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]*(?:[-@._][A-Za-z0-9]+)*")
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([BM])(?![A-Za-z0-9])")
_PERCENT = r"\s?(?:%|percent\b|per cent\b|(?:percentage |absolute )?points?\b|个?百分点)"
_DIGIT_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.)\]-])-|负)?(?P<digits>\d+(?:\.\d+)?|\.\d+)"
    r"(?:\s?/\s?(?P<under>\d+)(?![\d.]))?"
    rf"(?:(?P<percent>{_PERCENT})|\s?(?P<word>thousand|million|billion)\b|(?P<letter>[kKMB]|bn)(?![A-Za-z])|\s?(?P<han>[百千万亿]+))?"
)
_ENGLISH = "|".join(sorted([*_WORDS, "hundred", "thousand", "million", "billion"], key=len, reverse=True))
_WORD_NUMBER = re.compile(
    rf"\b(?:{_ENGLISH})\b(?:[-\s]+(?:and\s+)?(?:{_ENGLISH})\b)*(?P<percent>{_PERCENT})?", re.IGNORECASE
)
_PROPORTION = re.compile(
    rf"\b(?:{'|'.join(word for word in _PROPORTIONS if word.isascii())})\b|"
    + "|".join(word for word in _PROPORTIONS if not word.isascii()),
    re.IGNORECASE,
)
_HAN = "[零〇一二两三四五六七八九十百千万亿]"
_MEASURE = "个|种|类|项|次|步|分|点|轮|层|条|篇|张|组|家|年|月|天|周|小时|阶段|倍|成|位|名|人|款|处|套|台|块|题|级|维|路|阶|折|%"
_HAN_NUMBER = re.compile(
    rf"(?:(?P<under>{_HAN}+)分之)?(?P<number>{_HAN}+(?:点[零〇一二三四五六七八九]+)?)(?P<percent>个?百分点|成(?![为立本功果长]))?(?P<measure>{_MEASURE})?"
)


Unit = Literal["", "%", "points"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is meant: its value, its unit where it is a percentage or a difference in points, and its wording."""

    value: Fraction
    unit: Unit
    text: str


def numbers_in(text: str) -> list[Number]:
    """All numbers of a text but those in names, in no special order. A lone ``one`` or ``一`` is a word, not a number."""
    plain = _NAME.sub(lambda match: " " if _has_digit(match[0]) else match[0], _plain(text))
    found = [_from_digits(match) for match in _DIGIT_NUMBER.finditer(plain)]
    words = _DIGIT_NUMBER.sub(" ", plain)
    found += [number for match in _WORD_NUMBER.finditer(words) if (number := _from_words(match))]
    found += [Number(_PROPORTIONS[match[0].lower()], "", match[0]) for match in _PROPORTION.finditer(words)]
    found += [number for match in _HAN_NUMBER.finditer(_PROPORTION.sub(" ", words)) if (number := _from_han(match))]
    return found


def parts_of_fractions(text: str) -> list[Number]:
    """The numbers on both sides of each stroke: ``12/16`` may also be two numbers."""
    pairs = [match for match in _DIGIT_NUMBER.finditer(_plain(text)) if match["under"]]
    return [Number(Fraction(side), "", side) for match in pairs for side in (match["digits"], match["under"])]


def sizes_in_names(text: str) -> list[Number]:
    """The sizes of models that are part of their names: ``Qwen2.5-32B`` has 32 billion parameters."""
    found = [match for name in names_in(text) for match in _SIZE.finditer(name)]
    return [Number(Fraction(match[1]) * _SCALE[match[2].lower()], "", match[0]) for match in found]


def names_in(text: str) -> list[str]:
    """The names of a text that hold digits, as they are written."""
    return [match[0] for match in _NAME.finditer(_plain(text)) if _has_digit(match[0])]


def holds_name(text: str, name: str) -> bool:
    """Whether a text has this name; hyphens and spaces between its parts may differ."""
    parts = re.findall(r"[A-Za-z]+|\d+(?:\.\d+)*", name)
    pattern = r"[-\s._@]*".join(map(re.escape, parts))
    return re.search(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", _plain(text), re.IGNORECASE) is not None


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    for written, meant in _LATEX:
        text = text.replace(written, meant)
    return _THOUSANDS.sub("", text)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _unit(sign: str | None) -> Unit:
    if not sign:
        return ""
    return "points" if "point" in sign or "百分点" in sign else "%"


def _from_digits(match: re.Match[str]) -> Number:
    value = Fraction(match["digits"])
    if match["under"] and int(match["under"]):
        value /= int(match["under"])
    scale = match["word"] or (match["letter"] or "").lower()
    value *= _SCALE.get(scale, 1)
    for char in match["han"] or "":
        value *= _SCALE[char]
    return Number(-value if match["sign"] else value, _unit(match["percent"]), match[0].strip())


def _from_words(match: re.Match[str]) -> Number | None:
    total = part = 0
    words = re.findall(r"[a-z]+", match[0].lower().removesuffix((match["percent"] or "").lower()))
    if words == ["one"] and not match["percent"]:
        return None
    for word in words:
        if word in _WORDS:
            part += _WORDS[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALE:
            total, part = total + max(part, 1) * _SCALE[word], 0
    return Number(Fraction(total + part), _unit(match["percent"]), match[0].strip())


def _from_han(match: re.Match[str]) -> Number | None:
    number, under = match["number"], match["under"]
    value = _han_value(number)
    if value is None:
        return None
    if under:
        below = 100 if under == "百" else 1000 if under == "千" else _han_value(under)
        if not below:
            return None
        return Number(value, "%", match[0]) if below == 100 else Number(value / below, "", match[0])
    if match["percent"]:
        tenths = match["percent"].startswith("成")
        return Number(value * 10, "%", match[0]) if tenths else Number(value, "points", match[0])
    short = len(number) == 1
    adverb = number == "十" and match["measure"] == "分"  # 十分 means very
    if number == "一" or adverb or (short and not match["measure"]):
        return None
    return Number(value, "", match[0])


def _han_value(text: str) -> Fraction | None:
    """The value of a Chinese numeral; None for units without a number, as in 千万 for "by all means"."""
    whole, _, decimals = text.partition("点")
    if whole[0] not in _DIGITS and whole[0] != "十":
        return None
    total = section = digit = 0
    if len(whole) > 1 and all(char in _DIGITS for char in whole):
        total = int("".join(str(_DIGITS[char]) for char in whole))
    else:
        for char in whole:
            if char in _DIGITS:
                digit = _DIGITS[char]
            elif char in _UNITS:
                section += (digit or (1 if char == "十" else 0)) * _UNITS[char]
                digit = 0
            else:
                total, section, digit = (total + section + digit) * _SCALE[char], 0, 0
        total += section + digit
    value = Fraction(total)
    if decimals:
        value += Fraction(int("".join(str(_DIGITS[char]) for char in decimals)), 10 ** len(decimals))
    return value

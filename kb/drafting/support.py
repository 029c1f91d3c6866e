"""Whether a short text says only what the passages that it rests on say, as far as that can be checked by machine:
every number, every name with digits and every quotation has to stand in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kb.drafting.numbers import Number, Unit, holds_name, names_in, numbers_in, parts_of_fractions, sizes_in_names

_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|「([^」]+)」|『([^』]+)』|‘([^’]{4,})’|(?<!\w)'([^']*\s[^']*)'(?!\w)")
_TOKEN = re.compile(r"[\u3005-\u3007\u3400-\u9fff]|[^\W_\u3005-\u3007\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage that an answer rests on. In a table the sign of a percentage often stands in the heading alone."""

    text: str
    is_table: bool = False


def unsupported(answer: str, quotes: Sequence[str], cited: Sequence[Cited], title: str = "") -> list[str]:
    """What the passages do not hold, each in words for a person; empty when all is found. Names may stand in the title."""
    reasons = [f"the number {text} is not in the cited passages" for text in _numbers_missing(answer, cited)]
    whole = " ".join([title, *(passage.text for passage in cited)])
    reasons += [
        f"the name {name} is not in the cited passages"
        for name in dict.fromkeys(names_in(answer))
        if not holds_name(whole, name)
    ]
    for quote in dict.fromkeys([*quoted(answer), *quotes]):
        if quote.strip() and not any(_holds_quote(passage.text, quote) for passage in cited):
            reasons.append(f"the quotation “{_short(quote)}” is not in the cited passages")
    return reasons


def quoted(text: str) -> list[str]:
    """What stands between quotation marks of any kind."""
    return [next(part for part in match.groups() if part) for match in _QUOTED.finditer(text)]


def _numbers_missing(answer: str, cited: Sequence[Cited]) -> list[str]:
    exact: set[tuple[Fraction, Unit]] = set()
    for passage in cited:
        stated = [*numbers_in(passage.text), *parts_of_fractions(passage.text), *sizes_in_names(passage.text)]
        exact |= _stated(stated, passage.is_table)
    missing = [number.text for number in numbers_in(answer) if (number.value, number.unit) not in exact]
    return list(dict.fromkeys(missing))


def _stated(numbers: Iterable[Number], is_table: bool) -> set[tuple[Fraction, Unit]]:
    """What may be said of numbers: ``50%`` may be told as 50 or as 50 points, but 50 not as ``50%``, except out of a table."""
    found: set[tuple[Fraction, Unit]] = set()
    for number in numbers:
        found |= {(number.value, ""), (number.value, number.unit)}
        if number.unit == "%" or is_table:
            found |= {(number.value, "%"), (number.value, "points")}
    return found


def _holds_quote(text: str, quote: str) -> bool:
    """Whether the words of a quotation stand in the text one after the other; an ellipsis leaves a gap."""
    held, at = f" {_tokens(text)} ", 0
    for part in re.split(r"…+|\.{3,}|\[…\]", quote):
        words = _tokens(part)
        if not words:
            continue
        found = held.find(f" {words} ", at)
        if found < 0:
            return False
        at = found + len(words) + 1
    return True


def _tokens(text: str) -> str:
    return " ".join(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + " …"

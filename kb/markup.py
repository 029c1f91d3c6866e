"""Where code, maths, comments and addresses lie in a Markdown text, so that nobody reads or changes words inside them."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

_MARKUP = re.compile(
    r"(?P<fence>^[ \t]*(?P<marks>`{3,}+|~{3,}+)[^\n]*\n(?:.*?^[ \t]*(?P=marks)[`~]*[ \t\r]*$|.*\Z))"
    r"|(?P<code>(?<!`)(?P<ticks>`++)[^\n]+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<display>(?<!\\)\$\$.+?\$\$)"
    r"|(?P<inline>(?<![\\$])\$(?:\\[^\n]|[^$\\\n])+\$)"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<address>https?://[^\s)>\]）】，。；、]+)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Markup:
    """The stretches of a text that are no running text: ``(start, stop, form)`` in order, none inside another.

    Forms are fence, code, display, inline (maths), comment and address.
    """

    stretches: tuple[tuple[int, int, str], ...]

    def form_at(self, position: int) -> str:
        """The form of the stretch that a position lies in; empty in running text."""
        place = bisect.bisect_right(self._starts, position) - 1
        if place >= 0 and position < self.stretches[place][1]:
            return self.stretches[place][2]
        return ""

    def formulas(self, text: str) -> list[str]:
        """All formulas of the text, inline and display, with their dollar signs."""
        return [text[start:stop] for start, stop, form in self.stretches if form in ("display", "inline")]

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _, _ in self.stretches]


def markup_of(text: str) -> Markup:
    """Find all stretches of a text that are code, maths, comments or addresses."""
    return Markup(tuple((match.start(), match.end(), _form(match)) for match in _MARKUP.finditer(text)))


def _form(match: re.Match[str]) -> str:
    forms: Iterable[str] = ("fence", "code", "display", "inline", "comment", "address")
    return next(form for form in forms if match[form] is not None)

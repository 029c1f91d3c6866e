"""Where a fact was read, out of its evidence: ``v2, sections 3.1 and 3.2`` or ``2404.00001 v3, equation 5``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PAPER = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5})\s*v?")
_VERSION = re.compile(r"(?<![A-Za-z])v(\d{1,2})(?!\.?\d)")
_NUMBER = r"(?:[A-Z]\.?)?\d+(?:\.\d+)*|[A-Z](?:\.\d+)*"
_LIST = rf"((?:{_NUMBER})(?:\s*(?:,|and|to|-|–|/)\s*(?:{_NUMBER}))*)(?!\w)"
_NAMED = re.compile(rf"\b(section|equation|eq|table|appendix)s?\.?\s+{_LIST}", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\s*(?:to|-|–)\s*(\d+)$")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a paper. ``paper`` is an arXiv id where the evidence names another paper; ``version`` the newest named."""

    paper: str | None
    version: int | None
    sections: tuple[str, ...] = ()
    equations: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    abstract: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it names any part of the text."""
        return bool(self.sections or self.equations or self.tables or self.abstract)


def read_place(evidence: str) -> Place:
    """The place that an evidence names. What it does not say stays empty."""
    paper = _PAPER.search(evidence)
    versions = [int(match[1]) for match in _VERSION.finditer(evidence.replace(paper[1], "", 1) if paper else evidence)]
    found: dict[str, list[str]] = {"section": [], "equation": [], "table": []}
    for match in _NAMED.finditer(evidence):
        kind = match[1].lower()
        kind = {"eq": "equation", "appendix": "section"}.get(kind, kind)
        found[kind] += _numbers(match[2])
    return Place(
        paper[1] if paper else None,
        max(versions, default=None),
        tuple(found["section"]), tuple(found["equation"]), tuple(found["table"]),
        bool(re.search(r"\babstract\b", evidence, re.IGNORECASE)),
    )  # fmt: skip


def _numbers(text: str) -> list[str]:
    numbers: list[str] = []
    for part in re.split(r"\s*(?:,|\band\b|/)\s*", text):
        span = _RANGE.match(part)
        numbers += [str(n) for n in range(int(span[1]), int(span[2]) + 1)] if span else [part]
    return [number for number in numbers if number]

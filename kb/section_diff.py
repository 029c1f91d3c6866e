"""What changed between two versions of a paper's text, section by section, equation by equation."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kb.model import Block, Document, Equation, Paragraph, Table

ABSTRACT = "abstract"
ALIKE = 0.6  # of words, for a section whose heading was changed
SHOWN = 12  # words of a change


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A section that is new, gone, or has other words: how many came and went, and the longest run that came.

    ``number`` is that of the old version (of the new one for a section that is new); the abstract has the number
    ``abstract``.
    """

    kind: Literal["changed", "added", "removed"]
    number: str
    title: str
    words_added: int = 0
    words_removed: int = 0
    excerpt: str = ""

    @property
    def name(self) -> str:
        return self.title if self.number in ("", ABSTRACT) else f"{self.number} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class TextDiff:
    """The changes between two versions, and the numbers of the old one's equations and tables that are not the same."""

    sections: tuple[SectionChange, ...]
    equations: frozenset[str]
    tables: frozenset[str]
    known_sections: frozenset[str]
    known_equations: frozenset[str]
    known_tables: frozenset[str]

    @property
    def is_empty(self) -> bool:
        return not (self.sections or self.equations or self.tables)

    @property
    def changed_numbers(self) -> frozenset[str]:
        return frozenset(change.number for change in self.sections if change.kind != "added")


def compare_texts(old: Document, new: Document) -> TextDiff:
    """The difference of two versions. References are left out: they change with every compilation."""
    before, after = _sections(old), _sections(new)
    pairs, gone, came = _matched(before, after)
    changes = [change for one, other in pairs if (change := _change(one, other)) is not None]
    changes += [SectionChange("removed", one.number, one.title, 0, len(one.words)) for one in gone]
    changes += [SectionChange("added", one.number, one.title, len(one.words), 0) for one in came]
    order = {one.number: place for place, one in enumerate(before)}
    equations, tables = _numbered(old.equations), _numbered(old.tables)
    return TextDiff(
        tuple(sorted(changes, key=lambda change: order.get(change.number, len(order)))),
        _different(equations, _numbered(new.equations)),
        _different(tables, _numbered(new.tables)),
        frozenset(one.number for one in before),
        frozenset(equations),
        frozenset(tables),
    )


def compare_abstracts(old: str, new: str) -> SectionChange | None:
    """How the abstract changed; None if it has the same words."""
    return _change(_Text(ABSTRACT, "Abstract", _words([old])), _Text(ABSTRACT, "Abstract", _words([new])))


@dataclass(frozen=True, slots=True)
class _Text:
    number: str
    title: str
    words: tuple[str, ...]


def _sections(document: Document) -> list[_Text]:
    found = [_Text(ABSTRACT, "Abstract", _words([document.abstract]))] if document.abstract else []
    return found + [
        _Text(section.number or "", section.title, _words(map(_block_text, section.blocks)))
        for section in document.sections
        if section.kind != "references" and (section.title or section.blocks)
    ]


def _block_text(block: Block) -> str:
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Equation):
        return re.sub(r"\s+", "", block.latex or block.text or "")
    if isinstance(block, Table):
        return " ".join([block.caption, *(cell.text for row in (*block.header, *block.rows) for cell in row)])
    return block.caption


def _words(texts: Iterable[str]) -> tuple[str, ...]:
    """Words without what setting them changes: ligatures, white space, hyphens at line ends."""
    joined = unicodedata.normalize("NFKC", "\n".join(texts)).replace("\u00ad", "")
    return tuple(re.sub(r"(?<=\w)-\s*\n\s*(?=\w)", "", joined).split())


def _matched(
    before: Sequence[_Text], after: Sequence[_Text]
) -> tuple[list[tuple[_Text, _Text]], list[_Text], list[_Text]]:
    """Sections by their heading, else by their words, each once; then those that are left on either side."""
    left = list(after)
    pairs, gone = [], []
    for one in before:
        same = [other for other in left if _folded(other.title) == _folded(one.title)]
        same = [other for other in same if other.number == one.number] or same
        if same:
            pairs.append((one, same[0]))
            left.remove(same[0])
        else:
            gone.append(one)
    for one in list(gone):
        alike = max(left, key=lambda other: _likeness(one, other), default=None)
        if alike is not None and _likeness(one, alike) >= ALIKE:
            pairs.append((one, alike))
            left.remove(alike)
            gone.remove(one)
    return pairs, gone, left


def _folded(title: str) -> str:
    return "".join(char for char in title.casefold() if char.isalnum())


def _likeness(one: _Text, other: _Text) -> float:
    return difflib.SequenceMatcher(None, one.words, other.words, autojunk=False).quick_ratio()


def _change(old: _Text, new: _Text) -> SectionChange | None:
    if old.words == new.words:
        return None
    matcher = difflib.SequenceMatcher(None, old.words, new.words, autojunk=False)
    added, removed, longest = 0, 0, range(0)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            removed, added = removed + b - a, added + d - c
            longest = max(longest, range(c, d), key=len)
    excerpt = " ".join(new.words[longest.start : longest.stop][:SHOWN])
    return SectionChange(
        "changed", old.number, old.title, added, removed, excerpt + (" …" if len(longest) > SHOWN else "")
    )


def _numbered(blocks: Sequence[Equation] | Sequence[Table]) -> dict[str, str]:
    return {str(block.number): "".join(_block_text(block).split()) for block in blocks if block.number}


def _different(before: dict[str, str], after: dict[str, str]) -> frozenset[str]:
    return frozenset(number for number, text in before.items() if after.get(number) != text)

"""Which papers and notes a piece of text names: ``[[slug]]``, arXiv ids, titles and aliases. The text stays as it is.

An alias counts as the author writes it (``SHARP`` is a paper, ``sharp`` is a word) and only as a whole name: there is
no GRPO in ``CAD-GRPO``. A name that fits several papers links to none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kb.ingest.ids import try_arxiv_id
from kb.library import Library, Paper, fold_name
from kb.markup import Markup, markup_of

How = Literal["wikilink", "arxiv", "name", "field"]

_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]\n|#^]+)(?:[#^][^\[\]\n|]*)?(?:\|([^\[\]\n]*))?\]\]")
_ID = re.compile(
    r"(?P<mark>arxiv\s*[:：]?\s*|arxiv\.org/[a-z-]+/|[(（\[【]\s*)?"
    r"(?<![\d.])(?P<id>\d{4}\.\d{4,5}|(?<![\w./-])[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?P<version>v\d{1,2})?(?![\d.]\d|\d)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff][^\W_\u3400-\u9fff+]*[+]{0,2}")
_JOINT = re.compile(r"[\s._\-–—:：,，'’?？!！&()（）/]{0,3}")
_SHORTEST_FREE_TITLE = 3  # words; a shorter title must be written as it is printed


@dataclass(frozen=True, slots=True)
class Link:
    """A place in a text that names something.

    ``target`` is a slug, the path of a note, or, where neither is here, the arXiv id or the name as written (then
    ``known`` is False). ``start`` and ``stop`` are its place in the text; both are 0 for a link of the front matter.
    """

    target: str
    how: How
    known: bool
    start: int = 0
    stop: int = 0


@dataclass(frozen=True)
class Names:
    """Everything that a text may call a paper or a note of this workspace by."""

    library: Library

    def links(self, text: str, markup: Markup | None = None) -> tuple[Link, ...]:
        """The links of a text by place; none overlaps another."""
        markup = markup or markup_of(text)
        found = [*self._wikilinks(text, markup), *self._ids(text, markup), *self._spelled(text, markup)]
        found.sort(key=lambda link: link.start)
        kept: list[Link] = []
        for link in found:
            if kept and link.start < kept[-1].stop:
                # Double brackets hold whatever else is inside them.
                if kept[-1].how == "wikilink" or link.how != "wikilink":
                    continue
                kept.pop()
            kept.append(link)
        return tuple(kept)

    def resolve(self, name: str) -> Link:
        """What a name in the front matter or in double brackets means."""
        bare = name.strip().strip("[]").partition("|")[0].strip().removesuffix(".md").removeprefix("@")
        slug = re.fullmatch(r"(?:papers/)?([^/]+)(?:/(?:paper|text))?", bare)
        if slug and slug[1] in self.library.papers:
            return Link(slug[1], "field", True)
        paper = self._by_fold.get(fold_name(bare))
        if paper is not None:
            return Link(paper.slug, "field", True)
        identifier = try_arxiv_id(bare)
        if identifier is not None:
            known = self._by_fold.get(identifier.bare)
            return Link(known.slug if known else identifier.bare, "field", known is not None)
        note = self._notes.get(bare) or self._notes.get(bare.rpartition("/")[2])
        return Link(note or bare, "field", note is not None)

    def _wikilinks(self, text: str, markup: Markup) -> Iterator[Link]:
        for match in _WIKILINK.finditer(text):
            if not markup.form_at(match.start()):
                meant = self.resolve(match[1])
                yield Link(meant.target, "wikilink", meant.known, match.start(), match.end())

    def _ids(self, text: str, markup: Markup) -> Iterator[Link]:
        for match in _ID.finditer(text):
            form = markup.form_at(match.start("id"))
            identifier = try_arxiv_id(match["id"])
            # A bare number is an id only in brackets or where it is the id of a paper that is here.
            if identifier is None or form not in ("", "address"):
                continue
            known = self._by_fold.get(identifier.bare)
            if known is not None or match["mark"] is not None or identifier.archive:
                yield Link(
                    known.slug if known else identifier.bare, "arxiv", known is not None, match.start("id"), match.end()
                )

    def _spelled(self, text: str, markup: Markup) -> Iterator[Link]:
        by_first = self._by_first
        at = 0
        for word in _WORD.finditer(text):
            candidates = by_first.get(word[0].casefold())
            if candidates is None or word.start() < at or markup.form_at(word.start()):
                continue
            if _continues_a_name(text, word.start()):
                continue
            for spelled in candidates:
                stop = spelled.stop(text, word.start())
                if stop:
                    at = stop
                    yield Link(spelled.slug, "name", True, word.start(), stop)
                    break

    @cached_property
    def _by_fold(self) -> dict[str, Paper]:
        found: dict[str, list[Paper]] = {}
        for paper in self.library.papers.values():
            names = (paper.slug, paper.title, paper.arxiv_id or "", *paper.aliases)
            for name in {fold_name(name) for name in names if name}:
                found.setdefault(name, []).append(paper)
        return {name: papers[0] for name, papers in found.items() if len(papers) == 1}

    @cached_property
    def _by_first(self) -> dict[str, list[_Spelled]]:
        found: dict[tuple[str, ...], dict[str, _Spelled]] = {}
        for paper in self.library.papers.values():
            for name, is_title in ((paper.title, True), *((alias, False) for alias in paper.aliases)):
                words = tuple(_WORD.findall(name))
                if words and len(name) > 1:
                    free = (is_title and len(words) >= _SHORTEST_FREE_TITLE) or name == name.casefold()
                    found.setdefault(words, {})[paper.slug] = _Spelled(words, paper.slug, free)
        by_first: dict[str, list[_Spelled]] = {}
        for words, papers in found.items():
            if len(papers) == 1:
                by_first.setdefault(words[0].casefold(), []).extend(papers.values())
        for candidates in by_first.values():
            candidates.sort(key=lambda spelled: -len(spelled.words))
        return by_first

    @cached_property
    def _notes(self) -> dict[str, str]:
        """Notes by path without suffix, and by file name where only one has it."""
        root = self.library.workspace.root
        paths = [path.relative_to(root).as_posix() for path in self.library.notes()]
        stems: dict[str, list[str]] = {}
        for path in paths:
            stems.setdefault(path.rpartition("/")[2].removesuffix(".md"), []).append(path)
        return {path.removesuffix(".md"): path for path in paths} | {
            path.removesuffix(".md").removeprefix("notes/"): path for path in paths
        } | {stem: found[0] for stem, found in stems.items() if len(found) == 1}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A name as its words; ``free`` when capitals do not matter."""

    words: tuple[str, ...]
    slug: str
    free: bool

    def stop(self, text: str, start: int) -> int:
        """Where the name ends that begins at a place; 0 when another text is there."""
        end = start
        for number, (mine, word) in enumerate(zip(self.words, _WORD.finditer(text, start), strict=False)):
            if mine != word[0] and not (self.free and mine.casefold() == word[0].casefold()):
                return 0
            if number and not _JOINT.fullmatch(text, end, word.start()):
                return 0
            end = word.end()
            if number + 1 == len(self.words):
                return end
        return 0


def _continues_a_name(text: str, start: int) -> bool:
    """Whether a hyphen, dot or underscore ties the word here to one before it, as in CAD-GRPO."""
    return start >= 2 and text[start - 1] in "-._" and bool(re.match(r"[^\W_\u3400-\u9fff]", text[start - 2]))

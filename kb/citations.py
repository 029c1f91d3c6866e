"""Which papers of the base cite which: references matched by arXiv id, then DOI, then title and year."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kb.library import Library, Paper
from kb.model import Reference

TITLE_THRESHOLD = 0.92
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Citation:
    """``citing`` refers to ``cited`` (slugs). ``how`` and ``score`` say what matched."""

    citing: str
    cited: str
    index: int
    how: Literal["arxiv", "doi", "title"]
    score: float


class Matcher:
    """Matches references to the papers of a library."""

    def __init__(self, papers: Iterable[Paper]) -> None:
        self._by_id: dict[str, Paper] = {}
        self._by_doi: dict[str, Paper] = {}
        self._by_word: dict[str, list[tuple[str, Paper]]] = {}
        for paper in papers:
            if paper.arxiv_id:
                self._by_id[paper.arxiv_id] = paper
            if doi := str(paper.fields.get("doi") or "").casefold():
                self._by_doi[doi] = paper
            title = fold_title(paper.title)
            for word in _longest_words(title):
                self._by_word.setdefault(word, []).append((title, paper))

    def match(self, reference: Reference) -> tuple[Paper, Literal["arxiv", "doi", "title"], float] | None:
        """The paper an entry means, what matched, and how well (1.0 for ids)."""
        if reference.arxiv_id and reference.arxiv_id in self._by_id:
            return self._by_id[reference.arxiv_id], "arxiv", 1.0
        if reference.doi and reference.doi.casefold() in self._by_doi:
            return self._by_doi[reference.doi.casefold()], "doi", 1.0
        return self._by_title(reference)

    def _by_title(self, reference: Reference) -> tuple[Paper, Literal["title"], float] | None:
        title = fold_title(reference.title or "")
        if len(title) < 8:
            return None
        best: tuple[Paper, Literal["title"], float] | None = None
        for word in _longest_words(title):
            for other, paper in self._by_word.get(word, ()):
                if abs(len(other) - len(title)) > 0.2 * len(title) or not _years_agree(reference, paper):
                    continue
                score = difflib.SequenceMatcher(None, title, other, autojunk=False).ratio()
                if score >= TITLE_THRESHOLD and (best is None or score > best[2]):
                    best = (paper, "title", score)
        return best


def fold_title(title: str) -> str:
    """A title as it is compared: letters and digits only, folded."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", title).casefold()))


def _longest_words(title: str) -> list[str]:
    """Two words to look a title up by. Two, because one of them may be misspelt in an entry."""
    return sorted(set(title.split()), key=lambda word: (-len(word), word))[:2]


def _years_agree(reference: Reference, paper: Paper) -> bool:
    # A preprint and its proceedings are often a year apart; more is often another paper of the same name.
    return not (reference.year and paper.year.isdigit()) or abs(reference.year - int(paper.year)) <= 1


def citation_graph(library: Library) -> list[Citation]:
    """All citations between papers of the base, by citing slug and place in the list."""
    matcher = Matcher(library.papers.values())
    found: list[Citation] = []
    for paper in library.papers.values():
        if paper.text_path is None:
            continue
        for reference in paper.references:
            match = matcher.match(reference)
            if match and match[0].slug != paper.slug:
                found.append(Citation(paper.slug, match[0].slug, reference.index, match[1], match[2]))
    return found

"""What to read next: papers that the week's papers cite and that are not in the base, the most cited first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from kb.citations import Matcher, fold_title
from kb.library import Library, Paper
from kb.model import Reference
from kb.report.values import Suggestion

MOST = 8
_SHORTEST_TITLE = 12


@dataclass
class _Cited:
    reference: Reference
    week: list[str] = field(default_factory=list)
    base: set[str] = field(default_factory=set)


def suggestions(library: Library, papers: Sequence[Paper], queued: Collection[str]) -> list[Suggestion]:
    """Ranked by how many of ``papers`` cite it, then by how many of the base do, those with an id first, then by year. ``queued`` are arXiv ids."""
    matcher = Matcher(library.papers.values())
    # A preprint and its journal version may be years apart, which the matcher does not take for one paper.
    here = {fold_title(paper.title) for paper in library.papers.values()}
    found: dict[str, _Cited] = {}
    for paper in papers:
        for reference in paper.references:
            key = _key(reference)
            if not key or key in here or reference.arxiv_id in queued or matcher.match(reference):
                continue
            cited = found.setdefault(key, _Cited(reference))
            # An entry with an id tells more than one without.
            if reference.arxiv_id and not cited.reference.arxiv_id:
                cited.reference = reference
            if paper.slug not in cited.base:
                cited.week.append(paper.name)
                cited.base.add(paper.slug)
    _count_in_base(library, found)
    ranked = sorted(
        found.values(),
        # One with an id can be fetched; one without is often a page of the web.
        key=lambda cited: (
            -len(cited.week),
            -len(cited.base),
            not cited.reference.arxiv_id,
            -(cited.reference.year or 0),
            _title(cited.reference),
        ),
    )
    return [
        Suggestion(
            _title(cited.reference),
            cited.reference.arxiv_id or "",
            cited.reference.year,
            tuple(cited.week),
            len(cited.base),
        )
        for cited in ranked[:MOST]
    ]


def _count_in_base(library: Library, found: dict[str, _Cited]) -> None:
    for paper in library.papers.values():
        for reference in paper.references:
            cited = found.get(_key(reference))
            if cited is not None:
                cited.base.add(paper.slug)


def _key(reference: Reference) -> str:
    """What makes two entries one paper: the folded title, which more of them have than an id."""
    title = fold_title(reference.title or "")
    return title if len(title) >= _SHORTEST_TITLE else reference.arxiv_id or ""


def _title(reference: Reference) -> str:
    return reference.title or reference.raw[:120]

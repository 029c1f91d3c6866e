"""New versions and withdrawals of papers in the base, by the days that arXiv's own records give."""

from __future__ import annotations

from collections.abc import Sequence

from kb.library import Library
from kb.notes import Note
from kb.report.values import VersionNews
from kb.update import known_news, read_version
from kb.weeks import Week


def version_news(library: Library, week: Week, notes: Sequence[Note]) -> list[VersionNews]:
    """Versions after the first, and withdrawals, that appeared in the week, from the records of arXiv's that are here.

    Raises FileFormatError for a record that cannot be read.
    """
    fresh = {
        slug: metadata
        for slug, paper in library.papers.items()
        if (metadata := paper.metadata) is not None
        and week.holds(metadata.updated)
        and ((metadata.version or 1) > 1 or metadata.withdrawn)
    }
    stale = {news.paper.slug: len(news.stale) for news in known_news(library, notes)} if fresh else {}
    return [
        VersionNews(
            slug=slug,
            name=library.papers[slug].name,
            version=metadata.version or 1,
            date=metadata.updated[:10],
            withdrawn=metadata.withdrawn,
            comment=metadata.comment,
            rests_on=read_version(library.papers[slug]),
            stale=stale.get(slug, 0),
        )
        for slug, metadata in fresh.items()
    ]

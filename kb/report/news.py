"""New versions and withdrawals of papers in the base, by the days that arXiv's own records give."""

from __future__ import annotations

from kb.library import Library, Paper, read_metadata
from kb.report.values import VersionNews
from kb.weeks import Week


def version_news(library: Library, week: Week) -> list[VersionNews]:
    """Versions after the first, and withdrawals, that appeared in the week. Raises FileFormatError for broken JSON."""
    found = []
    for paper in library.papers.values():
        for path in sorted(paper.folder.glob("files/v*/metadata.json")):
            metadata = read_metadata(path)
            if not week.holds(metadata.updated) or not ((metadata.version or 1) > 1 or metadata.withdrawn):
                continue
            version = metadata.version or 1
            name = paper.aliases[0] if paper.aliases else paper.title
            found.append(
                VersionNews(
                    paper.slug, name, version, metadata.updated[:10], metadata.withdrawn, metadata.comment,
                    _rests_on(paper, version),
                )
            )  # fmt: skip
    return found


def _rests_on(paper: Paper, version: int) -> int | None:
    """The version that the record's facts were read in, when it is an older one."""
    given = paper.fields.get("version")
    return given if isinstance(given, int) and given < version else None

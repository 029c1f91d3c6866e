"""The rows of ``kb list``: filters over a library."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kb.errors import UsageError
from kb.library import Library, Paper

QUALITIES = ("exact", "good", "flattened", "poor", "none")


@dataclass(frozen=True, slots=True)
class ListRow:
    """One paper as it is listed. ``route`` and ``quality`` are empty where there is no text."""

    slug: str
    id: str
    year: str
    title: str
    quality: str
    route: str
    withdrawn: bool
    added: str
    tags: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    def cells(self) -> tuple[str, str, str, str, str]:
        text = f"{self.quality} ({self.route})" if self.route else "-"
        title = f"[WITHDRAWN] {self.title}" if self.withdrawn else self.title
        return self.slug, self.id, self.year, text, title


def list_rows(
    library: Library,
    *,
    tag: str | None = None,
    year: str | None = None,
    quality: str | None = None,
    match: str | None = None,
    since: str | None = None,
    withdrawn: bool = False,
) -> list[ListRow]:
    """The papers that pass every filter given, by slug. Raises UsageError for a filter that cannot be."""
    if quality is not None and quality not in QUALITIES:
        raise UsageError(f"no quality {quality!r}", f"one of {', '.join(QUALITIES)}")
    first, last = _years(year)
    rows = []
    for paper in library.papers.values():
        row = _row(paper)
        if tag is not None and tag not in row.tags:
            continue
        if year is not None and not first <= row.year <= last:
            continue
        if quality is not None and (row.quality or "none") != quality:
            continue
        if match is not None and match.casefold() not in _searched(paper):
            continue
        if since is not None and (not row.added or row.added < since):
            continue
        if withdrawn and not row.withdrawn:
            continue
        rows.append(row)
    return rows


def _row(paper: Paper) -> ListRow:
    fields = paper.text_fields
    return ListRow(
        slug=paper.slug,
        id=paper.arxiv_id or "",
        year=paper.year,
        title=paper.title,
        quality=str(fields.get("quality") or ""),
        route=str(fields.get("route") or ""),
        withdrawn=paper.withdrawn,
        added=str(paper.fields.get("added") or ""),
        tags=paper.tags,
    )


def _years(year: str | None) -> tuple[str, str]:
    if year is None:
        return "", ""
    first, dots, last = year.partition("..")
    ends = (first or "0000", (last or "9999") if dots else first)
    if not all(end.isdigit() and len(end) == 4 for end in ends):
        raise UsageError(f"no year {year!r}", "a year or a range, as 2025 or 2024..2026")
    return ends


def _searched(paper: Paper) -> str:
    return "\n".join((paper.slug, paper.title, *paper.authors, *paper.aliases)).casefold()

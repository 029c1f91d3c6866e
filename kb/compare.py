"""``kb compare``: which papers, which table, filled from records."""

from __future__ import annotations

from collections.abc import Sequence

from kb.errors import UsageError
from kb.facts import Record, read_record
from kb.library import Library
from kb.tables import FilledTable, fill, fill_results, load_spec, with_columns


def chosen_records(library: Library, names: Sequence[str], tag: str | None, everything: bool) -> list[Record]:
    """The records of the papers that are asked for, in the order of asking. Raises UsageError for none."""
    papers = [library.get(name) for name in names]
    if tag is not None:
        papers += [paper for paper in library.papers.values() if tag in paper.tags]
    if everything:
        papers += list(library.papers.values())
    unique = list({paper.slug: paper for paper in papers}.values())
    if not unique:
        raise UsageError(
            f"no paper has the tag {tag!r}" if tag else "no papers to compare", "kb compare dapo gigpo, or --all, or --tag TAG"
        )
    return [read_record(paper) for paper in unique]


def compare(
    library: Library,
    records: Sequence[Record],
    *,
    table: str = "methods",
    columns: Sequence[str] = (),
    language: str = "en",
    benchmark: str | None = None,
) -> FilledTable:
    """The table of these records."""
    spec = load_spec(table, library.workspace)
    if columns:
        spec = with_columns(spec, columns)
    if spec.rows == "results":
        return fill_results(spec, records, language, benchmark)
    return fill(spec, records, language)

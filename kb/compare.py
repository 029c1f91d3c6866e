"""``kb compare``: which papers, which table, filled from records, methods and runs."""

from __future__ import annotations

from collections.abc import Sequence

from kb.errors import UsageError, near_hint
from kb.facts import Record, read_record
from kb.library import Library
from kb.table_cells import METADATA, Sources, fill, fill_results
from kb.tables import Column, FilledTable, TableSpec, known_columns, load_spec, plain_column, with_columns


def chosen_records(
    library: Library, names: Sequence[str], tag: str | None, everything: bool, table: str = "methods"
) -> list[Record]:
    """The records of the papers that are asked for, in the order of asking; those of the table if none is.

    Raises UsageError for none.
    """
    if not names and tag is None and not everything:
        names = load_spec(table, library.workspace).papers
    papers = [library.get(name) for name in names]
    if tag is not None:
        papers += [paper for paper in library.papers.values() if tag in paper.tags]
    if everything:
        papers += list(library.papers.values())
    unique = list({paper.slug: paper for paper in papers}.values())
    if not unique:
        message = f"no paper has the tag {tag!r}" if tag else "no papers to compare"
        raise UsageError(message, "kb compare dapo gigpo, or --all, or --tag TAG")
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
        spec = with_columns(spec, columns, _columns_of(library, columns))
    if spec.rows == "results":
        return fill_results(spec, records, language, benchmark)
    return fill(spec, records, language, _sources(library, spec))


def _columns_of(library: Library, keys: Sequence[str]) -> dict[str, Column]:
    """Every column that could be meant: those of the tables, of the record's fields, and of any fact in the library."""
    known = known_columns(library.workspace)
    plain = {key: plain_column(key) for key in METADATA}
    if not set(keys) <= set(known) | set(plain):
        plain |= {key: plain_column(key) for p in library.papers.values() for key in (p.fields.get("facts") or {})}
    return plain | known


def _sources(library: Library, spec: TableSpec) -> Sources:
    """Methods and runs, if a column of the table asks for them."""
    keys = [column.key for column in spec.columns]
    runs = any(key.startswith("runs.") for key in keys)
    if not runs and not any(key == "formula" or key.startswith("method.") for key in keys):
        return Sources()
    from kb.bench.methods import methods_data
    from kb.bench.summaries import summaries

    methods = {str(method["name"]): method for method in methods_data()}
    measured = summaries(library.workspace) if runs else {}
    columns = sorted({f"runs.{world}.{metric}" for _, world, metric in measured})
    for key in keys if columns else ():
        if key.startswith("runs.") and key not in columns:
            hint = near_hint(key, columns, "kb bench compare EXPERIMENT shows worlds and metrics", 0.4)
            raise UsageError(f"no runs have {key.removeprefix('runs.')!r}", hint)
    return Sources(methods, measured)

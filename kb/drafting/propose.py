"""Candidates for every column of one paper."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kb.drafting.candidates import Candidate, best, fingerprint, from_sentences
from kb.drafting.columns import DraftColumn
from kb.drafting.own_names import names_pattern, own_names
from kb.drafting.passages import Found, PaperSearch
from kb.drafting.table_cells import from_tables
from kb.library import Paper
from kb.model import Kind, Passage, Table

CANDIDATES = 2


def propose(
    paper: Paper, search: PaperSearch, column: DraftColumn, most: int = CANDIDATES, before: Collection[str] = ()
) -> list[Candidate]:
    """The best candidates of a column, best first; none when nothing in the paper looks like an answer.

    ``before`` are the fingerprints of what was proposed before and is not proposed again.
    """
    found = search.ask(column.queries, Kind.PROSE)
    names = names_pattern(own_names(paper, _abstract(paper)))
    version = _version(paper)
    made = from_sentences(column, found, names, version)
    if column.tables:
        made += from_tables(_tables(paper, search.ask(column.queries, Kind.TABLE)), names, version)
    fresh = [
        made_one for made_one in made if made_one.score >= column.least and fingerprint(made_one.text) not in before
    ]
    return best(fresh, most)


def _tables(paper: Paper, found: Sequence[Found]) -> list[tuple[Table, Passage, float]]:
    """The tables of the paper that were found, by the first of their passages."""
    by_id = {table.id: table for table in (paper.text.document.tables if paper.text else ())}
    seen: dict[str, tuple[Table, Passage, float]] = {}
    for hit in found:
        table = by_id.get(hit.passage.anchor)
        if table is not None and table.id not in seen:
            seen[table.id] = (table, hit.passage, hit.fit)
    return list(seen.values())


def _abstract(paper: Paper) -> str:
    if paper.text is not None and paper.text.document.abstract:
        return paper.text.document.abstract
    return paper.metadata.abstract if paper.metadata else ""


def _version(paper: Paper) -> str:
    version = paper.text_fields.get("version") or paper.fields.get("version")
    return f"v{version}" if version else ""

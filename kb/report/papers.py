"""The papers of a week: those with a note or a done task, and those that were added."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kb.facts import Record, formulas_with_sources
from kb.library import Paper, fold_name
from kb.report.sources import source_line
from kb.report.values import Formula, PaperEntry, Quote

# More papers than this in one week were brought in, not read: they are listed and get no section each.
MOST_ADDED_WITH_SECTION = 8


def paper_entries(
    records: Mapping[str, Record],
    notes: Sequence[tuple[Sequence[str], Quote]],
    added: Collection[str],
    done: Collection[str],
    language: str,
) -> tuple[list[PaperEntry], list[PaperEntry]]:
    """``(with a section, listed)``. ``notes`` are pairs of papers (slugs, or names of papers that are not here) and a quote.

    Papers with notes come first, in the notes' order; a note on several papers stands with the first of them.
    """
    by_paper: dict[str, list[Quote]] = {}
    see: dict[str, str] = {}
    for names, quote in notes:
        by_paper.setdefault(names[0], []).append(quote)
        see |= {name: see.get(name, names[0]) for name in names[1:] if name in records}
    entries = [
        paper_entry(records[name], quotes, name in added, True, language)
        if name in records
        else PaperEntry("", name, quotes[0].title, tuple(quotes), read=True)
        for name, quotes in by_paper.items()
    ]
    others = {*added, *done, *see} & records.keys() - by_paper.keys()
    for slug in sorted(others, key=lambda slug: (slug not in see, slug not in done, slug)):
        first = see.get(slug, "")
        entry = paper_entry(records[slug], (), slug in added, slug in done or bool(first), language)
        entries.append(replace(entry, see=records[first].paper.name if first in records else first))
    unread = [entry for entry in entries if not entry.read]
    listed = unread if len(unread) > MOST_ADDED_WITH_SECTION else []
    return [entry for entry in entries if entry not in listed], listed


def _new_in(heading: str, paper: Paper) -> str:
    """A note's title, empty where it says no more than the paper's own title and names."""
    known = {word for name in (paper.title, *paper.aliases, paper.arxiv_id or "", "arxiv") for word in _words(name)}
    is_known = fold_name(paper.title) in fold_name(heading) or all(word in known for word in _words(heading))
    return "" if is_known else heading


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def paper_entry(record: Record, notes: Sequence[Quote], added: bool, read: bool, language: str) -> PaperEntry:
    """What a report says of a paper of the base."""
    paper = record.paper
    name = paper.name
    idea = record.facts.get("idea")
    return PaperEntry(
        slug=paper.slug,
        name=name,
        title=paper.title if fold_name(name) in fold_name(paper.title) else f"{name}: {paper.title}",
        notes=tuple(replace(note, heading=_new_in(note.heading, paper)) for note in notes),
        arxiv_id=paper.arxiv_id or "",
        authors=paper.authors,
        year=paper.year,
        venue=str(paper.fields.get("venue") or ""),
        version=str(paper.text_fields.get("version") or paper.fields.get("version") or ""),
        code=str(paper.fields.get("code") or ""),
        idea=idea.value(language) if idea else "",
        idea_level=idea.level if idea else "",
        formulas=tuple(Formula(latex, source_line(line, language)) for latex, line in formulas_with_sources(paper)),
        withdrawn=paper.withdrawn,
        added=added,
        read=read,
    )

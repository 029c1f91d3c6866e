"""Checks over a whole library: links that lead nowhere, records that cannot be read or lack evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from kb import frontmatter
from kb.errors import KbError
from kb.facts import read_record
from kb.library import Library, Paper, fold_name
from kb.links import Names
from kb.notes import read_notes


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to put right: the file, relative to the workspace, its line (0: the file as a whole), and what."""

    path: str
    line: int
    what: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check_links(library: Library) -> list[Finding]:
    """``[[links]]`` of notes and records that name no paper and no note."""
    root = library.workspace.root
    notes, problems = read_notes(library)
    found = [Finding("", 0, problem.message) for problem in problems]
    for note in notes:
        dead = [link for link in note.links if link.how == "wikilink" and not link.known]
        if dead:
            raw = (root / note.path).read_text(encoding="utf-8")
            found += [_dead(note.path, raw, note.body, link.target, link.start) for link in dead]
    names = Names(library)
    for paper in library.papers.values():
        for link in names.links(paper.body):
            if link.how == "wikilink" and not link.known:
                raw = paper.record.read_text(encoding="utf-8")
                found.append(_dead(_relative(library, paper), raw, paper.body, link.target, link.start))
    return found


def _dead(path: str, raw: str, body: str, target: str, start: int) -> Finding:
    line = frontmatter.split(raw)[2] + body[:start].count("\n")
    return Finding(path, line, f"[[{target}]] leads nowhere")


def check_records(library: Library) -> list[Finding]:
    """Records that cannot be read, names that two papers share, and statements without evidence."""
    found = [Finding("", 0, problem.message) for problem in library.problems]
    owners: dict[str, str] = {}
    for paper in library.papers.values():
        path = _relative(library, paper)
        for name in dict.fromkeys(
            fold_name(name) for name in (paper.slug, paper.arxiv_id or "", *paper.aliases) if name
        ):
            if name in owners:
                found.append(Finding(path, 0, f"the name {name!r} is also that of {owners[name]}"))
            owners.setdefault(name, paper.slug)
        try:
            found += [Finding(path, 0, what) for what in _without_evidence(paper)]
        except KbError as error:
            found.append(Finding(path, 0, error.message))
    return found


def _without_evidence(paper: Paper) -> Iterator[str]:
    record = read_record(paper)
    for column, fact in record.facts.items():
        if not fact.evidence.strip():
            yield f"facts.{column} has no evidence"
    for row in record.results:
        if not row.evidence.strip():
            yield f"results: {row.benchmark} {row.value} has no evidence"
    for claim in record.claims:
        if not claim.evidence.strip():
            yield f"claims_in_notes: {claim.claim[:40]!r} has no evidence"


def _relative(library: Library, paper: Paper) -> str:
    return paper.record.relative_to(library.workspace.root).as_posix()


LIBRARY_CHECKS: dict[str, Callable[[Library], list[Finding]]] = {"links": check_links, "records": check_records}

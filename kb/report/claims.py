"""What the week's notes say of papers, held against records and texts."""

from __future__ import annotations

from collections.abc import Sequence

from kb.check import claims_of_note
from kb.check.values import RECORDED, VERDICTS, Evidence
from kb.errors import KbError
from kb.library import Library
from kb.notes import Note
from kb.report.sources import place_line
from kb.report.values import ClaimEntry


def checked_claims(library: Library, notes: Sequence[Note], language: str) -> tuple[list[ClaimEntry], list[KbError]]:
    """``(claims, problems)``: the contradicted first, one of a kind for each line. Looks at the records and not at the index: files alone."""
    found: dict[tuple[object, ...], ClaimEntry] = {}
    problems = []
    for note in notes:
        try:
            verdicts = claims_of_note(library, None, library.workspace.root / note.path)
        except KbError as error:
            problems.append(error)
            continue
        for verdict in verdicts:
            evidence = verdict.evidence
            entry = ClaimEntry(
                _name(library, verdict.paper), verdict.claim, verdict.verdict,
                evidence.in_language(language) if evidence else "", place_line(_where(evidence), language), note.path,
            )  # fmt: skip
            # Two findings of one kind in one line say one thing to the reader.
            found.setdefault((note.path, verdict.line, verdict.paper, verdict.verdict), entry)
    return sorted(found.values(), key=lambda entry: VERDICTS.index(entry.verdict)), problems


def _where(evidence: Evidence | None) -> str:
    where = evidence.where if evidence else ""
    return where.removeprefix(f"{RECORDED} (").removesuffix(")") if where.startswith(RECORDED) else where


def _name(library: Library, slug: str) -> str:
    paper = library.papers.get(slug)
    return paper.name if paper else slug

"""Newer versions and withdrawals on arXiv, and what here rests on an older version. Nothing that is here is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kb.errors import KbError
from kb.evidence_place import Place, read_place
from kb.facts import Record, read_record
from kb.library import TEXT_NAME, Library, Paper
from kb.model import Document, Metadata
from kb.notes import Note
from kb.section_diff import ABSTRACT, SectionChange, TextDiff, compare_abstracts, compare_texts
from kb.textfile import read as read_text

Verdict = Literal["changed", "unchanged", "unknown"]


@dataclass(frozen=True, slots=True)
class Stale:
    """Something that rests on an older version. ``verdict`` is about the part of the text that it names."""

    kind: Literal["fact", "result", "claim", "note", "method"]
    what: str
    version: int | None
    place: str
    verdict: Verdict = "unknown"


@dataclass(frozen=True, slots=True)
class PaperNews:
    """A paper that has a newer version than the one read here, or was withdrawn.

    ``changes`` is None where the two texts are not both here; ``remark`` then says which one is missing.
    """

    paper: Paper
    read: int | None
    newest: Metadata
    is_newer: bool
    withdrawn: bool
    stale: tuple[Stale, ...] = ()
    changes: tuple[SectionChange, ...] | None = None
    remark: str = ""


def news(
    library: Library,
    newest: Mapping[str, Metadata],
    notes: Sequence[Note] = (),
    methods: Sequence[Mapping[str, Any]] = (),
) -> list[PaperNews]:
    """What is new, by slug of paper and arXiv's newest record of it. ``methods`` have ``name``, ``paper``, ``version``."""
    found = []
    resting = _resting_elsewhere(library)
    for slug, metadata in newest.items():
        paper = library.papers[slug]
        record = read_record(paper)
        here = read_version(paper)
        stale = [*_stale_of_record(record, here, metadata), *resting.get(paper.arxiv_id or "", ())]
        stale += _stale_notes(paper, metadata, notes) + _stale_methods(paper, here, metadata, methods)
        old = [one for one in stale if one.version is not None and one.version < (metadata.version or 0)]
        is_newer = here is not None and (metadata.version or 0) > here
        is_withdrawn = metadata.withdrawn and not paper.fields.get("withdrawn")
        if is_newer or is_withdrawn or old:
            found.append(_described(paper, here, metadata, is_newer, is_withdrawn, old))
    return found


def known_news(library: Library, notes: Sequence[Note] = ()) -> list[PaperNews]:
    """The same from the records of arXiv's that are kept here, without asking anybody."""
    kept = {slug: paper.metadata for slug, paper in library.papers.items() if paper.metadata and paper.arxiv_id}
    return news(library, kept, notes)


def read_version(paper: Paper) -> int | None:
    """The version that the record was written from; else that of the text that is here."""
    for value in (paper.fields.get("version"), paper.text_fields.get("version")):
        if isinstance(value, int):
            return value
    return None


# ---------------------------------------------------------------- what rests on what


def _places(record: Record) -> Iterator[tuple[Literal["fact", "result", "claim"], str, str]]:
    """Everything in a record that was read in a paper's text, with its evidence. Code and our own words are not."""
    for column, fact in record.facts.items():
        if fact.level == "paper" or read_place(fact.evidence).version is not None:
            yield "fact", column, fact.evidence
    for result in record.results:
        if result.level == "paper":
            yield (
                "result",
                f"{result.benchmark} ({result.model})" if result.model else result.benchmark,
                result.evidence,
            )
    for claim in record.claims:
        if claim.level == "paper":
            yield "claim", claim.claim, claim.evidence


def _stale_of_record(record: Record, here: int | None, newest: Metadata) -> list[Stale]:
    found = []
    for kind, what, evidence in _places(record):
        place = read_place(evidence)
        if place.paper in (None, newest.arxiv_id):
            found.append(Stale(kind, what, place.version or here, evidence))
    return found


def _resting_elsewhere(library: Library) -> dict[str, list[Stale]]:
    """Facts of one paper that were read in another, by the other's id."""
    found: dict[str, list[Stale]] = {}
    for paper in library.papers.values():
        if not paper.fields.get("facts"):
            continue
        for kind, what, evidence in _places(read_record(paper)):
            place = read_place(evidence)
            if place.paper not in (None, paper.arxiv_id):
                found.setdefault(str(place.paper), []).append(
                    Stale(kind, f"{paper.slug}: {what}", place.version, evidence)
                )
    return found


def _stale_notes(paper: Paper, newest: Metadata, notes: Sequence[Note]) -> list[Stale]:
    """Notes that name an older version, or that were written before the newest one appeared."""
    found = []
    for note in notes:
        if note.kind == "report" or not note.names(paper.slug):
            continue
        named = [read_place(note.body[link.start : link.stop]) for link in note.links if link.target == paper.slug]
        versions = [place.version for place in named if place.version is not None]
        if versions:
            found.append(Stale("note", note.path, max(versions), f"names v{max(versions)}"))
        elif note.date and newest.updated and note.date < newest.updated:
            found.append(Stale("note", note.path, (newest.version or 1) - 1, f"written on {note.date}"))
    return found


def _stale_methods(
    paper: Paper, here: int | None, newest: Metadata, methods: Sequence[Mapping[str, Any]]
) -> list[Stale]:
    return [
        Stale(
            "method", str(method["name"]), method.get("version") or here, f"reproductions/methods/{method['name']}.py"
        )
        for method in methods
        if method["paper"] == paper.arxiv_id
    ]


# ---------------------------------------------------------------- what changed


def _described(
    paper: Paper, here: int | None, newest: Metadata, is_newer: bool, is_withdrawn: bool, old: Sequence[Stale]
) -> PaperNews:
    versions = sorted(
        {one.version for one in old if one.version is not None} | ({here} if is_newer and here else set())
    )
    diffs: dict[int, TextDiff] = {}
    remark = ""
    if versions:
        new = text_of(paper, newest.version)
        before = {version: text for version in versions if (text := text_of(paper, version)) is not None}
        missing = [v for v in versions if v not in before] + ([newest.version or 1] if new is None else [])
        if new is not None:
            diffs = {version: compare_texts(text, new) for version, text in before.items()}
            remark = _routes_remark(before.values(), new)
        if missing:
            names = ", ".join(f"v{version}" for version in missing)
            command = " ".join(f"{paper.arxiv_id}v{version}" for version in missing)
            remark = f"the text of {names} is not here, so what changed cannot be told: kb ingest {command}"
    judged = tuple(_judged(paper, one, newest, diffs.get(one.version or 0)) for one in old)
    shown = diffs.get(here or 0) or next(iter(diffs.values()), None)
    changes = shown.sections if shown else None
    if changes is None and is_newer and (change := _abstract_change(paper, here, newest)):
        changes, remark = (change,), f"of the abstracts alone; {remark}"
    return PaperNews(paper, here, newest, is_newer, is_withdrawn, judged, changes, remark)


def text_of(paper: Paper, version: int | None) -> Document | None:
    """The text of a version, if it is here."""
    if paper.text_fields.get("version") == version and paper.text is not None:
        return paper.text.document
    path = paper.folder / f"text.v{version}.md"
    if version is None or not path.is_file() or path.name == TEXT_NAME:
        return None
    return read_text(path.read_text(encoding="utf-8"), path).document


def _routes_remark(before: Any, new: Document) -> str:
    routes = {text.provenance.route for text in before} | {new.provenance.route}
    if len(routes) == 1:
        return ""
    return f"the texts came by different routes ({', '.join(sorted(routes))}): part of the difference is the readers'"


def _abstract_change(paper: Paper, version: int | None, newest: Metadata) -> SectionChange | None:
    from kb.ingest.record import metadata_of

    try:
        old = metadata_of(paper.folder, version)
    except KbError:
        return None
    return compare_abstracts(old.abstract, newest.abstract) if old and old.abstract and newest.abstract else None


def _judged(paper: Paper, one: Stale, newest: Metadata, diff: TextDiff | None) -> Stale:
    """The same with whether the part of the text that it names has changed."""
    place = read_place(one.place)
    verdicts: list[Verdict] = []
    if diff is not None and diff.is_empty:
        verdicts = ["unchanged"]
    elif diff is not None:
        verdicts = _verdicts(place, diff)
    elif place.abstract and not (place.sections or place.equations or place.tables):
        change = _abstract_change(paper, one.version, newest)
        verdicts = ["changed"] if change else []
    verdict: Verdict = "unknown"
    if verdicts:
        verdict = "changed" if "changed" in verdicts else "unknown" if "unknown" in verdicts else "unchanged"
    return Stale(one.kind, one.what, one.version, one.place, verdict)


def _verdicts(place: Place, diff: TextDiff) -> list[Verdict]:
    sections = [*place.sections, *((ABSTRACT,) if place.abstract else ())]
    found: list[Verdict] = [_section_verdict(number, diff) for number in sections]
    for numbers, known, different in (
        (place.equations, diff.known_equations, diff.equations),
        (place.tables, diff.known_tables, diff.tables),
    ):
        found += ["unknown" if n not in known else "changed" if n in different else "unchanged" for n in numbers]
    return found


def _section_verdict(number: str, diff: TextDiff) -> Verdict:
    """A section has changed when it or one below it has."""
    below = [known for known in diff.known_sections if known == number or known.startswith(f"{number}.")]
    if not below:
        return "unknown"
    return "changed" if any(known in diff.changed_numbers for known in below) else "unchanged"

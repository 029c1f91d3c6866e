"""The statements of a note checked against the records and texts of a library, without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.check.concepts import Lexicon, cover
from kb.check.dossier import Dossier
from kb.check.formula_claims import formula_claims
from kb.check.names import names
from kb.check.numbers import numbers
from kb.check.properties import properties
from kb.check.recorded import recorded
from kb.check.statements import statements
from kb.check.systems import systems
from kb.check.values import ClaimVerdict, Statement
from kb.errors import KbError, UsageError
from kb.facts import NoteClaim, read_record
from kb.importing.decode import decode
from kb.library import Library, Paper
from kb.links import Names
from kb.search.glossary import load_glossary
from kb.search.tokens import query_tokens

if TYPE_CHECKING:
    from kb.index.embedding.protocol import Embedder
    from kb.index.reader import Index

_SAME_CLAIM = 0.5


@dataclass(frozen=True, slots=True)
class RecordedClaim:
    """What a note said of a paper, as the paper's record has it."""

    paper: str
    claim: NoteClaim

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"paper": self.paper, **asdict(self.claim)}


def claims_of_note(
    library: Library, index: Index | None, note: Path | str, embedder: Embedder | None = None
) -> tuple[ClaimVerdict, ...]:
    """Every claim of a note with its verdict, by line. ``note`` is a path, or the text itself.

    Without ``index`` only the records are looked at. Raises KbError for a file that is no text.
    """
    raw = read_note(note) if isinstance(note, Path) else note
    lexicon = Lexicon(load_glossary(library.workspace))
    dossiers = Dossiers(library, lexicon, index, embedder)
    found: list[ClaimVerdict] = []
    for statement in statements(raw, Names(library)):
        found += _settled(
            list(_owned(statement, recorded(statement, dossiers))), list(_judged(statement, dossiers)), lexicon
        )
    return tuple(sorted(found, key=lambda verdict: verdict.line))


class Dossiers(Mapping[str, Dossier]):
    """The evidence of each paper whose record can be read, by slug, gathered when it is first asked for."""

    def __init__(self, library: Library, lexicon: Lexicon, index: Index | None, embedder: Embedder | None) -> None:
        self._library = library
        self._make = partial(Dossier, lexicon=lexicon, index=index, embedder=embedder)
        self._known: dict[str, Dossier | None] = {}

    def __getitem__(self, slug: str) -> Dossier:
        if slug not in self._known:
            self._known[slug] = self._open(self._library.papers[slug]) if slug in self._library.papers else None
        found = self._known[slug]
        if found is None:
            raise KeyError(slug)
        return found

    def __iter__(self) -> Iterator[str]:
        return (slug for slug in self._library.papers if slug in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _open(self, paper: Paper) -> Dossier | None:
        try:
            record = read_record(paper)
        except KbError:
            return None  # kb check records names it
        own = frozenset(token for name in (paper.slug, *paper.aliases) for token in query_tokens(name))
        return self._make(record, names=own)


def read_note(path: Path) -> str:
    """The text of a note, also in the Chinese encodings that older notes are in. Raises KbError for what is no text."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}", "give the path of a note, as notes/2026-04-19.md") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder", "check its notes one by one") from None
    text, _ = decode(data, str(path))
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _judged(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    for judge in (names, systems, numbers, properties, formula_claims):
        yield from _owned(statement, judge(statement, dossiers))


def _owned(statement: Statement, verdicts: Iterator[ClaimVerdict]) -> Iterator[ClaimVerdict]:
    """What a sentence denies or tells of others is not called wrong."""
    return (verdict for verdict in verdicts if not (statement.disowned and verdict.verdict == "contradicted"))


def _settled(decided: list[ClaimVerdict], verdicts: list[ClaimVerdict], lexicon: Lexicon) -> list[ClaimVerdict]:
    """One verdict a claim: what a record says of the statement takes in what was found of the same part of it."""
    whole = list(dict.fromkeys(decided))
    rest: dict[tuple[str, str, str], ClaimVerdict] = {}
    for verdict in verdicts:
        place = next((at for at, other in enumerate(whole) if _takes_in(other, verdict, lexicon)), None)
        if place is None:
            rest.setdefault((verdict.paper, verdict.claim, verdict.verdict), verdict)
        elif verdict.verdict == whole[place].verdict and verdict.evidence:
            other = (verdict.evidence,) if verdict.evidence != whole[place].evidence else ()
            whole[place] = replace(whole[place], kind=verdict.kind, more=(*whole[place].more, *other))
    return [*whole, *rest.values()]


def _takes_in(whole: ClaimVerdict, part: ClaimVerdict, lexicon: Lexicon) -> bool:
    """Whether a recorded claim is about what another verdict on the same statement is about."""
    if whole.paper != part.paper:
        return False
    if whole.kind == part.kind == "formula":
        return True
    claim, told = lexicon.read(whole.claim), lexicon.read(part.claim)
    if any(concept.hard and not claim.holds(concept) for concept in told.concepts):
        return False
    return part.verdict == "not found" or cover(told, claim) >= _SAME_CLAIM


def recorded_claims(library: Library) -> tuple[list[RecordedClaim], list[KbError]]:
    """All claims of notes that the records decide, by paper, and the errors of the records that cannot be read."""
    found: list[RecordedClaim] = []
    problems: list[KbError] = list(library.problems)
    for paper in library.papers.values():
        try:
            found += [RecordedClaim(paper.slug, claim) for claim in read_record(paper).claims]
        except KbError as error:
            problems.append(error)
    return found, problems

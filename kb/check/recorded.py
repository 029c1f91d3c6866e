"""Statements that a record already decides: ``claims_in_notes`` holds what notes have said and what the sources say.

A statement is such a claim when it speaks of the same things, denies the same ones, has the same numbers, and stands
nearer to the claim than to its correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kb.check.concepts import Reading, cover
from kb.check.dossier import Dossier, claim_evidence
from kb.check.values import CLAUSE_END, ClaimKind, ClaimVerdict, Evidence, Statement, Verdict
from kb.facts import NoteClaim

_LEAST_COVER = 0.7
_LEAST_OWN = 0.7  # of what the claim has and its correction lacks or denies
_VERDICTS: dict[str, Verdict] = {
    "confirmed": "found", "incomplete": "incomplete", "contradicted": "contradicted", "unverified": "not found",
}  # fmt: skip


def recorded(statement: Statement, dossiers: Mapping[str, Dossier]) -> Iterator[ClaimVerdict]:
    """The recorded claims that a statement repeats, of the papers that it may be about."""
    for slug in statement.papers:
        if slug not in dossiers or _is_about_another(statement, slug):
            continue
        dossier = dossiers[slug]
        said = dossier.read(f"{statement.before}\n{statement.text}" if statement.form == "formula" else statement.text)
        for claim in dossier.record.claims:
            if _repeats(said, dossier, claim) and _is_said_of(statement, dossier, claim):
                evidence = claim_evidence(claim)
                if claim.verdict == "unverified":
                    evidence = Evidence(evidence.text, evidence.where, "unverified")
                yield ClaimVerdict(
                    slug,
                    statement.line,
                    _kind(statement, claim),
                    claim.claim,
                    statement.text,
                    _VERDICTS[claim.verdict],
                    evidence,
                )


def _is_about_another(statement: Statement, slug: str) -> bool:
    """Whether the statement begins with another paper and does not name this one."""
    first = statement.mentions[0] if statement.mentions else None
    named = {mention[0] for mention in statement.mentions}
    return first is not None and slug not in named and first[1] <= 2


def _is_said_of(statement: Statement, dossier: Dossier, claim: NoteClaim) -> bool:
    """Of several papers that a sentence names, the claim is of the one whose clause repeats it."""
    if statement.form != "sentence" or len({slug for slug, _, _ in statement.mentions}) < 2:
        return True
    begin = 0
    for match in [*CLAUSE_END.finditer(statement.text), None]:
        end = match.start() if match else len(statement.text)
        if _repeats(dossier.read(statement.text[begin:end]), dossier, claim):
            named = [slug for slug, start, _ in statement.mentions if start < end]
            inside = {slug for slug, start, _ in statement.mentions if begin <= start < end}
            return dossier.slug in inside if inside else not named or dossier.slug in named
        begin = match.end() if match else end
    return claim.verdict != "contradicted"  # told over several clauses: enough to confirm, not to call wrong


def _repeats(said: Reading, dossier: Dossier, claim: NoteClaim) -> bool:
    wanted = dossier.read(claim.claim)
    correction = dossier.read(" ".join(claim.correction.values()))
    if not wanted.concepts or any(c.hard and not said.holds(c) for c in wanted.concepts):
        return False
    if any(said.holds(c) and not said.agrees(c) for c in wanted.concepts):
        return False
    share = cover(wanted, said)
    if claim.verdict in ("confirmed", "unverified"):
        return share >= _LEAST_COVER
    own = [concept for concept in wanted.concepts if not correction.agrees(concept)]
    held = sum(said.holds(concept) for concept in own) / len(own) if own else share
    return share >= _LEAST_COVER and held >= _LEAST_OWN


def _kind(statement: Statement, claim: NoteClaim) -> ClaimKind:
    if statement.form == "formula":
        return "formula"
    if any(char.isdigit() for char in claim.claim):
        return "number"
    return "property"

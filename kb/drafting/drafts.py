"""Drafts in a paper's record: written beside the facts that people wrote, accepted or rejected one by one.

A draft is a fact of level ``draft`` with further candidates below ``others``. ``drafted`` in the record names by column the
fingerprints of what was ever proposed: a column that is in it and has no fact any more was rejected, by ``kb facts review`` or by
deleting its lines, and is not drafted again unless asked for; what was proposed once is never proposed a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kb import frontmatter
from kb.drafting.candidates import Candidate, fingerprint, language
from kb.errors import UsageError
from kb.textfile.front_edit import remove_entry, set_entry

State = Literal["open", "draft", "fact", "rejected"]
FACTS, DRAFTED = "facts", "drafted"
READ_IN_PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed fact: candidates, best first; ``model`` names the language model that worded the first, if one did."""

    column: str
    candidates: tuple[Candidate, ...]
    model: str = ""


def state_of(fields: Mapping[str, Any], column: str) -> State:
    """What a record says of a column: a person's fact, a draft that waits, a rejected one, or nothing yet."""
    fact = _columns(fields, FACTS).get(column)
    if fact is None:
        return "rejected" if column in _columns(fields, DRAFTED) else "open"
    is_draft = isinstance(fact, Mapping) and fact.get("level") == "draft"
    return "draft" if is_draft else "fact"


def drafts_of(fields: Mapping[str, Any]) -> list[Draft]:
    """The drafts of a record that wait for a person, in the order of the record."""
    columns = _columns(fields, FACTS)
    return [_draft(str(column), columns[column]) for column in columns if state_of(fields, str(column)) == "draft"]


def proposed_before(fields: Mapping[str, Any], column: str) -> frozenset[str]:
    """The fingerprints of what was proposed for a column up to now."""
    return frozenset(_marks(fields, column))


def _marks(fields: Mapping[str, Any], column: str) -> list[str]:
    return str(_columns(fields, DRAFTED).get(column) or "").split()


def _columns(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An entry of the record by column; empty for what somebody wrote in another form, which a change refuses to touch."""
    found = fields.get(key)
    return found if isinstance(found, Mapping) else {}


def is_untouched(fields: Mapping[str, Any], draft: Draft) -> bool:
    """Whether a draft still says what was proposed; one that a person has worded anew is theirs."""
    return fingerprint(draft.candidates[0].text) in proposed_before(fields, draft.column)


def with_draft(text: str, path: Path, draft: Draft) -> str:
    """The record with a draft put in, in place of an earlier draft of the column if there is one."""
    fields, _ = frontmatter.parse(text, path)
    if state_of(fields, draft.column) == "fact":
        raise UsageError(f"{draft.column} has a fact already, which stays", f"take it out of {path} to have it drafted")
    marks = {fingerprint(candidate.text): None for candidate in draft.candidates}
    known = dict.fromkeys([*_marks(fields, draft.column), *marks])
    text = set_entry(text, path, FACTS, draft.column, _fact(draft))
    return set_entry(text, path, DRAFTED, draft.column, " ".join(known))


def accepted(text: str, path: Path, column: str, rank: int = 1, words: str = "") -> str:
    """The record with candidate ``rank`` as a fact read in the paper, with other ``words`` where they are given.

    Raises UsageError when no draft of the column waits, or when it has no such candidate.
    """
    draft = _waiting(text, path, column)
    if not 1 <= rank <= len(draft.candidates):
        raise UsageError(f"{column} has {len(draft.candidates)} candidates, not {rank}", f"{column}=1 takes the first")
    chosen = draft.candidates[rank - 1]
    value = " ".join(words.split()) or chosen.text
    fact = {language(value): value, "level": READ_IN_PAPER, "evidence": chosen.evidence}
    return set_entry(text, path, FACTS, column, {key: part for key, part in fact.items() if part})


def rejected(text: str, path: Path, column: str) -> str:
    """The record without the draft of a column, which stays known as rejected."""
    draft = _waiting(text, path, column)
    fields, _ = frontmatter.parse(text, path)
    if column not in _columns(fields, DRAFTED):
        text = set_entry(
            text, path, DRAFTED, column, " ".join(fingerprint(candidate.text) for candidate in draft.candidates)
        )
    return remove_entry(text, path, FACTS, column)


def _waiting(text: str, path: Path, column: str) -> Draft:
    fields, _ = frontmatter.parse(text, path)
    drafts = {draft.column: draft for draft in drafts_of(fields)}
    if column not in drafts:
        waiting = ", ".join(drafts) or "none"
        raise UsageError(f"no draft of {column!r} waits in {path.parent.name}", f"waiting: {waiting}")
    return drafts[column]


def _fact(draft: Draft) -> dict[str, Any]:
    first, *others = draft.candidates
    fact = {first.language: first.text, "level": "draft", **_source(first)}
    if draft.model:
        fact["worded_by"] = draft.model
    if others:
        fact["others"] = [{other.language: other.text, **_source(other)} for other in others]
    return fact


def _source(candidate: Candidate) -> dict[str, Any]:
    fields = {"evidence": candidate.evidence, "passage": candidate.passage, "score": round(candidate.score, 2)}
    return {key: value for key, value in fields.items() if value != ""}


def _draft(column: str, fact: Mapping[str, Any]) -> Draft:
    others = fact.get("others")
    rows = [fact, *(others if isinstance(others, Sequence) and not isinstance(others, str) else ())]
    candidates = tuple(_candidate(row) for row in rows if isinstance(row, Mapping))
    return Draft(column, candidates, str(fact.get("worded_by") or ""))


def _candidate(row: Mapping[str, Any]) -> Candidate:
    text = next((str(row[key]) for key in ("zh", "en", "value") if row.get(key) not in (None, "")), "")
    try:
        score = float(row.get("score") or 0)
    except (TypeError, ValueError):
        score = 0.0
    return Candidate(
        " ".join(text.split()), language(text), str(row.get("evidence") or ""), str(row.get("passage") or ""), score
    )

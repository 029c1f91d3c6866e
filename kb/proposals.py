"""How close other work stands to an idea of one's own: what both do, weighed by how few do it, and what differs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kb.capabilities import Matrix, Trait
from kb.facts import Record

# Columns of words that tell two works apart where their capabilities agree.
DESCRIBING = ("idea", "unit_of_credit", "comparison_group", "needs", "normalisation")


@dataclass(frozen=True, slots=True)
class Likeness:
    """Another work beside a proposal. ``few`` are shared capabilities that at most that one other work has too."""

    proposal: Record
    other: Record
    weight: float
    shared: tuple[Trait, ...]
    few: tuple[Trait, ...]
    differs: tuple[Trait, ...]
    described: tuple[str, ...]
    unknown: tuple[Trait, ...]


def closest(matrix: Matrix, proposal: Record, most: int = 3) -> list[Likeness]:
    """The works nearest to a proposal, the nearest first."""
    found = [_likeness(matrix, proposal, other) for other in matrix.papers if other is not proposal]
    return sorted(found, key=lambda one: -one.weight)[:most]


def _likeness(matrix: Matrix, proposal: Record, other: Record) -> Likeness:
    mine, theirs = proposal.paper.slug, other.paper.slug
    shared, differs, unknown, weight = [], [], [], 0.0
    for trait in matrix.traits:
        pair = (matrix.has(mine, trait.key), matrix.has(theirs, trait.key))
        if "not checked" in pair:
            unknown.append(trait)
        elif pair == ("yes", "yes"):
            shared.append(trait)
            weight += _surprise(matrix, trait)
        elif "yes" in pair:
            differs.append(trait)
    few = tuple(trait for trait in shared if len(matrix.covering([trait.key])) <= 1)
    described = tuple(
        column
        for column in (*(trait.column for trait in shared), *DESCRIBING)
        if _says_otherwise(proposal, other, column)
    )
    return Likeness(
        proposal, other, weight, tuple(shared), few, tuple(differs), tuple(dict.fromkeys(described)), tuple(unknown)
    )


def _surprise(matrix: Matrix, trait: Trait) -> float:
    """How much it tells that two works share a capability: much if few have it."""
    return math.log((len(matrix.papers) + 1) / (len(matrix.covering([trait.key])) + 0.5))


def _says_otherwise(proposal: Record, other: Record, column: str) -> bool:
    mine, theirs = proposal.facts.get(column), other.facts.get(column)
    if mine is None or theirs is None or "draft" in (mine.level, theirs.level):
        return False
    texts = mine.value("en"), theirs.value("en")
    plain = all(text.partition(",")[2] == "" and text in ("yes", "no") for text in texts)
    return texts[0] != texts[1] and not plain and all("," in text or text not in ("yes", "no") for text in texts)

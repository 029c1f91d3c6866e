"""Combinations of capabilities that no paper has, those that come nearest, and what nobody has looked up yet."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kb.capabilities import Matrix, Trait
from kb.facts import Record

Status = Literal["covered", "gap", "question"]
# A combination is called a gap while at most one record in so many could still turn out to have it.
DECIDED = 5


@dataclass(frozen=True, slots=True)
class Near:
    """A paper near a combination: what it lacks, and what of it nobody looked up."""

    record: Record
    lacks: tuple[Trait, ...]
    unknown: tuple[Trait, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """Capabilities taken together: who has them all, and if nobody, who is near and which papers are still open."""

    traits: tuple[Trait, ...]
    status: Status
    covered_by: tuple[Record, ...]
    proposals: tuple[Record, ...]
    nearest: tuple[Near, ...]
    questions: tuple[Near, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(trait.key for trait in self.traits)


def combinations(matrix: Matrix, size: int) -> list[Combination]:
    """Every combination of at most ``size`` capabilities, without those that say one thing twice."""
    found = []
    for count in range(1, size + 1):
        for traits in itertools.combinations(matrix.traits, count):
            if not _repeats(traits):
                found.append(_combination(matrix, traits))
    return found


def _repeats(traits: Sequence[Trait]) -> bool:
    keys = {trait.key for trait in traits}
    return any(trait.needs in keys for trait in traits)


def _combination(matrix: Matrix, traits: tuple[Trait, ...]) -> Combination:
    keys = [trait.key for trait in traits]
    covered = matrix.covering(keys)
    near = [_near(matrix, record, traits) for record in matrix.papers]
    questions = () if covered else tuple(one for one in near if one.unknown and not one.lacks)
    is_open = len(questions) * DECIDED > len(matrix.papers) or any(trait in matrix.hardly_checked for trait in traits)
    status: Status = "covered" if covered else "question" if is_open else "gap"
    nearest = tuple(sorted((one for one in near if one.lacks), key=lambda one: _distance(matrix, traits, one)))
    return Combination(traits, status, covered, matrix.covering(keys, proposals=True), nearest, questions)


def _near(matrix: Matrix, record: Record, traits: Sequence[Trait]) -> Near:
    slug = record.paper.slug
    unknown = tuple(trait for trait in traits if matrix.has(slug, trait.key) == "not checked")
    lacks = tuple(trait for trait in traits if matrix.has(slug, trait.key) in ("no", "not stated"))
    return Near(record, lacks, unknown)


def _distance(matrix: Matrix, traits: Sequence[Trait], near: Near) -> tuple[float, ...]:
    """Fewest missing first; among them those that have what the missing one needs, then those with the rarest rest."""
    slug = near.record.paper.slug
    missing = {trait.key for trait in (*near.lacks, *near.unknown)}
    halfway = sum(_has_what_it_needs(matrix, slug, trait) for trait in near.lacks)
    rare = sum(1 / max(1, len(matrix.covering([trait.key]))) for trait in traits if trait.key not in missing)
    return (len(missing), -max(halfway, rare), -rare, len(near.unknown))


def _has_what_it_needs(matrix: Matrix, slug: str, trait: Trait) -> bool:
    return bool(trait.needs) and (slug, trait.needs) in matrix.cells and matrix.has(slug, trait.needs) == "yes"


def gaps(matrix: Matrix, size: int) -> list[Combination]:
    """The uncovered combinations that do not follow from a smaller one, the most telling first."""
    open_ones = [one for one in combinations(matrix, size) if one.status != "covered"]
    closures: list[frozenset[str]] = []
    minimal = []
    for one in sorted(open_ones, key=lambda one: len(_closure(matrix, one.traits))):
        closure = _closure(matrix, one.traits)
        if not any(smaller <= closure for smaller in closures):
            minimal.append(one)
            # What is only uncovered because nobody looked implies nothing.
            closures += [closure] if one.status == "gap" else []
    return sorted(minimal, key=lambda one: _rank(one))


def _closure(matrix: Matrix, traits: Sequence[Trait]) -> frozenset[str]:
    """The capabilities and what they need: heterogeneous agents are several agents."""
    known = {trait.key: trait for trait in matrix.traits}
    keys: set[str] = set()
    left = [trait.key for trait in traits]
    while left:
        key = left.pop()
        keys.add(key)
        if key in known and known[key].needs:
            left.append(known[key].needs)
    return frozenset(keys)


def _rank(one: Combination) -> tuple[int, ...]:
    """Gaps before questions; mechanisms in the setting of interest before other combinations; then by who is near."""
    kinds = [trait.kind for trait in one.traits]
    if "mechanism" not in kinds:
        shape = 5
    elif "cost" in kinds:
        shape = 4
    elif len(kinds) == 1:
        shape = 0
    elif "focus" in kinds:
        shape = 1 if set(kinds) == {"focus", "mechanism"} else 2
    else:
        shape = 2 if "setting" in kinds else 3
    close = sum(len(near.lacks) == 1 and not near.unknown for near in one.nearest)
    return (one.status == "question", shape, len(kinds), len(one.questions), -close)


def questions(found: Sequence[Combination]) -> Iterator[tuple[Record, Trait, int]]:
    """Cells that nobody looked up, with the number of gaps that hang on each; the one that decides most first."""
    asked = [
        (near.record, trait) for one in found if one.status == "gap" for near in one.questions for trait in near.unknown
    ]
    counts = Counter((record.paper.slug, trait.key) for record, trait in asked)
    named = {(record.paper.slug, trait.key): (record, trait) for record, trait in asked}
    for key in sorted(counts, key=lambda key: (-counts[key], key)):
        yield (*named[key], counts[key])

"""Which paper can do what: yes, no, not stated or not checked, for every capability of ``templates/gaps.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from kb.errors import FileFormatError, UsageError, near_hint
from kb.facts import NOT_CHECKED, NOT_STATED, Fact, Record
from kb.tables import in_language, template_folders
from kb.workspace import Workspace

Has = Literal["yes", "no", "not stated", "not checked"]
Kind = Literal["focus", "setting", "unit", "mechanism", "cost"]
FILE = "gaps.toml"
PROPOSAL_TAG = "own-proposal"
SURVEY_TAG = "survey"  # says what others do


@dataclass(frozen=True, slots=True)
class Trait:
    """A capability: the fact that decides it, the answer that counts, and what it cannot be without."""

    key: str
    column: str
    want: str
    kind: Kind
    title: dict[str, str]
    needs: str = ""

    def name(self, language: str) -> str:
        return in_language(self.title, language)


@dataclass(frozen=True, slots=True)
class Capability:
    """What a record says of one capability, and the fact that says it: its own, or that of a capability it needs."""

    has: Has
    fact: Fact | None = None

    def words(self, language: str) -> str:
        """What the record adds to its yes or no; empty where it adds nothing."""
        return self.fact.value(language).partition(",")[2].strip() if self.fact else ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Papers by capabilities. ``proposals`` are ideas of one's own: they fill no gap, and are compared with what does."""

    traits: tuple[Trait, ...]
    papers: tuple[Record, ...]
    proposals: tuple[Record, ...]
    cells: dict[tuple[str, str], Capability]

    def has(self, slug: str, key: str) -> Has:
        return self.cells[slug, key].has

    def trait(self, key: str) -> Trait:
        return next(trait for trait in self.traits if trait.key == key)

    @property
    def hardly_checked(self) -> tuple[Trait, ...]:
        """Capabilities that nobody looked up in more than half of the papers: they say little of what is missing."""
        return tuple(
            trait
            for trait in self.traits
            if 2 * sum(self.has(r.paper.slug, trait.key) == "not checked" for r in self.papers) > len(self.papers)
        )

    def covering(self, keys: Sequence[str], proposals: bool = False) -> tuple[Record, ...]:
        """The papers that have all of these capabilities."""
        records = self.proposals if proposals else self.papers
        return tuple(r for r in records if all(self.has(r.paper.slug, key) == "yes" for key in keys))


def read_traits(workspace: Workspace | None) -> tuple[Trait, ...]:
    """The capabilities of the first ``gaps.toml`` that is found, the workspace's own before the packaged one."""
    path = next((folder / FILE for folder in template_folders(workspace) if (folder / FILE).is_file()), Path(FILE))
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["traits"]
        return tuple(Trait(**row) for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:  # no UTF-8 and no TOML are ValueErrors
        hint = "each [[traits]] has key, column, want, kind and title"
        raise FileFormatError(path, 1, f"not a list of capabilities: {error}", hint) from None


def matrix_of(records: Sequence[Record], traits: Sequence[Trait]) -> Matrix:
    """The matrix of these records."""
    every = {trait.key: trait for trait in traits}
    methods = [record for record in records if SURVEY_TAG not in record.paper.tags]
    own = [record for record in methods if PROPOSAL_TAG in record.paper.tags]
    cells = {
        (record.paper.slug, trait.key): _capability(record, trait, every) for record in methods for trait in traits
    }
    papers = tuple(record for record in methods if record not in own)
    return Matrix(tuple(traits), papers, tuple(own), cells)


def narrowed(matrix: Matrix, keys: Sequence[str]) -> Matrix:
    """The matrix with these capabilities only (all, if none is named). Raises UsageError for one that there is not."""
    known = [trait.key for trait in matrix.traits]
    for key in keys:
        if key not in known:
            raise UsageError(f"no capability {key!r}", near_hint(key, known, f"one of {', '.join(known)}", 0.4))
    return replace(matrix, traits=tuple(t for t in matrix.traits if not keys or t.key in keys))


def _capability(record: Record, trait: Trait, every: dict[str, Trait]) -> Capability:
    """The cell of a record. What a capability needs and is absent makes it absent too; a draft says nothing yet."""
    fact = record.facts.get(trait.column)
    if fact is not None and fact.level != "draft" and fact.value("en") != NOT_CHECKED:
        answer = fact.value("en").partition(",")[0].strip()
        has: Has = "not stated" if answer == NOT_STATED else "yes" if answer == trait.want else "no"
        return Capability(has, fact)
    if trait.needs in every:
        needed = _capability(record, every[trait.needs], every)
        if needed.has in ("no", "not stated"):
            return needed
    return Capability("not checked")

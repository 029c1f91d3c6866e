"""Which passages a question is about, as a condition on ``passages.sqlite``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kb.model import Kind


@dataclass(frozen=True, slots=True)
class Filters:
    """An empty field does not restrict, except that references are only found when ``kinds`` names them.

    ``papers`` are slugs or paths of notes; ``section`` is a section kind (``method``) or a part of a heading;
    ``since`` is an ISO date or year, compared with the date of the paper or note (without a date: left out).
    """

    papers: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    languages: tuple[str, ...] = ()
    section: str = ""
    tags: tuple[str, ...] = ()
    since: str = ""

    @property
    def restricts_vectors(self) -> bool:
        """Whether some passages that have a vector are outside (references never have one)."""
        return self != Filters()

    def condition(self) -> tuple[str, list[Any]]:
        """SQL over ``passages p`` and its parameters."""
        parts: list[str] = []
        values: list[Any] = []
        if self.kinds:
            parts.append(_among("p.kind", self.kinds))
            values += [str(kind) for kind in self.kinds]
        else:
            parts.append("p.kind <> ?")
            values.append(str(Kind.REFERENCE))
        for column, wanted in (("p.owner", self.papers), ("p.language", self.languages)):
            if wanted:
                parts.append(_among(column, wanted))
                values += wanted
        if self.section:
            parts.append("(p.section_kind = ? OR instr(lower(p.heading), ?) > 0)")
            values += [self.section.lower(), self.section.lower()]
        if self.tags:
            parts.append(f"p.owner IN (SELECT owner FROM tags WHERE {_among('tag', self.tags)})")
            values += self.tags
        if self.since:
            parts.append("p.owner IN (SELECT owner FROM documents WHERE date >= ?)")
            values.append(self.since)
        return " AND ".join(parts), values


def _among(column: str, values: tuple[Any, ...]) -> str:
    return f"{column} IN ({', '.join('?' * len(values))})"

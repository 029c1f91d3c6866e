"""Facts of a paper's record: a value in one or both languages, where it was read, and how far it can be trusted.

A cell of a table is one of: a value, ``no``, ``not stated`` (looked for, absent), or ``not checked`` (the default: nobody
looked, which is never the same as no).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from kb.errors import FileFormatError
from kb.library import Paper

Level = Literal["paper", "code", "secondary", "unverified", "draft"]
LEVELS = ("paper", "code", "secondary", "unverified", "draft")
NOT_CHECKED = "not checked"
NOT_STATED = "not stated"
_FORMULA = re.compile(r"\$\$\s*(.+?)\s*\$\$(?=[ \t]*\n*([^\n]*))", re.DOTALL)
VERDICTS = ("confirmed", "contradicted", "incomplete", "unverified")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing known of a paper. ``text`` holds it by language; ``""`` is the key of a value without language."""

    column: str
    text: dict[str, str]
    level: Level
    evidence: str
    score: float | None = None

    def value(self, language: str) -> str:
        """The value in a language, else in the other one."""
        return self.text.get(language) or self.text.get("") or next(iter(self.text.values()), "")


@dataclass(frozen=True, slots=True)
class Result:
    """A headline number: where, with which model, against what."""

    benchmark: str
    model: str
    metric: str
    value: float | str
    unit: str = ""
    baseline: str = ""
    baseline_value: float | str | None = None
    level: Level = "unverified"
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class NoteClaim:
    """What a note of the user's says of a paper, and what the sources say."""

    claim: str
    note: str
    verdict: str
    correction: dict[str, str]
    level: Level
    evidence: str


@dataclass(frozen=True, slots=True)
class Record:
    """The checked part of a paper's record."""

    paper: Paper
    facts: dict[str, Fact] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    claims: tuple[NoteClaim, ...] = ()


def read_record(paper: Paper) -> Record:
    """The facts of a paper. Raises FileFormatError that names the column for a fact that cannot be read."""
    raw = paper.fields.get("facts") or {}
    if not isinstance(raw, dict):
        raise FileFormatError(paper.record, 2, "facts: is not a list of columns", "write facts:, then `  column: {value: ...}`")
    return Record(
        paper,
        {str(column): _fact(paper, str(column), value) for column, value in raw.items()},
        tuple(_result(paper, row) for row in _rows(paper, "results")),
        tuple(_claim(paper, row) for row in _rows(paper, "claims_in_notes")),
    )


def _fact(paper: Paper, column: str, raw: Any) -> Fact:
    if not isinstance(raw, dict):
        raw = {"value": raw}
    text = {language: _word(raw[language]) for language in ("zh", "en") if raw.get(language) not in (None, "")}
    if "value" in raw and raw["value"] is not None:
        text[""] = _word(raw["value"])
    level = str(raw.get("level") or "unverified")
    if not text:
        raise FileFormatError(paper.record, 2, f"facts.{column} has no value", "give it value:, or zh: and en:")
    if level not in LEVELS:
        raise FileFormatError(paper.record, 2, f"facts.{column}: no level {level!r}", f"one of {', '.join(LEVELS)}")
    score = raw.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise FileFormatError(paper.record, 2, f"facts.{column}: score {score!r} is no number", "take the line out")
    return Fact(column, text, level, str(raw.get("evidence") or ""), float(score) if score is not None else None)  # type: ignore[arg-type]


def _word(value: Any) -> str:
    # YAML reads a bare yes or no as true or false.
    if value is True:
        return "yes"
    if value is False:
        return "no"
    return " ".join(str(value).split())


def _rows(paper: Paper, key: str) -> list[Any]:
    rows = paper.fields.get(key) or []
    if not isinstance(rows, list):
        raise FileFormatError(paper.record, 2, f"{key}: is not a list", f"write {key}:, then a line `- ...` for each")
    return rows


def _result(paper: Paper, raw: Any) -> Result:
    if not isinstance(raw, dict) or not raw.get("benchmark"):
        raise FileFormatError(paper.record, 2, "a row of results: has no benchmark", "give it benchmark:, model:, value:")
    known = {key: value for key, value in raw.items() if key in Result.__dataclass_fields__}
    return Result(**{"model": "", "metric": "", "value": "", **known})


def _claim(paper: Paper, raw: Any) -> NoteClaim:
    verdict = str(raw.get("verdict")) if isinstance(raw, dict) else ""
    if verdict not in VERDICTS:
        raise FileFormatError(paper.record, 2, f"claims_in_notes: no verdict {verdict!r}", f"one of {', '.join(VERDICTS)}")
    correction = raw.get("correction") or {}
    if not isinstance(correction, dict):
        correction = {"": str(correction)}
    return NoteClaim(
        str(raw.get("claim") or ""), str(raw.get("note") or ""), verdict,
        {str(key): _word(value) for key, value in correction.items()},
        raw.get("level") or "unverified", str(raw.get("evidence") or ""),
    )  # fmt: skip


def formulas(paper: Paper) -> list[str]:
    """The display formulas of the record's own text, as LaTeX."""
    return [latex for latex, _ in formulas_with_sources(paper)]


def formulas_with_sources(paper: Paper) -> list[tuple[str, str]]:
    """``(LaTeX, sentence)``: the display formulas with the line below each that says where it was read; it may be empty."""
    found = []
    for match in _FORMULA.finditer(paper.body):
        line = match[2].strip()
        found.append((match[1], "" if line.startswith(("$$", "#", "|", "```")) else line))
    return found

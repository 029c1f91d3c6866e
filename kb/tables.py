"""Table specifications (TOML) and records to cells. Pure: nothing is read but the spec files, nothing is printed."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kb.errors import FileFormatError, UsageError
from kb.facts import NOT_CHECKED, NOT_STATED, Record, Result
from kb.workspace import Workspace

CellState = Literal["value", "no", "not stated", "not checked", "draft"]
_WORDS = {
    "zh": {"not checked": "未查", "not stated": "未说明", "no": "否", "yes": "是", "withdrawn": "已撤稿"},
    "en": {"not checked": "not checked", "not stated": "not stated", "no": "no", "yes": "yes", "withdrawn": "withdrawn"},
}
_MARKS = {"paper": "P", "code": "C", "secondary": "S", "unverified": "?", "draft": "draft"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it holds (``key``) and its heading by language."""

    key: str
    title: dict[str, str]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table as its TOML file describes it. ``rows`` is ``papers`` (a row each) or ``results`` (a row a number)."""

    name: str
    title: dict[str, str]
    columns: tuple[Column, ...]
    rows: Literal["papers", "results"] = "papers"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its words, what kind of cell it is, and where they come from."""

    text: str
    state: CellState = "value"
    level: str = ""
    evidence: str = ""

    @property
    def mark(self) -> str:
        """The short sign of the level; empty where nothing was claimed."""
        return _MARKS.get(self.level, "") if self.state != "not checked" else ""


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A table ready for any format: headings, rows of cells, and the language it is in."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    language: str

    def transposed(self) -> FilledTable:
        """Papers as columns."""
        names = tuple(row[0].text for row in self.rows)
        rows = tuple(
            (TableCell(heading), *(row[index] for row in self.rows)) for index, heading in enumerate(self.headings) if index
        )
        return FilledTable(self.title, (self.headings[0], *names), rows, self.language)


def template_folders(workspace: Workspace | None) -> list[Path]:
    """Where templates are looked for: the workspace first, then those of the package (wheel or checkout)."""
    package = Path(__file__).resolve().parent
    shipped = package / "templates" if (package / "templates").is_dir() else package.parent / "templates"
    return [folder for folder in ([workspace.templates] if workspace else []) + [shipped] if folder.is_dir()]


def load_spec(name: str, workspace: Workspace | None) -> TableSpec:
    """A table by name. Raises UsageError with the names there are."""
    known: list[str] = []
    for folder in template_folders(workspace):
        path = folder / "tables" / f"{name}.toml"
        if path.is_file():
            return _read_spec(path)
        known += [other.stem for other in sorted((folder / "tables").glob("*.toml"))]
    raise UsageError(f"no table {name!r}", f"one of {', '.join(dict.fromkeys(known))}; or put {name}.toml into templates/tables/")


def _read_spec(path: Path) -> TableSpec:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        columns = tuple(Column(str(column["key"]), dict(column["title"])) for column in raw["columns"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(path, 1, f"not a table specification: {error}", "each [[columns]] has key and title") from None
    return TableSpec(path.stem, dict(raw.get("title") or {}), columns, raw.get("rows", "papers"))


def with_columns(spec: TableSpec, keys: Sequence[str]) -> TableSpec:
    """The table with other columns; the paper's name stays first."""
    titles = {column.key: column for column in spec.columns}
    wanted = ["paper", *(key for key in keys if key != "paper")]
    columns = tuple(titles.get(key) or Column(key, {"en": key.replace("_", " "), "zh": key}) for key in wanted)
    return TableSpec(spec.name, spec.title, columns, spec.rows)


def fill(spec: TableSpec, records: Sequence[Record], language: str) -> FilledTable:
    """The cells of a table, one row a paper."""
    rows = tuple(tuple(paper_cell(record, column.key, language) for column in spec.columns) for record in records)
    return FilledTable(_title(spec.title, language), _headings(spec, language), rows, language)


def fill_results(spec: TableSpec, records: Sequence[Record], language: str, benchmark: str | None) -> FilledTable:
    """The cells of a table of numbers, one row a number. ``benchmark`` keeps those of one benchmark (a part of its name)."""
    rows = []
    for record in records:
        for result in record.results:
            if benchmark is None or _folded(benchmark) in _folded(result.benchmark):
                rows.append(tuple(_result_cell(record, result, column.key, language) for column in spec.columns))
    return FilledTable(_title(spec.title, language), _headings(spec, language), tuple(rows), language)


def paper_cell(record: Record, key: str, language: str) -> TableCell:
    """One cell of a paper's row."""
    paper = record.paper
    if key == "paper":
        name = paper.aliases[0] if paper.aliases else paper.title
        if paper.withdrawn:
            name = f"[{_WORDS[language]['withdrawn']}] {name}"
        return TableCell(f"{name} ({paper.arxiv_id})" if paper.arxiv_id else name)
    if key in record.facts:
        return _fact_cell(record, key, language)
    metadata = {"title": paper.title, "authors": ", ".join(paper.authors), "year": paper.year, "venue": paper.fields.get("venue"),
                "code": paper.fields.get("code"), "id": paper.arxiv_id}  # fmt: skip
    if metadata.get(key):
        return TableCell(str(metadata[key]))
    return TableCell(_WORDS[language][NOT_CHECKED], "not checked")


def _fact_cell(record: Record, key: str, language: str) -> TableCell:
    fact = record.facts[key]
    value = fact.value(language)
    words = _WORDS[language]
    if fact.level == "draft":
        return TableCell(value, "draft", "draft", fact.evidence)
    if value in (NOT_STATED, NOT_CHECKED):
        state: CellState = "not stated" if value == NOT_STATED else "not checked"
        return TableCell(words[value], state, fact.level, fact.evidence)
    head, comma, rest = value.partition(",")
    if head in ("yes", "no"):
        return TableCell(words[head] + ("，" if comma and language == "zh" else comma) + (rest.lstrip() if language == "zh" else rest), "no" if head == "no" else "value", fact.level, fact.evidence)
    return TableCell(value, "value", fact.level, fact.evidence)


def _result_cell(record: Record, result: Result, key: str, language: str) -> TableCell:
    if key in ("value", "baseline_value"):
        raw = getattr(result, key)
        text = "" if raw is None else f"{raw:g}{result.unit}" if isinstance(raw, int | float) else str(raw)
        return TableCell(text, "value", result.level if key == "value" else "", result.evidence)
    if key in ("benchmark", "model", "metric", "baseline"):
        return TableCell(str(getattr(result, key)))
    return paper_cell(record, key, language)


def _headings(spec: TableSpec, language: str) -> tuple[str, ...]:
    return tuple(_title(column.title, language) for column in spec.columns)


def _title(titles: dict[str, Any], language: str) -> str:
    return str(titles.get(language) or titles.get("en") or next(iter(titles.values()), ""))


def _folded(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())

"""Tables as values: a specification (TOML), its columns, and cells ready for any format. Nothing is printed here."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kb.errors import FileFormatError, UsageError, near_hint
from kb.workspace import Workspace

CellState = Literal["value", "no", "not stated", "not checked", "draft"]
# Signs of where a cell was read, in the order in which a legend names them.
SIGNS = {"paper": "P", "code": "C", "secondary": "S", "unverified": "?", "table": "T", "method": "M", "runs": "R"}
PROVISIONAL_SIGN = "~"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it holds (``key``) and its heading by language.

    A key names a fact or a field of the record; ``method.NAME`` a trait of the reproduced method, and
    ``runs.WORLD.METRIC`` the mean of a benchmark's runs.
    """

    key: str
    title: dict[str, str]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table as its TOML file describes it. ``rows`` is ``papers`` (a row each) or ``results`` (a row a number).

    ``papers`` are those of the table when a command names none.
    """

    name: str
    title: dict[str, str]
    columns: tuple[Column, ...]
    rows: Literal["papers", "results"] = "papers"
    papers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its words, what kind of cell it is, and where they come from.

    ``provisional`` is why the formula behind the cell is not certain; empty if it is, or if there is none.
    """

    text: str
    state: CellState = "value"
    level: str = ""
    evidence: str = ""
    provisional: str = ""

    @property
    def mark(self) -> str:
        """The short sign of the level; empty where nothing was claimed. A draft has a sign of its own."""
        if self.state in ("not checked", "draft"):
            return ""
        return SIGNS.get(self.level, "") + (PROVISIONAL_SIGN if self.provisional else "")

    @property
    def source(self) -> str:
        """Level, place and doubts in words: what a footnote or a hover says."""
        place = ": ".join(part for part in (self.level, self.evidence) if part)
        return "; provisional: ".join(part for part in (place, self.provisional) if part)


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
            (TableCell(heading), *(row[index] for row in self.rows))
            for index, heading in enumerate(self.headings)
            if index
        )
        return FilledTable(self.title, (self.headings[0], *names), rows, self.language)


def template_folders(workspace: Workspace | None) -> list[Path]:
    """Where templates are looked for: the workspace first, then those of the package (wheel or checkout)."""
    package = Path(__file__).resolve().parent
    shipped = package / "templates" if (package / "templates").is_dir() else package.parent / "templates"
    return [folder for folder in ([workspace.templates] if workspace else []) + [shipped] if folder.is_dir()]


def load_spec(name: str, workspace: Workspace | None) -> TableSpec:
    """A table by name. Raises UsageError with the names there are."""
    files = _spec_files(workspace)
    if name not in files:
        raise UsageError(
            f"no table {name!r}", f"one of {', '.join(sorted(files))}; or put {name}.toml into templates/tables/"
        )
    return _read_spec(files[name])


def known_columns(workspace: Workspace | None) -> dict[str, Column]:
    """Every column of every table by key, so that a column has its heading wherever it is asked for."""
    specs = [_read_spec(path) for path in _spec_files(workspace).values()]
    return {column.key: column for spec in reversed(specs) for column in spec.columns}


def _spec_files(workspace: Workspace | None) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in template_folders(workspace):
        for path in sorted((folder / "tables").glob("*.toml")):
            found.setdefault(path.stem, path)
    return found


def _read_spec(path: Path) -> TableSpec:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        columns = tuple(Column(str(column["key"]), dict(column["title"])) for column in raw["columns"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        hint = "each [[columns]] has key and title"
        raise FileFormatError(path, 1, f"not a table specification: {error}", hint) from None
    papers = tuple(str(name) for name in raw.get("papers") or ())
    return TableSpec(path.stem, dict(raw.get("title") or {}), columns, raw.get("rows", "papers"), papers)


def with_columns(spec: TableSpec, keys: Sequence[str], known: dict[str, Column]) -> TableSpec:
    """The table with other columns; the paper's name stays first. Raises UsageError for a column that nobody knows."""
    titles = known | {column.key: column for column in spec.columns}
    wanted = [spec.columns[0].key, *(key for key in keys if key != spec.columns[0].key)]
    for key in wanted:
        if key not in titles and not key.startswith(("method.", "runs.")):
            hint = near_hint(key, titles, f"one of {', '.join(sorted(titles))}", 0.5)
            raise UsageError(f"no column {key!r}: no record and no table has it", hint)
    columns = tuple(titles.get(key) or plain_column(key) for key in wanted)
    return TableSpec(spec.name, spec.title, columns, spec.rows, spec.papers)


def plain_column(key: str) -> Column:
    """A column that no table describes: its key is its heading."""
    return Column(key, {"": key.removeprefix("runs.") if key.startswith("runs.") else key.replace("_", " ")})


def headings(spec: TableSpec, language: str) -> tuple[str, ...]:
    """The headings of a table in a language."""
    return tuple(in_language(column.title, language) for column in spec.columns)


def in_language(titles: dict[str, Any], language: str) -> str:
    """A title in a language, else in English, else whatever there is."""
    return str(titles.get(language) or titles.get("en") or next(iter(titles.values()), ""))

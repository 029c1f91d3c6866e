"""From records to the cells of a table: facts, fields of the record, traits of methods, and means of runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kb.errors import UsageError
from kb.facts import NOT_CHECKED, NOT_STATED, Record, Result
from kb.library import Paper
from kb.printed_numbers import PrintedNumber, printed_numbers, same_benchmark
from kb.tables import CellState, FilledTable, TableCell, TableSpec, headings, in_language

WORDS = {
    "zh": {NOT_CHECKED: "未查", NOT_STATED: "未说明", "no": "否", "yes": "是", "withdrawn": "已撤稿",
           "not reproduced": "未复现", "not run": "未运行", "none": "无"},
    "en": {NOT_CHECKED: NOT_CHECKED, NOT_STATED: NOT_STATED, "no": "no", "yes": "yes", "withdrawn": "withdrawn",
           "not reproduced": "not reproduced", "not run": "not run", "none": "none"},
}  # fmt: skip
METADATA = ("title", "authors", "year", "venue", "code", "id", "date", "version", "tags", "categories")


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of a metric over runs with its interval. ``where`` is the log that holds them."""

    mean: float
    low: float
    high: float
    n: int
    where: str = ""

    @property
    def text(self) -> str:
        """The mean, its interval where one run is not all there is, and the number of runs."""
        interval = f" [{self.low:.3g}, {self.high:.3g}]" if self.n > 1 else ""
        return f"{self.mean:.3g}{interval}, n={self.n}"


@dataclass(frozen=True, slots=True)
class Sources:
    """What cells come from beside the records: methods by name, and runs by (method, world, metric)."""

    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    runs: Mapping[tuple[str, str, str], Summary] = field(default_factory=dict)


def fill(spec: TableSpec, records: Sequence[Record], language: str, sources: Sources | None = None) -> FilledTable:
    """The cells of a table, one row a paper."""
    known = sources or Sources()
    rows = tuple(
        tuple(paper_cell(record, column.key, language, known) for column in spec.columns) for record in records
    )
    return FilledTable(in_language(spec.title, language), headings(spec, language), rows, language)


def fill_results(spec: TableSpec, records: Sequence[Record], language: str, benchmark: str | None) -> FilledTable:
    """The cells of a table of numbers, one row a number.

    ``benchmark`` keeps those of one benchmark (a part of its name), and adds the numbers that the tables of the papers'
    own texts print of it.
    """
    rows = []
    for record in records:
        for result in record.results:
            if benchmark is None or same_benchmark(benchmark, result.benchmark):
                rows.append(tuple(_result_cell(record, result, column.key, language) for column in spec.columns))
        document = record.paper.text.document if benchmark and record.paper.text else None
        for number in printed_numbers(document, benchmark) if document and benchmark else ():
            rows.append(tuple(_printed_cell(record, number, column.key, language) for column in spec.columns))
    return FilledTable(in_language(spec.title, language), headings(spec, language), tuple(rows), language)


def paper_cell(record: Record, key: str, language: str, sources: Sources) -> TableCell:
    """One cell of a paper's row."""
    paper = record.paper
    if key in ("paper", "paper_venue"):
        return TableCell(paper_name(paper, language, with_venue=key == "paper_venue"))
    if key.startswith("method."):
        return _method_cell(record, key.removeprefix("method."), language, sources)
    if key.startswith("runs."):
        return _runs_cell(record, key, language, sources)
    if key in record.facts:
        provisional = _provisional(record, sources) if key == "formula" else ""
        return _fact_cell(record, key, language, provisional)
    value = _metadata(paper, key)
    return TableCell(value) if value else _unchecked(language)


def paper_name(paper: Paper, language: str, with_venue: bool = False) -> str:
    """The name that people call a paper by, and in brackets its arXiv id, or the venue where there is one."""
    name = paper.name
    if paper.withdrawn:
        name = f"[{WORDS[language]['withdrawn']}] {name}"
    venue = re.sub(r"^(.*\D) 20(\d\d)$", r"\1'\2", str(paper.fields.get("venue") or "")) if with_venue else ""
    behind = venue or paper.arxiv_id
    return f"{name} ({behind})" if behind else name


def _metadata(paper: Paper, key: str) -> str:
    named = {"title": paper.title, "year": paper.year, "id": paper.arxiv_id, "date": paper.date}
    value = named[key] if key in named else paper.fields.get(key) if key in METADATA else None
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")


def _unchecked(language: str, word: str = NOT_CHECKED) -> TableCell:
    return TableCell(WORDS[language][word], "not checked")


def _fact_cell(record: Record, key: str, language: str, provisional: str) -> TableCell:
    fact = record.facts[key]
    value = fact.value(language)
    state: CellState = "value"
    if fact.level == "draft":
        state = "draft"
    elif value == NOT_CHECKED:
        return _unchecked(language)
    elif value == NOT_STATED:
        state = "not stated"
    elif value.partition(",")[0] == "no":
        state = "no"
    evidence = fact.evidence if fact.score is None else f"{fact.evidence} (score {fact.score:g})"
    return TableCell(translated(value, language), state, fact.level, evidence, provisional)


def translated(value: str, language: str) -> str:
    """The fixed words of a cell (yes, no, not stated) in a language; what follows them stays as it was written."""
    words = WORDS[language]
    if value in (NOT_STATED, NOT_CHECKED):
        return words[value]
    head, comma, rest = value.partition(",")
    if head not in ("yes", "no"):
        return value
    return words[head] + (f"，{rest.lstrip()}" if comma and language == "zh" else comma + rest)


# ---------------------------------------------------------------- methods and runs


def _methods(record: Record) -> list[str]:
    named = record.paper.fields.get("method") or []
    return [named] if isinstance(named, str) else [str(name) for name in named]


def _provisional(record: Record, sources: Sources) -> str:
    reasons = [str(sources.methods[name]["provisional"]) for name in _methods(record) if name in sources.methods]
    return next((reason for reason in reasons if reason), "")


def _method_cell(record: Record, trait: str, language: str, sources: Sources) -> TableCell:
    found = {name: sources.methods[name] for name in _methods(record) if name in sources.methods}
    if not found:
        return _unchecked(language, "not reproduced")
    for name, method in found.items():
        if trait not in method:
            raise UsageError(
                f"no column 'method.{trait}'", f"{name} has {', '.join(f'method.{key}' for key in method)}"
            )
    texts = {name: _plain(method[trait], language) for name, method in found.items()}
    evidence = ", ".join(f"reproductions/methods/{name}.py" for name in found)
    if trait == "formula":
        texts = {name: f"${text}$" for name, text in texts.items()}
    return TableCell(_joined(texts), "value", "method", evidence, _provisional(record, sources))


def _plain(value: Any, language: str) -> str:
    if isinstance(value, bool):
        return WORDS[language]["yes" if value else "no"]
    if isinstance(value, list | tuple | dict):
        return ", ".join(map(str, value)) or WORDS[language]["none"]
    return str(value) or WORDS[language]["none"]


def _joined(texts: Mapping[str, str]) -> str:
    """One text if all methods agree, else each with its name."""
    different = set(texts.values())
    return different.pop() if len(different) == 1 else "; ".join(f"{name}: {text}" for name, text in texts.items())


def _runs_cell(record: Record, key: str, language: str, sources: Sources) -> TableCell:
    _, _, rest = key.partition(".")
    world, dot, metric = rest.partition(".")
    if not dot:
        raise UsageError(f"no column {key!r}", "a column of runs is runs.WORLD.METRIC")
    found = {name: s for name in _methods(record) if (s := sources.runs.get((name, world, metric))) is not None}
    if not found:
        return _unchecked(language, "not run")
    texts = {name: summary.text for name, summary in found.items()}
    where = ", ".join(dict.fromkeys(s.where for s in found.values() if s.where))
    return TableCell(_joined(texts), "value", "runs", where, _provisional(record, sources))


# ---------------------------------------------------------------- results


def _result_cell(record: Record, result: Result, key: str, language: str) -> TableCell:
    if key in ("value", "baseline_value"):
        raw = getattr(result, key)
        text = "" if raw is None else f"{raw:g}{result.unit}" if isinstance(raw, int | float) else str(raw)
        if key == "baseline_value":
            return TableCell(text)
        return TableCell(text, "draft" if result.level == "draft" else "value", result.level, result.evidence)
    fields: dict[str, Callable[[], str]] = {
        "method": lambda: record.paper.name,
        "setting": lambda: "",
        "where": lambda: result.evidence,
    }
    if key in fields:
        return TableCell(fields[key]())
    if key in ("benchmark", "model", "metric", "baseline"):
        return TableCell(str(getattr(result, key)))
    return paper_cell(record, key, language, Sources())


def _printed_cell(record: Record, number: PrintedNumber, key: str, language: str) -> TableCell:
    if key == "value":
        return TableCell(number.value, "value", "table", number.where)
    if key in ("benchmark", "method", "setting", "where"):
        return TableCell(str(getattr(number, key)))
    if key == "model":
        return _unchecked(language)
    if key in ("metric", "baseline", "baseline_value"):
        return TableCell("")
    return paper_cell(record, key, language, Sources())

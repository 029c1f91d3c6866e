"""What ``list``, ``show`` and ``run`` say, as values and as text. Pure: nothing here prints, reads files or keeps state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from inspect import getdoc
from typing import Any

import numpy as np

from reproductions.core import BATCH_AXES, Batch, Credit, Method, axes_of, described_shape, field_info
from reproductions.formula import to_unicode
from reproductions.registry import WITHOUT_FORMULA, get, methods, module_of


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """A method's worked example: one row per action, in columns of equal length."""

    method: str
    preset: str
    parameters: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]]
    diagnostics: Mapping[str, Any]
    source: str


def record(method: Method) -> dict[str, Any]:
    """A method as plain values, for tables and JSON."""
    traits = method.traits
    return {
        "name": method.name,
        "title": method.title,
        "paper": method.paper,
        "evidence": list(method.evidence),
        "provisional": method.provisional,
        "granularity": traits.granularity,
        "group": traits.group,
        "critic": traits.critic,
        "extra_rollouts": traits.extra_rollouts,
        "extra_llm_calls": traits.extra_llm_calls,
        "flags": sorted(traits.flags),
        "requires": list(method.requires),
        "optional": list(method.optional),
        "claims": sorted(method.claims),
        "presets": {preset: method.parameters(preset) for preset in ("paper", *method.presets)},
        "formula": method.formula,
    }


def records() -> list[dict[str, Any]]:
    """All methods, in alphabetical order."""
    return [record(method) for method in methods().values()]


def list_text() -> str:
    """One line a method: name, mark, evidence, what it compares, title. Papers without a formula follow."""
    rows = [
        [item.name, "provisional" if item.provisional else "", "+".join(item.evidence), item.traits.group, item.title]
        for item in methods().values()
    ]
    lines = [text_table(["method", "", "evidence", "compared with", "title"], rows), "", "without a numeric formula:"]
    return "\n".join([*lines, *(f"  {name}: {reason}" for name, reason in WITHOUT_FORMULA.items())])


def show_text(name: str, latex: bool = False) -> str:
    """Everything about a method: formula, fields, presets, traits, claims, and the file's own explanation."""
    method = get(name)
    traits = method.traits
    head = [f"{method.name}: {method.title}", f"paper: {method.paper}   evidence: {', '.join(method.evidence)}"]
    if method.provisional:
        head.append(f"PROVISIONAL: {method.provisional}")
    formula = method.formula if latex else to_unicode(method.formula)
    cost = f"critic: {'yes' if traits.critic else 'no'}   extra rollouts: {traits.extra_rollouts}"
    sections = [
        "\n".join(head),
        "\n".join("    " + line for line in formula.splitlines()),
        f"unit: {traits.granularity}   compared with: {traits.group}\n{cost}   extra LLM calls: {traits.extra_llm_calls}"
        + (f"\n{', '.join(sorted(traits.flags))}" if traits.flags else ""),
        "needs\n" + "\n".join(_field_line(field) for field in method.requires),
        "may read\n" + "\n".join(_field_line(field) for field in method.optional) if method.optional else "",
        "presets\n" + "\n".join(_preset_line(method, preset) for preset in ("paper", *method.presets)),
        "claims: " + (", ".join(sorted(method.claims)) or "none"),
        getdoc(module_of(name)) or "",
    ]
    return "\n\n".join(section for section in sections if section)


def run_example(name: str, preset: str | None = None) -> ExampleRun:
    """The worked example of a method, with its own preset or another."""
    method = get(name)
    example = method.example()
    chosen = preset or example.preset
    credit = method.run(example.batch, chosen, **example.parameters)
    return ExampleRun(
        method=name,
        preset=chosen,
        parameters={**method.parameters(chosen), **example.parameters},
        columns=action_columns(example.batch, credit),
        diagnostics=credit.diagnostics,
        source=example.source,
    )


def action_columns(batch: Batch, credit: Credit) -> dict[str, list[Any]]:
    """Columns with one entry per action: where it is, what the batch says of it, and its advantage."""
    order = np.argwhere(np.swapaxes(batch.acted_pknt, 2, 3))[:, [0, 1, 3, 2]]
    at = tuple(order.T)
    columns: dict[str, list[Any]] = {
        label: order[:, i].tolist() for i, label in enumerate(("prompt", "rollout", "agent", "turn"))
    }
    for name, array in batch.present_fields().items():
        axes = axes_of(name)
        if name != "acted_pknt" and set(axes) <= set(BATCH_AXES):
            columns[name.rpartition("_")[0]] = array[tuple(at[BATCH_AXES.index(axis)] for axis in axes)].tolist()
    columns["advantage"] = credit.advantage_pknt[at].tolist()
    if credit.kept_pknt is not None:
        columns["kept"] = credit.kept_pknt[at].tolist()
    return columns


def example_text(run: ExampleRun) -> str:
    """A worked example as a table, with the parameters above and the diagnostics below."""
    settings = ", ".join(f"{name}={_short(value)}" for name, value in run.parameters.items())
    rows = [[_cell(value) for value in row] for row in zip(*run.columns.values(), strict=True)]
    lines = [f"{run.method}, preset {run.preset}" + (f" ({settings})" if settings else ""), ""]
    lines.append(text_table(list(run.columns), rows))
    lines += [f"{name}: {np.array2string(np.asarray(value), precision=6)}" for name, value in run.diagnostics.items()]
    return "\n".join([*lines, *([f"numbers to compare with: {run.source}"] if run.source else [])])


def example_data(run: ExampleRun) -> dict[str, Any]:
    """A worked example as plain values, for JSON."""
    return {
        "method": run.method,
        "preset": run.preset,
        "parameters": {name: _plain(value) for name, value in run.parameters.items()},
        "columns": {name: list(column) for name, column in run.columns.items()},
        "diagnostics": {name: np.asarray(value).tolist() for name, value in run.diagnostics.items()},
        "source": run.source,
    }


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Left-aligned columns; columns that are empty in every row are left out."""
    kept = [i for i, label in enumerate(header) if label or any(row[i] for row in rows)]
    widths = [max(len(header[i]), *(len(row[i]) for row in rows), 0) if rows else len(header[i]) for i in kept]
    lines = [[header[i] for i in kept], *([row[i] for i in kept] for row in rows)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it; records (a memory, a network) as their fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(entry) for entry in np.asarray(value, dtype=object).tolist()]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _short(value: Any) -> str:
    """A parameter in a line: a record by its kind and the sizes of its arrays."""
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    inside = ((item.name, getattr(value, item.name)) for item in fields(value))
    parts = (f"{name} {list(array.shape)}" for name, array in inside if isinstance(array, np.ndarray))
    return f"{type(value).__name__}({', '.join(parts)})"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _field_line(name: str) -> str:
    info = field_info(name)
    return f"  {name} {described_shape(name)}: {info.meaning} (from {info.provider})"


def _preset_line(method: Method, preset: str) -> str:
    values = method.parameters("paper") if preset == "paper" else method.presets[preset]
    return f"  {preset}: " + (", ".join(f"{name}={value!r}" for name, value in values.items()) or "no parameters")

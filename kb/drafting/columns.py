"""``draft_columns.toml``: what to ask a paper for each column, and what a sentence that answers looks like."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kb.errors import FileFormatError, UsageError
from kb.tables import template_folders
from kb.workspace import Workspace

FILE_NAME = "draft_columns.toml"


@dataclass(frozen=True)
class DraftColumn:
    """How one column is drafted.

    ``queries`` are asked of the paper; ``sections`` add to the score of passages by their kind of section; ``cues`` add
    to that of sentences which match. A sentence has to match ``need``, where there is one, and score ``least``. ``leads``
    match sentences that say little without the next one; ``follow`` is the length up to which the next one is joined.
    ``early`` is what the first sentence of a passage gains, ``before`` what a sentence of the abstract or introduction gains
    ahead of the one that says what this paper does, and loses behind it; ``own`` is for naming the paper's own method.
    Where ``value`` matches, its match is proposed instead of the sentence.
    """

    key: str
    queries: tuple[str, ...]
    sections: Mapping[str, float]
    cues: tuple[tuple[float, re.Pattern[str]], ...] = ()
    need: re.Pattern[str] | None = None
    leads: re.Pattern[str] | None = None
    value: re.Pattern[str] | None = None
    least: float = 0.0
    early: float = 0.0
    before: float = 0.0
    own: float = 0.0
    follow: int = 0
    tables: bool = False

    @cached_property
    def elsewhere(self) -> float:
        """What sections that are not named count."""
        return self.sections.get("*", 0.0)


def load_columns(workspace: Workspace | None) -> dict[str, DraftColumn]:
    """All columns that can be drafted, in the order of the file; those of the workspace come before the packaged ones.

    Raises FileFormatError for a file that cannot be read.
    """
    found: dict[str, DraftColumn] = {}
    for folder in reversed(template_folders(workspace)):
        path = folder / FILE_NAME
        if path.is_file():
            found |= _read(path)
    return found


def choose(columns: Mapping[str, DraftColumn], wanted: Sequence[str]) -> list[DraftColumn]:
    """The columns of these names, or all of them. Raises UsageError for one that there is not."""
    for name in wanted:
        if name not in columns:
            raise UsageError(
                f"no column {name!r} to draft", f"one of {', '.join(columns)}; or add it to templates/{FILE_NAME}"
            )
    return [columns[name] for name in dict.fromkeys(wanted)] if wanted else list(columns.values())


def _read(path: Path) -> dict[str, DraftColumn]:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no UTF-8, or no TOML
        raise FileFormatError(path, 1, str(error), f"correct {path}") from None
    found = {}
    for key, fields in raw.items():
        try:
            found[key] = _column(key, fields)
        except (TypeError, ValueError, KeyError, AttributeError, re.error) as error:
            raise FileFormatError(
                path, 1, f"[{key}] cannot be read: {error}", "see the packaged file for the form"
            ) from None
    return found


def _column(key: str, fields: dict[str, Any]) -> DraftColumn:
    def pattern(name: str) -> re.Pattern[str] | None:
        return re.compile(fields[name], re.IGNORECASE) if name in fields else None

    return DraftColumn(
        key=key,
        queries=tuple(str(query) for query in fields["queries"]),
        sections={str(kind): float(weight) for kind, weight in fields.get("sections", {}).items()},
        cues=tuple((float(weight), re.compile(cue, re.IGNORECASE)) for weight, cue in fields.get("cues", ())),
        need=pattern("need"), leads=pattern("leads"), value=pattern("value"),
        least=float(fields.get("least", 0.0)), early=float(fields.get("early", 0.0)),
        before=float(fields.get("before", 0.0)), own=float(fields.get("own", 0.0)),
        follow=int(fields.get("follow", 0)), tables=bool(fields.get("tables", False)),
    )  # fmt: skip

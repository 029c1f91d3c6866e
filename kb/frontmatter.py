"""YAML front matter of Markdown files: split, parse, write. Errors carry path and line."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from kb.errors import FileFormatError, KbError

FENCE = "---"


def split(text: str) -> tuple[str, str, int]:
    """``(yaml, body, first line number of body)``; the yaml is empty when the file has no front matter."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != FENCE:
        return "", text.removeprefix("\ufeff"), 1
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in (FENCE, "..."):
            return "".join(lines[1:number]), "".join(lines[number + 1 :]), number + 2
    return "", text, 1


def parse(text: str, path: Path) -> tuple[dict[str, Any], str]:
    """``(fields, body)`` of a Markdown file. Dates come back as ISO strings.

    Raises FileFormatError for YAML that does not parse, or that is not a mapping.
    """
    head, body, _ = split(text)
    if not head.strip():
        return {}, body
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        fields = yaml.load(head, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = (mark.line + 2) if mark else 2
        problem = getattr(error, "problem", None) or "the front matter is not valid YAML"
        raise FileFormatError(path, line, problem, f"correct line {line} of {path}") from None
    except ValueError as error:  # a day that no calendar has: 2026-02-30
        raise FileFormatError(path, 2, f"the front matter holds a wrong value: {error}", f"correct {path}") from None
    if fields is None:
        return {}, body
    if not isinstance(fields, dict):
        raise FileFormatError(path, 2, "the front matter is not a list of `key: value` lines", f"correct {path}")
    return {str(key): _plain(value) for key, value in fields.items()}, body


def read(path: Path) -> tuple[dict[str, Any], str]:
    """``parse`` of a file. Raises KbError when the file is not UTF-8 text."""
    try:
        return parse(path.read_text(encoding="utf-8"), path)
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8, or bring it in with kb import {path}") from None


def identifier(fields: dict[str, Any], key: str, path: Path) -> str:
    """A field that is an arXiv id. YAML reads an unquoted 2402.03300 as a number, so that is refused."""
    value = fields.get(key, "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise FileFormatError(path, 2, f"{key}: {value} is read as a number", f'quote it: {key}: "{value}"')
    return str(value)


def dump(fields: dict[str, Any], body: str) -> str:
    """A Markdown file of these fields, in this order, and this body."""
    import yaml

    head = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=110, default_flow_style=False)
    return f"{FENCE}\n{head}{FENCE}\n\n{body.lstrip()}"


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value

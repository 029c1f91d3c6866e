"""Change one entry of a record's front matter and leave every other character as a person wrote it.

YAML writers set a whole file anew: comments, quotes and line breaks go. Here the text around one entry is cut at the
places that the parser names, and the result is parsed again: it must say what it said before, but for that entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.errors import KbError

_INDENT = 2
_WIDTH = 110


def set_entry(text: str, path: Path, section: str, key: str, value: Any) -> str:
    """The file with ``section: {key: value}`` put in or replaced. Raises KbError when that cannot be done safely."""
    head = _Head(text, path)
    return _checked(text, path, section, key, value, head.with_entry(section, key, value))


def remove_entry(text: str, path: Path, section: str, key: str) -> str:
    """The file without that entry; a section that is empty then goes too. A missing entry changes nothing."""
    entries = frontmatter.parse(text, path)[0].get(section)
    if not isinstance(entries, dict) or key not in entries:
        return text
    return _checked(text, path, section, key, None, _Head(text, path).without_entry(section, key))


def _checked(old: str, path: Path, section: str, key: str, value: Any, new: str) -> str:
    fields, body = frontmatter.parse(old, path)
    if not isinstance(fields.get(section) or {}, dict):
        raise KbError(f"{path}: {section}: is not a list of `name: value` lines", f"correct {section}: in {path}")
    entries = {name: entry for name, entry in (fields.get(section) or {}).items() if name != key}
    if value is not None:
        entries[key] = value
    wanted = {**fields, section: entries} if entries else {k: v for k, v in fields.items() if k != section}
    try:
        same = frontmatter.parse(new, path) == (wanted, body)
    except KbError:
        same = False
    if not same:
        hint = f"write the lines of {section} one below the other, as `{key}:` with its values indented"
        raise KbError(
            f"{path}: {section}.{key} cannot be changed without touching other lines; nothing was changed", hint
        )
    return new


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key and its value in a mapping, with the place of both in the head."""

    key: Any
    value: Any


class _Head:
    """The front matter of a file, by the places of its entries."""

    def __init__(self, text: str, path: Path) -> None:
        import yaml

        self._head, _, first = frontmatter.split(text)
        if first == 1:
            raise KbError(f"{path} has no front matter", "begin it with a line ---, then title: ..., then ---")
        opening = text.splitlines(keepends=True)[0]
        self._before, self._after = opening, text[len(opening) + len(self._head) :]
        self._newline = "\r\n" if opening.endswith("\r\n") else "\n"
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._root = yaml.compose(self._head, Loader=loader) if self._head.strip() else None

    def with_entry(self, section: str, key: str, value: Any) -> str:
        found = self._section(section)
        if found is None:
            return self._put(len(self._head), len(self._head), self._dump({section: {key: value}}, 0))
        if not _entries(found.value):
            end = self._line_end(found.value.end_mark.index)
            rest = self._head[found.value.end_mark.index : end].rstrip()
            start = found.key.end_mark.index
            block = f":{rest}{self._newline}" + self._dump({key: value}, _INDENT)
            return self._put(start, end, block)
        if found.value.flow_style:
            return self._flow_set(found, key, value)
        indent = _entries(found.value)[0].key.start_mark.column
        entry = _named(found.value, key)
        start, stop = self._lines(found, entry) if entry else (self._end(found),) * 2
        return self._put(start, stop, self._dump({key: value}, indent))

    def without_entry(self, section: str, key: str) -> str:
        found = self._section(section)
        entry = _named(found.value, key) if found else None
        if found is None or entry is None:
            return self._before + self._head + self._after
        if len(_entries(found.value)) == 1:
            return self._put(*self._lines(_Entry(None, self._root), found), "")
        if found.value.flow_style:
            return self._put(*self._flow_span(found, entry), "")
        return self._put(*self._lines(found, entry), "")

    def _put(self, start: int, stop: int, piece: str) -> str:
        return self._before + self._head[:start] + piece + self._head[stop:] + self._after

    def _section(self, name: str) -> _Entry | None:
        return _named(self._root, name)

    def _lines(self, parent: _Entry, entry: _Entry) -> tuple[int, int]:
        """The whole lines of an entry of a block mapping, without the blank lines and comments that follow it."""
        siblings = _entries(parent.value)
        place = next(at for at, sibling in enumerate(siblings) if sibling.key is entry.key)
        start = self._line_start(entry.key.start_mark.index)
        if place + 1 < len(siblings):
            stop = self._line_start(siblings[place + 1].key.start_mark.index)
        else:
            stop = self._next_section(entry)
        return start, self._trimmed(stop, entry.key.start_mark.column)

    def _end(self, section: _Entry) -> int:
        return self._lines(section, _entries(section.value)[-1])[1]

    def _next_section(self, entry: _Entry) -> int:
        at = entry.key.start_mark.index
        later = [e.key.start_mark.index for e in _entries(self._root) if e.key.start_mark.index > at]
        return self._line_start(later[0]) if later else len(self._head)

    def _trimmed(self, stop: int, column: int) -> int:
        """Walk back over blank lines and over comments that stand no deeper than the entry: they are not its own."""
        lines = self._head[:stop].splitlines(keepends=True)
        while lines:
            bare = lines[-1].strip()
            if bare and not (bare.startswith("#") and len(lines[-1]) - len(lines[-1].lstrip()) <= column):
                break
            stop -= len(lines.pop())
        return stop

    def _flow_set(self, section: _Entry, key: str, value: Any) -> str:
        import yaml

        line = yaml.safe_dump({key: value}, allow_unicode=True, sort_keys=False, width=10**6, default_flow_style=True)
        piece = line.strip()[1:-1]
        entry = _named(section.value, key)
        if entry is not None:
            return self._put(entry.key.start_mark.index, entry.value.end_mark.index, piece)
        at = section.value.end_mark.index - 1
        comma = "" if self._head[:at].rstrip().endswith(",") else ", "
        return self._put(at, at, comma + piece)

    def _flow_span(self, section: _Entry, entry: _Entry) -> tuple[int, int]:
        siblings = _entries(section.value)
        place = next(at for at, sibling in enumerate(siblings) if sibling.key is entry.key)
        if place + 1 < len(siblings):
            return entry.key.start_mark.index, siblings[place + 1].key.start_mark.index
        return siblings[place - 1].value.end_mark.index, entry.value.end_mark.index

    def _line_start(self, index: int) -> int:
        return self._head.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        end = self._head.find("\n", index)
        return len(self._head) if end < 0 else end + 1

    def _dump(self, value: Mapping[str, Any], indent: int) -> str:
        import yaml

        block = yaml.safe_dump(dict(value), allow_unicode=True, sort_keys=False, width=_WIDTH, default_flow_style=False)
        return "".join(" " * indent + line + self._newline for line in block.splitlines())


def _entries(node: Any) -> list[_Entry]:
    """The entries of a mapping node, in order; none for anything else."""
    value = getattr(node, "value", None)
    if not isinstance(value, list):
        return []
    return [_Entry(*pair) for pair in value if isinstance(pair, tuple)]


def _named(node: Any, name: str) -> _Entry | None:
    return next((entry for entry in _entries(node) if entry.key.value == name), None)

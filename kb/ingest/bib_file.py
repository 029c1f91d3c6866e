"""BibTeX files: their entries as fields, strings and concatenation resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.ingest.latex_groups import closing_braces, read_group

_ENTRY = re.compile(r"@\s*(\w+)\s*[{(]\s*")
_KEY = re.compile(r"([^\s,={}()]+)\s*,")
_NAME = re.compile(r"\s*([A-Za-z][\w:+-]*)\s*=\s*")
_BARE = re.compile(r"[^\s,{}#\"]+")
_JOIN = re.compile(r"\s*#\s*")
_COMMA = re.compile(r"\s*,")
_MONTHS = {name: name.title() for name in "jan feb mar apr may jun jul aug sep oct nov dec".split()}


def read_bib(text: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """``(type, key, fields)`` of every entry, names in lower case; what is broken is passed over."""
    strings = dict(_MONTHS)
    for match in _ENTRY.finditer(text):
        kind = match[1].lower()
        if kind == "string":
            strings |= {
                name: value for name, value in _fields(text, match.end(), strings).items() if name not in strings
            }
            continue
        key = _KEY.match(text, match.end())
        if key and kind not in ("comment", "preamble"):
            yield kind, key[1], _fields(text, key.end(), strings)


def _fields(text: str, at: int, strings: dict[str, str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    while name := _NAME.match(text, at):
        value = _value(text, name.end(), strings)
        if value is None:
            break
        fields.setdefault(name[1].lower(), " ".join(value[0].split()))
        comma = _COMMA.match(text, value[1])
        if comma is None:
            break
        at = comma.end()
    return fields


def _value(text: str, at: int, strings: dict[str, str]) -> tuple[str, int] | None:
    """A value and the place after it; parts may be joined by ``#``."""
    parts: list[str] = []
    while True:
        part = _part(text, at, strings)
        if part is None:
            return None
        parts.append(part[0])
        joint = _JOIN.match(text, part[1])
        if joint is None:
            return "".join(parts), part[1]
        at = joint.end()


def _part(text: str, at: int, strings: dict[str, str]) -> tuple[str, int] | None:
    if text.startswith("{", at):
        return read_group(text, at)
    if text.startswith('"', at):
        end = _closing_quote(text, at + 1)
        return None if end < 0 else (text[at + 1 : end], end + 1)
    match = _BARE.match(text, at)
    return (strings.get(match[0].lower(), match[0]), match.end()) if match else None


def _closing_quote(text: str, at: int) -> int:
    closes = closing_braces(text)
    while at < len(text):
        if text[at] == "{":
            at = closes.get(at, at)
        elif text[at] == '"':
            return at
        at += 1
    return -1


def split_names(names: str) -> list[str]:
    """The names of an author field, ``Family, Given`` turned round; ``others`` is left out."""
    turned: list[str] = []
    for name in re.split(r"\s+and\s+(?![^{]*\})", names):
        family, comma, given = name.partition(",")
        if comma and "," in given:  # von Family, Jr, Given
            given = given.partition(",")[2]
        shown = f"{given.strip()} {family.strip()}" if comma and not name.startswith("{") else name.strip()
        if shown and shown.lower() != "others":
            turned.append(shown)
    return turned

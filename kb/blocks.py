"""Files with parts that kb fills: each part lies between marks and carries the hash of what was written there.

A part is only written again while its text is still ours. One that a person changed stays, one that a person deleted
stays deleted, and everything outside the marks is never touched.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

_BLOCK = re.compile(r"<!-- kb:begin ([\w.:/-]+) ([0-9a-f]{12}) -->\n(.*?)<!-- kb:end \1 -->\n?", re.DOTALL)
_SEEN = re.compile(r"<!-- kb:blocks ([^>]*) -->\n?")


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The new text of a file and what became of its parts, by name."""

    text: str
    refreshed: tuple[str, ...]
    kept: tuple[str, ...]
    deleted: tuple[str, ...]


def block(name: str, content: str) -> str:
    """A part as it is written the first time."""
    body = content.strip() + "\n"
    return f"<!-- kb:begin {name} {_digest(body)} -->\n{body}<!-- kb:end {name} -->\n"


def with_register(text: str) -> str:
    """The text with a last line that names its parts, so that one deleted later is known to have been there."""
    names = " ".join(match[1] for match in _BLOCK.finditer(text))
    return _SEEN.sub("", text).rstrip("\n") + f"\n\n<!-- kb:blocks {names} -->\n"


def refresh(old: str, fresh: str) -> Refreshed:
    """``old`` (a file that people may have edited) with its untouched parts taken from ``fresh`` (a new draft).

    A part that is new in ``fresh`` is put behind the part that it follows there.
    """
    drafts = {match[1]: match[0] for match in _BLOCK.finditer(fresh)}
    order = list(drafts)
    register = _SEEN.search(old)
    seen_before = set(register[1].split()) if register else set()
    refreshed: list[str] = []
    kept: list[str] = []

    def renew(match: re.Match[str]) -> str:
        name, digest, body = match[1], match[2], match[3]
        if _digest(body) != digest:
            kept.append(name)
            return match[0]
        if name not in drafts:
            return match[0]
        if drafts[name] != match[0]:
            refreshed.append(name)
        return drafts[name]

    text = _BLOCK.sub(renew, old)
    present = {match[1] for match in _BLOCK.finditer(text)}
    deleted = tuple(name for name in order if name not in present and name in seen_before)
    for position, name in enumerate(order):
        if name in present or name in seen_before:
            continue
        text = _insert_after(text, order[:position], drafts[name])
        refreshed.append(name)
    names = " ".join(dict.fromkeys([*sorted(seen_before, key=_position(order)), *order]))
    if _SEEN.search(text):
        text = _SEEN.sub(lambda _: f"<!-- kb:blocks {names} -->\n", text)
    else:
        text = text.rstrip("\n") + f"\n\n<!-- kb:blocks {names} -->\n"
    return Refreshed(text, tuple(refreshed), tuple(kept), deleted)


def _position(order: list[str]) -> Callable[[str], int]:
    return lambda name: order.index(name) if name in order else len(order)


def _insert_after(text: str, before: list[str], piece: str) -> str:
    for name in reversed(before):
        end = f"<!-- kb:end {name} -->\n"
        if end in text:
            head, _, tail = text.partition(end)
            return f"{head}{end}\n{piece}{tail}"
    register = _SEEN.search(text)
    at = register.start() if register else len(text)
    return f"{text[:at].rstrip()}\n\n{piece}\n{text[at:]}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8")).hexdigest()[:12]

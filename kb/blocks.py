"""Files with parts that kb fills: each part lies between marks and carries the hash of what was written there.

A part is only written again while its text is still ours. One that a person changed stays, one that a person deleted
stays deleted, and everything outside the marks is never touched. A part of ours that is no longer drafted goes, but for
those whose names begin with ``note:`` (they quote people, whose words may be nowhere else by now) or ``llm:``. The last line of the file is a register of the parts
that were ever written: a part that is in the register and not in the file was deleted. Taking its name off the
register brings it back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

_BLOCK = re.compile(r"<!-- kb:begin (\S+) ([0-9a-f]{12}) -->\r?\n(.*?)<!-- kb:end \1 -->(?:\r?\n|\Z)", re.DOTALL)
_REGISTER = re.compile(r"<!-- kb:blocks([^>\n]*?) ?-->(?:\r?\n|\Z)")
_MARK = re.compile(r"<!-- kb:(?=begin |end |blocks\b)")
QUOTED = "note:"
_LASTING = (QUOTED, "llm:")
_MARK_LINE = re.compile(r"^[ \t]*<!-- kb:(?:begin|end|blocks)\b[^>\n]*-->[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The new text of a file and what became of its parts, by name.

    ``kept`` were edited by a person, ``outdated`` are those of them that would be drafted otherwise today, ``deleted``
    were taken out by a person, ``removed`` were ours and are no longer drafted, ``stale`` are quotations like that.
    """

    text: str
    refreshed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


def block(name: str, content: str) -> str:
    """A part as it is written the first time. Marks inside ``content`` (a quoted draft) lose their meaning."""
    name = re.sub(r"[^\w./:-]", lambda char: quote(char[0], safe=""), name)
    body = _MARK.sub("<!-- kb ", content.strip("\r\n")) + "\n"
    return f"<!-- kb:begin {name} {_digest(body)} -->\n{body}<!-- kb:end {name} -->\n"


def with_register(text: str) -> str:
    """A draft with a last line that names its parts, so that one deleted later is known to have been there.

    Between parts one empty line is left, however many a template's loops wrote.
    """
    pieces, at = [], 0
    for match in _BLOCK.finditer(text):
        pieces += [text[at : match.start()].strip(), match[0].rstrip("\n")]
        at = match.end()
    pieces.append(_REGISTER.sub("", text[at:]).strip())
    names = [match[1] for match in _BLOCK.finditer(text)]
    return _with_names("\n\n".join(piece for piece in pieces if piece) + "\n", names)


def has_marks(text: str) -> bool:
    """Whether a file was ever drafted by kb."""
    return bool(_MARK.search(text))


def without_marks(text: str) -> str:
    """The text as a reader gets it, without the lines that are ours."""
    return _MARK_LINE.sub("", text)


def contents(text: str) -> dict[str, str]:
    """The parts of a file as they stand in it, by name."""
    return {match[1]: match[3] for match in _BLOCK.finditer(text)}


def refresh(old: str, fresh: str) -> Refreshed:
    """``old`` (a file that people may have edited) with its untouched parts taken from ``fresh`` (a new draft).

    A part that is new in ``fresh`` is put behind the part that it follows there. A file whose register was deleted
    gets no new parts: they cannot be told from those that were deleted.
    """
    newline = "\r\n" if "\r\n" in old else "\n"
    drafts = {match[1]: match for match in _BLOCK.finditer(fresh)}
    order = list(drafts)
    registers = list(_REGISTER.finditer(old))
    seen = [name for register in registers for name in register[1].split()] if registers else order
    refreshed: list[str] = []
    kept: list[str] = []
    removed: list[str] = []
    pieces: list[str] = []
    at = 0
    for match in _BLOCK.finditer(old):
        name, digest, before = match[1], match[2], old[at : match.start()]
        at = match.end()
        if _digest(match[3]) != digest:
            kept.append(name)
            pieces += [before, match[0]]
        elif name in drafts and drafts[name][2] != digest:
            refreshed.append(name)
            pieces += [before, _piece(drafts[name], newline)]
        elif name in drafts or name.startswith(_LASTING):
            pieces += [before, match[0]]
        else:
            removed.append(name)
            pieces.append(before.removesuffix(newline) if before.endswith(newline * 2) else before)
    text = "".join([*pieces, old[at:]])
    present = [match[1] for match in _BLOCK.finditer(text)]
    added = [name for name in order if name not in present and name not in seen]
    for name in added:
        text = _insert(text, order, name, _piece(drafts[name], newline), newline)
    recorded = {match[1]: match[2] for match in _BLOCK.finditer(text)}
    return Refreshed(
        text=_with_names(
            text,
            [name for name in dict.fromkeys([*seen, *present, *order]) if name in present or name not in removed],
            newline,
        ),
        refreshed=tuple(dict.fromkeys(refreshed)),
        added=tuple(added),
        kept=tuple(dict.fromkeys(kept)),
        outdated=tuple(name for name in dict.fromkeys(kept) if name in drafts and drafts[name][2] != recorded[name]),
        deleted=tuple(name for name in order if name not in present and name in seen),
        removed=tuple(removed),
        stale=tuple(
            name for name in dict.fromkeys(present) if name.startswith(QUOTED) and name not in {*drafts, *kept}
        ),
    )


def _piece(match: re.Match[str], newline: str) -> str:
    text = match[0] if match[0].endswith("\n") else match[0] + "\n"
    return text.replace("\n", newline)


def _insert(text: str, order: Sequence[str], name: str, piece: str, newline: str) -> str:
    """Put a part behind the nearest part before it in ``order`` that is there, else before the nearest one after it."""
    there = {match[1]: match for match in _BLOCK.finditer(text)}
    position = order.index(name)
    for other in reversed(order[:position]):
        if other in there:
            at = there[other].end()
            head = text[:at] if text[:at].endswith("\n") else text[:at] + newline
            return f"{head}{newline}{piece}{text[at:]}"
    register = _REGISTER.search(text)
    end = register.start() if register else len(text)
    at = next((there[other].start() for other in order[position + 1 :] if other in there), end)
    gap = newline if text[:at] and not text[:at].endswith("\n") else ""
    return f"{text[:at]}{gap}{piece}{newline}{text[at:]}"


def _with_names(text: str, names: Sequence[str], newline: str = "\n") -> str:
    """The text with one register line, where the first one stands or else at the end."""
    line = f"<!-- kb:blocks {' '.join(names)} -->{newline}"
    first = _REGISTER.search(text)
    if first is None:
        gap = "" if text.endswith("\n") or not text else newline
        return f"{text}{gap}{newline}{line}"
    head, tail = text[: first.start()], text[first.end() :]
    return head + line + _REGISTER.sub("", tail)


def _digest(body: str) -> str:
    # An editor that saves with Windows line ends has not edited anything.
    return hashlib.sha256(body.replace("\r\n", "\n").encode("utf-8")).hexdigest()[:12]

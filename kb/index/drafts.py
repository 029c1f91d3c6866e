"""From drafts of passages to passages: title, language, what is embedded, and an id that follows from the content."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kb.index.sentences import language_of
from kb.model import Kind, Passage

_SECTION_NUMBER = re.compile(r"^(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+(?=\S)")
_PREFIX_CHARS = 160  # of the title, and of the heading path: the prefix must not crowd the text out of 512 tokens


@dataclass(frozen=True, slots=True)
class Owner:
    """The paper (by slug) or note (by path) that passages belong to."""

    name: str
    title: str
    date: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A passage before it knows whose it is. ``path`` is relative to the workspace, ``span`` in characters of it.

    ``language`` is only given where the text says less than its source does: a Chinese fact with its evidence.
    """

    kind: Kind
    text: str
    path: str
    span: tuple[int, int]
    heading: tuple[str, ...] = ()
    section_kind: str = "other"
    page: int | None = None
    anchor: str = ""
    latex: str = ""
    language: Literal["en", "zh", "mixed"] | None = None


def embedded_text(title: str, heading: Iterable[str], text: str) -> str:
    """What is embedded: title, heading path without section numbers, text."""
    path = " > ".join(_SECTION_NUMBER.sub("", part) for part in heading if part)
    parts = (title[:_PREFIX_CHARS].strip(), path[-_PREFIX_CHARS:].strip(), text.strip())
    return "\n".join(part for part in parts if part)


def finish(owner: Owner, drafts: Iterable[Draft]) -> tuple[Passage, ...]:
    """Passages in the order of their drafts; drafts without text are left out.

    An id depends on the owner and on what is embedded, not on the place: a passage that moves keeps its id and vector.
    """
    seen: Counter[str] = Counter()
    passages = []
    for draft in drafts:
        if not draft.text.strip():
            continue
        digest = _sha256(embedded_text(owner.title, draft.heading, draft.text))
        key = f"{owner.name}\0{draft.kind}\0{digest}"
        seen[key] += 1
        passages.append(
            Passage(
                id=_sha256(f"{key}\0{seen[key]}")[:20], paper=owner.name, kind=draft.kind, text=draft.text.strip(),
                heading=draft.heading, section_kind=draft.section_kind,
                language=draft.language or language_of(draft.text), path=draft.path, span=draft.span, title=owner.title, page=draft.page, anchor=draft.anchor,
                latex=draft.latex, date=owner.date, tags=owner.tags, hash=digest,
            )
        )  # fmt: skip
    return tuple(passages)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

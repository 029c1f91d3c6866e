"""Which papers a piece of somebody's notes is about, and which papers it names that are not here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.importing.outline import bare_title
from kb.links import Link, Names
from kb.notes import Note

_ID_MARK = re.compile(
    r"[\s,，:：]*[(（\[【]?\s*(?:arxiv\s*[:：]?\s*)?(?:\d{4}\.\d{4,5}|[a-z-]+/\d{7})(?:v\d+)?\s*[)）\]】]?",
    re.IGNORECASE,
)
_HEAD_LINES = 14
_SAYS_WHERE = re.compile(r"^[^\w\n]*(?:arxiv|论文|链接|原文|paper|link|url)\b", re.IGNORECASE)
_NO_PAPER = re.compile(
    r"^(启发|总结|小结|对比|补充|讨论|参考|资料|引言|背景|summary|takeaways?|comparison|discussion|references?)",
    re.IGNORECASE,
)
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
_BRACKETED = re.compile(r"[《「<]([^《》「」<>]{4,})[》」>]")
_NO_NAME = re.compile(r"(?:arxiv|pdf|abs|html|paper|link|论文|链接|原文|https?:.*|[\d.v]+)", re.IGNORECASE)
_NAME_BEFORE_ID = re.compile(
    r"(?:\[(?P<label>[^\[\]\n]{2,120})\]\([^()\s]*$"
    r"|(?P<name>[A-Za-z][\w.+-]*(?:[ /-]+[A-Z][\w.+-]*){0,5})\s*[(（\[【]\s*(?:arxiv\s*[:：]?\s*)?$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A paper that is named and not here: its arXiv id, if one is given, and what it is called."""

    id: str
    name: str

    @property
    def text(self) -> str:
        """As the queue says it."""
        if not self.id:
            return self.name
        return f"{self.name} ({self.id})" if self.name else f"arXiv:{self.id}"


@dataclass(frozen=True, slots=True)
class About:
    """The papers a piece is about: slugs, ids or titles, as its front matter lists them; and those not here."""

    papers: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()


NO_PAPER = About()


def about_title(names: Names, title: str, *, is_paper: bool) -> About:
    """What a heading says: its ids, else the names in it; else, where ``is_paper``, a paper of that title."""
    plain = bare_title(title)
    links = [link for link in names.links(plain) if link.how == "arxiv"] or [
        link for link in names.links(plain) if link.known and link.how == "name"
    ]
    head = re.split(r"[:：]", plain)[0]
    before_colon = [link for link in links if link.stop <= len(head)]
    if links:
        links = before_colon if before_colon and links[0].how == "name" else links
        name = _ID_MARK.sub("", plain).strip()
        unknown = tuple(Unknown(link.target, name if len(links) == 1 else "") for link in links if not link.known)
        return About(tuple(dict.fromkeys(link.target for link in links)), unknown)
    if not is_paper or not _looks_like_a_paper(plain):
        return NO_PAPER
    name = _name_of(plain)
    return About((name,), (Unknown("", name),))


def about_note(names: Names, note: Note) -> About:
    """What a whole note is about: the papers field, the title, the ids in its first lines, or the work it records."""
    if note.papers:
        links = [names.resolve(name) for name in note.papers]
        return About(
            note.papers, tuple(Unknown("", link.target) for link in links if not link.known and " " in link.target)
        )
    found = about_title(names, note.title, is_paper=False)
    if found.papers:
        return found
    links = _own_ids(names, note.body)
    targets = tuple(dict.fromkeys(link.target for link in links))
    if len(targets) == 1:
        return About(targets, () if links[0].known else (Unknown(targets[0], _name_of(note.title)),))
    if note.fields.get("title") and "authors" in note.fields:
        return About((note.title,), (Unknown("", note.title),))
    return NO_PAPER


def _own_ids(names: Names, body: str) -> list[Link]:
    """The ids in the first lines: those of a line that says "arXiv: ..." or "论文：...", where there is one."""
    head = body.split("\n")[:_HEAD_LINES]
    for line in head:
        if _SAYS_WHERE.match(line) and (found := [link for link in names.links(line) if link.how == "arxiv"]):
            return found
    return [link for link in names.links("\n".join(head)) if link.how == "arxiv"]


def unknown_papers(names: Names, text: str) -> tuple[Unknown, ...]:
    """The arXiv ids in a text that no paper here has, each with what stands before it as its name."""
    found: dict[str, Unknown] = {}
    for link in names.links(text):
        if link.known or link.how != "arxiv":
            continue
        match = _NAME_BEFORE_ID.search(text[max(0, link.start - 160) : link.start])
        name = (match["label"] or match["name"] or "").strip() if match else ""
        if link.target not in found or (name and not found[link.target].name):
            found[link.target] = Unknown(link.target, "" if _NO_NAME.fullmatch(name) else name)
    return tuple(found.values())


def _name_of(title: str) -> str:
    """The name of the work in a title: what it quotes, else all of it."""
    quoted = _BRACKETED.search(title)
    return quoted[1].strip() if quoted else title


def _looks_like_a_paper(title: str) -> bool:
    if _NO_PAPER.match(title):
        return False
    return bool(_BRACKETED.search(title)) or len(_LATIN_WORD.findall(title)) >= 3

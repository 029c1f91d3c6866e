"""A note as it stands in a report: the author's text whole, its headings below those of the report, its pictures found."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path, PurePosixPath
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote

from kb.markup import markup_of
from kb.notes import Note, headings
from kb.report.values import Quote
from kb.workspace import Workspace

_IDEA = re.compile(
    r"^\W*(?:核心\s*(?:idea|思想|想法|观点|方法)|(?:core|key|main) ideas?\b)", re.IGNORECASE | re.MULTILINE
)
_THOUGHTS = re.compile(
    r"^\W*(?:[\d.]+\s*)?(?:启发|启示|思考|takeaways?\b|thoughts?\b|lessons?\b)|的启发[：:\s]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LINK = re.compile(r"(!?\[[^\]\n]*\]\()(<[^>\n]+>|[^()\s]+(?:\([^()\s]*\)[^()\s]*)*)(?=[)\s])")
_EMBED = re.compile(r"!\[\[([^\[\]\n|#]+)(?:[|#][^\[\]\n]*)?\]\]")
_RAW_PICTURE = re.compile(r"(<img\b[^>]*?\bsrc\s*=\s*)([\"'])(.*?)\2", re.IGNORECASE)
_LONGEST_ADDRESS = 500
_PICTURE = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp")


def quote(workspace: Workspace, note: Note, level: int, report_folder: Path) -> Quote:
    """The note with its headings from ``level`` downwards and its relative addresses seen from ``report_folder``."""
    text = quoted(workspace, note, note.text, level, report_folder)
    heading = "" if note.title in note.text else note.title
    return Quote(
        note.path, note.title, note.kind, text, heading, bool(_IDEA.search(text)), bool(_THOUGHTS.search(text))
    )


def quoted(workspace: Workspace, note: Note, text: str, level: int, report_folder: Path) -> str:
    """A part of a note as it may stand in the report."""
    return _from_folder(_below(text, level), workspace, note, report_folder)


def _below(text: str, level: int) -> str:
    found = headings(text)
    shift = level - min((depth for depth, *_ in found), default=level)
    if shift <= 0:
        return text
    for depth, _, start, _ in reversed(found):
        text = text[:start] + "#" * (min(depth + shift, 6) - depth) + text[start:]
    return text


def _from_folder(text: str, workspace: Workspace, note: Note, report_folder: Path) -> str:
    folder = workspace.root / PurePosixPath(note.path).parent
    markup = markup_of(text)

    def address(given: str) -> str:
        bare = given.strip("<>")
        path = folder / unquote(bare.split("#")[0])
        if not 0 < len(bare) < _LONGEST_ADDRESS or re.match(r"[A-Za-z][\w+.-]*:|[#/]", bare) or not path.exists():
            return given
        _, mark, place = bare.partition("#")
        return _address(path, report_folder) + mark + place

    def link(match: re.Match[str]) -> str:
        return match[0] if markup.form_at(match.start()) else match[1] + address(match[2])

    def raw(match: re.Match[str]) -> str:
        return match[0] if markup.form_at(match.start()) else match[1] + match[2] + address(match[3]) + match[2]

    def embed(match: re.Match[str]) -> str:
        name = match[1].strip()
        if markup.form_at(match.start()) or not name.lower().endswith(_PICTURE):
            return match[0]
        found = _embedded(workspace, folder, name)
        return f"![{name}]({_address(found, report_folder)})" if found else match[0]

    for pattern, change in ((_LINK, link), (_RAW_PICTURE, raw), (_EMBED, embed)):
        text = pattern.sub(change, text)
        markup = markup_of(text)
    return text


def _embedded(workspace: Workspace, folder: Path, name: str) -> Path | None:
    """The picture that Obsidian would show: beside the note, from the notes' root, else anywhere by its file name."""
    for place in (folder, workspace.notes, workspace.root):
        if (place / name).is_file():
            return place / name
    return min(workspace.notes.rglob(glob.escape(PurePosixPath(name).name)), default=None)


def relative(path: Path, folder: Path) -> str:
    """How a text in ``folder`` names a file."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _address(path: Path, folder: Path) -> str:
    """The same as it may stand in a Markdown link."""
    return re.sub(r"[\s()<>%?#\[\]]", lambda char: percent_encoded(char[0], safe=""), relative(path, folder))

"""Pictures of imported notes: found beside the source, copied to ``notes/assets/`` under a name of their content."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from kb.ingest.slug import clean
from kb.markup import markup_of

ASSETS = "notes/assets"
_SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".pdf"))
_IMAGE = re.compile(
    r"!\[[^\]\n]{0,300}\]\([ \t]{0,3}(?:<(?P<angled>[^<>\n]+)>|(?P<plain>[^\s()<>\"](?:[^()<>\"\n]|\([^()\n]*\))*?))"
    r"(?:[ \t]{1,3}\"[^\"\n]*\")?[ \t]{0,3}\)"
    r"|!\[\[(?P<wiki>[^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]"
    r"|<img\b[^<>]*?\bsrc\s{0,3}=\s{0,3}[\"'](?P<html>[^\"'\n]+)[\"']",
    re.IGNORECASE,
)


@dataclass
class Images:
    """The pictures of one import. ``copies`` maps paths in the workspace to the files found; ``missing`` are targets."""

    copies: dict[str, Path] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    _by_name: dict[Path, dict[str, Path]] = field(default_factory=dict)

    def bring(self, text: str, source: Path, root: Path, note_path: str) -> str:
        """The text with links to its pictures' copies. Pictures of the web and ones not found keep their links."""
        markup = markup_of(text)
        pieces: list[str] = []
        at = 0
        for match in _IMAGE.finditer(text):
            form = next(name for name in ("angled", "plain", "wiki", "html") if match[name] is not None)
            if markup.form_at(match.start()) or match[form].startswith(("http:", "https:", "data:", "//")):
                continue
            found = self._find(match[form], source, root, form == "wiki")
            if found is None:
                self.missing.append(match[form])
                continue
            copy = f"{ASSETS}/{_name(found)}"
            self.copies[copy] = found
            link = PurePosixPath(copy).name if form == "wiki" else _relative(copy, note_path)
            pieces += [text[at : match.start(form)], link]
            at = match.end(form)
        return "".join(pieces) + text[at:]

    def _find(self, target: str, source: Path, root: Path, anywhere: bool) -> Path | None:
        for name in (target.strip(), unquote(target.strip()).split("?")[0]):
            path = source.parent / name.replace("\\", "/")
            if path.suffix.casefold() in _SUFFIXES and path.is_file():
                return path
        return self._names(root).get(PurePosixPath(target.strip()).name) if anywhere else None

    def _names(self, root: Path) -> dict[str, Path]:
        """Obsidian finds an embedded picture by its name, wherever it lies."""
        if root not in self._by_name:
            found = sorted(path for path in root.rglob("*") if path.suffix.casefold() in _SUFFIXES and path.is_file())
            self._by_name[root] = {path.name: path for path in reversed(found)}
        return self._by_name[root]


def _name(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    return f"{clean(path.stem) or 'image'}-{digest}{path.suffix.lower()}"


def _relative(target: str, note_path: str) -> str:
    return os.path.relpath(target, PurePosixPath(note_path).parent).replace(os.sep, "/")

"""The only reader of what people and machines wrote: a workspace in, papers and notes out.

Nothing here writes, and nothing here looks at ``.kb/``. Texts are parsed when asked for, not when listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kb import frontmatter
from kb.errors import FileFormatError, KbError, UsageError
from kb.model import Metadata, Reference
from kb.textfile import TextFile, read_references
from kb.textfile import read as read_text
from kb.workspace import Workspace

RECORD_NAME = "paper.md"
TEXT_NAME = "text.md"
LONGEST_NAME = 25  # of a method in a title, before its colon
_VERSION_SUFFIX = re.compile(r"v\d+$")


@dataclass(frozen=True)
class Paper:
    """What the base knows of one paper: its record, and the text and originals beside it, if any."""

    slug: str
    folder: Path
    fields: dict[str, Any]
    body: str

    @property
    def record(self) -> Path:
        return self.folder / RECORD_NAME

    @property
    def arxiv_id(self) -> str | None:
        """The bare arXiv id, the key of the paper."""
        return str(self.fields["id"]) if self.fields.get("id") else None

    @property
    def title(self) -> str:
        return str(self.fields.get("title") or self.slug)

    @property
    def authors(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.fields.get("authors") or ())

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.fields.get("aliases") or ())

    @property
    def name(self) -> str:
        """What the paper is called: its first alias, else a short name before the colon of its title, else the title."""
        head, colon, _ = self.title.partition(":")
        return self.aliases[0] if self.aliases else head if colon and len(head) <= LONGEST_NAME else self.title

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.fields.get("tags") or ())

    @property
    def date(self) -> str:
        """The day the first version appeared, as an ISO string; a bare year where no day is known."""
        return str(self.fields.get("published") or self.fields.get("year") or "")

    @property
    def year(self) -> str:
        return self.date[:4]

    @property
    def withdrawn(self) -> bool:
        newest = self.metadata
        return bool(self.fields.get("withdrawn") or (newest and newest.withdrawn))

    @property
    def text_path(self) -> Path | None:
        path = self.folder / TEXT_NAME
        return path if path.is_file() else None

    @cached_property
    def text(self) -> TextFile | None:
        """The parsed text of the newest version that was ingested."""
        path = self.text_path
        if path is None:
            return None
        return read_text(path.read_text(encoding="utf-8"), path)

    @cached_property
    def text_fields(self) -> dict[str, Any]:
        """The front matter of the text alone, without parsing its body."""
        path = self.text_path
        if path is None:
            return {}
        with path.open(encoding="utf-8") as stream:
            lines = [stream.readline()]
            for line in stream:
                lines.append(line)
                if line.rstrip() == frontmatter.FENCE:
                    break
        return frontmatter.parse("".join(lines), path)[0]

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The reference list, read without parsing the rest of the text."""
        path = self.text_path
        return read_references(path.read_text(encoding="utf-8")) if path else ()

    @cached_property
    def metadata(self) -> Metadata | None:
        """What arXiv said of the newest version that was asked for."""
        path = newest_metadata(self.folder)
        return read_metadata(path) if path else None


def newest_metadata(folder: Path) -> Path | None:
    """The ``metadata.json`` of the newest version in a paper's folder."""
    return max(folder.glob("files/v*/metadata.json"), key=_version_of, default=None)


def _version_of(path: Path) -> int:
    digits = path.parent.name.removeprefix("v")
    return int(digits) if digits.isdigit() else 0


def read_metadata(path: Path) -> Metadata:
    """One ``metadata.json``. Raises FileFormatError when it is no JSON."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise FileFormatError(path, error.lineno, "not valid JSON", f"delete {path}; kb ingest --refetch") from None
    known: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in values.items()
        if key in Metadata.__dataclass_fields__
    }
    return Metadata(**known)


@dataclass(frozen=True)
class Library:
    """All papers and notes of a workspace. ``problems`` lists records that cannot be read; they stop nothing."""

    workspace: Workspace
    papers: dict[str, Paper]
    problems: tuple[KbError, ...] = ()
    _names: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def load(cls, workspace: Workspace) -> Library:
        papers: dict[str, Paper] = {}
        problems: list[KbError] = []
        for record in sorted(workspace.papers.glob(f"*/{RECORD_NAME}")):
            try:
                papers[record.parent.name] = read_paper(record)
            except KbError as error:
                problems.append(error)
        names: dict[str, list[str]] = {}
        for paper in papers.values():
            for name in {fold_name(name) for name in _names_of(paper)}:
                names.setdefault(name, []).append(paper.slug)
        return cls(workspace, papers, tuple(problems), names)

    def add(self, paper: Paper) -> None:
        """Make a paper known that was written since the library was read."""
        self.papers[paper.slug] = paper
        for name in {fold_name(name) for name in _names_of(paper)}:
            self._names.setdefault(name, []).append(paper.slug)

    def find(self, name: str) -> Paper | None:
        """The paper with this slug, alias, title or arXiv id (any version); None when there is none.

        Raises UsageError when the name fits several papers.
        """
        if name in self.papers:
            return self.papers[name]
        folded = fold_name(name)
        slugs = self._names.get(folded) or self._names.get(_VERSION_SUFFIX.sub("", folded)) or []
        if len(slugs) > 1:
            raise UsageError(f"{name!r} fits {len(slugs)} papers: {', '.join(slugs)}", "name one by its slug")
        return self.papers[slugs[0]] if slugs else None

    def get(self, name: str) -> Paper:
        """Like ``find``, but a name that fits nothing is an error with the nearest names as a hint."""
        paper = self.find(name)
        if paper is not None:
            return paper
        import difflib

        near = difflib.get_close_matches(fold_name(name), self._names, n=3, cutoff=0.6)
        slugs = list(dict.fromkeys(slug for key in near for slug in self._names[key]))
        hint = f"did you mean {', '.join(slugs)}?" if slugs else "kb list shows what is there; kb ingest adds papers"
        raise UsageError(f"no paper {name!r} in this workspace", hint)

    def notes(self) -> Iterator[Path]:
        """Every Markdown file below ``notes/``, in path order."""
        return iter(sorted(path for path in self.workspace.notes.rglob("*.md") if path.is_file()))


def _names_of(paper: Paper) -> list[str]:
    names = [paper.slug, paper.title, *paper.aliases]
    if paper.arxiv_id:
        names += [paper.arxiv_id, f"arxiv:{paper.arxiv_id}"]
    return names


def fold_name(name: str) -> str:
    """A name as it is compared: width and case folded, without spaces, dots, hyphens and underscores at word joints."""
    import unicodedata

    folded = unicodedata.normalize("NFKC", name).casefold().strip()
    if re.fullmatch(r"(arxiv:)?[\w./-]*\d{4}\.?\d{3,5}(v\d+)?", folded):
        return folded
    return re.sub(r"[\s._\-]+", "", folded)


def read_paper(record: Path) -> Paper:
    """The paper of one ``paper.md``. Raises FileFormatError when its front matter cannot be read."""
    fields, body = frontmatter.read(record)
    fields["id"] = frontmatter.identifier(fields, "id", record)
    return Paper(slug=record.parent.name, folder=record.parent, fields=fields, body=body)

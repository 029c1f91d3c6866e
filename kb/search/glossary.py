"""The glossary of the field: Chinese terms and the English that papers use for them.

Two files of one form: ours, beside the package, and the user's ``notes/glossary.tsv``. A row is a Chinese term, a tab,
and English forms parted by semicolons; lines that start with ``#`` are remarks. Several rows of one term add up, and
the user's English comes before ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path

from kb.errors import FileFormatError, KbError, UsageError
from kb.search.tokens import HAN, has_han, word_stems
from kb.workspace import Workspace, write_atomic

BUILT_IN = Path(__file__).resolve().parent.parent / "data" / "glossary.tsv"
_FORM = "a row is a Chinese term, a tab, and its English; more English forms after semicolons"
_HEADER = "# Own terms for search: Chinese, a tab, English; more English forms after semicolons.\n"
BORDER_SPACE = re.compile(rf"(?<=[{HAN}])\s+(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])\s+(?=[{HAN}])")


@dataclass(frozen=True, slots=True)
class Term:
    """A Chinese term as it is written in the file, its English forms, the usual one first, and whose it is."""

    chinese: str
    english: tuple[str, ...]
    own: bool = False


@dataclass(frozen=True)
class Glossary:
    """Terms by their folded Chinese form."""

    terms: dict[str, Term] = field(default_factory=dict)

    def get(self, chinese: str) -> Term | None:
        """The term, whatever its width, case and spaces between Han and Latin."""
        return self.terms.get(fold_term(chinese))

    @cached_property
    def longest(self) -> int:
        """The length in characters of the longest Chinese term."""
        return max(map(len, self.terms), default=0)

    @cached_property
    def by_stems(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """English forms, as the stems of their words, to Chinese terms: those that it is the usual form of first."""
        found: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        for term in self.terms.values():
            for rank, english in enumerate(term.english):
                for spelling in {english, english.replace("-", "")}:
                    found.setdefault(tuple(word_stems(spelling)), []).append((rank, term.chinese))
        by_rank = {stems: sorted(ranked, key=itemgetter(0)) for stems, ranked in found.items()}
        return {stems: tuple(dict.fromkeys(word for _, word in ranked)) for stems, ranked in by_rank.items()}

    def matching(self, text: str) -> list[Term]:
        """Terms with the text in their Chinese or English, in file order."""
        wanted = fold_term(text)
        return [
            term
            for key, term in self.terms.items()
            if wanted in key or any(wanted in english.lower() for english in term.english)
        ]


def load_glossary(workspace: Workspace | None = None) -> Glossary:
    """Ours and, where there is one, the workspace's. Raises FileFormatError for a row of another form."""
    own = list(_read(workspace.glossary, own=True)) if workspace and workspace.glossary.is_file() else []
    return _merge([*own, *_read(BUILT_IN)])


def add_term(workspace: Workspace, chinese: str, english: str) -> bool:
    """Append a row to the user's file; False, and nothing written, when the term has this English already.

    Raises UsageError when the first is not Chinese or the second is empty, FileFormatError when the file is damaged.
    """
    term = _checked(chinese, english)
    known = load_glossary(workspace).get(term.chinese)
    if known and {form.lower() for form in term.english} <= {form.lower() for form in known.english}:
        return False
    path = workspace.glossary
    # Python would turn a Windows line end into ours, and the rest of the file is not ours to change.
    before = path.read_bytes().decode("utf-8") if path.is_file() else _HEADER
    if before and not before.endswith("\n"):
        before += "\n"
    write_atomic(path, f"{before}{term.chinese}\t{'; '.join(term.english)}\n")
    return True


def fold_term(chinese: str) -> str:
    """The form that terms are compared in: NFKC, lower case, no space between Han and Latin."""
    return BORDER_SPACE.sub("", unicodedata.normalize("NFKC", chinese).lower().strip())


def _checked(chinese: str, english: str) -> Term:
    chinese, forms = " ".join(chinese.split()), _forms(english)
    usage = 'kb glossary add 信用分配 "credit assignment"'
    if not has_han(chinese) or chinese.startswith("#"):
        raise UsageError(f"{chinese!r} is not a Chinese term", usage)
    if not forms:
        raise UsageError(f"no English given for {chinese}", usage)
    return Term(chinese, forms, own=True)


def _forms(english: str) -> tuple[str, ...]:
    forms = (" ".join(form.split()) for form in re.split("[;；]", english))
    return tuple(dict.fromkeys(form for form in forms if form))


def _read(path: Path, own: bool = False) -> Iterator[Term]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8", f"save {path} as UTF-8") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        chinese, tab, english = line.partition("\t")
        forms = _forms(english)
        if not tab or not forms:
            raise FileFormatError(path, number, f"no English for {line.strip()!r}", _FORM)
        if not has_han(chinese):
            raise FileFormatError(path, number, f"{chinese.strip()!r} is not Chinese", _FORM)
        yield Term(chinese.strip(), forms, own)


def _merge(rows: Iterable[Term]) -> Glossary:
    terms: dict[str, Term] = {}
    for row in rows:
        key = fold_term(row.chinese)
        first = terms.get(key)
        english = tuple(dict.fromkeys((*first.english, *row.english))) if first else row.english
        terms[key] = Term(first.chinese if first else row.chinese, english, first.own if first else row.own)
    return Glossary(terms)

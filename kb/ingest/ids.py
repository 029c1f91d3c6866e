"""arXiv identifiers: parsed once into archive, number and version, and found in running text.

New ids are ``YYMM.NNNN`` (April 2007 to 2014) or ``YYMM.NNNNN`` (from 2015); old ones are ``archive/YYMMNNN``.
The key of a paper is the bare id without version; an old id has no subject class (``math.GT/0309136`` is
``math/0309136``).
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal
from urllib.parse import unquote

from kb.errors import UsageError

OLD_ARCHIVES = frozenset(
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas cond-mat cs "
    "dg-ga funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin nucl-ex nucl-th patt-sol physics "
    "plasm-ph q-alg q-bio quant-ph solv-int supr-con".split(" ")
)
_ARCHIVE = "|".join(sorted(map(re.escape, OLD_ARCHIVES), key=len, reverse=True))
_NEW = r"\d{4}\.\d{4,5}"
_OLD = rf"(?:{_ARCHIVE})(?:\.[A-Za-z-]{{2,}})?/\d{{7}}"
_VERSION = r"(?:[vV](?P<version>[1-9]\d{0,2}))?"
_WHOLE = re.compile(rf"(?P<id>{_NEW}|{_OLD}){_VERSION}", re.IGNORECASE)
_HOSTS = (
    r"(?:[\w-]+\.)?arxiv\.org|ar5iv\.(?:org|labs\.arxiv\.org)|ar5iv\.labs\.arxiv\.org|(?:www\.)?alphaxiv\.org|"
    r"huggingface\.co|hf\.co|(?:www\.)?arxiv-vanity\.com|scirate\.com"
)
_URL = re.compile(
    rf"(?:https?://)?(?:{_HOSTS})/(?:abs|pdf|html|ps|format|e-print|src|overview|papers?|arxiv)?/?"
    rf"(?P<rest>[^\s?#]+)",
    re.IGNORECASE,
)
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?10\.48550/arxiv\.(?P<rest>\S+)", re.IGNORECASE)
_PREFIX = re.compile(r"arxiv\s*[:：]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class ArxivId:
    """One arXiv identifier. ``archive`` is empty for new ids."""

    archive: str
    number: str
    version: int | None = None

    @property
    def bare(self) -> str:
        """The id without its version: the key of the paper."""
        return f"{self.archive}/{self.number}" if self.archive else self.number

    @property
    def file_stem(self) -> str:
        """A name safe for files: the slash of an old id is an underscore."""
        return str(self).replace("/", "_")

    def __str__(self) -> str:
        return self.bare + (f"v{self.version}" if self.version else "")


@dataclass(frozen=True, slots=True)
class FoundId:
    """An id found in text. ``low`` confidence: a bare number, believed only because of where it stands."""

    id: str
    version: int | None
    confidence: Literal["high", "low"]


def parse_arxiv_id(text: str) -> ArxivId:
    """The id that a word, an address or a DOI names. Raises UsageError when it names none."""
    found = try_arxiv_id(text)
    if found is None:
        raise UsageError(
            f"{text!r} is not an arXiv id",
            "an id looks like 2503.14476, 2503.14476v2, math/0309136, or an address that ends in one",
        )
    return found


def try_arxiv_id(text: str) -> ArxivId | None:
    """``parse_arxiv_id`` that returns None where there is no id."""
    word = unquote(unicodedata.normalize("NFKC", text).strip().strip("<>()\"'"))
    if ".." in word:
        return None
    for pattern in (_DOI, _URL):
        if match := pattern.fullmatch(word) or pattern.match(word):
            word = match["rest"]
            break
    word = _PREFIX.sub("", word, count=1).strip().rstrip("/.,;")
    word = re.sub(r"\.(?:pdf|ps|html?|tar\.gz|tgz|gz)$", "", word, flags=re.IGNORECASE)
    word = re.sub(r"\s*\[[\w.-]+\]$", "", word)
    # A file named after an old id has an underscore for the slash.
    word = re.sub(rf"^({_ARCHIVE})_(?=\d{{7}})", r"\1/", word, flags=re.IGNORECASE)
    match = _WHOLE.fullmatch(word)
    return _make(match) if match else None


def _make(match: re.Match[str]) -> ArxivId | None:
    version = int(match["version"]) if match["version"] else None
    archive, slash, number = match["id"].rpartition("/")
    if not slash:
        return ArxivId("", number, version) if _is_new(number) else None
    archive = archive.split(".")[0].lower()
    return ArxivId(archive, number, version) if _is_old(number) else None


def _is_new(number: str) -> bool:
    """Whether year, month and digit count fit a real new id: April 2007 up to next month."""
    year, month, digits = int(number[:2]), int(number[2:4]), len(number) - 5
    if not 1 <= month <= 12 or (year, month) < (7, 4) or (year, month) > _next_month():
        return False
    return digits == (4 if (year, month) < (15, 1) else 5)


def _is_old(number: str) -> bool:
    year, month = int(number[:2]), int(number[2:4])
    return 1 <= month <= 12 and (year >= 91 or (year, month) <= (7, 3))


@cache
def _next_month() -> tuple[int, int]:
    today = dt.datetime.now(dt.UTC)
    return (today.year - 2000, today.month + 1) if today.month < 12 else (today.year - 1999, 1)


# An id may follow a slash or a letter only as part of an address or "arXiv"; never inside a longer number or a DOI.
_IN_TEXT = re.compile(
    rf"(?P<mark>arxiv\s*(?:preprint)?\s*(?:arxiv)?\s*[:：,]?\s*(?:abs/)?|(?:{_HOSTS})/[a-z-]+/|10\.48550/arxiv\.|"
    rf"\bcorr\s*[,:]?\s*(?:abs/)?|\babs/|\beprint\s*[:=]?\s*)?"
    rf"(?<!\d)(?<!\d\.)(?P<id>{_NEW}|(?<![A-Za-z/.-]){_OLD}){_VERSION}(?![\d])(?!\.\d)",
    re.IGNORECASE,
)
_BROKEN_NUMBER = re.compile(r"(?<=\d{4}\.)\s+(?=\d{4,5}(?:v\d+)?\b)")
_BROKEN_MARK = re.compile(r"(arxiv\s*[:：])\s*\n\s*", re.IGNORECASE)
_DOI_HEAD = re.compile(r"10\.\d{4,9}/\S*$")


def find_arxiv_ids(text: str, *, context: Literal["reference", "prose"]) -> list[FoundId]:
    """The ids in a piece of text, each once, in order.

    In ``prose`` a bare number is not believed; in a ``reference`` it is, with low confidence.
    """
    joined = _BROKEN_MARK.sub(r"\1", text.replace("\u00ad", ""))
    joined = _BROKEN_NUMBER.sub("", joined)
    found: dict[str, FoundId] = {}
    for match in _IN_TEXT.finditer(joined):
        parsed = _make(match)
        marked = match["mark"] is not None
        if parsed is None or (not marked and _is_part_of_something(joined, match)):
            continue
        old = bool(parsed.archive)
        if not (marked or old or context == "reference"):
            continue
        confidence: Literal["high", "low"] = "high" if marked or old else "low"
        known = found.get(parsed.bare)
        if known is None or (known.confidence == "low" and confidence == "high"):
            found[parsed.bare] = FoundId(parsed.bare, parsed.version, confidence)
    return list(found.values())


def _is_part_of_something(text: str, match: re.Match[str]) -> bool:
    """Whether an unmarked number lies in a DOI, a page range, or after a word that makes it another number."""
    start, end = match.start("id"), match.end()
    before, after = text[max(0, start - 60) : start], text[end : end + 2]
    if _DOI_HEAD.search(before) or re.match(r"[-–]\d", after) or re.search(r"\d[-–]$", before):
        return True
    return bool(re.search(r"(?:Proc\.?|pp?\.|pages?|vol\.?|no\.?|ISBN|ISSN|[$€£#])\s*$", before, re.IGNORECASE))

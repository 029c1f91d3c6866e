"""One entry of a reference list, from its raw text: title, authors, year, ids and addresses.

What cannot be told is left empty; an arXiv id or DOI is only ever read off the entry.
"""

from __future__ import annotations

import re

from kb.ingest.ids import find_arxiv_ids
from kb.model import Reference

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)\]]")
_URL = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;)\]]")
_YEAR = re.compile(r"(?<![\d.:/-])((?:18|19|20)\d\d)[a-z]?(?![\d]|\.\d)")
_QUOTED = re.compile(r"[“\"‘](.{8,300}?)[,.?!]?[”\"’](?=[\s,.]|$)")
_MARKER = re.compile(r"^\s*(?:\[[^\]]{1,40}\]|\d{1,3}\.)\s+")
# A full stop ends a sentence unless it follows an initial or a known abbreviation.
_STOP = re.compile(
    r"(?<!\b[A-Z])(?<!\bet al)(?<!\bJr)(?<!\bvs)(?<!\b[Dd]r)(?<!\b[Ss]t)(?<!-[A-Z])[.?!](?=\s+(?:[“\"A-Z0-9À-Þ\u4e00-\u9fff]|arXiv)|$)"
)
_NAME_LIKE = re.compile(
    r"^(?:(?:and|&|et al\.?|[A-ZÀ-Þ]\.?-?|[A-ZÀ-Þ][\w'’`´-]+|de|van|von|der|den|di|da|la|le|el|al|bin|ten|ter|dos|Jr\.?|others)"
    r"(?:\s+|,\s*|;\s*|$))+$"
)


def parse_reference(index: int, raw: str, key: str | None = None) -> Reference:
    """An entry of the list; ``index`` counts from 1."""
    text = " ".join(raw.split())
    bare = _MARKER.sub("", text)
    ids = find_arxiv_ids(bare, context="reference")
    doi = _DOI.search(bare)
    url = _URL.search(bare)
    title, authors = _title_and_authors(bare)
    return Reference(
        index=index,
        key=key or f"ref{index}",
        raw=text,
        title=title,
        authors=authors,
        year=_year(bare),
        arxiv_id=ids[0].id if ids else None,
        id_confidence=ids[0].confidence if ids else None,
        doi=doi[0] if doi and "arxiv" not in doi[0].lower() else None,
        url=url[0] if url else None,
    )


def _year(text: str) -> int | None:
    years = [int(match[1]) for match in _YEAR.finditer(_URL.sub(" ", text))]
    plausible = [year for year in years if 1800 <= year <= 2100]
    return plausible[-1] if plausible else None


def _title_and_authors(text: str) -> tuple[str | None, tuple[str, ...]]:
    quoted = _QUOTED.search(text)
    if quoted:
        return quoted[1].strip(), _authors(text[: quoted.start()])
    text = _URL.sub("", text)
    dated = re.match(r"^(.{3,400}?)[.,]?\s*\(((?:18|19|20)\d\d)[a-z]?\)[.,:]?\s+(.+)$", text) or re.match(
        r"^(.{3,400}?)\.\s+((?:18|19|20)\d\d)[a-z]?\.\s+(.+)$", text
    )
    if dated:
        return _first_sentence(dated[3]), _authors(dated[1])
    parts = _sentences(text)
    for position, part in enumerate(parts[1:3], start=1):
        if not _NAME_LIKE.match(part.rstrip(".") + " ") and len(part) > 8:
            return part, _authors(". ".join(parts[:position]))
    return None, ()


def _sentences(text: str) -> list[str]:
    parts, start = [], 0
    for match in _STOP.finditer(text):
        parts.append(text[start : match.end()].strip(" .") + ("?" if match[0] == "?" else ""))
        start = match.end()
    parts.append(text[start:].strip(" ."))
    return [part for part in parts if part]


def _first_sentence(text: str) -> str | None:
    parts = _sentences(text)
    return parts[0] if parts and len(parts[0]) > 3 else None


def _authors(text: str) -> tuple[str, ...]:
    text = re.sub(r"\bet al\.?|\bothers\b", "", text).replace("&", " and ").strip(" .,;:")
    if not text or len(text) > 1500:
        return ()
    if re.search(r",\s*(?:[A-Z]\.[\s-]*)+(?:,|and|;|$)", text):
        # "Schulman, J., Moritz, P. and Abbeel, P.": family name, then initials.
        pairs = re.findall(r"([^\d,;]+?),\s*((?:[A-Z]\.?[\s-]*)+)(?:,|;|\band\b|$)", text)
        return tuple(f"{initials.strip()} {family.strip().removeprefix('and ').strip()}" for family, initials in pairs)
    names = re.split(r",\s*and\s+|\s+and\s+|,\s*|;\s*", text)
    return tuple(name.strip(" .") for name in names if 2 <= len(name.strip()) <= 60 and not name.strip().isdigit())

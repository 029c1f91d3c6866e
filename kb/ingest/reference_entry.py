"""One entry of a reference list, from its raw text: title, authors, year, ids and addresses.

What cannot be told is left empty; an arXiv id or DOI is only ever read off the entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kb.ingest.ids import find_arxiv_ids
from kb.model import Reference

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)\]]")
_URL = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;)\]]")
_LAST_YEAR = re.compile(r"[\s,(]*\(?(?:18|19|20)\d\d[a-z]?\)?[\s.,]*$")
_LONGEST_AUTHORS = 6000  # characters: some lists of authors fill a page
_YEAR = re.compile(r"(?<![\d.:/-])((?:18|19|20)\d\d)[a-z]?(?![\d]|\.\d)")
_QUOTED = re.compile(r"[“\"‘](.{8,300}?)[,.?!]?[”\"’](?=[\s,.]|$)")
_MARKER = re.compile(r"^\s*(?:[\[［]\s?\d{1,3}\s?[\]］]|\d{1,3}[.．](?=\s|\D))\s*")
_KEY_MARKER = re.compile(r"^\s*\[[^\]]{1,60}\]\s*")
# A full stop ends a sentence unless it follows an initial or an abbreviation that goes on.
_STOP = re.compile(
    r"(?<!\b[A-Z])(?<!\bJr)(?<!\bvs)(?<!\b[Dd]r)(?<!\b[Ss]t)(?<!-[A-Z])[.?!](?=\s+(?:[“\"A-ZÀ-Þ\u4e00-\u9fff]|ar[Xx]iv|doi|https?:|eprint)|$)|．(?=\S)"
)
_NAME = (
    r"(?:and|&|et al\.?|[A-ZÀ-Þ]\.?(?:-?[A-ZÀ-Þ]\.?)*|[A-ZÀ-Þ][\w'’`´¨ˇ-]+\.?|[a-z]'[A-Z]\w+|de|van|von|der|den|di|da|la|le|el|al|"
    r"bin|ten|ter|dos|others)"
)
_NAME_LIKE = re.compile(rf"^(?:{_NAME}(?:\s+|,\s*|;\s*|$))+$")
# "Tenenbaum, J. B. Shoot first": where family names come first, a title follows an initial without a comma.
_FAMILY_FIRST = re.compile(r"^(?:[\w'’`´¨-]+ ){0,3}[\w'’`´¨-]+, (?:[A-ZÀ-Þ]\.[ -]?)+(?:,|and\b|&|(?=[A-Z]))")
_AFTER_INITIAL = re.compile(r"(?<=\b[A-ZÀ-Þ]\.)\s+(?!and\b|&|et al|(?:[A-ZÀ-Þ]\.)|[A-Z]$|(?:de|van|von|Jr)\b)(?=[A-Z“\"\u4e00-\u9fffÀ-Þ0-9])")
_DATED = re.compile(r"^(.{3,1500}?)[.,]?\s*\(((?:18|19|20)\d\d)[a-z]?\)[.,:]?\s+(.+)$|^(.{3,1500}?)\.\s+((?:18|19|20)\d\d)[a-z]?\.\s+(.+)$")
_LATE_YEAR = re.compile(r"[,\s]+(?:(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)\w*\.?\s+)?\(?(?:18|19|20)\d\d[a-z]?\)?$")
_KIND_MARK = re.compile(r"\s*[\[［][JMCDRSNPZ](?:/OL)?[\]］].*$")


def parse_reference(index: int, raw: str, key: str | None = None) -> Reference:
    """An entry of the list; ``index`` counts from 1."""
    text = " ".join(raw.split())
    text = _MARKER.sub("", text)
    bare = _KEY_MARKER.sub("", text)
    ids = find_arxiv_ids(bare, context="reference")
    doi = _DOI.search(bare)
    url = _URL.search(bare)
    dated = _DATED.match(_URL.sub("", bare))
    title, authors = _title_and_authors(bare, dated)
    return Reference(
        index=index,
        key=key or f"ref{index}",
        raw=text,
        title=title,
        authors=authors,
        year=int(dated[2] or dated[5]) if dated else _last_year(bare),
        arxiv_id=ids[0].id if ids else None,
        id_confidence=ids[0].confidence if ids else None,
        doi=doi[0] if doi and "arxiv" not in doi[0].lower() else None,
        url=url[0] if url else None,
    )


def parse_blocks(index: int, blocks: Sequence[str], key: str) -> Reference:
    """An entry whose style sets its authors, its title and the rest apart."""
    parsed = parse_reference(index, " ".join(blocks), key)
    if len(blocks) < 2:
        return parsed
    if blocks[1].startswith("http"):  # no author: the title comes first
        return replace(parsed, title=_trimmed(blocks[0]), authors=())
    authors = read_authors(_LAST_YEAR.sub("", blocks[0]))
    title = _trimmed(blocks[1].strip(" .,“”\"‘’"))
    return replace(parsed, title=title or parsed.title, authors=authors or parsed.authors)


def _last_year(text: str) -> int | None:
    years = [int(match[1]) for match in _YEAR.finditer(_URL.sub(" ", text))]
    plausible = [year for year in years if 1800 <= year <= 2100]
    return plausible[-1] if plausible else None


def _title_and_authors(text: str, dated: re.Match[str] | None) -> tuple[str | None, tuple[str, ...]]:
    """``dated`` is the match of an entry whose year stands right after its authors."""
    quoted = _QUOTED.search(text)
    if quoted and quoted.start() < 0.6 * len(text):
        return _trimmed(quoted[1]), read_authors(text[: quoted.start()])
    text = _URL.sub("", text)
    if dated and _is_names(dated[1] or dated[4]):
        return _first_sentence(dated[3] or dated[6]), read_authors(dated[1] or dated[4])
    # "Kimura, M., Saito, K.: Title": the names end at a colon.
    names, colon, rest = text.partition(": ")
    if colon and names.endswith(".") and _is_names(names):
        return _first_sentence(rest), read_authors(names)
    if _FAMILY_FIRST.match(text) and (end := _AFTER_INITIAL.search(text)):
        return _first_sentence(text[end.end() :]), read_authors(text[: end.end()])
    parts = _sentences(text)
    for position, part in enumerate(parts[1:3], start=1):
        if not _is_names(part) and len(part) > 8 and _is_names(", ".join(parts[:position])):
            return _trimmed(part), read_authors(". ".join(parts[:position]) + ".")
    found = _by_commas(text)
    if found[0] is None and len(parts) > 1 and len(parts[1]) > 8 and not _is_names(parts[1]):
        return _trimmed(parts[1]), read_authors(parts[0])
    return found


def _is_names(text: str) -> bool:
    """Whether a stretch is a list of names: mostly words with a capital, set off by commas."""
    bare = text.strip(" .,;")
    if _NAME_LIKE.match(bare + " "):
        return True
    words = re.findall(r"[^\W\d_]+", bare)
    small = [word for word in words if word[0].islower() and word not in _PARTICLES]
    return bool(words) and len(small) <= 0.12 * len(words) and bare.count(",") >= len(words) / 5


_PARTICLES = frozenset("and et al de van von der den di da la le el bin ten ter dos others".split(" "))


def _by_commas(text: str) -> tuple[str | None, tuple[str, ...]]:
    """``M. Kimura, K. Saito, Title of several words, Journal``: the title is the first part that is no name."""
    parts = text.split(", ")
    for position, part in enumerate(parts):
        small = [word for word in part.split() if word[:1].islower() and word not in _PARTICLES]
        if position and len(small) >= 2 and len(part) > 15:
            return _trimmed(_sentences(part)[0]), read_authors(", ".join(parts[:position]))
        if not _NAME_LIKE.match(part.strip(" .") + " "):
            return None, ()
    return None, ()


def _sentences(text: str) -> list[str]:
    parts, start = [], 0
    for match in _STOP.finditer(text):
        parts.append(text[start : match.end()].strip(" .．"))
        start = match.end()
    parts.append(text[start:].strip(" ."))
    return [part for part in parts if part]


def _first_sentence(text: str) -> str | None:
    parts = _sentences(text)
    return _trimmed(parts[0]) if parts else None


def _trimmed(title: str) -> str | None:
    """A title without the year, the address or the mark of its kind that may follow it."""
    title = re.sub(r"\s+URL\s*$", "", _KIND_MARK.sub("", title)).strip(" .,")
    title = _LATE_YEAR.sub("", title).strip(" .,")
    return title if len(title) > 3 or re.search(r"[\u4e00-\u9fff]{2}", title) else None


def read_authors(text: str) -> tuple[str, ...]:
    """The names in what stands before a title, given names or initials first."""
    text = re.sub(r"\bet al\.?|\bothers\b|\([^()]*\)", "", text).replace("&", " and ").strip(" ,;:")
    if not text or len(text) > _LONGEST_AUTHORS:
        return ()
    if re.search(r",\s*(?:[A-Z]\.[\s-]*)+(?:,|and|;|$)", text):
        # "Schulman, J., Moritz, P. and Abbeel, P.": family name, then initials.
        pairs = re.findall(r"([^\d,;]+?),\s*((?:[A-Z]\.?[\s-]*)+)(?:,|;|\band\b|$)", text)
        return tuple(f"{initials.strip()} {family.strip().removeprefix('and ').strip()}" for family, initials in pairs)
    names = [name.strip(" .") for name in re.split(r",\s*and\s+|\s+and\s+|,\s*|;\s*", text)]
    return tuple(name for name in names if 2 <= len(name) <= 60 and not name.isdigit() and name != "and")

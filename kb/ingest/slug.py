"""The folder name of a paper: short, portable, never empty, never a path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

from kb.errors import UsageError

MAX_BYTES = 60
_STOP = frozenset(
    "a an the of on in for with and or to from by via is are at as how can towards toward do does using".split(" ")
)
_RESERVED = frozenset("con prn aux nul com1 com2 com3 lpt1 lpt2 lpt3".split(" "))
_HAN = re.compile(r"[\u4e00-\u9fff]")


def make_slug(title: str, authors: tuple[str, ...], year: str, taken: Container[str], fallback: str) -> str:
    """A slug that is not taken.

    It is the name before a colon (``DAPO: …``), else family name, year and first word of the title, else the first
    words of the title; a Chinese title keeps its characters. ``fallback`` (an id or a hash) is for what has none.
    """
    slug = _name_before_colon(title) or _from_words(title, authors, year) or clean(fallback) or "paper"
    base, number = slug, 2
    while slug in taken:
        slug, number = f"{base}_{number}", number + 1
    return slug


def _name_before_colon(title: str) -> str:
    head, colon, _ = title.replace("：", ":").partition(":")
    # A paper without a title is called arXiv:2503.14476.
    sensible = colon and len(head.split()) <= 3 and len(head) <= 24 and head.casefold() != "arxiv"
    return clean(head) if sensible else ""


def _from_words(title: str, authors: tuple[str, ...], year: str) -> str:
    words = [word for word in re.findall(r"[\w-]+", title) if word.casefold() not in _STOP]
    family = _family_name(authors[0]) if authors else ""
    if _HAN.search(title) or not family:
        return clean(title if _HAN.search(title) else "_".join(words[:3]))
    return clean("_".join([family, year, *words[:1]]))


def _family_name(author: str) -> str:
    """The last word of a name that is letters (sources put marks and ORCID numbers after names)."""
    words = [word for word in re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", author) if len(word) > 1]
    return words[-1] if words else ""


def clean(name: str) -> str:
    """A name with nothing in it that a file system, a shell or an address could take amiss; may be empty."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name))
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    plain = unicodedata.normalize("NFC", plain).casefold()
    slug = re.sub(r"[\W_]+", "_", plain).strip("_")
    while len(slug.encode("utf-8")) > MAX_BYTES:
        slug = slug[:-1]
    slug = slug.strip("_")
    return f"{slug}_" if slug in _RESERVED else slug


def check_slug(slug: str) -> str:
    """A slug that a person chose with ``--as``. Raises UsageError for one that is no name."""
    if clean(slug) != slug.casefold() or not slug:
        raise UsageError(f"{slug!r} cannot be a folder name", f"--as {clean(slug) or 'name'}: letters, digits and _")
    return slug.casefold()

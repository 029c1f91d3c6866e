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


def make_slug(title: str, authors: tuple[str, ...], year: str, taken: Container[str], fallback: str) -> str:
    """A slug that is not taken: the name before a colon, else family name, year and first word of the title.

    Chinese titles keep their characters. ``fallback`` (an id or a hash) is used when nothing else is left.
    """
    head, colon, _ = title.partition(":")
    head = head if colon else title.partition("：")[0] if "：" in title else ""
    if head and len(head.split()) <= 3 and len(head) <= 24:
        slug = clean(head)
    else:
        family = authors[0].split()[-1] if authors else ""
        words = [word for word in re.findall(r"[\w-]+", title) if word.lower() not in _STOP]
        slug = clean("_".join(part for part in (family, year, words[0] if words else "") if part))
        if re.search(r"[\u4e00-\u9fff]", title) and not re.search(r"[a-z]", slug):
            slug = clean(title)
    slug = slug or clean(fallback)
    base, number = slug, 2
    while slug in taken:
        slug, number = f"{base}_{number}", number + 1
    return slug


def clean(name: str) -> str:
    """A name with nothing in it that a file system, a shell or an address could take amiss; may be empty."""
    folded = unicodedata.normalize("NFKC", name)
    plain = "".join(char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))
    plain = unicodedata.normalize("NFC", plain).casefold()
    slug = re.sub(r"[^\w\u4e00-\u9fff]+", "_", plain).strip("_")
    while len(slug.encode("utf-8")) > MAX_BYTES:
        slug = slug[:-1]
    slug = slug.strip("_")
    return f"{slug}_" if slug in _RESERVED else slug


def check_slug(slug: str) -> str:
    """A slug that a person chose with ``--as``. Raises UsageError for one that is no name."""
    if clean(slug) != slug.casefold() or not slug:
        raise UsageError(f"{slug!r} cannot be a folder name", f"--as {clean(slug) or 'name'}: letters, digits and _")
    return slug.casefold()

"""Reference lists of LaTeX sources: ``.bbl`` of BibTeX and biblatex, ``thebibliography``, or cited keys of a ``.bib``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from kb.ingest.ids import find_arxiv_ids
from kb.ingest.latex_macros import read_group, read_option
from kb.ingest.latex_text import TextContext, to_line
from kb.ingest.reference_entry import parse_reference
from kb.model import Reference

_ITEM = re.compile(r"\\bibitem(?![a-zA-Z])")
_BLOCK = re.compile(r"\\newblock(?![a-zA-Z])")
_BIB_ENTRY = re.compile(r"@(\w+)\s*[{(]\s*([^\s,{}()]+)\s*,")
_BIBLATEX = re.compile(r"\\entry\{([^}]*)\}\{([^}]*)\}")


def references_from_bbl(text: str, context: TextContext) -> list[Reference]:
    """The entries of a ``.bbl`` file or a ``thebibliography`` environment, in order."""
    if "\\entry{" in text:
        return _from_biblatex(text, context)
    found: list[Reference] = []
    items = list(_ITEM.finditer(text))
    for index, match in enumerate(items, start=1):
        end = items[index].start() if index < len(items) else len(text)
        body = text[match.end() : end].split("\\end{thebibliography}")[0]
        option = read_option(body, 0)
        group = read_group(body, option[1] if option else 0)
        if group is None:
            continue
        found.append(_entry(len(found) + 1, group[0].strip(), body[group[1] :], context))
    return found


def _entry(index: int, key: str, body: str, context: TextContext) -> Reference:
    parts = [to_line(part, context) for part in _BLOCK.split(body)]
    parts = [part for part in parts if part]
    raw = " ".join(parts)
    parsed = parse_reference(index, raw, key)
    addresses = re.findall(r"https?://[^\s{}]+", body.replace("\\_", "_"))
    if addresses and parsed.url is None:
        parsed = replace(parsed, url=addresses[0])
    hidden = find_arxiv_ids(body.replace("\\", " "), context="reference")
    if parsed.arxiv_id is None and hidden:
        parsed = replace(parsed, arxiv_id=hidden[0].id, id_confidence=hidden[0].confidence)
    if len(parts) >= 2 and _BLOCK.search(body):
        # natbib's blocks say which part is the title.
        parsed = replace(parsed, title=parts[1].strip(" .,") or parsed.title)
    return parsed


def _from_biblatex(text: str, context: TextContext) -> list[Reference]:
    found: list[Reference] = []
    for match in _BIBLATEX.finditer(text):
        end = text.find("\\endentry", match.end())
        body = text[match.end() : end if end >= 0 else len(text)]
        fields = {
            name[1]: group[0]
            for name in re.finditer(r"\\field\{(\w+)\}", body)
            if (group := read_group(body, name.end()))
        }
        verbs = dict(re.findall(r"\\verb\{(\w+)\}\s*\\verb (.*)", body))
        families = re.findall(r"family=\{?([^,{}]+)\}?", body)
        given = re.findall(r"given=\{?([^,{}]+)\}?", body)
        authors = [
            f"{first} {last}".strip() for first, last in zip(given + [""] * len(families), families, strict=False)
        ]
        fields |= {key: value for key, value in verbs.items() if key in ("eprint", "doi", "url")}
        found.append(
            _from_fields(len(found) + 1, match[1], fields, tuple(to_line(a, context) for a in authors), context)
        )
    return found


def references_from_bib(texts: Iterable[str], cited: Iterable[str], context: TextContext) -> list[Reference]:
    """The cited entries of ``.bib`` files, in order of citation."""
    entries: dict[str, dict[str, str]] = {}
    for text in texts:
        for key, fields in read_bib(text):
            entries.setdefault(key, fields)
    found: list[Reference] = []
    for key in dict.fromkeys(cited):
        if key in entries:
            fields = entries[key]
            names = tuple(
                _turn(to_line(name, context)) for name in re.split(r"\s+and\s+", fields.get("author", "")) if name
            )
            found.append(_from_fields(len(found) + 1, key, fields, names, context))
    return found


def read_bib(text: str) -> Iterable[tuple[str, dict[str, str]]]:
    """``(key, fields)`` of every entry of a BibTeX file; broken entries are passed over."""
    for match in _BIB_ENTRY.finditer(text):
        if match[1].lower() in ("comment", "string", "preamble"):
            continue
        fields: dict[str, str] = {}
        at = match.end()
        while True:
            name = re.compile(r"\s*([\w-]+)\s*=\s*").match(text, at)
            if name is None:
                break
            value = _bib_value(text, name.end())
            if value is None:
                break
            fields.setdefault(name[1].lower(), " ".join(value[0].split()))
            comma = re.compile(r"\s*,").match(text, value[1])
            if comma is None:
                break
            at = comma.end()
        yield match[2], fields


def _bib_value(text: str, at: int) -> tuple[str, int] | None:
    if text[at : at + 1] == "{":
        return read_group(text, at)
    if text[at : at + 1] == '"':
        depth, end = 0, at + 1
        while end < len(text) and (text[end] != '"' or depth):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        return text[at + 1 : end], end + 1
    match = re.compile(r"[\w.-]+").match(text, at)
    return (match[0], match.end()) if match else None


def _turn(name: str) -> str:
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else name


def _from_fields(
    index: int, key: str, fields: dict[str, str], authors: tuple[str, ...], context: TextContext
) -> Reference:
    title = to_line(fields.get("title", ""), context).replace("{", "").replace("}", "") or None
    venue = to_line(fields.get("journal") or fields.get("journaltitle") or fields.get("booktitle") or "", context)
    year = re.search(r"(?:18|19|20)\d\d", fields.get("year") or fields.get("date") or "")
    places = " ".join(
        fields.get(name, "") for name in ("eprint", "journal", "url", "note", "volume", "doi", "howpublished")
    )
    if fields.get("eprint") and "arxiv" not in places.lower():
        places = f"arXiv:{places}"
    ids = find_arxiv_ids(places, context="reference")
    doi = fields.get("doi", "").removeprefix("https://doi.org/") or None
    parts = (", ".join(authors), title or "", venue, year[0] if year else "", f"arXiv:{ids[0].id}" if ids else "")
    return Reference(
        index=index,
        key=key,
        raw=". ".join(part for part in parts if part),
        title=title,
        authors=authors,
        year=int(year[0]) if year else None,
        arxiv_id=ids[0].id if ids else None,
        id_confidence=ids[0].confidence if ids else None,
        doi=doi if doi and "arxiv" not in doi.lower() else None,
        url=fields.get("url") or None,
    )

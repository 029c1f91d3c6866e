"""Reference lists of LaTeX sources: a ``.bbl``, a ``thebibliography``, or the cited keys of a ``.bib``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kb.ingest.bib_file import read_bib, split_names
from kb.ingest.ids import find_arxiv_ids
from kb.ingest.latex_commands import plain_address
from kb.ingest.latex_context import TextContext
from kb.ingest.latex_definitions import collect
from kb.ingest.latex_groups import read_group, read_option
from kb.ingest.latex_macros import Macros
from kb.ingest.latex_text import to_line
from kb.ingest.reference_entry import parse_blocks, parse_reference
from kb.model import Reference

_ITEM = re.compile(r"\\bibitem(?![a-zA-Z])")
_BLOCK = re.compile(r"\\newblock(?![a-zA-Z])")
_ENTRY = re.compile(r"\\entry\s*\{([^{}]*)\}\{([^{}]*)\}")
_CITED = re.compile(
    r"\\(?:no|full|foot|super|paren|text|auto|smart)?[cC]ite[a-zA-Z]*\*?\s*(?:\[[^\]]*\]\s*){0,2}\{([^{}]*)\}"
)
_ADDRESS = re.compile(r"\\(?:url|Url|href|path|Eprint|nolinkurl)\s*(?=\{)|(https?://[^\s{}]+)")
_LABEL_YEAR = re.compile(r"\(\s*\{?((?:18|19|20)\d\d)[a-z]?\}?")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_MARKED = re.compile(r"\\bibinfo\s*\{(author|title|year|person|journal|booktitle)\}")
_TITLE_END = re.compile(r"[\s.,;:]+$")


def read_references(texts: Mapping[str, str], main: str, flat: str, context: TextContext) -> list[Reference]:
    """From the ``.bbl`` of the main file, a list in the text, any ``.bbl``, or else the cited keys of a ``.bib``."""
    for text in _lists(texts, main, flat):
        macros = Macros(dict(context.macros.commands))
        clean = collect(text, macros)
        found = references_from_bbl(clean, replace(context, macros=macros))
        if found:
            return found
    cited = [key.strip() for match in _CITED.finditer(flat) for key in match[1].split(",") if key.strip()]
    return references_from_bib((text for name, text in sorted(texts.items()) if name.endswith(".bib")), cited, context)


def _lists(texts: Mapping[str, str], main: str, flat: str) -> Iterable[str]:
    own = texts.get(f"{main.rsplit('.', 1)[0]}.bbl", "")
    by_command = re.search(r"\\(?:bibliography|printbibliography|putbib)(?![a-zA-Z])", flat)
    ordered = [own, flat] if by_command or "\\bibitem" not in flat else [flat, own]
    others = [text for name, text in texts.items() if name.endswith(".bbl")]
    return (text for text in [*ordered, *others] if "\\bibitem" in text or "\\entry{" in text)


def references_from_bbl(text: str, context: TextContext) -> list[Reference]:
    """The entries of a ``.bbl`` file or a ``thebibliography`` environment, in order."""
    if _ENTRY.search(text):
        return _from_biblatex(text, context)
    found: list[Reference] = []
    items = list(_ITEM.finditer(text))
    for match, after in zip(items, [*items[1:], None], strict=True):
        body = text[match.end() : after.start() if after else len(text)].split("\\end{thebibliography}")[0]
        option = read_option(body, 0)
        key = read_group(body, option[1] if option else 0)
        if key is not None:
            found.append(_entry(len(found) + 1, key[0].strip(), option[0] if option else "", body[key[1] :], context))
    return found


def _entry(index: int, key: str, label: str, body: str, context: TextContext) -> Reference:
    parts = [part for part in (_plain(part, context) for part in _BLOCK.split(body)) if part]
    raw = " ".join(parts)
    parsed = parse_blocks(index, parts, key) if _BLOCK.search(body) else parse_reference(index, raw, key)
    address = _address(body)
    ids = find_arxiv_ids(raw, context="reference") or find_arxiv_ids(body.replace("\\", " "), context="reference")
    year = _LABEL_YEAR.search(label)
    parsed = replace(
        parsed,
        url=parsed.url or address,
        arxiv_id=ids[0].id if ids else None,
        id_confidence=ids[0].confidence if ids else None,
        year=int(year[1]) if year else parsed.year,
    )
    return _from_marks(parsed, body, context) if _MARKED.search(body) else parsed


def _plain(tex: str, context: TextContext) -> str:
    return to_line(tex, context).replace("\\$", "$").strip()


def _address(body: str) -> str | None:
    for match in _ADDRESS.finditer(body):
        group = read_group(body, match.end()) if match[1] is None else None
        address = plain_address(group[0] if group else match[1] or "")
        if address.startswith("http"):
            return address.rstrip(".,;")
    return None


def _from_marks(parsed: Reference, body: str, context: TextContext) -> Reference:
    r"""The styles of APS and ACM mark every part by ``\bibinfo``."""
    marked: dict[str, list[str]] = {}
    for match in _MARKED.finditer(body):
        group = read_group(body, match.end())
        if group:
            marked.setdefault(match[1], []).append(_plain(group[0], context).strip(" ,"))
    people = marked.get("person") or marked.get("author") or []
    year = _YEAR.search(" ".join(marked.get("year", [])))
    return replace(
        parsed,
        title=_TITLE_END.sub("", marked["title"][0]) if "title" in marked else parsed.title,
        authors=tuple(name for person in people for name in split_names(person)) or parsed.authors,
        year=int(year[0]) if year else parsed.year,
    )


def _from_biblatex(text: str, context: TextContext) -> list[Reference]:
    found: list[Reference] = []
    for match in _ENTRY.finditer(text):
        end = text.find("\\endentry", match.end())
        body = text[match.end() : end if end >= 0 else len(text)]
        fields: dict[str, str] = {}
        for name in re.finditer(r"\\(?:field|strng)\{(\w+)\}(?=\{)|\\verb\{(\w+)\}\s*\\verb ([^\n]*)", body):
            group = read_group(body, name.end()) if name[1] else None
            fields.setdefault(name[1] or name[2], group[0] if group else name[3] or "")
        found.append(_from_fields(len(found) + 1, match[1], fields, _biblatex_names(body, context), context))
    return found


def _biblatex_names(body: str, context: TextContext) -> tuple[str, ...]:
    match = re.search(r"\\name\{(?:author|editor)\}\{\d+\}\{[^{}]*\}(?=\{)", body)
    people = read_group(body, match.end()) if match else None
    names: list[str] = []
    for person in re.split(r"\{\{hash=|\{\{un=", people[0] if people else "")[1:]:
        parts = {}
        for part in re.finditer(r"\b(prefix|family|given)=(?=\{)", person):
            group = read_group(person, part.end())
            parts[part[1]] = group[0] if group else ""
        names.append(
            to_line(" ".join(parts[name] for name in ("given", "prefix", "family") if parts.get(name)), context)
        )
    return tuple(name for name in names if name)


def references_from_bib(texts: Iterable[str], cited: Iterable[str], context: TextContext) -> list[Reference]:
    """The cited entries of ``.bib`` files, in order of citation; all of them where ``*`` is cited."""
    entries: dict[str, dict[str, str]] = {}
    for text in texts:
        for _, key, fields in read_bib(text):
            entries.setdefault(key, fields)
    wanted = list(dict.fromkeys(cited))
    if "*" in wanted:
        wanted += [key for key in entries if key not in wanted]
    found: list[Reference] = []
    for key in wanted:
        if key in entries:
            names = tuple(to_line(name, context) for name in split_names(entries[key].get("author", "")))
            found.append(_from_fields(len(found) + 1, key, entries[key], names, context))
    return found


def _from_fields(
    index: int, key: str, fields: Mapping[str, str], authors: tuple[str, ...], context: TextContext
) -> Reference:
    title = _plain(fields.get("title", ""), context) or None
    venue = _plain(next((fields[name] for name in ("journal", "journaltitle", "booktitle", "publisher", "institution",
                                                     "howpublished") if fields.get(name)), ""), context)  # fmt: skip
    year = _YEAR.search(fields.get("year") or fields.get("date") or "")
    ids = find_arxiv_ids(_id_places(fields), context="reference")
    doi = (
        re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", fields.get("doi", "").replace("\\_", "_").strip())
        or None
    )
    url = plain_address(re.sub(r"\\url\s*\{|\}", "", fields.get("url", ""))) or _address(fields.get("howpublished", ""))
    parts = (", ".join(authors), title or "", venue, year[0] if year else "", f"arXiv:{ids[0].id}" if ids else "")
    return Reference(
        index=index, key=key, raw=". ".join(part.strip(" .") for part in parts if part), title=title, authors=authors,
        year=int(year[0]) if year else None, arxiv_id=ids[0].id if ids else None,
        id_confidence=ids[0].confidence if ids else None,
        doi=doi if doi and "arxiv" not in doi.lower() else None, url=url,
    )  # fmt: skip


def _id_places(fields: Mapping[str, str]) -> str:
    """The fields where an arXiv id may stand, as one text."""
    eprint = fields.get("eprint", "")
    other = fields.get("archiveprefix", fields.get("eprinttype", "arxiv")).lower() != "arxiv"
    places = [f"arXiv:{eprint}" if eprint and not other and "arxiv" not in eprint.lower() else eprint]
    places += [fields.get(name, "") for name in ("journal", "journaltitle", "url", "note", "volume", "number", "doi",
                                                  "howpublished", "booktitle", "pages", "eid", "publisher")]  # fmt: skip
    return " ; ".join(place for place in places if place)

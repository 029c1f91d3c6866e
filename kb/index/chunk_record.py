"""What is known of a paper beside its text, as drafts: facts and results of its record, arXiv's abstract.

A clone of a workspace has records but no texts, so these alone have to make a paper searchable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from kb.index.chunk import prose_drafts
from kb.index.drafts import Draft
from kb.index.sentences import Piece, count_tokens, pack, sentence_pieces
from kb.model import Kind

_ABSTRACT = re.compile(r'"abstract"\s*:\s*(?=")')
_LANGUAGES: tuple[Literal["zh", "en"], ...] = ("zh", "en")


def record_drafts(fields: Mapping[str, Any], raw: str, path: str) -> Iterator[Draft]:
    """Drafts of the front matter of ``paper.md``; ``raw`` is the whole file."""
    places = _Places(raw)
    yield _names(fields, path, places.span())
    # A draft is a sentence of the paper's text, which is searched itself.
    facts = {
        name: fact for name, fact in _mapping(fields.get("facts")).items() if _mapping(fact).get("level") != "draft"
    }
    for name, fact in facts.items():
        yield from _fact(name, _mapping(fact), path, places.span("facts", name))
    yield from _traits(facts, path, places.span("facts"))
    yield from _rows(fields.get("results"), path, places.span("results"))
    for number, claim in enumerate(_sequence(fields.get("claims_in_notes"))):
        yield _claim(_mapping(claim), path, places.span("claims_in_notes", number))


def abstract_drafts(raw: str, path: str) -> Iterator[Draft]:
    """The abstract in a ``metadata.json``; its span is that of the JSON string."""
    match = _ABSTRACT.search(raw)
    if match is None:
        return
    text, stop = json.JSONDecoder().raw_decode(raw, match.end())
    pieces = list(sentence_pieces(text, 0, len(text)))
    for draft in prose_drafts(pieces, text, Draft(Kind.PROSE, "", path, (0, 0), ("Abstract",), "abstract")):
        yield Draft(Kind.PROSE, draft.text, path, (match.end(), stop), ("Abstract",), "abstract", anchor="abstract")


def _names(fields: Mapping[str, Any], path: str, span: tuple[int, int]) -> Draft:
    """Title, other names, authors and tags as one passage, so that a name finds its paper."""
    parts = [
        str(fields.get("title") or ""),
        ", ".join(_texts(fields.get("aliases"))),
        ", ".join(_texts(fields.get("authors"))),
    ]
    parts += [
        f"arXiv:{fields['id']}" if fields.get("id") else "",
        str(fields.get("published") or fields.get("year") or ""),
    ]
    parts += [str(fields.get("venue") or ""), ", ".join(_texts(fields.get("tags")))]
    return Draft(Kind.FACT, "\n".join(part for part in parts if part), path, span, ("record",), anchor="record")


def _fact(name: str, fact: Mapping[str, Any], path: str, span: tuple[int, int]) -> Iterator[Draft]:
    """A passage for each language a fact is told in, and one for a formula."""
    source = _source(fact)
    for language in _LANGUAGES:
        if fact.get(language):
            text = f"{_spoken(name)}: {str(fact[language]).strip()}{source}"
            heading = ("facts", _spoken(name))
            yield Draft(Kind.FACT, text, path, span, heading, anchor=name, language=language)
    value = str(fact.get("value") or "").strip()
    if len(value) > 2 and value.startswith("$") and value.endswith("$"):
        latex = value.strip("$").strip()
        text = f"{_spoken(name)}\n$$\n{latex}\n$$\n{source.strip()}"
        yield Draft(Kind.EQUATION, text, path, span, ("facts", _spoken(name)), anchor=name, latex=latex)


def _traits(facts: Mapping[str, Any], path: str, span: tuple[int, int]) -> Iterator[Draft]:
    """Short facts (``critic: no``) together; each alone would say too little to be found by."""
    lines = []
    for name, fact in facts.items():
        value = fact.get("value") if isinstance(fact, Mapping) else fact
        if value is not None and not str(value).strip().startswith("$"):
            lines.append(f"{_spoken(name)}: {_yes_or_no(value)}")
    yield from _lines(lines, Draft(Kind.FACT, "", path, span, ("facts",), anchor="facts"))


def _rows(results: Any, path: str, span: tuple[int, int]) -> Iterator[Draft]:
    lines = []
    for row in map(_mapping, _sequence(results)):
        place = ", ".join(str(row[key]) for key in ("benchmark", "model", "metric") if row.get(key))
        unit = str(row.get("unit") or "")
        line = f"{place}: {row.get('value', '')}{unit}"
        if row.get("baseline"):
            line += f" ({row['baseline']}: {row.get('baseline_value', '')}{unit})"
        lines.append(line + _source(row))
    yield from _lines(lines, Draft(Kind.FACT, "", path, span, ("results",), "experiments", anchor="results"))


def _lines(lines: Sequence[str], like: Draft) -> Iterator[Draft]:
    pieces = [Piece(number, number + 1, count_tokens(line)) for number, line in enumerate(lines)]
    for run in pack(pieces):
        text = "\n".join(lines[piece.start] for piece in run)
        yield Draft(like.kind, text, like.path, like.span, like.heading, like.section_kind, anchor=like.anchor)


def _claim(claim: Mapping[str, Any], path: str, span: tuple[int, int]) -> Draft:
    correction = _mapping(claim.get("correction"))
    parts = [f"{claim.get('note', '')}: {claim.get('claim', '')}", f"{claim.get('verdict', '')}{_source(claim)}"]
    parts += [str(correction[language]) for language in _LANGUAGES if correction.get(language)]
    return Draft(Kind.FACT, "\n".join(parts), path, span, ("claims in notes",), anchor="claims_in_notes")


def _source(fact: Mapping[str, Any]) -> str:
    parts = [str(fact[key]) for key in ("level", "evidence") if fact.get(key)]
    return f" [{': '.join(parts)}]" if parts else ""


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _yes_or_no(value: Any) -> str:
    # YAML reads a bare yes or no as a truth value.
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [str(item) for item in _sequence(value)]


class _Places:
    """Where the entries of the front matter stand in the file."""

    def __init__(self, raw: str) -> None:
        import yaml

        from kb import frontmatter

        head, body, _ = frontmatter.split(raw)
        self._start = raw.find(head) if head else 0
        self._whole = (self._start, len(raw) - len(body))
        self._root = yaml.compose(head, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if head.strip() else None

    def span(self, *path: str | int) -> tuple[int, int]:
        """The characters of ``path``'s value, as ``("facts", "critic")``; the whole front matter when it is not there."""
        node = self._root
        for step in path:
            node = _child(node, step)
            if node is None:
                return self._whole
        if node is None:
            return self._whole
        return self._start + node.start_mark.index, self._start + node.end_mark.index


def _child(node: Any, step: str | int) -> Any:
    value = getattr(node, "value", None)
    if not isinstance(value, list):
        return None
    if isinstance(step, int):
        return value[step] if step < len(value) and not isinstance(value[step], tuple) else None
    pairs = (entry for entry in value if isinstance(entry, tuple))
    return next((found for key, found in pairs if key.value == step), None)

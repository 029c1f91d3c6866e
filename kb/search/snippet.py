"""The part of a passage that shows why it was found, with the words of the question marked."""

from __future__ import annotations

import re
from collections.abc import Collection

from kb.search.tokens import HAN, query_tokens

LENGTH = 260
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"(\[])|(?<=[。！？；])|\n+")
_PIECE = re.compile(rf"[{HAN}]+|[^\W{HAN}][\w.\-]*|\\[A-Za-z]+")


def snippet(text: str, terms: Collection[str], length: int = LENGTH) -> str:
    """The sentence that holds most of the terms, with its neighbours as far as they fit."""
    wanted = set(terms)
    sentences = [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]
    if not sentences:
        return ""
    best = max(range(len(sentences)), key=lambda at: (len(wanted & set(query_tokens(sentences[at]))), -at))
    shown, end = sentences[best], best + 1
    while end < len(sentences) and len(shown) + len(sentences[end]) < length:
        shown = f"{shown} {sentences[end]}"
        end += 1
    if len(shown) > length:
        shown = _around_first(shown, wanted, length)
    return ("… " if best else "") + shown + (" …" if end < len(sentences) else "")


def _around_first(text: str, wanted: Collection[str], length: int) -> str:
    first = next((start for start, _ in marked_spans(text, wanted)), 0)
    start = max(0, min(first - length // 3, len(text) - length))
    if start:
        start = text.find(" ", start) + 1 or start
    cut = text[start : start + length]
    return ("… " if start else "") + cut + (" …" if start + length < len(text) else "")


def marked_spans(text: str, terms: Collection[str]) -> list[tuple[int, int]]:
    """Where the terms stand in a text: whole Latin words by their stem, Chinese by its pairs of characters."""
    wanted = set(terms)
    spans: list[tuple[int, int]] = []
    for match in _PIECE.finditer(text):
        piece = match[0]
        if re.match(f"[{HAN}]", piece):
            for at in range(len(piece) - 1):
                if piece[at : at + 2] in wanted:
                    _extend(spans, match.start() + at, match.start() + at + 2)
        elif wanted & set(query_tokens(piece)):
            spans.append(match.span())
    return spans


def _extend(spans: list[tuple[int, int]], start: int, end: int) -> None:
    if spans and spans[-1][1] >= start:
        spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
    else:
        spans.append((start, end))

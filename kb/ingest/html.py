"""arXiv's HTML (made by LaTeXML) as a document: macros are expanded and numbers counted there already.

A conversion may be of the wrong file, empty, or full of errors, so ``acceptable`` has to pass before it is believed.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import Any

from kb.ingest.html_blocks import BlockReader
from kb.ingest.html_inline import inline, lines_of
from kb.ingest.latex_front import is_name
from kb.ingest.reference_entry import parse_blocks, parse_reference
from kb.ingest.section_tree import finish_sections
from kb.model import Document, Paragraph, Provenance, Reference

PARSER_VERSION = 2
LEAST_LETTERS = 2000
LEAST_SECTIONS = 3
LEAST_LIKENESS = 0.9  # of the title to arXiv's own
MOST_ERRORS = 25
_SUPERSCRIPT = re.compile(r"\$[^$]*\$|[\d*†‡§¶∗]+")
_SEPARATOR = re.compile(r"\s*(?:,|;|、|，|&|\band\b)\s*")


def parse_html(html: str | bytes) -> Document | None:
    """The document on a page; None when the page holds none (an error page, a placeholder)."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    article = tree.css_first("article.ltx_document") or tree.css_first("div.ltx_document")
    if article is None:
        return None
    title = article.css_first(".ltx_title_document")
    reader = BlockReader()
    reader.read(article)
    abstract, sections = finish_sections(_abstract(article.css_first(".ltx_abstract")), reader.sections())
    errors = len(article.css(".ltx_ERROR"))
    return Document(
        title=inline(title, plain=True).replace("\\$", "$") if title is not None else "",
        authors=tuple(_authors(article)),
        abstract=abstract,
        sections=sections,
        references=tuple(_references(article)),
        provenance=Provenance("html", "", "", "arxiv-html", _generator(tree), PARSER_VERSION),
        quality="exact",
        flags=(f"html-errors:{errors}",) if errors else (),
    )


def acceptable(document: Document | None, title: str) -> str:
    """Why a page is not believed; empty when it is. ``title`` is the one of arXiv's record."""
    if document is None:
        return "the page holds no document"
    letters = sum(len(block.text) for _, block in document.blocks() if isinstance(block, Paragraph))
    if letters < LEAST_LETTERS:
        return f"only {letters} letters of text"
    if sum(section.id != "front" for section in document.sections) < LEAST_SECTIONS:
        return f"fewer than {LEAST_SECTIONS} sections"
    if title:
        likeness = difflib.SequenceMatcher(None, _fold(document.title), _fold(title), autojunk=False).ratio()
        if likeness < LEAST_LIKENESS:
            return f"its title is another: {document.title[:80]!r}"
    errors = next((int(flag.split(":")[1]) for flag in document.flags if flag.startswith("html-errors:")), 0)
    return f"{errors} conversion errors" if errors > MOST_ERRORS else ""


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+|\\[a-zA-Z]+", " ", text).casefold().strip()


def _generator(tree: Any) -> str:
    meta = tree.css_first('meta[name="generator"]')
    return str(meta.attributes.get("content") or "")[:60] if meta else ""


def _abstract(node: Any) -> str:
    if node is None:
        return ""
    parts = [inline(part) for part in node.css("p")] or [inline(node, ("ltx_title",))]
    return "\n\n".join(part for part in parts if part)


def _authors(article: Any) -> list[str]:
    found: list[str] = []
    for node in article.css(".ltx_personname"):
        for line in lines_of(node):
            names = (" ".join(_SUPERSCRIPT.sub(" ", part).split()) for part in _SEPARATOR.split(line))
            found += [name for name in names if is_name(name)]
    return list(dict.fromkeys(found))


def _references(article: Any) -> list[Reference]:
    found: list[Reference] = []
    for node in article.css("li.ltx_bibitem"):
        blocks = [text for block in node.css("span.ltx_bibblock") if (text := inline(block, plain=True))]
        raw = " ".join(blocks).replace("\\$", "$")
        links = [str(link.attributes.get("href") or "") for link in node.css("a") if link.attributes.get("href")]
        entry = parse_blocks(
            len(found) + 1, [block.replace("\\$", "$") for block in blocks], str(node.attributes.get("id") or "")
        )
        outside = [link for link in links if link.startswith("http")]
        linked = parse_reference(entry.index, " ".join([raw, *outside]), entry.key)
        found.append(
            replace(entry, arxiv_id=linked.arxiv_id, id_confidence=linked.id_confidence, doi=entry.doi or linked.doi,
                    url=entry.url or next(iter(outside), None))
        )  # fmt: skip
    return found

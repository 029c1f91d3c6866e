"""Running text of arXiv's HTML as Markdown on one line: maths as ``$...$``, citations as ``[@key]``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kb.ingest.latex_math import clean_math, inline_math

MAX_DEPTH = 150  # of elements inside each other
_NOTHING = frozenset(("script", "style", "annotation", "button", "svg", "img"))
_HIDDEN = frozenset(("ltx_ERROR", "ltx_listing_data", "ltx_rule", "ltx_note_type"))
_BLOCKS = frozenset(
    ("ltx_p", "ltx_para", "ltx_inline-para", "ltx_inline-block", "ltx_listingline", "ltx_block", "ltx_tr", "ltx_item")
)
_SPACE_BEFORE_MARK = re.compile(r" +([,.;:)\]])(?=[\s,.;:)\]]|$)")
_INNER_MARKS = re.compile(r"\*{1,2}([^*]+)\*{1,2}")
_HAN = "\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"
_HAN_GAP = re.compile(rf"(?<=[{_HAN}]) +(?=[{_HAN}])")
# LaTeXML breaks long formulas by a comment and a line break.
_LINE_BREAK = re.compile(r"(?<!\\)%\n\s*")


def classes_of(node: Any) -> list[str]:
    """The classes of an element."""
    return str(node.attributes.get("class") or "").split()


def children(node: Any) -> Iterable[Any]:
    """The child elements of a node, text left out."""
    found: Iterable[Any] = node.iter(include_text=False)
    return found


def source_of(math: Any) -> str:
    """The LaTeX of a ``math`` element as it is typed; its lines kept."""
    source = str(math.attributes.get("alttext") or "")
    if not source:
        note = math.css_first('annotation[encoding="application/x-tex"]')
        source = note.text() if note else ""
    return clean_math(_LINE_BREAK.sub("", source))


def inline(node: Any, skip: tuple[str, ...] = (), plain: bool = False, depth: int = 0) -> str:
    """The text of a node on one line. ``skip`` names classes to leave out, ``plain`` leaves out emphasis and notes."""
    parts: list[str] = []
    _collect(node, parts, skip, plain, depth=depth)
    text = " ".join("".join(parts).split())
    return _HAN_GAP.sub("", _SPACE_BEFORE_MARK.sub(r"\1", text)).strip()


def lines_of(node: Any) -> list[str]:
    """The plain text of a node, cut where the page breaks a line."""
    parts: list[str] = []
    _collect(node, parts, ("ltx_note",), plain=True, line_break="\n")
    return [" ".join(line.split()) for line in "".join(parts).split("\n") if line.strip()]


def _collect(
    node: Any, parts: list[str], skip: tuple[str, ...], plain: bool, line_break: str = " ", depth: int = 0
) -> None:
    if depth > MAX_DEPTH:
        parts.append(str(node.text()))
        return
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            text = str(child.text_content or "")
            parts.append(" ".join(text.split("\n")) if line_break == "\n" else text.replace("$", "\\$"))
            continue
        classes = classes_of(child)
        if child.tag in _NOTHING or any(name in _HIDDEN or name in skip for name in classes):
            continue
        if child.tag == "br":
            parts.append(line_break)
        elif child.tag == "math":
            latex = inline_math(source_of(child))
            parts.append(f"${latex}$" if latex else "")
        elif child.tag == "cite":
            parts.append(_citation(child))
        elif "ltx_note" in classes:
            parts.append("" if plain else _note(child, depth + 1))
        elif mark := "" if plain else _mark(child.tag, classes):
            parts.append(_marked(mark, inline(child, skip, depth=depth + 1)))
        else:
            block = any(name in _BLOCKS for name in classes)
            parts.append(" " if block else "")
            _collect(child, parts, skip, plain, line_break, depth + 1)
            parts.append(" " if block else "")


def _mark(tag: str, classes: list[str]) -> str:
    if "ltx_font_bold" in classes and "ltx_text" in classes:
        return "**"
    if "ltx_emph" in classes or (
        ("ltx_font_italic" in classes or "ltx_font_slanted" in classes) and "ltx_text" in classes
    ):
        return "*"
    return "`" if "ltx_font_typewriter" in classes or tag == "code" else ""


def _marked(mark: str, text: str) -> str:
    bare = _INNER_MARKS.sub(r"\1", text) if mark != "`" else text
    return f"{mark}{bare}{mark}" if bare and mark[0] not in bare and not (mark == "`" and "$" in bare) else text


def _note(node: Any, depth: int) -> str:
    content = node.css_first(".ltx_note_content")
    text = inline(content, ("ltx_note_mark", "ltx_tag", "ltx_note_type"), depth=depth) if content is not None else ""
    return f" (footnote: {text})" if text else ""


def _citation(node: Any) -> str:
    links = (str(link.attributes.get("href") or "") for link in node.css("a"))
    keys = list(dict.fromkeys(link.rpartition("#")[2] for link in links if "#bib" in link))
    return "[" + "; ".join(f"@{key}" for key in keys) + "]" if keys else str(node.text(strip=True))

"""Markdown as people write it in note apps, to HTML: dollar maths, tables, box-drawn tables, tasks, single line ends."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kb.markup import markup_of
from kb.page.maths import formula_html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TASK = re.compile(r"^(\s*(?:[-*+]|\d+[.)])\s+)\[([ xX])\]\s+")
_BOX = re.compile(r"^\s*[┌│├└┬┴┼╭╰╔║╠╚┏┃┣┗]")
_BULLET = re.compile(r"^(\s*)[•·]\s+(?=\S)")
# CommonMark sees no emphasis in 过程**（链）**的, because a sign stands inside and a letter outside; note apps do.
_STRONG = re.compile(r"(?<![*\\])\*\*(?=[^\s*])([^*\n]*?[^\s*\\])\*\*(?!\*)")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’—…·•]")
_SPACED = re.compile(r"\$\s|.*\s\$$", re.DOTALL)
_MATHS_SIGN = re.compile(r"[\\^_=<>+]|^\s*[A-Za-z]\s*$")

PictureAddress = Callable[[str], tuple[str, str]]


def to_html(text: str, picture: PictureAddress) -> tuple[str, dict[str, str]]:
    """``(HTML, formulas)``: formulas stand in the HTML as words and are put in by ``with_formulas`` once it is cleaned.

    ``picture`` turns a picture's address into ``(data address, "")`` or ``("", why not)``.
    """
    words, formulas = _take_formulas(text)
    return _parser(picture).render(_as_commonmark(_strong(words))), formulas


def with_formulas(page: str, formulas: dict[str, str]) -> str:
    """The HTML with its formulas in place; a closing sign stays on the line of the formula before it."""
    if not formulas:
        return page
    marker = next(iter(formulas)).rstrip("0123456789z")

    def put(match: re.Match[str]) -> str:
        formula = formulas[match[1]]
        return f'<span class="keep">{formula}{match[2]}</span>' if match[2] else formula

    return re.sub(rf"({marker}\d+z)([，。；：、？！）”,.;:)]*)", put, page)


def _take_formulas(text: str) -> tuple[str, dict[str, str]]:
    """The text with words for its formulas and without its comments; code stays as it is."""
    marker = "kbformula"
    while marker in text:
        marker += "x"
    formulas: dict[str, str] = {}
    parts, at = [], 0
    for start, stop, form in markup_of(text).stretches:
        piece = text[start:stop]
        # "$50 to $150" are prices.
        price = form == "inline" and _SPACED.match(piece) and not _MATHS_SIGN.search(piece[1:-1])
        if form not in ("display", "inline", "comment") or price:
            continue
        name = ""
        if form != "comment":
            name = f"{marker}{len(formulas)}z"
            latex = piece.strip("$")
            # In a quotation the lines of a formula begin with its sign.
            latex = re.sub(r"^[ \t]*>[ \t]?", "", latex, flags=re.MULTILINE) if "\n" in latex else latex
            formulas[name] = formula_html(latex, form == "display")
        parts += [text[at:start], name]
        at = stop
    return "".join([*parts, text[at:]]), formulas


def _strong(text: str) -> str:
    """Bold text outside code as elements."""
    parts, at = [], 0
    for start, stop, form in markup_of(text).stretches:
        if form in ("fence", "code"):
            parts += [_STRONG.sub(r"<strong>\1</strong>", text[at:start]), text[start:stop]]
            at = stop
    return "".join([*parts, _STRONG.sub(r"<strong>\1</strong>", text[at:])])


def _as_commonmark(text: str) -> str:
    """Tasks as signs, box-drawn tables as code, bullets that are typed as characters as lists."""
    code = [(start, stop) for start, stop, form in markup_of(text).stretches if form == "fence"]
    lines: list[str] = []
    at, in_box = 0, False
    for line in text.split("\n"):
        is_code = any(start <= at < stop for start, stop in code)
        box = not is_code and bool(_BOX.match(line))
        if box and not in_box:
            lines += ["", "```"]
        elif in_box and not box:
            lines += ["```", ""]
        in_box = box
        at += len(line) + 1
        if not is_code and not box:
            line = _TASK.sub(lambda match: f"{match[1]}{'☐' if match[2] == ' ' else '☑'} ", line)
            line = _BULLET.sub(r"\1- ", line)
        lines.append(line)
    return "\n".join([*lines, "```"] if in_box else lines)


def _parser(picture: PictureAddress) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

    def image(_: Any, tokens: list[Token], index: int, *__: Any) -> str:
        return _picture(str(tokens[index].attrs.get("src") or ""), tokens[index].content, picture)

    def raw(_: Any, tokens: list[Token], index: int, *__: Any) -> str:
        return _with_pictures(tokens[index].content, picture)

    def line_end(_: Any, tokens: list[Token], index: int, *__: Any) -> str:
        before = tokens[index - 1].content[-1:] if index else ""
        after = tokens[index + 1].content[:1] if index + 1 < len(tokens) else ""
        # Chinese is not wrapped by hand: a line end there is meant.
        return "<br>\n" if _WIDE.match(before) or _WIDE.match(after) else "\n"

    for name, rule in (
        ("image", image), ("html_block", raw), ("html_inline", raw), ("softbreak", line_end),
        ("table_open", lambda *_: '<div class="table"><table>\n'), ("table_close", lambda *_: "</table></div>\n"),
    ):  # fmt: skip
        parser.add_render_rule(name, rule)
    return parser


def _picture(address: str, alt: str, picture: PictureAddress, more: str = "") -> str:
    data, reason = picture(address)
    if data:
        return f'<img src="{html.escape(data)}" alt="{html.escape(alt)}"{more}>'
    name = html.escape(alt or address.rsplit("/", 1)[-1])
    link = f'<a href="{html.escape(address)}">{name}</a>' if address.startswith("http") else name
    return f'<span class="missing">[{link}: {html.escape(reason)}]</span>'


def _with_pictures(raw: str, picture: PictureAddress) -> str:
    """Raw HTML whose pictures are data; what else it holds is for ``clean``."""

    def replace(match: re.Match[str]) -> str:
        fields = {name.lower(): value for name, _, value in re.findall(r"([\w-]+)\s*=\s*([\"'])(.*?)\2", match[0])}
        width = fields.get("width") or (
            found[1] if (found := re.search(r"(?:zoom|width):\s*(\d+%)", fields.get("style", ""))) else ""
        )
        more = f' width="{html.escape(width)}"' if width else ""
        return _picture(html.unescape(fields.get("src", "")), html.unescape(fields.get("alt", "")), picture, more)

    return re.sub(r"<img\b[^>]*>", replace, raw, flags=re.IGNORECASE)

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
_DRAWN = re.compile(r"^\s{8,}\S")
_ARROW = re.compile(r"[←-⇿─-╿]|--?>|<--?")
_LIST = re.compile(r"^\s*(?:[-*+•·]|\d+[.)])\s")
_HEADING = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2})+\s+|（\d{1,2}）)\S.{0,70}[^\s。！.!；;，,：:]$")
_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]\n|#^]+)(?:[#^][^\[\]\n|]*)?(?:\|([^\[\]\n]*))?\]\]")
_BULLET = re.compile(r"^(\s*)[•·]\s+(?=\S)")
# CommonMark sees no emphasis in 过程**（链）**的, because a sign stands inside and a letter outside; note apps do.
_STRONG = re.compile(r"(?<![*\\])\*\*(?=[^\s*])([^*\n]*?[^\s*\\])\*\*(?!\*)")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’—…·•]")
_SPACED = re.compile(r"\$\s|.*\s\$$", re.DOTALL)
_MATHS_SIGN = re.compile(r"[\\^_=<>+]|^\s*[A-Za-z]\s*$")

PictureAddress = Callable[[str], tuple[str, str]]
PaperLink = Callable[[str], tuple[str, str]]


def to_html(text: str, picture: PictureAddress, paper: PaperLink) -> tuple[str, dict[str, str]]:
    """``(HTML, formulas)``: formulas stand in the HTML as words and are put in by ``with_formulas`` once it is cleaned.

    ``picture`` turns a picture's address into ``(data address, "")`` or ``("", why not)``; ``paper`` turns what stands in
    ``[[ ]]`` into ``(name, address)``, either of which may be empty.
    """
    words, formulas = _take_formulas(text)

    def link(match: re.Match[str]) -> str:
        name, address = paper(match[1].strip())
        words = match[2] or name or match[1]
        return f"[{words}]({address})" if address else words

    linked = _outside_code(
        _as_commonmark(words), lambda piece: _WIKILINK.sub(link, _STRONG.sub(r"<strong>\1</strong>", piece))
    )
    return _parser(picture).render(linked), formulas


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


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its stretches outside code changed."""
    parts, at = [], 0
    for start, stop, form in markup_of(text).stretches:
        if form in ("fence", "code"):
            parts += [change(text[at:start]), text[start:stop]]
            at = stop
    return "".join([*parts, change(text[at:])])


def _as_commonmark(text: str) -> str:
    """What note apps or plain text show, in the forms that CommonMark has for it; code stays as it is."""
    code = [(start, stop) for start, stop, form in markup_of(text).stretches if form == "fence"]
    lines: list[str] = []
    run: list[str] = []
    at = 0
    for line in text.split("\n"):
        is_code = any(start <= at < stop for start, stop in code)
        at += len(line) + 1
        if line.strip() and not is_code:
            run.append(line)
            continue
        lines += _paragraph(run)
        run = []
        lines.append(line)
    return "\n".join([*lines, *_paragraph(run)])


def _paragraph(run: list[str]) -> list[str]:
    """Lines between empty ones: drawings as code, a numbered line alone as a heading, tasks as signs, typed bullets as lists."""
    if len(run) == 1 and _HEADING.match(run[0]):
        return [f"{'#####' if run[0].startswith('（') else '####'} {run[0]}"]
    if any(map(_DRAWN.match, run[1:])) and any(map(_ARROW.search, run)) and not any(map(_LIST.match, run)):
        return ["```", *run, "```"]
    lines: list[str] = []
    in_box = False
    for line in run:
        box = bool(_BOX.match(line))
        if box != in_box:
            lines += ["", "```"] if box else ["```", ""]
        in_box = box
        if not box:
            line = _TASK.sub(lambda match: f"{match[1]}{'☐' if match[2] == ' ' else '☑'} ", line)
            line = _BULLET.sub(r"\1- ", line)
        lines.append(line)
    return [*lines, "```"] if in_box else lines


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

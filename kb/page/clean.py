"""HTML that came out of other people's Markdown, rebuilt from a short list of harmless elements.

The fragment is parsed as a browser would, and only what is on the list is written again, with every text and attribute
escaped. Nothing on the list can run a script, load anything, or change how what follows it is read.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_KEPT = frozenset(
    "a b blockquote br caption code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre "
    "s small span strong sub sup table tbody td tfoot th thead tr u ul".split()
)
_DROPPED = frozenset(
    "applet audio base button embed form frame frameset head iframe input link math meta noembed noframes noscript object "
    "option plaintext script select style svg template textarea title video xmp".split()
)
_VOID = frozenset(("br", "hr", "img"))
_ATTRIBUTES = {
    "a": ("href", "title"), "img": ("src", "alt", "title", "width"), "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan"), "ol": ("start",),
}  # fmt: skip
_CLASSES = frozenset(("table", "latex", "inline", "display", "missing", "left", "right", "center"))
_SAFE_LINK = re.compile(r"(?:https?://|mailto:|#|[^:/?#]*(?:[/?#]|$))", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml|avif|bmp);base64,[A-Za-z0-9+/=]+")
_SIZE = re.compile(r"\d{1,4}%?")


def clean(fragment: str) -> str:
    """The fragment with the listed elements and attributes only; pictures only as data in the page."""
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(f"<!DOCTYPE html><body>{fragment}").body
    return _children(body) if body is not None else ""


def _children(node: LexborNode) -> str:
    parts = []
    child = node.child
    while child is not None:
        parts.append(_node(child))
        child = child.next
    return "".join(parts)


def _node(node: LexborNode) -> str:
    tag = node.tag or ""
    if tag == "-text":
        return html.escape(node.text_content or "", quote=False)
    if tag not in _KEPT:
        return "" if tag in _DROPPED or tag.startswith(("-", "!")) else _children(node)
    attributes = "".join(_attributes(tag, node.attributes))
    if tag == "img" and " src=" not in attributes:
        return html.escape(node.attributes.get("alt") or "")
    if tag in _VOID:
        return f"<{tag}{attributes}>"
    return f"<{tag}{attributes}>{_children(node)}</{tag}>"


def _attributes(tag: str, given: dict[str, str | None]) -> list[str]:
    kept = []
    for name in _ATTRIBUTES.get(tag, ()):
        value = (given.get(name) or "").strip()
        if value and _is_safe(name, value):
            value = f"#{_anchor(value[1:])}" if name == "href" and value.startswith("#") else value
            kept.append(f' {name}="{html.escape(value)}"')
    classes = [word for word in (given.get("class") or "").split() if word in _CLASSES]
    style = re.fullmatch(r"text-align:\s*(left|right|center)", given.get("style") or "")
    classes += [style[1]] if style and tag in ("td", "th") else []
    # A target of a link inside the page; prefixed, so that it can never be a name that scripts look up.
    anchor = given.get("id") or given.get("name")
    if anchor:
        kept.append(f' id="{html.escape(_anchor(anchor))}"')
    return [*kept, f' class="{" ".join(classes)}"'] if classes else kept


def _is_safe(name: str, value: str) -> bool:
    if name == "href":
        return bool(_SAFE_LINK.match(value))
    if name == "src":
        return bool(_PICTURE.fullmatch(value))
    if name in ("width", "colspan", "rowspan", "start"):
        return bool(_SIZE.fullmatch(value))
    return True


def _anchor(name: str) -> str:
    return "at-" + re.sub(r"\s+", "-", name.strip())

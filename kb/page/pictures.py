"""Pictures of a page as data inside it: files below the workspace, known by their bytes, never fetched."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from urllib.parse import unquote

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"), (b"BM", "bmp"),
)  # fmt: skip
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*>\s*)?<svg[\s>]", re.DOTALL)


def as_data(address: str, folder: Path, root: Path) -> tuple[str, str]:
    """``(data address, "")`` of a picture that a text in ``folder`` names, or ``("", why not)``."""
    if re.match(r"(?:https?:)?//", address):
        return "", "on the web, not fetched"
    if address.startswith("data:"):
        return address, ""
    path = (folder / unquote(address.split("#")[0].split("?")[0]).replace("\\", "/")).resolve()
    if not path.is_relative_to(root.resolve()):
        return "", "outside the workspace"
    try:
        data = path.read_bytes()
    except OSError:
        return "", "not there"
    kind = picture_kind(data)
    if kind is None:
        return "", "not a picture"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}", ""


def picture_kind(data: bytes) -> str | None:
    """The kind of a picture as a data address names it, by its first bytes."""
    for start, kind in _SIGNATURES:
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "avif"
    return "svg+xml" if _SVG.match(data[:4096]) else None

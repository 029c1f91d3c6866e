"""The font of a page's formulas, inside the page: STIX Two Math, with the glyphs that the page needs.

Without a font made for mathematics, browsers set small sums and braces that do not stretch; phones have none.
The file in ``kb/data`` is itself cut down from STIX Two Math 2.11 (SIL Open Font License 1.1, see the text beside it).
"""

from __future__ import annotations

import base64
import html
import io
import re
from functools import lru_cache
from importlib.resources import files

_MATHS = re.compile(r"<math\b.*?</math>", re.DOTALL)
# Letters of formulas are set in these, whatever letter stands in the page.
_ITALIC = frozenset((*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)))
# The radical sign is drawn for a root whose text has no such letter.
_ALWAYS = frozenset((*range(0x20, 0x7F), 0x2212, 0x2061, 0x2062, 0x2032, 0x221A))


def math_font_css(page: str) -> str:
    """The style rule with the font; empty for a page without formulas."""
    formulas = "".join(_MATHS.findall(page))
    if not formulas:
        return ""
    used = frozenset(map(ord, html.unescape(re.sub(r"<[^>]*>", "", formulas))))
    data = base64.b64encode(_font(used | _ITALIC | _ALWAYS)).decode("ascii")
    return f'@font-face {{ font-family: "kb maths"; src: url(data:font/woff;base64,{data}) format("woff"); }}\n'


@lru_cache(maxsize=4)
def _font(characters: frozenset[int]) -> bytes:
    """The font with these characters and all forms that formulas give them, as WOFF."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO((files("kb") / "data" / "stix-two-math.woff").read_bytes()))
    options = subset.Options()
    options.flavor = "woff"
    options.layout_features = ["ssty", "flac", "dtls"]
    options.glyph_names = False
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    written = io.BytesIO()
    subset.save_font(font, written, options)
    return written.getvalue()

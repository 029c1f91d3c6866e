"""The text of a file whose encoding nobody wrote down: UTF-8, UTF-16, GB18030 (with GBK) or Big5.

General detectors mistake Chinese notes with formulas for other scripts (one in four, in a trial with charset-normalizer).
The two Chinese encodings list common characters first, so a wrong one is known by the rare characters that it gives.
"""

from __future__ import annotations

import codecs
import re

from kb.errors import BadDocument

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The lead bytes of the characters of the first level, by codec.
_FIRST_LEVEL = {"gb18030": (0xB0, 0xD7), "big5": (0xA4, 0xC6)}
_MARKS = re.compile(r"[\u00b0-\u00d7\u2000-\u206f\u2190-\u25ff\u3000-\u303f\uff00-\uff65]")
_LEAST_COMMON = 0.5


def decode(data: bytes, name: str) -> tuple[str, str]:
    """The text and the name of its encoding; line ends stay as they are.

    Raises BadDocument when no encoding fits.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _strictly(data, encoding, name), encoding
    if b"\0" in data[:4096]:
        return _best(data, ("utf-16-le", "utf-16-be"), f"{name}: a binary file")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        why = f"{name}: neither UTF-8 (byte {error.start} is wrong) nor Chinese text in GBK or Big5"
        return _best(data, tuple(_FIRST_LEVEL), why)


def _best(data: bytes, encodings: tuple[str, ...], why: str) -> tuple[str, str]:
    text, encoding, score = max((_scored(data, encoding) for encoding in encodings), key=lambda found: found[2])
    if score < _LEAST_COMMON:
        raise BadDocument(why, "save it as UTF-8")
    return text, encoding


def _strictly(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadDocument(f"{name}: damaged {encoding} text at byte {error.start}", "save it as UTF-8") from None


def _scored(data: bytes, encoding: str) -> tuple[str, str, float]:
    """A decoding and the share of common Chinese characters among those that are neither ASCII nor punctuation."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return "", encoding, -1.0
    if "\0" in text:
        return "", encoding, -1.0
    foreign = [char for char in _MARKS.sub("", text) if ord(char) > 127]
    if encoding.startswith("utf-16"):
        common = sum("\u4e00" <= char <= "\u9fff" for char in foreign) + (len(text) - len(foreign))
        return text, encoding, common / max(1, len(text))
    first, last = _FIRST_LEVEL[encoding]
    pairs = [char.encode(encoding) for char in foreign]
    common = sum(
        len(pair) == 2 and first <= pair[0] <= last and (encoding == "big5" or pair[1] >= 0xA1) for pair in pairs
    )
    return text, encoding, common / max(1, len(foreign))

"""The number in front of a heading, in the ways that English and Chinese papers write it."""

from __future__ import annotations

import re

_PART = r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3}"
_MEASURE_WORD = "个种次年月日章节条篇位项组类倍万亿元人天岁层步"
_NUMBER = re.compile(
    rf"""^(?:(?:Section|Chapter)\s+)?(?P<number>{_PART})
    (?: [.:]?\s+(?=[^\s\d.,;:=+(])               # "3.2 Title"
      | (?<=\.\d)\.?\s+(?=\d\w*[A-Za-z])         # "6.3.2 3D locomotion"
      | [.:、]?\s*(?=[\u4e00-\u9fff])(?![{_MEASURE_WORD}])  # "2.1强化学习", but not "3个实验"
    )""",
    re.VERBOSE,
)
_APPENDIX = re.compile(r"^(?:Appendix|APPENDIX|附录)\s*(?P<number>[A-Z](?:\.\d{1,2}){0,2}|\d)(?:[.:：—–-]|\s)\s*(?=\S)")
_ROMAN = re.compile(r"^(?P<number>[IVX]{1,5})\.\s+(?=[A-Z])|^(?P<bare>[IVX]{2,5})\s+(?=[A-Z][a-z])")
_CHINESE = re.compile(
    r"^(?P<number>第[一二三四五六七八九十百\d]{1,3}[章节]|[一二三四五六七八九十]{1,3}(?=[、.．]))[、.．]?\s*(?=\S)"
)
_WIDE_STOP = re.compile(r"(?<=^\d)(?:．\s?|\.\s)(?=\d)|(?<=^\d\.\d)(?:．\s?|\.\s)(?=\d)")
NUMBER_ALONE = re.compile(rf"{_PART}\.?")


def split_number(text: str) -> tuple[str | None, str]:
    """``("3.2", "Title")`` of ``"3.2 Title"``; the number is None where there is none."""
    if not text.isascii():
        # Chinese type sets a wide full stop, or a space after a narrow one: "2. 1".
        text = _WIDE_STOP.sub(".", text)
    for pattern in (_NUMBER, _APPENDIX, _ROMAN, _CHINESE):
        match = pattern.match(text)
        if match:
            groups = match.groupdict()
            return groups.get("number") or groups.get("bare"), text[match.end() :].strip()
    return None, text.strip()


def is_roman(text: str) -> bool:
    """Whether a line opens with a Roman number and a title."""
    return bool(_ROMAN.match(text)) and len(text) < 80

"""Where a formula of a record was read, in the reader's language: records say it in one English sentence."""

from __future__ import annotations

import re

from kb.evidence_place import read_place

_NAMED = (
    (r"\bdefinitions? (\d[\d.]*\d|\d)", "定义 {}"),
    (r"\blemmas? (\d[\d.]*\d|\d)", "引理 {}"),
    (r"\btheorems? (\d[\d.]*\d|\d)", "定理 {}"),
)
_READ = (
    ("原文", re.compile(r"\bread in the paper\b|\bas printed\b", re.IGNORECASE)),
    ("机器翻译", re.compile(r"\bmachine translation\b", re.IGNORECASE)),
    (
        "代码",
        re.compile(r"\b(?:read|run)\b[^.;]*\b(?:code|pymarl|rlax|libraries|implementation|recipe)\b", re.IGNORECASE),
    ),
    ("本人周报", re.compile(r"\bweekly report\b", re.IGNORECASE)),
    ("未见原文", re.compile(r"\bnot (?:seen|opened)\b", re.IGNORECASE)),
    ("有出入，见记录", re.compile(r"\bshould read\b|\bdiffers\b|\bmisprint", re.IGNORECASE)),
    ("未核实", re.compile(r"\bprovisional\b", re.IGNORECASE)),
)


def source_line(sentence: str, language: str) -> str:
    """The sentence itself in English; in Chinese its place and how it was read, or the sentence where it says neither."""
    if language != "zh" or not sentence:
        return sentence
    place = read_place(sentence)
    where = [f"v{place.version}"] if place.version else []
    where += [f"第 {'、'.join(place.sections)} 节"] if place.sections else []
    where += [
        words.format(match[1]) for pattern, words in _NAMED if (match := re.search(pattern, sentence, re.IGNORECASE))
    ]
    where += [f"式 {'、'.join(place.equations)}"] if place.equations else []
    read = [words for words, pattern in _READ if pattern.search(sentence)]
    line = " ".join(where) + (f"（{'、'.join(read)}）" if where and read else "、".join(read))
    return line or sentence

"""Where a formula of a record was read, in the reader's language: records say it in one English sentence."""

from __future__ import annotations

import re
from functools import partial

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


_NUMBERS = r"((?:[A-Z]\.?)?\d[\d.]*(?:(?:, | and | to )\d[\d.]*)*|[A-Z]\b)"
_PLACES = (
    (rf"(?:sections?|appendix|appendices) {_NUMBERS}", "第 {} 节"),
    (rf"equations? {_NUMBERS}", "式 {}"),
    (rf"tables? {_NUMBERS}", "表 {}"),
    (rf"definitions? {_NUMBERS}", "定义 {}"),
    (rf"lemmas? {_NUMBERS}", "引理 {}"),
    (rf"propositions? {_NUMBERS}", "命题 {}"),
)
_PLACE_WORDS = {
    "(?:current )?abstract": "摘要", "title page": "标题页", "repository title": "仓库标题", "limitations": "局限一节",
    "scope": "范围一节", "no source": "没有来源", "not seen in what was read": "读到的部分里没有",
    "searched, not found": "查过，没有找到", "(?:third-party )?(?:digests?|overview)(?: of the paper)?": "第三方解读",
    "later journal text of the paper": "后来的期刊版", "defaults": "默认值", "agree": "一致", "weights from": "权重出自",
    r"code(?= at\b)": "代码", "version not noted": "版本未记录", "section on the dimensions": "维度一节",
}  # fmt: skip


def place_line(place: str, language: str) -> str:
    """Where a correction was read, in the reader's language; names of files and repositories stay."""
    if language != "zh":
        return place
    for pattern, words in _PLACES:
        place = re.sub(rf"\b{pattern}(?!\w)", partial(_numbered, words), place)
    for pattern, words in _PLACE_WORDS.items():
        place = re.sub(rf"(?<![\w/])(?:{pattern})(?!\w)", words, place, flags=re.IGNORECASE)
    place = place.replace("; ", "；").replace(", ", "，")
    place = re.sub(r"(?<=[\u3400-\u9fff\d]) of (?=v\d)", " ", place)
    place = re.sub(r"(?<=[\u3400-\u9fff\d]) and (?=[\u3400-\u9fff])", "与", place)
    return re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", place)


def _numbered(words: str, match: re.Match[str]) -> str:
    return words.format(re.sub(r", | and ", "、", match[1]).replace(" to ", "–"))


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

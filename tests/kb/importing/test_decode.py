"""Encodings that nobody wrote down."""

from __future__ import annotations

import pytest

from kb.errors import BadDocument
from kb.importing.decode import decode

SIMPLE = "研究周报 · 2026.04.12–04.18\n$\\hat A = \\frac{r-\\mu}{\\sigma}$ 是组内归一化的优势。\r\n┌──┬──┐\n"
TRADITIONAL = "這篇筆記整理多智能體強化學習的信用分配問題，對比優勢函數的歸一化方法。"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_simplified_chinese_is_read_in_any_encoding(encoding: str) -> None:
    assert decode(SIMPLE.encode(encoding, "replace"), "a.md")[0] == SIMPLE.encode(encoding, "replace").decode(encoding)


@pytest.mark.parametrize("encoding", ["big5", "gb18030", "utf-8"])
@pytest.mark.parametrize("length", [9, 35])
def test_traditional_chinese_is_told_from_simplified(encoding: str, length: int) -> None:
    text, found = decode(TRADITIONAL[:length].encode(encoding), "a.md")
    assert (text, found) == (TRADITIONAL[:length], encoding)


@pytest.mark.parametrize(
    "data", [b"caf\xe9 na\xefve", bytes(range(128, 256)), b"\x89PNG\0\0\0\r\xff\xfe", "研究".encode("utf-16") + b"\0"]
)
def test_what_is_no_text_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(BadDocument, match=r"^a\.md: "):
        decode(data, "a.md")

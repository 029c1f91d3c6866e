"""Front matter: what people type, and how their mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb import frontmatter
from kb.errors import FileFormatError, KbError

PATH = Path("papers/x/paper.md")


def test_fields_and_body_are_told_apart() -> None:
    fields, body = frontmatter.parse("---\ntitle: 标题\ndate: 2026-04-19\n---\n\n正文\n---\n", PATH)
    assert fields == {"title": "标题", "date": "2026-04-19"}
    assert body == "\n正文\n---\n"


@pytest.mark.parametrize("text", ["no front matter\n", "---\nnever closed\n", "", "text\n---\nx: 1\n---\n"])
def test_a_file_without_front_matter_is_all_body(text: str) -> None:
    assert frontmatter.parse(text, PATH) == ({}, text)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert frontmatter.parse("\ufeff---\na: 1\n---\nb", PATH) == ({"a": 1}, "b")


def test_broken_yaml_names_path_and_line() -> None:
    with pytest.raises(FileFormatError) as caught:
        frontmatter.parse("---\ntitle: a\nauthors: [a, b\n---\nx", PATH)
    assert str(caught.value).startswith(f"{PATH}:")
    assert caught.value.line in (3, 4)


def test_an_unquoted_id_is_refused_with_the_line_to_type() -> None:
    fields, _ = frontmatter.parse("---\nid: 2402.03300\n---\n", PATH)
    with pytest.raises(FileFormatError) as caught:
        frontmatter.identifier(fields, "id", PATH)
    assert "quote it" in caught.value.hint


def test_gbk_bytes_are_an_error_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "笔记.md"
    path.write_bytes("信用分配".encode("gbk"))
    with pytest.raises(KbError) as caught:
        frontmatter.read(path)
    assert "kb import" in caught.value.hint


def test_dump_reads_back() -> None:
    fields = {"id": "2402.03300", "title": "多: 智能体", "tags": ["a", "b"]}
    assert frontmatter.parse(frontmatter.dump(fields, "正文\n"), PATH) == (fields, "\n正文\n")

"""Records are written once; texts of versions lie side by side; what a person edited stays."""

from __future__ import annotations

from pathlib import Path

from kb import frontmatter
from kb.ingest.record import versions, write_record, write_text
from kb.model import Document, Metadata, Paragraph, Provenance, Section

DAPO = Metadata(
    title="DAPO: An Open System", arxiv_id="2503.14476", version=2, authors=("Qiying Yu",), published="2025-03-18",
    abstract="Nobody but its authors may print this.", categories=("cs.LG",),
)  # fmt: skip


def text(words: str, version: int | None) -> Document:
    section = Section("s1", "Method", 1, "method", "1", (Paragraph(words),))
    return Document("DAPO", Provenance("latex", "x"), "2503.14476", version, sections=(section,))


def body(path: Path) -> str:
    return frontmatter.parse(path.read_text(encoding="utf-8"), path)[1]


def test_a_record_holds_the_id_as_text_and_no_abstract(tmp_path: Path) -> None:
    assert write_record(tmp_path, DAPO, "2026-04-19", tags=("rl",))
    written = (tmp_path / "paper.md").read_text(encoding="utf-8")
    fields, _ = frontmatter.parse(written, tmp_path / "paper.md")
    assert fields["id"] == "2503.14476"
    assert (fields["added"], fields["tags"], fields["aliases"]) == ("2026-04-19", ["rl"], [])
    assert "withdrawn" not in fields and "sha256" not in fields
    assert "Nobody" not in written


def test_a_record_is_never_rewritten(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text("mine", encoding="utf-8")
    assert not write_record(tmp_path, DAPO, "2026-04-19")
    assert (tmp_path / "paper.md").read_text(encoding="utf-8") == "mine"


def test_an_older_version_never_replaces_a_newer_one(tmp_path: Path) -> None:
    write_text(tmp_path, text("third", 3))
    path, _ = write_text(tmp_path, text("first", 1))
    assert path.name == "text.v1.md"
    assert "third" in body(tmp_path / "text.md")
    assert versions(tmp_path) == [3, 1]


def test_a_newer_version_moves_the_present_one_aside(tmp_path: Path) -> None:
    write_text(tmp_path, text("first", 1))
    _, remark = write_text(tmp_path, text("second", 2))
    assert "text.v1.md" in remark
    assert "second" in body(tmp_path / "text.md")
    assert "first" in body(tmp_path / "text.v1.md")


def test_a_text_without_version_becomes_the_versions_text(tmp_path: Path) -> None:
    write_text(tmp_path, text("loose", None))
    write_text(tmp_path, text("second", 2))
    assert versions(tmp_path) == [2]


def test_an_edited_text_stays_and_the_new_reading_lies_beside_it(tmp_path: Path) -> None:
    write_text(tmp_path, text("read", 2))
    current = tmp_path / "text.md"
    edited = current.read_text(encoding="utf-8").replace("read", "corrected by hand")
    current.write_text(edited, encoding="utf-8")
    path, remark = write_text(tmp_path, text("read again", 2))
    assert current.read_text(encoding="utf-8") == edited
    assert path.name == "text.v2.fresh.md" and "read again" in body(path)
    assert "edited by hand" in remark


def test_an_edited_text_moves_aside_as_it_is_when_a_newer_version_comes(tmp_path: Path) -> None:
    write_text(tmp_path, text("read", 1))
    current = tmp_path / "text.md"
    current.write_text(current.read_text(encoding="utf-8").replace("read", "corrected"), encoding="utf-8")
    write_text(tmp_path, text("second", 2))
    assert "corrected" in body(tmp_path / "text.v1.md")


def test_a_text_nobody_edited_is_replaced(tmp_path: Path) -> None:
    write_text(tmp_path, text("read", 2))
    path, remark = write_text(tmp_path, text("read better", 2))
    assert (path.name, remark) == ("text.md", "")
    assert "better" in body(path)

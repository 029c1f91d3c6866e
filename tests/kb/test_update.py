"""What rests on an older version: facts by their evidence, notes by what they name and when, methods by their paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.ingest.record import write_metadata
from kb.library import Library
from kb.model import Document, Equation, Metadata, Paragraph, Provenance, Section
from kb.notes import read_notes
from kb.textfile import write
from kb.update import PaperNews, known_news, news
from kb.workspace import load_workspace

RECORD = """---
id: "2401.00001"
title: Fair Shares
version: 1
aliases: [FAIR]
facts:
  problem: {value: p, level: paper, evidence: "v1, section 1"}
  idea: {value: i, level: paper, evidence: "v1, section 2"}
  formula: {value: "$A$", level: paper, evidence: "section 2.1, equation 1"}
  overhead: {value: o, level: paper, evidence: "v2, section 2"}
  critic: {value: no, level: code, evidence: "x.py at abc"}
  needs: {value: n, level: paper, evidence: "v1, section 9"}
  headline: {value: h, level: paper, evidence: "v1, abstract"}
results:
  - {benchmark: Toy, model: tiny, metric: m, value: 1, level: paper, evidence: "v1, table 1"}
---
"""
OTHER = """---
title: Older Idea
year: 1990
facts:
  idea: {value: i, level: paper, evidence: "restated in FAIR (2401.00001 v1, section 1)"}
---
"""
NEWEST = Metadata("Fair Shares", "2401.00001", 2, abstract="We gain 5.", updated="2025-06-01")


def text(version: int, method: str, formula: str = "A = r") -> str:
    sections = (
        Section("S1", "Introduction", 1, "intro", "1", (Paragraph("Credit is hard."),)),
        Section("S2", "Method", 1, "method", "2", (Paragraph("Overview."),)),
        Section("S2.1", "Rule", 2, "method", "2.1", (Paragraph(method), Equation("e", formula, number="1"))),
    )
    return write(
        Document(
            "Fair Shares", Provenance("latex", "x"), "2401.00001", version, abstract="We gain 5.", sections=sections
        )
    )


@pytest.fixture
def folder(workspace: Path) -> Path:
    for slug, record in {"fair": RECORD, "older": OTHER}.items():
        (workspace / "papers" / slug).mkdir()
        (workspace / "papers" / slug / "paper.md").write_text(record, encoding="utf-8")
    return workspace / "papers" / "fair"


def found(folder: Path, newest: Metadata = NEWEST, **arguments: object) -> list[PaperNews]:
    library = Library.load(load_workspace(folder.parents[1]))
    return news(library, {"fair": newest}, read_notes(library)[0], **arguments)  # type: ignore[arg-type]


def verdicts(one: PaperNews) -> dict[str, str]:
    return {f"{stale.kind} {stale.what}": stale.verdict for stale in one.stale}


def test_without_texts_what_rests_on_the_older_version_is_listed_and_the_texts_are_asked_for(folder: Path) -> None:
    (one,) = found(folder)
    assert one.is_newer and one.read == 1 and one.changes is None
    assert set(verdicts(one)) == {
        "fact problem", "fact idea", "fact formula", "fact needs", "fact headline", "result Toy (tiny)", "fact older: idea",
    }  # fmt: skip
    assert set(verdicts(one).values()) == {"unknown"}
    assert "kb ingest 2401.00001v1 2401.00001v2" in one.remark


def test_with_both_texts_each_fact_says_whether_its_part_changed(folder: Path) -> None:
    (folder / "text.v1.md").write_text(text(1, "Split in two."), encoding="utf-8")
    (folder / "text.md").write_text(text(2, "Split in three parts.", "A = r - b"), encoding="utf-8")
    (one,) = found(folder)
    assert [(change.kind, change.name) for change in one.changes or ()] == [("changed", "2.1 Rule")]
    assert verdicts(one) == {
        "fact problem": "unchanged", "fact idea": "changed", "fact formula": "changed", "fact needs": "unknown",
        "fact headline": "unchanged", "result Toy (tiny)": "unknown", "fact older: idea": "unchanged",
    }  # fmt: skip
    assert one.remark == ""


def test_texts_of_different_routes_are_said_to_differ_by_their_readers_too(folder: Path) -> None:
    (folder / "text.v1.md").write_text(text(1, "Split.").replace("route: latex", "route: pdf"), encoding="utf-8")
    (folder / "text.md").write_text(text(2, "Split."), encoding="utf-8")
    (one,) = found(folder)
    assert set(verdicts(one).values()) == {"unchanged"}
    assert one.changes == () and "different routes (latex, pdf)" in one.remark


def test_the_abstract_alone_is_compared_where_only_arxivs_records_are_here(folder: Path) -> None:
    write_metadata(folder, Metadata("Fair Shares", "2401.00001", 1, abstract="We gain 4."))
    (one,) = found(folder)
    assert [change.excerpt for change in one.changes or ()] == ["5."]
    assert verdicts(one)["fact headline"] == "changed" and verdicts(one)["fact idea"] == "unknown"


def test_notes_that_name_an_older_version_or_were_written_before_it(folder: Path) -> None:
    notes = folder.parents[1] / "notes"
    (notes / "a.md").write_text("---\ndate: 2025-01-02\n---\nFAIR is fair.\n", encoding="utf-8")
    (notes / "b.md").write_text("---\ndate: 2025-09-02\n---\nFAIR is fair.\n", encoding="utf-8")
    (notes / "c.md").write_text("---\ndate: 2025-09-02\n---\nSee arXiv:2401.00001v1.\n", encoding="utf-8")
    (notes / "d.md").write_text("---\ndate: 2025-01-02\n---\nSee arXiv:2401.00001v2.\n", encoding="utf-8")
    (notes / "e.md").write_text("---\ndate: 2025-01-02\n---\nSomething else.\n", encoding="utf-8")
    (one,) = found(folder)
    assert [(s.what, s.place) for s in one.stale if s.kind == "note"] == [
        ("notes/a.md", "written on 2025-01-02"), ("notes/c.md", "names v1"),
    ]  # fmt: skip


def test_methods_rest_on_the_version_they_name_or_that_of_the_record(folder: Path) -> None:
    methods = [
        {"name": "old", "paper": "2401.00001", "version": 1}, {"name": "new", "paper": "2401.00001", "version": 2},
        {"name": "silent", "paper": "2401.00001", "version": None}, {"name": "other", "paper": "2402.00002", "version": 1},
    ]  # fmt: skip
    (one,) = found(folder, methods=methods)
    assert [stale.what for stale in one.stale if stale.kind == "method"] == ["old", "silent"]


def test_a_withdrawal_is_news_until_the_record_says_so(folder: Path) -> None:
    withdrawn = Metadata("Fair Shares", "2401.00001", 2, comment="withdrawn by the author", withdrawn=True)
    assert found(folder, withdrawn)[0].withdrawn
    record = (
        RECORD.replace("version: 1", "version: 2\nwithdrawn: true").replace("v1", "v2").replace("section 2.1,", "v2,")
    )
    (folder / "paper.md").write_text(record, encoding="utf-8")
    (folder.parent / "older" / "paper.md").write_text("---\ntitle: Older Idea\n---\n", encoding="utf-8")
    assert found(folder, withdrawn) == []


def test_an_up_to_date_record_is_no_news(folder: Path) -> None:
    assert found(folder, Metadata("Fair Shares", "2401.00001", 1)) == []


def test_records_kept_of_arxiv_tell_the_same_without_asking(folder: Path) -> None:
    library = Library.load(load_workspace(folder.parents[1]))
    assert known_news(library) == []
    write_metadata(folder, NEWEST)
    (one,) = known_news(Library.load(library.workspace))
    assert one.is_newer and "fact idea" in verdicts(one)

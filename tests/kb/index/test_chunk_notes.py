"""Passages of notes and of paper records."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_workspace import NOTE, PLAIN_NOTE, RECORD, fill_workspace

from kb.errors import KbError
from kb.index.documents import read_document, scan
from kb.index.passages import DocumentPassages
from kb.model import Kind, Passage


@pytest.fixture
def documents(tmp_path: Path) -> dict[str, DocumentPassages]:
    workspace = fill_workspace(tmp_path)
    return {owner: read_document(tmp_path, owner, files) for owner, files in scan(workspace).items()}


def with_text(document: DocumentPassages, text: str) -> Passage:
    return next(p for p in document.passages if text in p.text)


def test_a_note_has_headings_a_date_and_tags(documents: dict[str, DocumentPassages]) -> None:
    note = documents["notes/2026-04-12.md"]
    assert (note.kind, note.title, note.date, note.tags) == ("note", "周报 2026-04-12", "2026-04-12", ("周报",))
    passage = with_text(note, "优势归一化")
    assert (passage.kind, passage.heading, passage.language) == (Kind.NOTE, ("信用分配",), "zh")


def test_formulas_code_and_tables_of_a_note_stay_whole(documents: dict[str, DocumentPassages]) -> None:
    note = documents["notes/2026-04-12.md"]
    assert "```python\nadvantage = (reward - reward.mean()) / reward.std()  # 保持原样\n```" in with_text(note, "```").text
    assert "| GRPO | 无 |" in with_text(note, "| 方法 |").text
    (equation,) = [p for p in note.passages if p.kind == Kind.EQUATION]
    assert equation.latex == r"\hat A = \frac{r - \mu}{\sigma}"
    assert equation.text.startswith("为什么？") and equation.text.endswith("是组内均值。")


def test_a_plain_text_report_has_headings_too(documents: dict[str, DocumentPassages]) -> None:
    note = documents["notes/reports/plain.md"]
    assert (note.title, note.date, note.tags) == ("研究周报 · 2026.04.19", "2026-04-19", ("report",))
    assert with_text(note, "clip").heading == ("一、阅读论文", "1.1 DAPO: 一篇论文")
    assert with_text(note, "1. 读论文").heading == ()  # lines of a list are not alone


@pytest.mark.parametrize("raw", [NOTE, PLAIN_NOTE])
def test_the_passages_of_a_note_are_its_very_characters(raw: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "n.md").write_text(raw, encoding="utf-8")
    for passage in read_document(tmp_path, "notes/n.md", {"notes/n.md": (0, 0)}).passages:
        place = raw[slice(*passage.span)]
        assert (passage.latex if passage.kind == Kind.EQUATION else passage.text) in place


def test_a_record_gives_facts_in_both_languages_traits_results_and_its_body(
    documents: dict[str, DocumentPassages],
) -> None:
    paper = documents["fairshare"]
    chinese = with_text(paper, "团队奖励不能说明")
    assert (chinese.kind, chinese.language, chinese.heading) == (Kind.FACT, "zh", ("facts", "problem"))
    assert with_text(paper, "what each agent has contributed").language == "en"
    assert "critic: no" in with_text(paper, "critic").text
    assert with_text(paper, "Toy, tiny, return: 12.5% (COMA: 10%)").heading == ("results",)
    assert "FAIRSHARE" in with_text(paper, "李雷").text
    assert with_text(paper, "这篇论文").section_kind == "abstract"
    formulas = [p for p in paper.passages if p.path.endswith("paper.md") and p.latex == r"A_i = q_i - \bar q"]
    assert len(formulas) == 2  # among the facts and in the body


def test_the_place_of_a_fact_is_its_entry_in_the_front_matter(documents: dict[str, DocumentPassages]) -> None:
    place = slice(*with_text(documents["fairshare"], "what each agent has contributed").span)
    assert "团队奖励" in RECORD[place] and "contributed" in RECORD[place] and "critic" not in RECORD[place]


def test_without_a_text_the_abstract_comes_from_the_metadata(documents: dict[str, DocumentPassages]) -> None:
    paper = documents["bare"]
    abstract = with_text(paper, "Sparse 奖励 only.")
    assert (abstract.heading, abstract.path) == (("Abstract",), "papers/bare/files/v1/metadata.json")
    assert paper.date == "2020"


def test_a_note_that_is_not_utf8_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "gbk.md").write_bytes("优势".encode("gbk"))
    with pytest.raises(KbError, match=r"notes/gbk\.md is not UTF-8"):
        read_document(tmp_path, "notes/gbk.md", {"notes/gbk.md": (0, 0)})

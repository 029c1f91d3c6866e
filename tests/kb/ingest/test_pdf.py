"""The PDF route on pages drawn here, whose text, order and structure are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_pdfs import (
    author_year_list,
    chinese_two_columns,
    draft_numbered_in_line,
    numbered_draft,
    paper,
    with_contents,
)

from kb.errors import BadDocument
from kb.ingest.pdf import crop_png, page_texts, parse_pdf
from kb.model import Document, Figure, Paragraph
from kb.textfile import write


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return parse_pdf(paper(tmp_path_factory.mktemp("pdf") / "paper.pdf"))


def prose(document: Document) -> str:
    return "\n".join(block.text for _, block in document.blocks() if isinstance(block, Paragraph))


def test_title_and_stamp_are_read_off_the_first_page(document: Document) -> None:
    assert document.title == "Group Advantage without a Critic"
    assert (document.arxiv_id, document.version) == ("2503.14476", 2)


def test_abstract_is_one_paragraph_with_its_broken_word_mended(document: Document) -> None:
    assert document.abstract.startswith("We study how a group of sampled answers can stand in for a learned value function,")
    assert document.abstract.endswith("falls by half.")


def test_headings_have_numbers_levels_kinds_and_pages(document: Document) -> None:
    found = [(s.number, s.title, s.level, s.kind, s.page) for s in document.sections if s.id != "front"]
    assert found == [
        ("1", "Introduction", 1, "intro", 1),
        ("1.1", "A smaller heading", 2, "intro", 1),
        ("2", "Experiments", 1, "experiments", 2),
        (None, "Limitations", 1, "limitations", 2),
    ]


def test_an_outline_gives_the_same_sections(document: Document, tmp_path: Path) -> None:
    outlined = parse_pdf(paper(tmp_path / "paper.pdf", outline=True))
    numbered = [(s.number, s.title) for s in document.sections if s.number]
    assert [(s.number, s.title) for s in outlined.sections if s.number] == numbered
    assert len(outlined.references) == 3


def test_compounds_keep_their_hyphen_and_broken_words_lose_it(document: Document) -> None:
    text = prose(document)
    assert "The leave-one-out estimate needs none" in text
    assert "answers to one question:" in text


def test_running_lines_and_page_numbers_are_gone(document: Document) -> None:
    text = write(document)
    assert "Under review by nobody" not in text
    assert all(block.text not in ("1", "2") for _, block in document.blocks() if isinstance(block, Paragraph))


def test_a_formula_is_flattened_never_latex(document: Document) -> None:
    (equation,) = document.equations
    assert (equation.number, equation.latex, equation.quality, equation.page) == ("1", None, "flattened", 1)
    assert "Ai = ri - mean(r)" in (equation.text or "")
    assert equation.before.endswith("question:")
    assert equation.after.startswith("The estimate needs no value model")


def test_a_formula_can_be_cut_out_as_a_picture(document: Document, tmp_path: Path) -> None:
    path = paper(tmp_path / "paper.pdf")
    box = document.equations[0].bbox
    assert box is not None
    assert crop_png(path, 1, box).startswith(b"\x89PNG")
    with pytest.raises(BadDocument, match="no page 9"):
        crop_png(path, 9, box)


def test_a_table_has_its_caption_header_numbers_and_bold_cell(document: Document) -> None:
    (table,) = document.tables
    assert (table.number, table.caption) == ("1", "Accuracy of the two methods on the test set.")
    assert [[cell.text for cell in row] for row in table.header] == [["Method", "Size", "Score"]]
    assert [[cell.text for cell in row] for row in table.rows] == [["Critic", "64", "61.5"], ["Group", "32", "72.1"]]
    assert [cell.number for cell in table.rows[1]] == [None, 32.0, 72.1]
    assert [cell.bold for cell in table.rows[1]] == [False, False, True]
    assert "61.5" not in prose(document)


def test_a_figure_is_known_by_its_caption(document: Document) -> None:
    figures = [block for _, block in document.blocks() if isinstance(block, Figure)]
    assert [(figure.number, figure.caption, figure.page) for figure in figures] == [
        ("1", "Reward over training steps.", 2)
    ]


def test_references_are_split_and_their_ids_joined_over_the_line(document: Document) -> None:
    first, second, third = document.references
    assert (first.arxiv_id, first.year, first.title) == ("1704.01234", 2017, "Leave-one-out baselines for policy gradients")
    assert first.authors == ("Ann Author", "Bo Writer")
    assert (second.doi, second.arxiv_id) == ("10.1000/xyz123", None)
    assert (third.year, third.title) == (2005, "Notes on variance")


def test_entries_without_markers_are_split_by_their_indent(tmp_path: Path) -> None:
    references = parse_pdf(author_year_list(tmp_path / "list.pdf")).references
    assert [reference.year for reference in references] == [2018, 2017, 2015, 2018, 1992]
    assert [reference.arxiv_id for reference in references] == [None, None, "1506.02438", None, None]


def test_margin_line_numbers_are_gone_and_columns_follow_each_other(tmp_path: Path) -> None:
    document = parse_pdf(numbered_draft(tmp_path / "draft.pdf"))
    # Without a heading the first column is taken for the abstract; nothing of it may be lost.
    text = f"{document.abstract} {prose(document)}"
    words = [word for word in text.split() if word.startswith("word")]
    assert words == [f"word{number}{half}" for number in range(1, 81) for half in "ab"]
    assert not [word for word in text.replace("line ", "line").split() if word.isdigit()]


def test_line_numbers_glued_to_their_lines_are_gone(tmp_path: Path) -> None:
    text = prose(parse_pdf(draft_numbered_in_line(tmp_path / "draft.pdf")))
    assert text.startswith("here the words of line a go on to its end here the words of line b")
    assert not any(char.isdigit() for char in text)


def test_a_table_of_contents_is_no_text(tmp_path: Path) -> None:
    document = parse_pdf(with_contents(tmp_path / "contents.pdf"))
    assert [(s.number, s.title) for s in document.sections] == [("1", "Introduction")]
    assert "Aims" not in write(document)
    assert "every sampled answer" in prose(document)


def test_chinese_columns_headings_and_lines(tmp_path: Path) -> None:
    document = parse_pdf(chinese_two_columns(tmp_path / "zh.pdf"))
    assert document.title == "群体优势估计综述"
    assert document.abstract == "本文综述了群体优势估计的方法，并比较了各种基线对梯度方差的影响。"
    assert [(s.number, s.title) for s in document.sections if s.number] == [
        ("一", "引言"), ("1.1", "符号"), ("二", "实验"),
    ]  # fmt: skip
    assert "群体方法用同一问题的多个回答代替价值网络，从而节省显存。" in prose(document)


def test_page_texts_join_words_over_lines(tmp_path: Path) -> None:
    texts = page_texts(paper(tmp_path / "paper.pdf"))
    assert len(texts) == 2
    assert "a learned value function, and we show" in texts[0].replace("\n", " ")
    assert "Experiments" in texts[1]

"""arXiv HTML: exact formulas, tables with spans, and pages that must not be believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.ingest.html import acceptable, parse_html
from kb.model import Document, Figure, Paragraph

TITLE = "Credit for Teams of Agents"
SENTENCE = "Each agent gets the share of the reward that it has earned in the episode. "


@pytest.fixture(scope="module")
def page() -> str:
    text = (Path(__file__).parents[2] / "fixtures" / "paper.html").read_text(encoding="utf-8")
    return text.replace("LONG", SENTENCE * 10)


@pytest.fixture(scope="module")
def document(page: str) -> Document:
    found = parse_html(page)
    assert found is not None
    return found


def test_the_line_breaks_that_the_converter_puts_into_formulas_are_gone(document: Document) -> None:
    assert document.equations[0].latex == r"A_{i}=\frac{r_{i}-\mu}{\sigma}"
    assert document.equations[0].number == "1"
    assert document.equations[0].before.endswith("The advantage is")


def test_rows_split_into_cells_are_joined_and_keep_their_numbers(document: Document) -> None:
    rows = document.equations[1]
    assert rows.latex is not None
    assert rows.latex == "\\begin{aligned}\nx &=y \\\\\nz &=w,\n\\end{aligned}"
    assert rows.number == "2–3"


def test_the_section_tree_has_numbers_levels_and_kinds(document: Document) -> None:
    assert [(part.number, part.title, part.level, part.kind) for part in document.sections] == [
        ("1", "Introduction", 1, "intro"),
        ("2", "Method", 1, "method"),
        ("2.1", "Advantage", 2, "method"),
        ("3", "Experiments", 1, "experiments"),
        (None, "Limitations", 2, "limitations"),
        ("A", "Proofs", 1, "appendix"),
    ]


def test_spans_of_a_table_are_filled_and_bold_is_kept(document: Document) -> None:
    table = document.tables[0]
    assert table.caption == "Accuracy in %."
    assert [[cell.text for cell in row] for row in table.header] == [
        ["Method", "AIME", "AIME"],
        ["Method", "2024", "2025"],
    ]
    assert [(cell.text, cell.number, cell.bold) for cell in table.rows[1]] == [
        ("Ours", None, False), ("50.0", 50.0, True), ("33", 33.0, False),
    ]  # fmt: skip


def test_text_has_citations_notes_and_list_items(document: Document) -> None:
    texts = [block.text for _, block in document.blocks() if isinstance(block, Paragraph)]
    assert texts[0].startswith("Earlier work[@bib.bib1; @bib.bib2] shares one reward (footnote: A note.).")
    assert texts[1:5] == [
        "- **First** point.",
        "(i) An *ordered* one, for \\$5.",
        "> Said so.",
        "**Theorem 1 (Main).** It is fair.",
    ]


def test_parts_of_a_figure_stand_in_its_caption(document: Document) -> None:
    figures = [block for _, block in document.blocks() if isinstance(block, Figure)]
    assert [(figure.number, figure.caption) for figure in figures] == [("1", "Both. (a) Left (b) Right")]


def test_an_algorithm_keeps_its_lines_and_indentation(document: Document) -> None:
    texts = [block.text for _, block in document.blocks() if isinstance(block, Paragraph)]
    assert "**Algorithm 1.** Sharing\n**for** each $i$ **do**\n   share" in texts


def test_a_number_without_its_own_tag_and_a_formula_without_alttext_are_read(document: Document) -> None:
    last = document.equations[-1]
    assert (last.number, last.latex) == ("3.1", "q<p")


def test_references_have_titles_and_ids_also_from_links(document: Document) -> None:
    assert [(entry.key, entry.arxiv_id, entry.year) for entry in document.references] == [
        ("bib.bib1", "2301.00001", 2023), ("bib.bib2", "2202.00002", 2022),
    ]  # fmt: skip
    assert document.references[0].title == "A first paper on credit"


def test_a_good_page_is_accepted(document: Document) -> None:
    assert acceptable(document, TITLE) == ""
    assert document.abstract == "We share credit between $N$ agents."
    assert document.authors == ("Ada Example", "Bo Example")


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("<html><body><h1>No HTML for this paper</h1></body></html>", "no document"),
        ('<article class="ltx_document"><h1 class="ltx_title_document">T</h1></article>', "letters"),
    ],
)
def test_error_pages_and_blank_pages_are_refused(page: str, reason: str) -> None:
    assert reason in acceptable(parse_html(page), TITLE)


def test_the_conversion_of_another_file_is_refused(page: str) -> None:
    wrong = page.replace(TITLE, "Instructions for Authors of the Conference")
    assert "its title is another" in acceptable(parse_html(wrong), TITLE)


def test_a_page_full_of_errors_is_refused(page: str) -> None:
    broken = page.replace("By induction.", '<span class="ltx_ERROR">\\lx@x</span>' * 29)
    assert "30 conversion errors" in acceptable(parse_html(broken), TITLE)

"""A whole LaTeX source: a small nasty paper, a Chinese one, and real ones where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.errors import BadDocument
from kb.ingest.archive import read_source
from kb.ingest.latex import parse_latex
from kb.model import Document, Equation, Figure, Paragraph

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module")
def paper() -> Document:
    return parse_latex(read_source(FIXTURES / "latex").files)


@pytest.fixture(scope="module")
def chinese() -> Document:
    return parse_latex(read_source(FIXTURES / "latex_zh").files)


def texts(document: Document) -> list[str]:
    return [block.text for _, block in document.blocks() if isinstance(block, Paragraph)]


def test_the_readme_names_the_main_file(paper: Document) -> None:
    assert paper.provenance.source == "paper.tex"
    assert paper.title == "Credit for Teams of Agents: an Erdős–Rényi View"
    assert paper.authors == ("Ada Müller", "Bo de la Cruz", "Chen Li")
    assert paper.abstract == "We share one reward between $N$ agents. It costs \\$5 and saves 30%."


def test_sections_have_numbers_levels_and_kinds(paper: Document) -> None:
    assert [(part.number, part.title, part.level, part.kind) for part in paper.sections] == [
        ("1", "Introduction", 1, "intro"),
        ("2", "Method", 1, "method"),
        (None, "Setting", 4, "method"),
        ("3", "Experiments", 1, "experiments"),
        (None, "Limitations", 2, "limitations"),
        ("A", "Proofs", 1, "appendix"),
        ("A.1", "Details", 2, "appendix"),
    ]


def test_prose_is_markdown(paper: Document) -> None:
    assert texts(paper)[:2] == [
        "Earlier work [see @first2020, ch. 2] shares one reward, as [@second2021; @third] did. "
        "(footnote: Not so “simple”, cf. [@third].) TeamCredit is *new* and **cheap**; *i.e.* it needs — at most — 10 runs.",
        "A second paragraph after the gap, with `50% {of}` and https://example.org/a%20b. final words.",
    ]


def test_references_in_the_text_are_resolved(paper: Document) -> None:
    found = texts(paper)
    assert "- Second point, see Equation (2.1) and Table 1 and Figure 1(b) or Figure 1b." in found
    assert "Step 1 comes first." in found
    assert "Figures 2 and 2 stand side by side." in found
    assert "See (A.1) and Lemma A.2." in found
    assert "**Lemma A.2.** By Theorem A.1, it is unique." in found


def test_what_tex_does_not_print_is_not_there(paper: Document) -> None:
    whole = " ".join(texts(paper))
    for hidden in ("hidden", "draft words", "Nobody", "after the end", "a note of ours", "TODO", "Wrong"):
        assert hidden not in whole


def test_equations_are_counted_as_latex_counts(paper: Document) -> None:
    assert [(item.number, item.label, item.env) for item in paper.equations] == [
        ("2.1–2.2", "eq:adv, eq:sigma", "align"),
        ("$\\star$", "eq:star", "equation"),
        (None, None, "displaymath"),
        ("2.3a", "eq:u", "equation"),
        ("2.3b", None, "equation"),
        ("2.4", "eq:next", "equation"),
        ("A.1", "eq:last", "equation"),
    ]


def test_macros_are_expanded_and_the_source_is_kept(paper: Document) -> None:
    first, star = paper.equations[:2]
    assert first.latex is not None and first.latex_src is not None
    assert first.latex.splitlines()[1:4] == [
        r"\hat{A}_{i,t} &= \frac{r_i - \mu}{\sigma + \varepsilon},  \\",
        r"\mu &= \mathbb{E}_{\pi}\left[r\right],  \\",
        r"\sigma^2 &= \mathbb{E}_{\theta}\left[\left\lVert r - \mu \right\rVert^2\right].",
    ]
    assert r"\adv{t} &= \frac{r_i - \mu}{\sigma + \eps}" in first.latex_src
    assert star.latex == r"s_{\text{query}} = {0}"


def test_an_equation_has_the_sentences_around_it(paper: Document) -> None:
    first = paper.equations[0]
    assert first.before == "The advantage of agent $i$ is"
    assert first.after == "Here $\\mu$ is the mean of the team."


def test_a_table_in_a_box_has_its_spans_numbers_and_bold_cells(paper: Document) -> None:
    table = paper.tables[0]
    assert (table.number, table.label, table.caption) == ("1", "tab:main", "Accuracy in %, with bold for the best.")
    assert [[cell.text for cell in row] for row in table.header] == [
        ["Method", "AIME", "AIME", "Cost"],
        ["Method", "2024", "2025", "(\\$)"],
    ]
    assert [[(cell.text, cell.number, cell.bold) for cell in row] for row in table.rows] == [
        [("GRPO [@first2020]", None, False), ("30.0", 30.0, False), ("$21.5 \\pm 0.3$", 21.5, False), ("1,200", 1200.0, False)],
        [("TeamCredit", None, False), ("50.0", 50.0, True), ("33", 33.0, True), ("–", None, False)],
    ]  # fmt: skip


def test_figures_and_tables_side_by_side_have_their_own_numbers(paper: Document) -> None:
    figures = [block for _, block in paper.blocks() if isinstance(block, Figure)]
    assert [(item.number, item.caption, item.label) for item in figures] == [
        ("1", "Two parts. (a) Left (b) Right", "fig:parts"),
        ("2", "One.", "fig:one"),
    ]
    beside = paper.tables[1]
    assert (beside.number, beside.caption, beside.rows[0][1].number) == ("2", "Beside.", 2.0)


def test_algorithms_and_listings_are_kept(paper: Document) -> None:
    found = texts(paper)
    assert (
        "**Algorithm 1.** Sharing\n- Require: policy $\\pi$\n- for each agent $i$\n  - compute Share($i$) ▷ once\n- return shares"
        in found
    )
    assert '**Listing 1.** A loop\nfor i in range(3):  # 50% of\n    print("{")' in found


def test_references_are_read_from_the_list_that_bibtex_made(paper: Document) -> None:
    first, second, third = paper.references
    assert (first.key, first.title, first.year, first.doi) == (
        "first2020", "A first paper on GRPO & credit", 2020, "10.1000/xyz_123",
    )  # fmt: skip
    assert first.authors == ("Ann First", "Uwe Müller", "Bo de la Cruz")
    assert first.raw.endswith("Journal of Examples, 12 (3): 4–15, 2020. doi: 10.1000/xyz_123.")
    assert (second.title, second.authors) == ("Another title here", ("S. T. Second", "U. Third"))
    assert (second.year, second.arxiv_id, second.url) == (2021, "2202.00002", "https://arxiv.org/abs/2202.00002v3")
    assert (third.title, third.arxiv_id) == ("A quoted title", "2301.00001")


def test_a_chinese_source(chinese: Document) -> None:
    assert (chinese.title, chinese.authors) == ("多智能体的信用分配", ("张三", "李四光"))
    assert chinese.abstract == "本文研究团队奖励的分配问题。我们在三个任务上做了实验。"
    assert [(part.number, part.kind) for part in chinese.sections] == [
        ("1", "intro"), ("2", "method"), ("3", "experiments"), ("4", "limitations"), ("5", "conclusion"), ("A", "appendix"),
    ]  # fmt: skip
    assert texts(chinese)[0] == "优势归一化会让梯度不稳定[@wang2023]。见第 2 节与(1)。"
    assert chinese.equations[0].latex == r"A_{\text{组}} = \frac{r-\mu}{\sigma}"
    assert chinese.equations[0].after == "其中$\\mu$是均值。"
    assert [cell.number for cell in chinese.tables[0].rows[1]] == [None, 45.2]


def test_cited_keys_of_a_bib_file_stand_in_for_a_missing_list(chinese: Document) -> None:
    (entry,) = chinese.references
    assert (entry.key, entry.title, entry.authors) == ("wang2023", "大模型的强化学习", ("王五", "赵六"))
    assert (entry.year, entry.arxiv_id) == (2023, "2305.01234")
    assert "软件学报 (中文)" in entry.raw


def test_a_file_in_gb18030_is_read() -> None:
    source = (
        "\\documentclass{article}\\begin{document}\\section{方法}"
        + "多智能体强化学习的信用分配方法。" * 5
        + "\\end{document}"
    )
    document = parse_latex({"main.tex": source.encode("gb18030")})
    assert document.sections[0].title == "方法"


def test_includes_never_leave_the_source() -> None:
    source = rb"\documentclass{article}\begin{document}\section{S}\input{/etc/passwd}\input{../../etc/passwd}Text that stays.\end{document}"
    document = parse_latex({"main.tex": source})
    assert texts(document) == ["Text that stays."]


def test_a_file_that_includes_itself_ends() -> None:
    source = rb"\documentclass{article}\begin{document}\section{S}Once. \input{main}\end{document}"
    assert texts(parse_latex({"main.tex": source})) == ["Once."]


def test_a_source_without_tex_is_refused() -> None:
    with pytest.raises(BadDocument, match="no TeX source"):
        parse_latex({"readme.txt": b"nothing here"})


@pytest.mark.parametrize(
    ("name", "sections", "equations"),
    [("2405.04517", 73, 26), ("old-0005057", 28, 493)],
)
def test_sources_that_other_parsers_hang_on(corpus: Path, name: str, sections: int, equations: int) -> None:
    document = parse_latex(read_source(corpus / "sources" / name).files)
    assert len([part for part in document.sections if part.id != "front"]) == sections
    assert len(document.equations) == equations


def test_a_source_full_of_macros(corpus: Path) -> None:
    document = parse_latex(read_source(corpus / "sources" / "2306.14892").files)
    first = document.equations[0]
    assert first.latex is not None and first.latex_src is not None
    assert "s_{\\text{query}}" in first.latex and "\\squery" not in first.latex and "\\squery" in first.latex_src
    assert (len(document.equations), len(document.references)) == (25, 84)
    assert not any("\\squery" in (item.latex or "") for item in document.equations if isinstance(item, Equation))

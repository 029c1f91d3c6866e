"""``text.md`` reads back as what was written, and survives the edits that people make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kb.model import Cell, Document, Equation, Figure, PageReport, Paragraph, Provenance, Reference, Section, Table
from kb.textfile import body_hash, is_edited, read, read_references, write

PATH = Path("text.md")
PROVENANCE = Provenance("latex", "files/v2/source.tar.gz", "ab", "kb-latex", "1", routes={"title": "api"})
GRPO = r"\hat{A}_{i,t} = \frac{r_i - \mathrm{mean}(\mathbf{r})}{\mathrm{std}(\mathbf{r})}"


def document(*blocks: object, **fields: object) -> Document:
    section = Section("S1", "优势估计 Advantage", 1, "method", "1", tuple(blocks), 1)  # type: ignore[arg-type]
    return Document(title="T", provenance=PROVENANCE, sections=(section,), **fields)  # type: ignore[arg-type]


def round_trip(value: Document) -> Document:
    return read(write(value), PATH).document


def test_every_kind_of_block_comes_back_as_it_was() -> None:
    value = Document(
        title="P(A|B): 多智能体",
        provenance=PROVENANCE,
        arxiv_id="2402.03300",
        version=2,
        authors=("A. B", "王伟"),
        abstract="One.\n\nTwo.",
        sections=(
            Section("S1", "Introduction", 1, "intro", "1", (Paragraph("# no heading\n$x$ [@k]", 1),), 1),
            Section(
                "S1.1", "3 lessons", 2, "other", None,
                (
                    Equation("eq-1", "a|b \\\\\nc", number="1", label="eq:a", env="align", latex_src="\\foo --> x",
                             before="we have", after="holds", page=2),
                    Equation("eq-2", None, "flattened", text="ai = b\n(3)", bbox=(1.0, 2.0, 3.0, 4.5), page=2),
                    Table("tab-1", "cap | x", ((Cell("a"), Cell("$P(A|B)$")),),
                          ((Cell("1.5%", 1.5, True), Cell("**x")),), "1", "tab:1", "exact", 2),
                    Figure("fig-1", "A cap", "1", "fig:a", 3),
                ),
                2,
            ),
        ),
        references=(
            Reference(1, "k", "Foo. Bar -- 2024", "Bar", ("X Y",), 2024, "2401.00001", "high", url="u"),
        ),
        page_count=9,
        pages=(PageReport(4, "none", "scan"),),
        quality="exact",
        flags=("repaired",),
    )  # fmt: skip
    assert round_trip(value) == value


def test_the_formula_reads_as_maths_and_the_flattened_one_does_not() -> None:
    text = write(document(Equation("eq-1", GRPO), Equation("eq-2", None, "flattened", text="ˆAi,t = ri")))
    assert f"$$\n{GRPO}\n$$" in text
    assert text.count("$$") == 2
    assert "```flattened\nˆAi,t = ri\n```" in text


words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=40).map(
    lambda text: " ".join(text.split())
)


@given(words)
def test_any_cell_comes_back(text: str) -> None:
    table = Table("t", "c", ((Cell("h"), Cell(text)),), ((Cell(text), Cell("x")),), "1")
    back = round_trip(document(table)).tables[0]
    assert [cell.text for cell in back.header[0]] == ["h", text]
    assert [cell.text for cell in back.rows[0]] == [text, "x"]


@given(st.lists(words.filter(bool), min_size=1, max_size=4))
def test_any_paragraphs_come_back_in_order(texts: list[str]) -> None:
    back = round_trip(document(*(Paragraph(text, 1) for text in texts)))
    assert [block.text for _, block in back.blocks() if isinstance(block, Paragraph)] == texts


@given(st.lists(words.filter(bool), min_size=1, max_size=4))
def test_a_span_is_where_its_block_stands(texts: list[str]) -> None:
    text = write(document(*(Paragraph(text, 1) for text in texts)))
    for located, wanted in zip(read(text, PATH).blocks, texts, strict=True):
        start, end = located.span
        assert text[start:end].strip() in (wanted, "\\" + wanted)


def test_an_edited_body_is_noticed_and_an_untouched_one_is_not() -> None:
    text = write(document(Paragraph("The advantage.")))
    assert not is_edited(text, PATH)
    assert is_edited(text.replace("The advantage.", "The advantage, corrected."), PATH)


def test_what_a_person_types_without_anchors_is_read_off_the_text() -> None:
    typed = (
        "---\ntitle: 手写\n---\n# 手写\n\n## 3.2 方法\n\n一段话。\n\n$$\nx\n$$\n\n"
        "**Table 2.** 结果\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## 参考文献\n\n- [1] Foo\n"
    )
    back = read(typed, PATH).document
    assert [(part.number, part.title, part.kind) for part in back.sections] == [("3.2", "方法", "method")]
    assert back.equations[0].latex == "x"
    assert [cell.number for cell in back.tables[0].rows[0]] == [1.0, 2.0]
    assert (back.tables[0].number, back.tables[0].caption) == ("2", "结果")
    assert back.references[0].raw == "Foo"


def test_a_body_line_like_a_reference_is_not_one() -> None:
    entry = Reference(1, "k", "The entry")
    value = replace(document(Paragraph("- [1] a list item")), references=(entry,))
    assert read_references(write(value)) == (entry,)


def test_the_body_hash_does_not_see_blank_ends() -> None:
    assert body_hash("a\n") == body_hash("\na\n\n")
    assert body_hash("a") != body_hash("b")

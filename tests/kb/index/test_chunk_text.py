"""Passages of a paper's text: where they end, what they hold, and where they stand in the file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from small_workspace import PROVENANCE, text_document

from kb.index.chunk import text_drafts
from kb.index.drafts import Owner, embedded_text, finish
from kb.index.sentences import count_tokens
from kb.model import Document, Equation, Kind, Paragraph, Passage, Section
from kb.textfile import read, write
from kb.textfile.reader import unescape_block

PATH = "papers/p/text.md"


def passages(document: Document) -> tuple[list[Passage], str]:
    raw = write(document)
    found = finish(Owner("p", document.title), text_drafts(read(raw, Path(PATH)), raw, PATH))
    return list(found), raw


def of_kind(kind: Kind) -> list[Passage]:
    return [passage for passage in passages(text_document())[0] if passage.kind == kind]


def test_prose_stays_in_its_section_and_knows_the_path_and_page() -> None:
    prose = of_kind(Kind.PROSE)
    assert [p.heading for p in prose if "Credit is hard" in p.text] == [("1 Introduction",)]
    assert [(p.heading, p.page) for p in prose if "COMA" in p.text] == [(("2 Method", "2.1 Baselines"), 3)]
    assert [p.section_kind for p in prose if p.heading == ("Abstract",)] == ["abstract"]
    assert not any("Credit is hard" in p.text and "Sentence number" in p.text for p in prose)


def test_a_long_section_becomes_passages_of_even_size_that_end_with_sentences() -> None:
    parts = [p.text for p in of_kind(Kind.PROSE) if "Sentence number" in p.text]
    assert len(parts) >= 4
    assert all(part.endswith(".") for part in parts)
    assert all(100 <= count_tokens(part) <= 280 for part in parts)
    joined = " ".join(parts)
    assert [joined.count(f"Sentence number {n} ") for n in range(60)] == [1] * 60  # all of it, nothing twice


def test_an_equation_brings_the_sentences_around_it_and_its_number() -> None:
    (equation,) = of_kind(Kind.EQUATION)
    assert equation.latex == r"A_i = q_i - \bar q"
    assert equation.text.startswith("Sentence number 59 says")
    assert equation.text.endswith("Here q is what an agent adds.")
    assert "$$ (1)" in equation.text
    assert equation.anchor == "eq-1"


def test_a_page_long_equation_is_shown_in_part_and_kept_whole() -> None:
    latex = " + ".join(rf"\theta_{{{n}}} x_{{{n}}}" for n in range(400))
    section = Section("S", "M", 1, blocks=(Paragraph("word " * 300 + "that:"), Equation("e", latex), Paragraph("Where " + "x " * 500)))
    (equation,) = [p for p in passages(Document("T", PROVENANCE, sections=(section,)))[0] if p.kind == Kind.EQUATION]
    assert equation.latex == latex
    assert count_tokens(equation.text) < 380
    first, _, rest = equation.text.partition("\n")
    assert first.startswith("… word") and first.endswith("that:")
    assert rest.startswith("$$\n\\theta_{0} x_{0}") and rest.endswith(" …")


def test_every_part_of_a_table_repeats_caption_and_header() -> None:
    tables = of_kind(Kind.TABLE)
    assert len(tables) > 1
    assert all(t.text.startswith("Table 1. Returns\nname | return\n") for t in tables)
    rows = "\n".join(t.text for t in tables)
    assert all(f"method {n} | {n}.5" in rows for n in range(60))


def test_captions_and_references_have_passages_of_their_own() -> None:
    assert [p.text for p in of_kind(Kind.CAPTION)] == ["Figure 2. Shares over time"]
    (reference,) = of_kind(Kind.REFERENCE)
    assert reference.text.startswith("Foerster.")


def test_what_is_embedded_begins_with_title_and_heading_path_without_numbers() -> None:
    text = embedded_text("T", ("2 Method", "2.1 Baselines", "A Proofs"), "body")
    assert text == "T\nMethod > Baselines > Proofs\nbody"
    assert len(embedded_text("t" * 900, ("h" * 900,), "body")) < 400


def test_an_id_does_not_depend_on_the_place_and_is_never_given_twice() -> None:
    twice = Section("S1", "M", 1, "method", None, (Paragraph("Same."), Equation("e", "x"), Equation("f", "x")))
    moved = Section("S9", "M", 1, "method", None, (Paragraph("Same."), Equation("e", "x"), Equation("f", "x")))
    other = Section("S0", "Other", 1, "other", None, (Paragraph("First."),))
    first, _ = passages(Document("T", PROVENANCE, sections=(twice,)))
    later, _ = passages(Document("T", PROVENANCE, sections=(other, moved)))
    assert len({p.id for p in first}) == len(first)
    assert {p.id for p in first} < {p.id for p in later}
    assert [p.span for p in first] != [p.span for p in later[1:]]


def test_no_sentence_ends_at_an_abbreviation_or_inside_maths() -> None:
    text = "As in Fig. 3 and Eq. (2), e.g. by J. Smith et al. 2020, it holds. Here $a. B$ is one. 是的。下一句！End."
    from kb.index.sentences import sentence_spans

    assert [text[start:stop].strip() for start, stop in sentence_spans(text)] == [
        "As in Fig. 3 and Eq. (2), e.g. by J. Smith et al. 2020, it holds.",
        "Here $a. B$ is one.",
        "是的。",
        "下一句！",
        "End.",
    ]


words = st.sampled_from(
    ["reward", "A.", "e.g.", "优势归一化", "。", "$x. Y$", "#", "|", "\\", "- item", "3.5", "\n", "agent!", "这是，", "x" * 90]
)
paragraphs = st.lists(words, min_size=1, max_size=120).map(" ".join).filter(lambda text: text.strip(" \n\\") != "")
blocks = st.one_of(paragraphs.map(Paragraph), st.sampled_from([Equation("e", r"\sum_i x_i"), Equation("g", None, text="ai")]))
sections = st.lists(st.lists(blocks, max_size=6), min_size=1, max_size=3)


def squeezed(text: str) -> str:
    return " ".join(text.split())


@settings(max_examples=150, deadline=None)
@given(sections)
def test_the_span_holds_the_text_and_no_passage_is_too_long(parts: list[list[Paragraph | Equation]]) -> None:
    document = Document(
        "T", PROVENANCE, sections=tuple(Section(f"S{n}", f"H{n}", 1, blocks=tuple(part)) for n, part in enumerate(parts))
    )
    found, raw = passages(document)
    for passage in found:
        place = raw[slice(*passage.span)]
        if passage.kind == Kind.EQUATION:
            assert (passage.latex or "ai") in place
        else:
            inside = squeezed(unescape_block(place))
            assert all(squeezed(paragraph) in inside for paragraph in passage.text.split("\n\n"))
        assert count_tokens(passage.text) <= 350
    prose = "".join(squeezed(p.text) for p in found if p.kind == Kind.PROSE)
    written = "".join(squeezed(b.text) for s in read(raw, Path(PATH)).document.sections for b in s.blocks if isinstance(b, Paragraph))
    assert "".join(prose.split()) == "".join(written.split())

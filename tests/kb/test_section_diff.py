"""Two versions of a text: which sections have other words, which came and went, which equations are not the same."""

from __future__ import annotations

from kb.model import Cell, Document, Equation, Paragraph, Provenance, Section, Table
from kb.section_diff import SectionChange, compare_abstracts, compare_texts


def section(number: str, title: str, *texts: str, blocks: tuple[object, ...] = ()) -> Section:
    parts = tuple(Paragraph(text) for text in texts)
    return Section(f"S{number}", title, 1, "other", number, (*parts, *blocks))  # type: ignore[arg-type]


def document(*sections: Section, abstract: str = "") -> Document:
    return Document("x", Provenance("latex", "x"), abstract=abstract, sections=sections)


def test_the_same_words_set_otherwise_are_no_change() -> None:
    old = document(section("1", "Method", "An ef\ufb01cient mul-\nti agent way.", "Second part."))
    new = document(section("1", "Method", "An efficient multi agent", "way. Second\npart."))
    assert compare_texts(old, new).sections == ()


def test_words_that_came_and_went_are_counted() -> None:
    old = document(
        section("1", "Intro", "We share credit."), section("2", "Method", "The reward is split in two parts.")
    )
    new = document(
        section("1", "Intro", "We share credit."), section("2", "Method", "The team reward is split in three parts.")
    )
    diff = compare_texts(old, new)
    assert diff.sections == (SectionChange("changed", "2", "Method", 2, 1, "team"),)
    assert diff.changed_numbers == {"2"} and diff.known_sections == {"1", "2"}


def test_sections_that_moved_were_renamed_added_or_removed() -> None:
    body = "one two three four five six seven eight nine ten"
    old = document(section("1", "Intro", "a"), section("2", "Method", body), section("3", "Limits", "gone words"))
    new = document(
        section("1", "Intro", "a"), section("2", "New part", "quite other words"), section("3", "Our method", body)
    )
    assert [(change.kind, change.number, change.title) for change in compare_texts(old, new).sections] == [
        ("added", "2", "New part"), ("removed", "3", "Limits"),
    ]  # fmt: skip


def test_equations_and_tables_are_told_by_number() -> None:
    def blocks(formula: str, cell: str) -> tuple[object, ...]:
        table = Table("t", "Numbers", ((Cell("a"),),), ((Cell(cell),),), "1")
        return (Equation("e1", formula, number="1"), Equation("e2", "x = y", number="2"), table)

    old = document(section("1", "Method", blocks=blocks("A = r - b", "3")))
    new = document(section("1", "Method", blocks=blocks("A = r -  c", "3")))
    diff = compare_texts(old, new)
    assert (diff.equations, diff.tables) == ({"1"}, frozenset())
    assert compare_texts(old, document(section("1", "Method", blocks=blocks("A = r-b", "4")))).tables == {"1"}
    assert diff.known_equations == {"1", "2"} and diff.known_tables == {"1"}


def test_abstracts_are_compared_too() -> None:
    change = compare_abstracts("It gains 5 points.", "It gains 7 points.")
    assert change == SectionChange("changed", "abstract", "Abstract", 1, 1, "7")
    assert compare_abstracts("Same  words", "Same words") is None
    diff = compare_texts(document(abstract="old words"), document(abstract="new words"))
    assert [(one.number, one.name) for one in diff.sections] == [("abstract", "Abstract")]

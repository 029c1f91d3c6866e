"""Every format gives back the words of a cell, whatever is in them; drafts look unlike values in all of them."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from kb.inline_math import split_math
from kb.table_box import display_width, wrap
from kb.table_formats import FORMATS, legend, render_table
from kb.tables import FilledTable, TableCell

TRICKY = r"P(A|B)%&_$\*`<>[]()~#^{}\" -+=!1234abc" + "中文，（）αβ×→≥²é\n"
CELLS = st.text(st.sampled_from(TRICKY), max_size=40) | st.text(
    st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20
)
FORMULA = st.sampled_from([r"$P(A|B)$", r"$\|x\|_2$", r"$\hat A_i=\frac{r-\mu}{\sigma}$", r"$a_1 * b_2 * c$", r"$x<y$"])


def table(*texts: str, state: str = "value") -> FilledTable:
    cells = tuple(TableCell(text, state, "paper", "v1, section 2") for text in texts)  # type: ignore[arg-type]
    return FilledTable("Title", ("Paper", *(f"h{i}" for i in range(1, len(texts)))), (cells,), "en")


def one_line(text: str) -> str:
    """A cell as a page shows it: line ends kept, other white space single."""
    return "\n".join(" ".join(line.split()) for line in re.split(r"\r\n|\r|\n", text)).strip()


def read_markdown(text: str) -> list[list[str]]:
    """The cells of a pipe table as CommonMark with tables reads them. Maths is taken out first, as viewers do."""
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        formulas.append(match[0])
        return f"\ue000{len(formulas) - 1}\ue001"

    kept = re.sub(r"(?<!\\)\$(?!\s)(?:\\.|[^$\\|])+?(?<!\s)\$(?!\d)", keep, text)
    page = LexborHTMLParser(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(kept))
    for line_end in page.css("br"):
        line_end.replace_with("\n")
    rows = [[cell.text() for cell in row.css("td, th")] for row in page.css("tr")]
    back = [[re.sub(r"\ue000(\d+)\ue001", lambda m: formulas[int(m[1])], cell) for cell in row] for row in rows]
    assert not page.css("td a, td em, td strong, td code, td s, td img")
    return back


@settings(deadline=None)
@given(CELLS, CELLS)
@example(r"P(A|B)", r"a\|b")
@example("5 $ or 6 $", "$5 and $6")
@example("*x* _y_ `z` ~~w~~ [a](b) ![c](d) <b>e</b> &amp; https://a.b", "a_b_c __init__")
def test_markdown_gives_the_words_back(first: str, second: str) -> None:
    if any(is_math for text in (first, second) for is_math, _ in split_math(text)):
        return  # formulas have their own test
    rows = read_markdown(render_table(table(first, second), "md", "none"))
    assert [one_line(cell) for cell in rows[1]] == [one_line(first), one_line(second)]


@settings(deadline=None)
@given(st.lists(st.one_of(FORMULA, st.sampled_from(["优势 ", " and ", " | ", " 5% "])), max_size=4).map(" ".join))
def test_markdown_keeps_formulas_as_they_are_but_for_bars(text: str) -> None:
    cell = read_markdown(render_table(table(text, "x"), "md", "none"))[1][0]
    bars = cell.replace(r"\Vert{}", r"\|").replace(r"\vert{}", "|")
    assert one_line(bars) == one_line(text)


def read_html(page: str) -> list[list[str]]:
    """The words of every cell; a formula is what was typed, which its element carries."""
    tree = LexborHTMLParser(page)
    for formula in tree.css("span[data-latex]"):
        formula.replace_with(str(formula.attributes["data-latex"]))
    cells = [[cell.css_first("span") for cell in row.css("td")] for row in tree.css("tbody tr")]
    return [[cell.text() if cell is not None else "" for cell in row] for row in cells]


@settings(deadline=None)
@given(CELLS | FORMULA, CELLS | FORMULA)
def test_csv_json_and_html_give_the_words_back_exactly(first: str, second: str) -> None:
    filled = table(first, second)
    rows = list(csv.reader(io.StringIO(render_table(filled, "csv", "none"), newline="")))
    assert rows == [["Paper", "h1"], [first, second]]
    assert [cell["text"] for cell in json.loads(render_table(filled, "json"))["rows"][0]] == [first, second]
    assert read_html(render_table(filled, "html", "marks")) == [[first, second]]


@pytest.mark.parametrize(
    ("text", "math"),
    [
        ("$x$", ["$x$"]), ("costs $5 and $6", []), (r"\$x$ y$", []), ("$a$ and $b_1$", ["$a$", "$b_1$"]),
        (r"$\frac{a$", []), ("$ x$", []), ("$x $", []), ("$$x|y$$", ["$$x|y$$"]), (r"$\$5$", [r"$\$5$"]),
    ],
)  # fmt: skip
def test_maths_is_told_from_money(text: str, math: list[str]) -> None:
    assert [piece for is_math, piece in split_math(text) if is_math] == math
    assert "".join(piece for _, piece in split_math(text)) == text


@settings(deadline=None)
@given(st.text(st.sampled_from("ab 中文，（）"), max_size=60), st.integers(10, 30))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(display_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_no_line_begins_with_a_chinese_comma() -> None:
    assert wrap("一二三四五，六七八九十", 10) == ["一二三四", "五，六七八", "九十"]
    assert wrap("一二三四（abc）五", 10) == ["一二三四", "（abc）五"]


def test_a_box_is_straight_with_wide_characters() -> None:
    filled = FilledTable(
        "", ("论文", "Idea"), ((TableCell("优势"), TableCell("a long idea with 中文 in it")), (TableCell("x"), TableCell("")),), "zh"
    )  # fmt: skip
    for width in (None, 30):
        lines = render_table(filled, "box", "none", width).splitlines()
        assert {display_width(line) for line in lines} == {display_width(lines[0])}
        assert width is None or display_width(lines[0]) <= width


def test_a_short_heading_stays_on_one_line_however_narrow_the_box() -> None:
    long = TableCell("同一 prompt 且同一智能体的全部轨迹，组内比较")
    filled = FilledTable("", ("论文", "信用单元", "比较组"), ((TableCell("甲"), long, long),), "zh")
    heading = render_table(filled, "box", "none", 34).splitlines()[1]
    assert "信用单元" in heading and "比较组" in heading


@pytest.mark.parametrize("evidence", ["none", "marks", "footnotes"])
def test_a_draft_is_told_from_a_value_in_every_format(evidence: str) -> None:
    signs = {"md": "✎ some words", "csv": "✎ some words", "box": "✎ some words", "latex": r"\emph{draft:} some words",
             "html": 'class="draft"', "json": '"state": "draft"'}  # fmt: skip
    draft = FilledTable("", ("Paper",), ((TableCell("some words", "draft", "draft", "p. 3, passage x"),),), "en")
    value = FilledTable("", ("Paper",), ((TableCell("some words", "value", "paper", "p. 3"),),), "en")
    for form in FORMATS:
        assert signs[form] in render_table(draft, form, evidence), form
        assert signs[form] not in render_table(value, form, evidence), form
    assert "✎ a draft to be reviewed" in legend(draft)


def test_marks_footnotes_and_the_legend_name_what_is_there_and_no_more() -> None:
    cells = (
        TableCell("DAPO"),
        TableCell("yes", "value", "paper", "v2, section 3.1"),
        TableCell("no", "no", "secondary", "digest", provisional="body not read"),
        TableCell("not checked", "not checked"),
    )
    filled = FilledTable("", ("Paper", "a", "b", "c"), (cells,), "en")
    assert "| DAPO | yes [P] | no [S~] | not checked |" in render_table(filled, "md", "marks")
    assert legend(filled) == "[P] read in the paper  [S] second hand  ~ the formula is provisional"
    noted = render_table(filled, "md", "footnotes")
    assert "| DAPO | yes [1] | no [2] | not checked |" in noted
    assert "[1] paper: v2, section 3.1" in noted
    assert "[2] secondary: digest; provisional: body not read" in noted
    assert "[P]" in render_table(filled, "html", "marks") and "[P]" not in render_table(filled, "html", "footnotes")


def test_html_shows_evidence_on_hover_and_runs_nothing_of_a_cell() -> None:
    cell = TableCell("<script>alert(1)</script>", "value", "paper", '" onmouseover="x')
    page = LexborHTMLParser(render_table(FilledTable("a<b", ("Paper",), ((cell,),), "zh"), "html"))
    found = page.css_first("td")
    assert found is not None and found.attributes == {"title": 'paper: " onmouseover="x'}
    assert len(page.css("script")) == 1 and not page.css("td script")
    assert not re.search(r"(?:src|href)=", render_table(table("x", "y"), "html"))

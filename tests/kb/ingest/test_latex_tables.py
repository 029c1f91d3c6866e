"""Cells of LaTeX tables: spans, rules, numbers, bold."""

from __future__ import annotations

import pytest

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_tables import parse_tabular, read_cell


def cells(body: str, name: str = "tabular") -> tuple[list[list[str]], list[list[str]]]:
    grid = parse_tabular(name, body, TextContext())
    assert grid is not None
    header, rows = ([[cell.text for cell in row] for row in part] for part in grid)
    return header, rows


def test_spans_are_filled() -> None:
    body = r"{lccc} \toprule A & \multicolumn{2}{c}{B} & \multirow{2}{*}{C} \\ \cmidrule(lr){2-3} & b1 & b2 & \\ \midrule x & 1 & 2 & 3 \\ \bottomrule"
    assert cells(body) == (
        [["A", "B", "B", "C"], ["", "b1", "b2", "C"]],
        [["x", "1", "2", "3"]],
    )


def test_a_hanging_cell_fills_the_rows_that_leave_it_empty() -> None:
    body = r"{ll} K & V \\ \hline \multirow{3}*{a} & 1 \\ & 2 \\ & 3 \\ \hline & 4 \\"
    assert cells(body)[1] == [["a", "1"], ["a", "2"], ["a", "3"], ["", "4"]]


def test_rules_and_settings_are_no_cells() -> None:
    body = (
        r"[t]{@{}l|r@{}} \hline\hline \rowcolor{gray!10} a & b \\[2pt] \specialrule{1pt}{1pt}{1pt} "
        r"\arrayrulecolor{red} c & d \tabularnewline* \noalign{\vskip 2pt} \addlinespace[3pt] e & f \\ \hline"
    )
    assert cells(body) == ([["a", "b"]], [["c", "d"], ["e", "f"]])


def test_rows_break_inside_cells_only_where_the_cell_says_so() -> None:
    body = r"{ll} \makecell{a \\ b} & \begin{tabular}{@{}l@{}} c \\ d \end{tabular} \\ \midrule e \& f & {g & h} \\"
    assert cells(body) == ([["a b", "c d"]], [["e & f", "g h"]])


def test_tables_of_other_packages() -> None:
    assert cells(r"{\linewidth}{XX} a & b \\ \midrule 1 & 2 \\", "tabularx") == ([["a", "b"]], [["1", "2"]])
    assert cells(r"{colspec={lll}} \SetCell[c=2]{c} a & & b \\ \hline 1 & 2 & 3 \\", "tblr")[1] == [["1", "2", "3"]]


def test_one_column_is_no_table() -> None:
    assert parse_tabular("tabular", r"{l} just text \\ more \\", TextContext()) is None


@pytest.mark.parametrize(
    ("raw", "text", "number", "bold"),
    [
        ("30.0", "30.0", 30.0, False),
        (r"\textbf{50.0}", "50.0", 50.0, True),
        (r"$\mathbf{33}$", "33", 33.0, True),
        (r"{\bf 7}", "7", 7.0, True),
        (r"\textbf{94.1\scriptsize{$\pm$ 0.4}}", r"94.1$\pm$ 0.4", 94.1, True),
        (r"$21.5 \pm 0.3$", r"$21.5 \pm 0.3$", 21.5, False),
        (r"12.5\%", "12.5%", 12.5, False),
        (r"1{,}200", "1,200", 1200.0, False),
        (r"$-$0.5", "$-$0.5", None, False),
        (r"$-0.5$", "-0.5", -0.5, False),
        (r"45.2$^{\dagger}$", r"45.2$^{\dagger}$", 45.2, False),
        (r"45.2 (+1.3)", "45.2 (+1.3)", 45.2, False),
        (r"\underline{8}", "8", 8.0, False),
        (r"\textcolor{red}{\textbf{9}}", "9", 9.0, True),
        ("--", "–", None, False),
        ("GPT-4", "GPT-4", None, False),
        ("7B", "7B", None, False),
        (r"\textbf{Ours} (7B)", "Ours (7B)", None, False),
        (r"\textbf{Ours}", "Ours", None, True),
        (r"5 \textbf{best}", "5 best", None, False),
    ],
)
def test_cells_have_numbers_and_bold(raw: str, text: str, number: float | None, bold: bool) -> None:
    cell = read_cell(raw, TextContext())
    assert (cell.text, cell.number, cell.bold) == (text, number, bold)

"""LaTeX tables: every character is escaped, and a TeX that is installed sets them without an error."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kb.compare import chosen_records, compare
from kb.library import Library
from kb.table_formats import render_table
from kb.table_latex import escape_latex
from kb.tables import FilledTable, TableCell
from kb.workspace import load_workspace

HARD = [
    "P(A|B)", "5% & more_words", r"back\slash", "a^b ~ c #1 {x}", "[first] bracket", "*star", "$5 and $6",
    r"$\hat A_i=\frac{r-\mu}{\sigma}$", r"$P(A|B) & 50%$", r"$\text{a}优势_i$", "α ≥ β × 2 → ∞ ± ς Ω Α ² ₀ Σ",
    "line\nbreak", "a -- b --- c ''d'' ``e``", "<tag> \"q\"", "中文，（全角）％＆", "é ü ß — “q” …",
    r"$\begin{cases}a&b\\c&d\end{cases}$",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("50% & a_b #1", r"50\% \& a\_b \#1"), (r"\x{y}", r"\textbackslash{}x\{y\}"),
        ("a $x_1$ b_2", r"a $x_1$ b\_2"), ("$P & 5%$", r"$P \& 5\%$"), ("$5 and $6", r"\$5 and \$6"),
        ("α²", r"\ensuremath{\alpha}\textsuperscript{2}"), ("a--b", "a-{}-b"), ("two\nlines", "two lines"),
        ("$奖励$", r"$\text{奖励}$"),
    ],
)  # fmt: skip
def test_escapes(text: str, tex: str) -> None:
    assert escape_latex(text) == tex


def pdf_text(tmp_path: Path, tables: str) -> str:
    """The text of the compiled document. The preamble is the one that the table's own comment asks for."""
    tex = shutil.which("xelatex")
    kpsewhich = shutil.which("kpsewhich")
    if tex is None or kpsewhich is None:
        pytest.skip("no XeLaTeX is installed")
    preamble = dict.fromkeys(re.findall(r"^% (\\usepackage.*)$", tables, re.MULTILINE))
    for name in ("ctex", "booktabs", "amsmath", "longtable"):
        found = subprocess.run(
            [kpsewhich, f"{name}.sty"], capture_output=True, text=True, encoding="utf-8", check=False
        )
        if not found.stdout.strip():
            pytest.skip(f"the TeX that is installed has no {name}")
    document = "\n".join([r"\documentclass{article}", *preamble, r"\begin{document}", tables, r"\end{document}"])
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    command = [tex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "t.log").read_text(encoding="utf-8", errors="replace")
    assert ran.returncode == 0, log[-2000:]
    assert "Missing character" not in log
    import pymupdf

    with pymupdf.open(tmp_path / "t.pdf") as document_read:
        return "".join(page.get_text() for page in document_read)


def test_hard_cells_compile_and_are_all_there(tmp_path: Path) -> None:
    rows = tuple((TableCell(text), TableCell(f"row{i}", "draft" if i % 2 else "value", "code", "x_y.py at 50%"))
                 for i, text in enumerate(HARD))  # fmt: skip
    filled = FilledTable("A & B: 100%", ("Paper_1", "第二列"), rows, "zh")
    text = pdf_text(tmp_path, render_table(filled, "latex", "footnotes"))
    flat = "".join(text.split())
    for words in ("P(A|B)", "5%&more_words", "back\\slash", "a^b~c#1{x}", "[first]bracket", "*star", "$5and$6",
                  "a--b---c", "<tag>\"q\"", "中文，（全角）％＆", "x_y.pyat50%", "草稿：row1", "A&B:100%"):  # fmt: skip
        assert words in flat, words
    assert all(f"row{i}" in flat for i in range(len(HARD)))


def test_all_records_of_the_repository_compile_in_both_languages(tmp_path: Path, root: Path) -> None:
    library = Library.load(load_workspace(root))
    records = chosen_records(library, [], None, True)
    parts = [
        render_table(compare(library, records, table=name, language=language), "latex", evidence)
        for name, language, evidence in (
            ("formulas", "en", "marks"),
            ("credit", "zh", "footnotes"),
            ("cost", "zh", "none"),
        )
    ]
    text = pdf_text(tmp_path, "\n".join(parts))
    assert all(record.paper.aliases[0].split()[0] in text for record in records if record.paper.aliases)

"""How well and how fast the LaTeX and HTML routes read: every source of the corpus, and a made page of arXiv's HTML.

    python tests/benchmarks/bench_latex.py [--misses]

The truth is counted by plain patterns over the sources, independent of the parser: headings, display environments, items
of reference lists, numbers of table rows, runs of eight words of prose. All times are CPU.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from latex_prose import entry_count, main_file, prose_runs, read_flat, words_of

from kb.errors import BadDocument
from kb.ingest.archive import read_source
from kb.ingest.html import acceptable, parse_html
from kb.ingest.latex import parse_latex
from kb.ingest.latex_definitions import collect
from kb.ingest.latex_macros import Macros
from kb.model import Document, Figure, Paragraph, Table

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
PAGE = Path(__file__).resolve().parents[1] / "fixtures" / "paper.html"
HEADING = re.compile(r"\\(?:chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?\s*[\[{]")
DISPLAY = re.compile(
    r"\\begin\s*\{(?:equation|align|gather|multline|eqnarray|displaymath|flalign|alignat)\*?\}|(?<!\\)\\\[|"
    r"\$\$[^$]+\$\$"
)
LEFTOVER = re.compile(r"\\[a-zA-Z]+")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOT_IN_ROWS = re.compile(
    r"\\(?:rule|specialrule|textcolor)(?:\{[^{}]*\}){1,3}|\\makebox(?:\[[^\]]*\])*|"
    r"\\(?:cmidrule|cline|rowcolor|cellcolor|columncolor|vspace|hspace|label|ref|color|addlinespace|setlength|"
    r"includegraphics|ding|"
    r"multirow|rotatebox|colorbox|arrayrulecolor|cdashline|hdashline|"
    r"cite[a-z]*)(?![a-zA-Z])\*?\s*(?:\([^)]*\))?(?:\[[^\]]*\])*(?:\{[^{}]*\})?"
)


@dataclass
class Tally:
    """What was found over all sources, beside the truth."""

    seconds: list[float] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)
    truth: Counter[str] = field(default_factory=Counter)
    leftovers: Counter[str] = field(default_factory=Counter)
    unresolved: int = 0
    user_macros: int = 0
    with_macros: int = 0
    misses: list[str] = field(default_factory=list)

    def count(self, name: str, what: str, found: int, truth: int) -> None:
        self.found[what] += min(found, truth)
        self.truth[what] += truth
        if found != truth:
            self.misses.append(f"{name}: {what} {found} of {truth}")


def shown_texts(document: Document) -> list[str]:
    """All that a person reads: prose, captions, cells, entries."""
    texts = [document.title, document.abstract, *(section.title for section in document.sections)]
    for _, block in document.blocks():
        if isinstance(block, Paragraph):
            texts.append(block.text)
        elif isinstance(block, Table | Figure):
            texts.append(block.caption)
        if isinstance(block, Table):
            texts += [cell.text for row in (*block.header, *block.rows) for cell in row]
    return texts + [text for entry in document.references for text in (entry.raw, entry.title or "", *entry.authors)]


def table_rows(tex: str) -> list[list[str]]:
    """The numbers of every table row with at least two of them, as typed."""
    rows = []
    for body in re.findall(
        r"\\begin\s*\{(?:tabular[xy*]?|longtable)\}(.*?)\\end\s*\{(?:tabular[xy*]?|longtable)\}", tex, re.DOTALL
    ):
        for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline", body)[1:]:
            numbers = NUMBER.findall(
                NOT_IN_ROWS.sub(" ", re.sub(r"\\multicolumn\s*\{\d+\}\s*\{[^{}]*\}", " ", row)).replace("{,}", ",")
            )
            if row.count("&") and len(numbers) > 1:
                rows.append(numbers)
    return rows


def is_within(numbers: list[str], row: list[str]) -> bool:
    """Whether all numbers stand in a row, in their order."""
    rest = iter(row)
    return all(number in rest for number in numbers)


def read_one(folder: Path, tally: Tally) -> None:
    source = read_source(folder)
    start = time.process_time()
    document = parse_latex(source.files)
    tally.seconds.append(time.process_time() - start)
    name, main = folder.name, main_file(folder)
    tex = read_flat(folder, main)
    macros = Macros()
    body = collect(tex.split("\\begin{document}", 1)[-1].split("\\end{document}")[0], macros)
    texts = shown_texts(document)
    prose = [re.sub(r"\$[^$]*\$|`[^`]*`", "", text) for text in texts]
    tally.leftovers.update(found for text in prose for found in LEFTOVER.findall(text))
    tally.unresolved += sum(text.count("??") for text in prose)
    titled = sum(section.id != "front" for section in document.sections)
    tally.count(name, "headings", titled, len(HEADING.findall(body)))
    tally.count(name, "display equations", len(document.equations), len(DISPLAY.findall(body)))
    if entries := entry_count(folder, main, tex):
        tally.count(name, "references", len(document.references), entries)
    collect(tex, macros)
    for equation in document.equations:
        calls = set(re.findall(r"\\([a-zA-Z]+|.)", equation.latex or "")) & macros.commands.keys()
        tally.user_macros += bool(calls)
        tally.with_macros += equation.latex_src is not None
    parsed = [
        NUMBER.findall(" ".join(cell.text for cell in row))
        for table in document.tables
        for row in (*table.header, *table.rows)
    ]
    wanted = table_rows(tex)
    missing = [numbers for numbers in wanted if not any(is_within(numbers, row) for row in parsed)]
    tally.count(name, "table rows", len(wanted) - len(missing), len(wanted))
    hay = " ".join(words_of(" ".join(re.sub(r"\$[^$]*\$|\[[^\[\]]*@[^\]]*\]", " ", text) for text in plain(texts))))
    runs = prose_runs(tex)
    tally.count(name, "runs of prose", sum(" ".join(run) in hay for run in runs), len(runs))


def plain(texts: list[str]) -> list[str]:
    """Every text twice: with its footnotes in place, and without them."""
    return [version for text in texts for version in (text, re.sub(r" \(footnote: .*?\)(?=[\s.,;:]|$)", "", text))]


def read_page() -> None:
    """A page of 400 KB: the made page's sections over and over."""
    text = re.sub(r'<span class="ltx_ERROR.*?</span>', "", PAGE.read_text(encoding="utf-8")).replace(
        "LONG", "Each agent gets the share of the reward that it has earned. " * 12
    )
    start, end = text.index('<section id="S1"'), text.index('<section id="A1"')
    page = text[:start] + text[start:end] * (500_000 // (end - start)) + text[end:]
    parse_html(page)  # the first call loads the parser
    # LaTeXML writes the glyphs of every formula as MathML beside its LaTeX.
    glyphs = "<semantics><mrow>" + '<mi>x</mi><mo stretchy="false">=</mo>' * 6 + "</mrow></semantics>"
    page = page.replace("></math>", f' display="inline">{glyphs}</math>')[:400_000] + "</section></article>"
    begun = time.process_time()
    document = parse_html(page)
    took = time.process_time() - begun
    assert document is not None
    print(f"HTML: a page of {len(page) // 1000} KB in {took * 1000:.0f} ms, {acceptable(document, document.title) or 'accepted'}, "
          f"{len(document.equations)} equations, {len(document.tables)} tables")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="name every count that differs")
    options = parser.parse_args()
    folders = sorted(folder for folder in (CORPUS / "sources").iterdir() if folder.name != "archives")
    tally = Tally()
    failed = []
    for folder in folders:
        try:
            read_one(folder, tally)
        except BadDocument as error:
            failed.append(f"{folder.name}: {error.message}")
    print(f"files: {CORPUS}/sources, {len(folders)} sources")
    print(f"parsed: {len(folders) - len(failed)} of {len(folders)}", *failed, sep="\n  ")
    print(f"CPU: median {statistics.median(tally.seconds):.3f} s, most {max(tally.seconds):.3f} s")
    for what, truth in tally.truth.items():
        print(f"{what}: {tally.found[what]} of {truth} = {tally.found[what] / truth:.4f}")
    print(f"display equations with the authors' macros: {tally.with_macros}; with one left: {tally.user_macros}")
    print(f"commands left in prose: {tally.leftovers.total()}", *tally.leftovers.most_common(8))
    print(f"references that resolve to nothing: {tally.unresolved}")
    if options.misses:
        print(*tally.misses, sep="\n")
    read_page()


if __name__ == "__main__":
    main()

"""How well and how fast the PDF route reads the corpus of real papers.

    python tests/benchmarks/bench_pdf.py [speed] [front] [known] [references] [tables] [hard] [--compiled FOLDER]

Prints the figures named, or all of them. Times are ratios to raw ``get_text()`` over the same pages in the same run.
``--compiled`` names a folder of PDFs that TeX made from ``sources/<id>`` of the corpus, each called ``<id>.pdf``; they
join the papers of the corpus whose source is there, and their text is known as well.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pymupdf
from latex_prose import RUN, entry_count, longest_rising, main_file, prose_runs, read_flat, words_of

from kb.ingest.archive import read_source
from kb.ingest.ids import find_arxiv_ids, try_arxiv_id
from kb.ingest.latex import parse_latex
from kb.ingest.pdf import page_texts, parse_pdf
from kb.ingest.pdf_headings import fold
from kb.ingest.pdf_reader import open_pdf
from kb.ingest.sandbox import Sandbox
from kb.ingest.section_numbers import split_number
from kb.model import Cell, Document, Table

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))

PAPERS = sorted((CORPUS / "papers").glob("*.pdf"))

# Headings that are real and that outlines leave out.
OURS = ("Front matter", "Notes")  # names that the parser gives to text below no heading
UNLISTED = frozenset("abstract references contents tableofcontents appendix acknowledgments acknowledgements keywords "
                     "contributions authorcontributions".split())  # fmt: skip


@dataclass
class Headings:
    """A paper's headings against its outline: entries, how many of them were found, and what was found besides."""

    entries: int
    missed: list[str]
    wrong: list[str]

    @property
    def hits(self) -> int:
        return self.entries - len(self.missed)


def headings(path: Path) -> Headings:
    """Compare with the outline, which is hidden from the parser.

    Numbered headings of a depth that the outline does not list for their part of the paper are neither right nor wrong.
    """
    with open_pdf(path) as pdf:
        titles = {" ".join(title.split()) for _, title, _ in pdf.outline()}
    document = parse_pdf(path, with_outline=False)
    wanted = {fold(title): {fold(title), fold(split_number(title)[1])} for title in titles if fold(title)}
    found: dict[str, tuple[str, int]] = {}
    for section in document.sections:
        if section.title not in OURS:
            number = section.number or ""
            found[fold(f"{number}{section.title}")] = (fold(section.title), number.count("."))
    shown = {form for full, (title, _) in found.items() for form in (full, title)}
    shown |= ({"abstract"} if document.abstract else set()) | ({"references"} if document.references else set())
    entries = {form for forms in wanted.values() for form in forms}
    is_listed = {(full[:1], depth) for full, (title, depth) in found.items() if {full, title} & entries}
    wrong = [
        title for full, (title, depth) in found.items()
        if not {full, title} & entries and title not in UNLISTED and (depth == 0 or (full[:1], depth) in is_listed)
    ]  # fmt: skip
    return Headings(len(wanted), [title for title, forms in wanted.items() if not forms & shown], wrong)


@dataclass
class Front:
    """What the first pages and the headings gave."""

    stamps: int = 0
    titles: list[str] = field(default_factory=list)
    found: int = 0
    outlined: int = 0
    hits: int = 0
    weak: list[str] = field(default_factory=list)


def print_front() -> None:
    """arXiv stamps, titles against the manifest, headings against outlines that the parser does not see."""
    tally, titles = Front(), manifest_titles()
    for path in PAPERS:
        document = parse_pdf(path)
        named = try_arxiv_id(path.stem)
        tally.stamps += bool(named and document.arxiv_id == named.bare)
        wanted = fold(titles.get(path.name, ""))
        # Some manifest titles run on into the line below the title.
        if not wanted.startswith(fold(document.title)[: len(wanted)]):
            tally.titles.append(f"{path.name}: {document.title!r} for {titles[path.name]!r}")
        compared = headings(path)
        if compared.entries >= 4:
            tally.outlined += compared.entries
            tally.hits += compared.hits
            tally.found += compared.hits + len(compared.wrong)
            if len(compared.missed) + len(compared.wrong) > 0.2 * compared.entries:
                tally.weak.append(f"{path.name}: missed {compared.missed}, wrong {compared.wrong}")
    print(f"arXiv stamp right: {tally.stamps} of {len(PAPERS)}")
    print(f"title right: {len(PAPERS) - len(tally.titles)} of {len(PAPERS)}", *tally.titles, sep="\n  ")
    print(f"headings against outlines: recall {tally.hits / tally.outlined:.3f}, precision {tally.hits / tally.found:.3f}")
    print("weakest:", *tally.weak, sep="\n  ")


def manifest_titles() -> dict[str, str]:
    """Titles as the manifest gives them, by file name."""
    with (CORPUS / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    found = {}
    for row in rows[1:]:
        match = re.search(r"title on page 1: (.+?)(?: \([a-z].*\))?$", row[3])
        if row and row[0].startswith("papers/") and match:
            found[Path(row[0]).name] = match[1]
    return found


def known_papers(compiled: Path | None) -> dict[str, Path]:
    """PDFs by the name of the source folder that holds their text."""
    folders = [folder.name for folder in sorted((CORPUS / "sources").iterdir()) if list(folder.glob("*.tex"))]
    places = [CORPUS / "papers", *([compiled] if compiled else [])]
    return {name: place / f"{name}.pdf" for name in folders for place in places if (place / f"{name}.pdf").is_file()}


def print_known_text(compiled: Path | None) -> None:
    """Runs of words of the LaTeX source looked up in the PDF's text: found, in order, unbroken; and entries counted."""
    totals = Counter[str]()
    papers = known_papers(compiled)
    for name, path in papers.items():
        folder = CORPUS / "sources" / name
        main_name = main_file(folder)
        tex = read_flat(folder, main_name)
        document = parse_pdf(path)
        words = words_of(everything(document))
        spaced, letters = f" {' '.join(words)} ", "".join(words)
        places = []
        for run in prose_runs(tex):
            totals["runs"] += 1
            joined = "".join(run)
            totals["found"] += joined in letters
            totals["intact"] += f" {' '.join(run)} " in spaced
            if letters.count(joined) == 1:
                places.append(letters.index(joined))
        totals["placed"] += len(places)
        totals["rising"] += longest_rising(places)
        entries = entry_count(folder, main_name, tex)
        if entries:
            totals["lists"] += 1
            totals["exact"] += entries == len(document.references)
    print(f"known text: {len(papers)} papers ({', '.join(papers)}), {totals['runs']} runs of {RUN} words")
    print(f"  found {totals['found'] / totals['runs']:.4f}, in order {totals['rising'] / totals['placed']:.4f}, "
          f"words intact {totals['intact'] / totals['found']:.4f}")  # fmt: skip
    print(f"  reference lists with the exact count: {totals['exact']} of {totals['lists']}")


def everything(document: Document) -> str:
    """All text of a document, floats and formulas included."""
    parts = [document.abstract]
    for section in document.sections:
        parts.append(section.title)
        for block in section.blocks:
            parts.append(getattr(block, "caption", None) or getattr(block, "text", None) or "")
    return "\n".join(parts)


def print_references() -> None:
    """The count of entries against the PDF's own link targets, or else its last marker that counts up from [1]."""
    right, known, unknown, wrong, doubled = 0, 0, [], [], 0
    for path in [*PAPERS, *sorted((CORPUS / "papers-other").glob("*.pdf"))]:
        references = parse_pdf(path).references
        doubled += sum(len({found.id for found in find_arxiv_ids(r.raw, context="reference")}) > 1 for r in references)
        truth = link_targets(path) or last_marker(path)
        if not truth:
            unknown.append(f"{path.stem} {len(references)}")
            continue
        known += 1
        if abs(len(references) - truth) <= 0.05 * truth:
            right += 1
        else:
            wrong.append(f"{path.stem}: {len(references)} for {truth}")
    print(f"reference lists within 5 %: {right} of {known} with a known count", *wrong, sep="\n  ")
    print(f"  no count known (found): {', '.join(unknown)}")
    print(f"  entries that hold two arXiv ids: {doubled}")


def link_targets(path: Path) -> int:
    """How many places ``cite.<key>`` a PDF names: LaTeX makes one for every entry."""
    with pymupdf.open(path) as pdf:
        names = pdf.resolve_names()
    return len({re.sub(r"^cite\.(?:\d*@)?", "", name) for name in names if name.startswith("cite.")})


def last_marker(path: Path) -> int:
    """The last number of lines that begin with [1], [2] and so on, in the last two thirds of the text."""
    text = "\n".join(page_texts(path))
    last = 0
    for number in map(int, re.findall(r"(?m)^\s*\[(\d{1,3})\]", text[len(text) // 3 :])):
        if number in (last + 1, last + 2):
            last = number
    return last


def print_tables() -> None:
    """Rows of numbers of the DeepSeek-V3 tables: those of the LaTeX source that the PDF's tables have just so."""
    source = parse_latex(read_source(CORPUS / "sources" / "2412.19437").files)
    read = {numbers(row) for table in parse_pdf(CORPUS / "papers" / "2412.19437.pdf").tables for row in rows_of(table)}
    rows = [numbers(row) for table in source.tables for row in rows_of(table)]
    rows = [row for row in rows if len(row) > 1]
    print(f"table rows exact (DeepSeek-V3): {sum(row in read for row in rows)} of {len(rows)}")


def rows_of(table: Table) -> list[tuple[Cell, ...]]:
    return [*table.header, *table.rows]


def numbers(row: tuple[Cell, ...]) -> tuple[str, ...]:
    """The numbers in a row of cells, as printed."""
    text = " ".join(cell.text for cell in row).replace("−", "-")
    return tuple(found.replace(",", "") for found in re.findall(r"-?\d+(?:[.,]\d+)*", text))


def print_hard() -> None:
    """Every hard file read in one child process: what it raises, prints, and costs."""
    code = (
        "import re, sys, time\nfrom pathlib import Path\nfrom kb.errors import BadDocument\n"
        "from kb.ingest.pdf import parse_pdf\nread = refused = other = 0\nslowest = 0.0\n"
        "for path in sorted(Path(sys.argv[1]).glob('*.pdf')):\n    start = time.process_time()\n"
        "    try:\n        parse_pdf(path)\n        read += 1\n    except BadDocument:\n        refused += 1\n"
        "    except Exception:\n        other += 1\n    slowest = max(slowest, time.process_time() - start)\n"
        "peak = int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) // 1024\n"
        "print(f'hard files: {read} read, {refused} refused, {other} other errors; slowest {slowest:.2f} s, {peak} MB')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(CORPUS / "hard")], capture_output=True, text=True, check=True)
    print(done.stdout.strip(), f"; {len(done.stderr)} characters on stderr", sep="")


def print_speed(rounds: int = 3) -> None:
    """The route's CPU time over that of raw ``get_text()``, paper by paper in turn, so that a busy machine hits both."""
    floor = content = route = 0.0
    pages = 0
    paths = PAPERS[:24]
    parse_pdf(paths[0])  # imports
    for path in paths * rounds:
        start = time.process_time()
        pages += read_pages(path, "text")
        after_floor = time.process_time()
        read_pages(path, "dict")
        after_content = time.process_time()
        parse_pdf(path)
        route += time.process_time() - after_content
        content += after_content - after_floor
        floor += after_floor - start
    print(f"speed over {len(paths)} papers, {pages // rounds} pages, as multiples of raw get_text(): "
          f"dict {content / floor:.2f}, whole route {route / floor:.2f}")  # fmt: skip
    print(f"two workers over one: {throughput(paths, 2) / throughput(paths, 1):.2f} times the papers in the same time")


def read_pages(path: Path, kind: str) -> int:
    with pymupdf.open(path) as document:
        for page in document:
            page.get_text(kind, flags=pymupdf.TEXT_PRESERVE_WHITESPACE)
        return int(document.page_count)


def throughput(paths: list[Path], workers: int) -> float:
    """Papers per second through sandboxed children, once these have started."""
    boxes = [Sandbox() for _ in range(workers)]
    shares = [paths[at::workers] for at in range(workers)]
    try:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda box: box.run(parse_pdf, paths[0]), boxes))
            start = time.perf_counter()
            list(pool.map(lambda box, share: [box.run(parse_pdf, path) for path in share], boxes, shares))
            return len(paths) / (time.perf_counter() - start)
    finally:
        for box in boxes:
            box.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", help="speed, front, known, references, tables, hard; all by default")
    parser.add_argument("--compiled", type=Path)
    options = parser.parse_args()
    figures = {
        "speed": print_speed, "front": print_front, "known": lambda: print_known_text(options.compiled),
        "references": print_references, "tables": print_tables, "hard": print_hard,
    }  # fmt: skip
    print(f"files: {CORPUS}, {len(PAPERS)} papers")
    for name in options.figures or figures:
        figures[name]()


if __name__ == "__main__":
    main()

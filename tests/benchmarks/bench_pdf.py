"""How well and how fast the PDF route reads the corpus of real papers.

    python tests/benchmarks/bench_pdf.py [--speed]

Prints the stamp, title, heading and reference figures over every PDF that names its truth, and with ``--speed`` the
CPU time of the route as a multiple of raw ``get_text()`` over the same pages in the same run.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import pymupdf

from kb.ingest.ids import try_arxiv_id
from kb.ingest.pdf import parse_pdf
from kb.ingest.pdf_headings import fold
from kb.ingest.pdf_reader import open_pdf
from kb.ingest.section_numbers import split_number

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))

# Headings that are real and that outlines leave out.
OURS = ("Front matter", "Notes")  # names that the parser gives to text below no heading
UNLISTED = frozenset("abstract references contents tableofcontents appendix acknowledgments acknowledgements keywords "
                     "contributions authorcontributions".split())  # fmt: skip


@dataclass
class Tally:
    """Counts over the corpus."""

    stamps: int = 0
    titles: list[str] = field(default_factory=list)
    found: int = 0
    outlined: int = 0
    hits: int = 0
    weak: list[str] = field(default_factory=list)


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


def quality(paths: list[Path], titles: dict[str, str]) -> Tally:
    tally = Tally()
    for path in paths:
        document = parse_pdf(path)
        named = try_arxiv_id(path.stem)
        tally.stamps += bool(named and document.arxiv_id == named.bare)
        wanted = titles.get(path.name, "")
        if wanted and fold(document.title) != fold(wanted):
            tally.titles.append(f"{path.name}: {document.title!r} for {wanted!r}")
        compared = headings(path)
        if compared.entries >= 4:
            tally.outlined += compared.entries
            tally.hits += compared.hits
            tally.found += compared.hits + len(compared.wrong)
            if len(compared.missed) + len(compared.wrong) > 0.2 * compared.entries:
                tally.weak.append(f"{path.name}: missed {compared.missed}, wrong {compared.wrong}")
    return tally


def titles_of(manifest: Path) -> dict[str, str]:
    """Titles as the manifest gives them, by file name."""
    with manifest.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    found = {}
    for row in rows[1:]:
        match = re.search(r"title on page 1: (.+?)(?: \([a-z].*\))?$", row[3])
        if row and row[0].startswith("papers/") and match:
            found[Path(row[0]).name] = match[1]
    return found


def speed(paths: list[Path], rounds: int = 3) -> None:
    """The route's CPU time over that of raw ``get_text()``, paper by paper in turn, so that a busy machine hits both."""
    floor = route = 0.0
    pages = 0
    parse_pdf(paths[0])  # imports
    for path in paths * rounds:
        start = time.process_time()
        with pymupdf.open(path) as document:
            for page in document:
                page.get_text()
                pages += 1
        middle = time.process_time()
        parse_pdf(path)
        floor += middle - start
        route += time.process_time() - middle
    print(f"speed over {len(paths)} papers, {pages // rounds} pages: route / raw get_text = {route / floor:.2f} CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    paths = sorted((CORPUS / "papers").glob("*.pdf"))
    if options.speed:
        speed(paths[:24])
        return
    tally = quality(paths, titles_of(CORPUS / "MANIFEST.tsv"))
    print(f"files: {CORPUS}/papers, {len(paths)} PDFs")
    print(f"arXiv stamp right: {tally.stamps} of {len(paths)}")
    print(f"titles wrong: {len(tally.titles)}", *tally.titles, sep="\n  ")
    print(f"headings against outlines: recall {tally.hits / tally.outlined:.3f}, precision {tally.hits / tally.found:.3f}")
    print("weakest:", *tally.weak, sep="\n  ")


if __name__ == "__main__":
    main()

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
from kb.ingest.pdf_furniture import body_size, drop_furniture
from kb.ingest.pdf_headings import find_headings, fold, split_number
from kb.ingest.pdf_lines import UnreadablePage
from kb.ingest.pdf_reader import open_pdf

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))

# Headings that are real and that outlines leave out.
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


def headings(path: Path) -> tuple[set[str], set[str]]:
    """``(in the outline, found by fonts)``, folded, with the outline hidden from the finder.

    Found headings that lie deeper than the outline goes are left out: it says nothing of them.
    """
    with open_pdf(path) as pdf:
        outline = pdf.outline()
        pages = [page for page in pdf.pages() if not isinstance(page, UnreadablePage)]
        drop_furniture(pages)
        lines = [line for page in pages for line in page.lines]
        guessed = find_headings(lines, [], body_size(pages))
    truth = {fold(split_number(title)[1]) for _, title, _ in outline} - {""}
    depth = max((level for level, _, _ in outline), default=0)
    return truth, {fold(heading.title) for heading in guessed if heading.level <= depth or not heading.number}


def quality(paths: list[Path], titles: dict[str, str]) -> Tally:
    tally = Tally()
    for path in paths:
        document = parse_pdf(path)
        named = try_arxiv_id(path.stem)
        tally.stamps += bool(named and document.arxiv_id == named.bare)
        wanted = titles.get(path.name, "")
        if wanted and fold(document.title) != fold(wanted):
            tally.titles.append(f"{path.name}: {document.title!r} for {wanted!r}")
        truth, guessed = headings(path)
        if len(truth) >= 4:
            # Unnumbered ends that outlines leave out are no mistakes.
            extra = {name for name in guessed - truth if name in UNLISTED}
            hits = len(truth & guessed)
            tally.outlined += len(truth)
            tally.found += len(guessed - extra)
            tally.hits += hits
            if hits < 0.8 * len(truth) or hits < 0.8 * len(guessed - extra):
                tally.weak.append(f"{path.name}: {hits} of {len(truth)}, found {len(guessed - extra)}")
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


def speed(paths: list[Path]) -> None:
    start = time.process_time()
    pages = 0
    for path in paths:
        with pymupdf.open(path) as document:
            for page in document:
                page.get_text()
                pages += 1
    floor = time.process_time() - start
    start = time.process_time()
    for path in paths:
        parse_pdf(path)
    route = time.process_time() - start
    print(f"speed over {len(paths)} papers, {pages} pages: route / raw get_text = {route / floor:.2f} CPU")


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

"""Prints the candidates that ``kb facts draft`` proposes for papers, for a person to judge.

    python tests/benchmarks/bench_drafts.py PAPER... [--columns problem,idea,headline,limitation] [--keyword] [--cache DIR]

PAPER is an arXiv id of the corpus or a PDF. The papers are read and indexed into a workspace below ``--cache``, which is
kept; nothing is written into a record. Exact figures need a person: ``notes/2026-11-30-draft-sheet.md`` has the rules.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from kb.drafting.columns import choose, load_columns
from kb.drafting.passages import PaperSearch, RememberedQueries
from kb.drafting.propose import propose
from kb.index.embedding.registry import embedder_of
from kb.index.reader import Index
from kb.library import Library, Paper
from kb.search.glossary import load_glossary
from kb.workspace import Workspace, load_workspace

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
JUDGED = "problem,idea,headline,limitation"


def ready(cache: Path, names: Sequence[str]) -> tuple[Workspace, list[Paper]]:
    """A workspace that holds these papers, and the papers in the order of asking."""
    for folder in ("papers", "notes"):
        (cache / folder).mkdir(parents=True, exist_ok=True)
    (cache / "kb.toml").write_text('[store]\nkind = "exact"\n', encoding="utf-8")
    workspace = load_workspace(cache)
    sources = [name if Path(name).is_file() else str(CORPUS / "papers" / f"{name}.pdf") for name in names]
    program = "from kb.cli import main; main()"
    arguments = ["--workspace", str(cache), "--offline", "ingest", *sources]
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, stdout=subprocess.DEVNULL)
    library = Library.load(workspace)
    return workspace, [library.get(Path(name).stem if Path(name).is_file() else name) for name in names]


def print_candidates(workspace: Workspace, papers: Sequence[Paper], wanted: Sequence[str], keyword_only: bool) -> None:
    columns = choose(load_columns(workspace), wanted)
    glossary = load_glossary(workspace)
    queries = [query for column in columns for query in column.queries]
    embedder = None if keyword_only else RememberedQueries(embedder_of(workspace), queries, glossary)
    with Index.open(workspace) as index:
        for paper in papers:
            print(f"=== {paper.arxiv_id or paper.slug}  {paper.title}")
            search = PaperSearch(index, paper, glossary, embedder)
            for column in columns:
                print(f"\n{column.key}")
                candidates = propose(paper, search, column)
                for rank, candidate in enumerate(candidates, start=1):
                    print(f"  {rank}. {candidate.score:.2f}  {candidate.evidence}")
                    print(textwrap.indent(textwrap.fill(candidate.text, 116), "     "))
                if not candidates:
                    print("  nothing proposed")
            print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="+")
    parser.add_argument("--columns", default=JUDGED)
    parser.add_argument("--keyword", action="store_true", help="without the embedding model")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "kb-bench-drafts")
    given = parser.parse_args()
    workspace, papers = ready(given.cache, given.papers)
    print_candidates(workspace, papers, given.columns.split(","), given.keyword)


if __name__ == "__main__":
    main()

"""How well search finds what it should, on sets of questions whose answers are known.

    python tests/benchmarks/bench_retrieval.py [SET ...] [--split dev|test|all] [--cache DIR]

Prints recall@10, nDCG@10 and MRR of keyword search alone, vectors alone and both fused. Sets: ``abstracts`` (Chinese
questions over 3,000 English abstracts), ``titles`` (English titles over the same abstracts, titles not indexed),
``papers`` (Chinese and English questions over the bodies of the PDFs), ``notes`` (Chinese and English questions over
Chinese notes), ``csl`` (Chinese titles over Chinese abstracts), ``csfcube`` (a facet of an abstract, graded). Workspaces are made below ``--cache`` and kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kb.index.embedding.registry import embedder_of
from kb.index.filters import Filters
from kb.index.reader import Index
from kb.index.reconcile import reconcile
from kb.search.glossary import load_glossary
from kb.search.hybrid import search
from kb.workspace import Workspace, load_workspace

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
QUESTIONS = Path(__file__).parent / "questions"


@dataclass(frozen=True)
class Question:
    """A question, what answers it with its grade, and what may be ranked at all (empty: everything)."""

    text: str
    relevant: dict[str, float]
    among: tuple[str, ...] = ()


def equally(names: Iterable[str]) -> dict[str, float]:
    return dict.fromkeys(names, 1.0)


def read_questions(name: str, split: str) -> list[Question]:
    lines = (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [Question(row["query"], equally(row["relevant"])) for row in rows if split in ("all", row["split"])]


def new_workspace(folder: Path) -> Workspace:
    for name in ("papers", "notes"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "kb.toml").write_text('[store]\nkind = "exact"\n', encoding="utf-8")
    return load_workspace(folder)


def write_paper(folder: Path, key: str, title: str, abstract: str) -> None:
    slug = key.replace("/", "_").replace(":", "_")
    place = folder / "papers" / slug
    (place / "files" / "v1").mkdir(parents=True, exist_ok=True)
    record = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\naliases: [{json.dumps(key)}]\n---\n"
    (place / "paper.md").write_text(record, encoding="utf-8")
    data = json.dumps({"title": title, "abstract": abstract, "version": 1}, ensure_ascii=False)
    (place / "files" / "v1" / "metadata.json").write_text(data, encoding="utf-8")


def abstracts() -> list[dict[str, str]]:
    with gzip.open(CORPUS / "benchmarks/passages/passages-3000.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def bare(key: str) -> str:
    return key.removeprefix("arxiv:").replace("/", "_").replace(":", "_")


def ready(cache: Path, name: str, fill: object) -> Workspace:
    """The workspace of a set: made, filled and indexed the first time."""
    folder = cache / name
    fresh = not (folder / "kb.toml").exists()
    workspace = new_workspace(folder)
    if fresh:
        assert callable(fill)
        fill(folder)
    reconcile(workspace, embedder_of(workspace))
    return workspace


def measure(
    workspace: Workspace, title: str, questions: Iterable[Question], names: dict[str, str] | None = None
) -> None:
    glossary, embedder = load_glossary(workspace), embedder_of(workspace)
    asked = list(questions)
    figures: dict[str, list[tuple[float, float, float]]] = {"keyword": [], "dense": [], "hybrid": []}
    with Index.open(workspace) as index:
        for question in asked:
            answer = search(index, question.text, glossary, embedder, Filters(papers=question.among), most=200)
            orders = {
                "keyword": sorted(
                    (h for h in answer.hits if h.scores.keyword_rank), key=lambda h: h.scores.keyword_rank
                ),
                "dense": sorted((h for h in answer.hits if h.scores.dense_rank), key=lambda h: h.scores.dense_rank),
                "hybrid": list(answer.hits),
            }
            for method, hits in orders.items():
                owners = list(dict.fromkeys((names or {}).get(h.passage.paper, h.passage.paper) for h in hits))
                figures[method].append(score(owners, question.relevant))
    print(f"{title} ({len(asked)} questions)")
    for method, rows in figures.items():
        means = [sum(column) / max(len(rows), 1) for column in zip(*rows, strict=True)]
        print(f"  {method:8} recall@10 {means[0]:.3f}  nDCG@10 {means[1]:.3f}  MRR {means[2]:.3f}")


def score(ranked: list[str], relevant: dict[str, float]) -> tuple[float, float, float]:
    places = [rank for rank, owner in enumerate(ranked, start=1) if owner in relevant]
    gain = sum(relevant[ranked[rank - 1]] / math.log2(rank + 1) for rank in places if rank <= 10)
    best = sorted(relevant.values(), reverse=True)[:10]
    ideal = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, start=1))
    recall = sum(rank <= 10 for rank in places) / min(len(relevant), 10)
    return recall, gain / ideal, 1 / places[0] if places else 0.0


def run_abstracts(cache: Path, split: str) -> None:
    def fill(folder: Path) -> None:
        for row in abstracts():
            write_paper(folder, bare(row["id"]), row["title"], row["text"])

    workspace = ready(cache, "abstracts", fill)
    questions = [
        Question(q.text, equally(map(bare, q.relevant))) for q in read_questions("zh_over_en_abstracts", split)
    ]
    measure(workspace, "Chinese questions over English abstracts", questions)


def run_titles(cache: Path, split: str) -> None:
    rows = abstracts()

    def fill(folder: Path) -> None:
        for row in rows:
            write_paper(folder, bare(row["id"]), bare(row["id"]), row["text"])

    workspace = ready(cache, "titles", fill)
    chosen = random.Random(20261130).sample(rows, 300)
    questions = [Question(row["title"], equally([bare(row["id"])])) for row in chosen]
    measure(workspace, "English titles over abstracts without titles", questions)


def run_notes(cache: Path, split: str) -> None:
    def fill(folder: Path) -> None:
        shutil.copytree(CORPUS / "notes-zh", folder / "notes", dirs_exist_ok=True)

    workspace = ready(cache, "notes", fill)
    for name, title in (
        ("en_over_zh_notes", "English over Chinese notes"),
        ("zh_over_zh_notes", "Chinese over Chinese notes"),
    ):
        found = read_questions(name, split)
        questions = [Question(q.text, equally(f"notes/{path}" for path in q.relevant)) for q in found]
        measure(workspace, title, questions)


def run_papers(cache: Path, split: str) -> None:
    def fill(folder: Path) -> None:
        program = "from kb.cli import main; main()"
        arguments = ["--workspace", str(folder), "ingest", "--no-index", str(CORPUS / "papers")]
        subprocess.run([sys.executable, "-c", program, *arguments], check=True, stdout=subprocess.DEVNULL)

    workspace = ready(cache, "papers", fill)
    from kb.library import Library

    names = {slug: paper.arxiv_id or slug for slug, paper in Library.load(workspace).papers.items()}
    for name, title in (
        ("zh_over_papers", "Chinese over paper bodies"),
        ("en_over_papers", "English over paper bodies"),
    ):
        measure(workspace, title, read_questions(name, split), names)


def run_csl(cache: Path, split: str) -> None:
    lines = (CORPUS / "benchmarks/csl/ts-test.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [parts for line in lines if len(parts := line.split("\t")) >= 2]

    def fill(folder: Path) -> None:
        for number, parts in enumerate(pairs):
            write_paper(folder, f"csl{number}", f"csl{number}", max(parts, key=len).removeprefix("to title").strip())

    workspace = ready(cache, "csl", fill)
    chosen = random.Random(20261130).sample(range(len(pairs)), 300)
    questions = [
        Question(min((p for p in pairs[n] if p.strip() != "to title"), key=len), equally([f"csl{n}"])) for n in chosen
    ]
    measure(workspace, "Chinese titles over Chinese abstracts (CSL)", questions)


def run_csfcube(cache: Path, split: str) -> None:
    """Query by example: one facet of an abstract (its background, method or result sentences), graded candidates."""
    papers: dict[str, tuple[str, dict[str, str]]] = {}
    graded: list[tuple[str, str, dict[str, float]]] = []
    with tarfile.open(CORPUS / "benchmarks/csfcube/readable_annotations.tar.gz") as archive:
        for member in sorted(archive.getnames()):
            handle = archive.extractfile(member)
            if handle is None:
                continue
            _, facet, _ = Path(member).stem.split("-")
            entries = re.split(r"\n=+\n", "\n" + handle.read().decode("utf-8"))
            found = [entry for entry in map(csf_entry, entries) if entry]
            papers |= {key: (title, labels) for key, title, labels, _ in found}
            graded.append((found[0][0], facet, {key: grade for key, _, _, grade in found[1:]}))

    def fill(folder: Path) -> None:
        for key, (title, labels) in papers.items():
            write_paper(folder, f"csf{key}", title, " ".join(labels.values()))

    workspace = ready(cache, "csfcube", fill)
    questions = []
    for key, facet, grades in graded:
        text = papers[key][1].get(facet) or " ".join(papers[key][1].values())
        relevant = {f"csf{other}": grade for other, grade in grades.items() if grade > 0}
        if relevant:
            questions.append(Question(text, relevant, tuple(f"csf{other}" for other in grades)))
    measure(workspace, "CSFCube, a facet of an abstract over its graded candidates", questions)


def csf_entry(text: str) -> tuple[str, str, dict[str, str], float] | None:
    """``(id, title, sentences by facet, grade)`` of one entry of an annotation file."""
    key, title = re.search(r"paper_id: (\d+)", text), re.search(r"TITLE: (.*)", text)
    if not key or not title:
        return None
    labels: dict[str, str] = {}
    for label, sentence in re.findall(r"(\w+)_label: (.*)", text):
        labels[label] = f"{labels.get(label, '')} {sentence}".strip()
    grade = re.search(r"relevance: [^(]*\(\+?(\d)\)", text)
    return key[1], title[1], labels, float(grade[1]) if grade else 0.0


SETS = {
    "csfcube": run_csfcube,
    "abstracts": run_abstracts,
    "titles": run_titles,
    "notes": run_notes,
    "papers": run_papers,
    "csl": run_csl,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--split", default="all", choices=("dev", "test", "all"))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "kb-bench-retrieval")
    options = parser.parse_args()
    print(f"files: {CORPUS}; questions: {QUESTIONS}; split {options.split}")
    for name in options.sets:
        SETS[name](options.cache, options.split)


if __name__ == "__main__":
    main()

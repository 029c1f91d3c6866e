"""What 100,000 passages cost: time, memory, disk, and how long a question takes.

    python tests/benchmarks/bench_100k.py [--passages N] [--folder DIR]

The passages are titles with authors, and abstracts, of the arXiv records in the corpus. Vectors are hashed words turned
into 384 dimensions, so that size and search cost are those of the default model while making them costs next to
nothing; the model's own time is then estimated from a sample of 64 passages. Each measurement of memory is a process of
its own. Parts: passages and keyword index, vector cache, exact file, Chroma; then questions, cold and warm, and a
small change.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kb.index.drafts import Draft, Owner, finish
from kb.index.embedding.hashing import HashingEmbedder
from kb.index.embedding.protocol import EmbedderIdentity, FloatArray
from kb.index.embedding.registry import open_embedder
from kb.index.embedding_step import embed_missing
from kb.index.filters import Filters
from kb.index.passages import DocumentPassages, PassageStore
from kb.index.reader import Index, any_of
from kb.index.recipe import Recipe, make_current, recipe_folder, write_manifest
from kb.index.sentences import pack, sentence_pieces
from kb.index.stores import open_chroma, open_exact
from kb.index.vectors import VectorCache
from kb.index.views import fill, fill_exact, wanted_vectors
from kb.model import Kind
from kb.search.tokens import query_tokens
from kb.workspace import Workspace, load_workspace

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
DIMENSION = 384
QUESTIONS = 200


class WideHashing:
    """The hashing embedder, its vectors turned into as many dimensions as the default model has."""

    identity: EmbedderIdentity = replace(HashingEmbedder.identity, name="wide-hashing", dimension=DIMENSION)

    def __init__(self) -> None:
        self._turn = np.random.default_rng(0).normal(size=(256, DIMENSION)).astype(np.float32)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        rows: FloatArray = HashingEmbedder().embed_passages(texts) @ self._turn
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    embed_queries = embed_passages


@dataclass(frozen=True)
class Record:
    identifier: str
    title: str
    authors: str
    abstract: str
    day: str


def records() -> Iterator[Record]:
    """Each arXiv record of the corpus once."""
    csv.field_size_limit(1 << 24)
    seen: set[str] = set()
    for path in sorted((CORPUS / "metadata").glob("arxiv-*/*.tsv.xz")):
        with lzma.open(path, "rt", encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                if row["arxiv_id"] and row["arxiv_id"] not in seen:
                    seen.add(row["arxiv_id"])
                    yield Record(row["arxiv_id"], row["title"], row["author_text"], row["abstract"], row["created"])


def document(record: Record) -> DocumentPassages:
    owner = Owner(record.identifier, record.title, record.day)
    path = f"papers/{record.identifier}/paper.md"
    drafts = [Draft(Kind.FACT, f"{record.title}\n{record.authors}", path, (0, 1), ("record",))]
    for run in pack(list(sentence_pieces(record.abstract, 0, len(record.abstract)))):
        span = (run[0].start, run[-1].stop)
        drafts.append(Draft(Kind.PROSE, record.abstract[slice(*span)], path, span, ("Abstract",), "abstract"))
    return DocumentPassages(record.identifier, "paper", record.title, record.day, (), (), finish(owner, drafts))


def timed(what: str, action: Callable[[], object], count: int) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<34} {wall:7.1f} s wall {cpu:7.1f} s CPU {count / cpu:9.0f} /s of CPU, peak {peak:5.0f} MB", flush=True)


def build_passages(workspace: Workspace, recipe: Recipe, count: int) -> None:
    with PassageStore(recipe_folder(workspace, recipe)) as store:
        have = 0
        for record in records():
            made = document(record)
            store.replace(made)
            have += len(made.passages)
            if have >= count:
                break
    write_manifest(recipe_folder(workspace, recipe), recipe)
    make_current(workspace, recipe_folder(workspace, recipe))


def step(workspace: Workspace, name: str, count: int) -> None:
    """One part of the build, in the process that was started for it."""
    recipe = Recipe(WideHashing.identity)
    folder = recipe_folder(workspace, recipe)
    if name == "passages":
        timed("passages and keyword index", lambda: build_passages(workspace, recipe, count), count)
    elif name == "ask":
        ask(workspace, recipe)
    else:
        with PassageStore(folder) as store, VectorCache(workspace, recipe.model) as cache:
            wanted = wanted_vectors(store)
            actions: dict[str, Callable[[], object]] = {
                "vectors (hashing) into the cache": lambda: embed_missing(store, cache, WideHashing(), lambda *_: None),
                "exact file from the cache": lambda: fill_exact(folder, recipe, wanted, cache),
                "Chroma from the cache": lambda: fill(open_chroma(workspace, recipe), wanted, cache),
                "five vectors less: exact file": lambda: fill_exact(folder, recipe, dict(list(wanted.items())[5:]), cache),
                "five vectors less: Chroma": lambda: fill(
                    open_chroma(workspace, recipe), dict(list(wanted.items())[5:]), cache
                ),
            }
            timed(name, actions[name], len(wanted))


def ask(workspace: Workspace, recipe: Recipe) -> None:
    questions = [record.title for record, _ in zip(records(), range(5 * QUESTIONS), strict=False)][::5]
    vectors = WideHashing().embed_queries(questions)
    cold = time.process_time()
    with Index.open(workspace) as index:
        index.keyword(any_of(query_tokens(questions[0])), 100)
        print(f"open, first keyword question       {1000 * (time.process_time() - cold):7.1f} ms CPU")
        cold = time.process_time()
        index.dense(vectors[0], 100)
        print(f"open the exact file, first vector  {1000 * (time.process_time() - cold):7.1f} ms CPU")
        narrow = index.allowed(Filters(since="2018"))
        assert narrow is not None
        percentiles("keyword, top 100", [lambda q=q: index.keyword(any_of(query_tokens(q)), 100) for q in questions])
        percentiles("exact vectors, top 100", [lambda v=v: index.dense(v, 100) for v in vectors])
        percentiles(f"the same, among {len(narrow)} by a filter", [lambda v=v: index.dense(v, 100, narrow) for v in vectors[:40]])
        percentiles("resolve that filter", [lambda: index.allowed(Filters(since="2018"))] * 20)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"memory of a process that searches  {memory:7.0f} MB")
    chroma = open_chroma(workspace, recipe)
    percentiles("Chroma, top 100", [lambda v=v: chroma.query(v, 100) for v in vectors])
    exact = open_exact(recipe_folder(workspace, recipe), recipe)
    shared = sum(len({i for i, _ in exact.query(v, 10)} & {i for i, _ in chroma.query(v, 10)}) for v in vectors)
    print(f"Chroma finds {shared / (10 * len(vectors)):.3f} of the exact ten nearest")
    print(f"memory with Chroma open            {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MB")
    chroma.close()


def percentiles(what: str, actions: Sequence[Callable[[], object]]) -> None:
    spent = []
    for action in actions:
        start = time.perf_counter()
        action()
        spent.append(1000 * (time.perf_counter() - start))
    print(f"{what:<34} p50 {np.percentile(spent, 50):7.1f} ms, p95 {np.percentile(spent, 95):7.1f} ms")


def estimate_model(workspace: Workspace) -> None:
    """The default model on a sample, since embedding all of it takes longer than anybody waits for a benchmark."""
    with PassageStore(recipe_folder(workspace, Recipe(WideHashing.identity))) as store:
        rows = store.connection.execute("SELECT text FROM passages ORDER BY hash LIMIT 64").fetchall()
        total = store.count()
    embedder = open_embedder()
    texts = [str(row[0]) for row in rows]
    embedder.embed_passages(texts[:8])
    start = time.process_time()
    embedder.embed_passages(texts)
    each = (time.process_time() - start) / len(texts)
    name = embedder.identity.name
    print(f"{name}: {1000 * each:.0f} ms of CPU a passage, so about {total * each / 3600:.1f} hours of CPU for all")


def disk(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size > 1 << 20:
            print(f"{path.stat().st_size / 1e6:8.0f} MB  {path.relative_to(folder)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="Keep the index here and use what is there.")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="kb-100k-"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kb.toml").write_text("", encoding="utf-8")
    workspace = load_workspace(folder)
    if options.step:
        step(workspace, options.step, options.passages)
        return
    print(json.dumps({"corpus": str(CORPUS.name), "passages": options.passages, "dimension": DIMENSION}))
    for name in (
        "passages", "vectors (hashing) into the cache", "exact file from the cache", "Chroma from the cache", "ask",
        "five vectors less: exact file", "five vectors less: Chroma",
    ):  # fmt: skip
        arguments = ["--folder", str(folder), "--passages", str(options.passages), "--step", name]
        subprocess.run([sys.executable, __file__, *arguments], check=True)
    disk(workspace.derived)
    estimate_model(workspace)
    if options.folder is None:
        print(f"the index is in {folder}; delete it when you have looked at it")


if __name__ == "__main__":
    main()

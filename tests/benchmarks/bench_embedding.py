"""How fast the embedders of the default model are, as ratios within one run.

    python tests/benchmarks/bench_embedding.py [--passages 64] [--onnxruntime]

Prints the CPU time of a cold query (new process, model on disk), of the tokenizers, and passages per second of each
bulk engine relative to sentence-transformers in fp32, with the largest difference of a component. Each engine gets
its best of two rounds. ``--onnxruntime`` exports the model for comparison (needs the package onnx).
Passages come from the corpus of real files (KB_CORPUS). Trust the ratios, not the figures, on a busy machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kb.index.embedding.bundled import E5_SMALL, BundledEmbedder
from kb.index.embedding.e5_folder import PIECES_FILE
from kb.index.embedding.protocol import with_prefix
from kb.index.embedding.sentence import SentenceEngine, is_available
from kb.index.embedding.unigram import UnigramTokenizer

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
PASSAGES = CORPUS / "benchmarks" / "passages" / "passages-3000.jsonl.gz"
QUERY = "优势归一化 为什么会让梯度不稳定"
Vectors = Any

COLD_QUERY = f"""
import time
from kb.index.embedding.registry import open_embedder
open_embedder().embed_queries([{QUERY!r}])
print(time.process_time())
"""
COLD_TOKENIZERS = """
import sys, time
import tokenizers
start = time.process_time()
tokenizers.Tokenizer.from_file(sys.argv[1])
print(time.process_time() - start)
"""
COLD_ONNXRUNTIME = "import time, onnxruntime; print(time.process_time())"
COLD_NUMPY = "import time, numpy; print(time.process_time())"


def cold(program: str, *arguments: str) -> float:
    """Median of five new processes, each printing its CPU seconds."""
    command = [sys.executable, "-c", program, *arguments]
    runs = [subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True) for _ in range(5)]
    return statistics.median(float(run.stdout) for run in runs)


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def bulk(name: str, encode: Callable[[list[str]], Vectors], texts: list[str]) -> tuple[str, float, float, Vectors]:
    """Name, passages per second and CPU milliseconds per passage of the better round, vectors."""
    rounds = []
    vectors = encode(texts[:4])
    for _ in range(2):
        wall, work = time.perf_counter(), time.process_time()
        vectors = encode(texts)
        rounds.append((time.perf_counter() - wall, time.process_time() - work))
    wall, work = min(rounds)
    return name, len(texts) / wall, 1000 * work / len(texts), vectors


def onnxruntime_encoder(engine: SentenceEngine, folder: Path) -> Callable[[list[str]], Vectors]:
    """The same model exported from torch, fed in length-sorted padded batches of 8."""
    import onnxruntime
    import torch

    class LastHidden(torch.nn.Module):
        def __init__(self, bert: torch.nn.Module) -> None:
            super().__init__()
            self.bert = bert

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state  # type: ignore[no-any-return]

    one = torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "text", 1: "token"} for name in ("ids", "mask", "hidden")}
    torch.onnx.export(
        LastHidden(engine._model[0].model).eval(), (one, one), str(folder / "model.onnx"),
        input_names=["ids", "mask"], output_names=["hidden"], dynamic_axes=axes, dynamo=False,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    tokenizer = UnigramTokenizer(E5_SMALL.folder() / PIECES_FILE, E5_SMALL.identity.max_tokens)

    def encode(texts: list[str]) -> Vectors:
        sequences = tokenizer.encode(texts)
        order = sorted(range(len(sequences)), key=lambda at: len(sequences[at]))
        out = np.empty((len(texts), E5_SMALL.identity.dimension), np.float32)
        for first in range(0, len(order), 8):
            rows = order[first : first + 8]
            ids = np.ones((len(rows), max(len(sequences[at]) for at in rows)), np.int64)
            mask = np.zeros_like(ids)
            for row, at in enumerate(rows):
                ids[row, : len(sequences[at])] = sequences[at]
                mask[row, : len(sequences[at])] = 1
            hidden = session.run(None, {"ids": ids, "mask": mask})[0]
            out[rows] = (hidden * mask[:, :, None]).sum(axis=1)
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    return encode


def report_start() -> None:
    folder = E5_SMALL.folder()
    print("\ncold start, CPU seconds, median of five processes:")
    print(f"  one query, everything included   {cold(COLD_QUERY):.2f}")
    print(f"  of it: import numpy              {cold(COLD_NUMPY):.2f}")
    print(f"  not used: import onnxruntime     {cold(COLD_ONNXRUNTIME):.2f}")
    print(f"  not used: load 250,002 pieces    {cold(COLD_TOKENIZERS, str(folder / 'tokenizer.json')):.2f}")


def report_tokenizer(texts: list[str], encode_seconds: float) -> None:
    tokenizer = UnigramTokenizer(E5_SMALL.folder() / PIECES_FILE, E5_SMALL.identity.max_tokens)
    seconds = cpu(lambda: tokenizer.encode(texts))
    print(f"tokenizer by look-up: {1000 * seconds / len(texts):.2f} ms CPU a passage, "
          f"{100 * seconds / encode_seconds:.1f} % of embedding without torch")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=64)
    parser.add_argument("--onnxruntime", action="store_true")
    options = parser.parse_args()
    with gzip.open(PASSAGES, "rt", encoding="utf-8") as stream:
        texts = [json.loads(line)["text"] for _, line in zip(range(options.passages), stream, strict=False)]
    prefixed = with_prefix(E5_SMALL.identity.passage_prefix, texts)
    settings = [f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "OPENBLAS_CORETYPE") if name in os.environ]
    print(
        f"files: {PASSAGES}, first {len(texts)}; {os.cpu_count()} cores; {' '.join(settings) or 'no thread settings'}"
    )
    if "OPENBLAS_CORETYPE" in os.environ:
        print("OPENBLAS_CORETYPE is set: numpy's matrix products may be slower here than elsewhere")
    report_start()
    free = BundledEmbedder(E5_SMALL)._torch_free
    rows = [bulk("torch-free (numpy)", free.encode, prefixed)]
    if is_available():
        engine = SentenceEngine(E5_SMALL.folder())
        rows.insert(0, bulk("sentence-transformers fp32", engine.encode, prefixed))
        if options.onnxruntime:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(bulk("onnxruntime fp32", onnxruntime_encoder(engine, Path(folder)), prefixed))
        engine.use("bf16")
        rows.append(bulk("sentence-transformers bf16", engine.encode, prefixed))
    print(f"\n{'bulk engine':28}{'passages/s':>11}{'ratio':>7}{'CPU ms each':>13}{'largest difference':>20}")
    for name, speed, work, vectors in rows:
        apart = np.abs(vectors - rows[0][3]).max()
        print(f"{name:28}{speed:11.1f}{speed / rows[0][1]:7.2f}{work:13.0f}{apart:20.1e}")
    report_tokenizer(prefixed, next(row[2] for row in rows if row[0].startswith("torch-free")) * len(texts) / 1000)


if __name__ == "__main__":
    main()

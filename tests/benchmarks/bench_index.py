"""What ``kb index`` costs beside the embedder that it feeds.

    python tests/benchmarks/bench_index.py [--papers N] [--workspace DIR]

Ingests N LaTeX sources of the corpus into a workspace (or takes one that is there), then indexes it in a new process
with the default model, with Chroma and without, and prints the whole process's time as a multiple of the time spent
inside the embedder (which includes loading the model). Then a run with nothing to do, one with an edited note, and one
after ``.kb/index`` and ``.kb/chroma`` were deleted. Times are of CPU; wall times beside them suffer from neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(os.environ.get("KB_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
ROOT = Path(__file__).resolve().parents[2]
MOST_RATIO = 1.15

# Runs the command as a person does, with a clock around the embedder.
CHILD = """
import json, sys, time
begin = time.perf_counter(), time.process_time()
from pathlib import Path
from kb.cli.index import bring_up_to_date
from kb.workspace import load_workspace
import kb.index.embedding.registry as registry

inside = [0.0, 0.0]
open_embedder = registry.embedder_of

class Timed:
    def __init__(self, inner):
        self.inner, self.identity = inner, inner.identity
    def embed_passages(self, texts):
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return self.inner.embed_passages(texts)
        finally:
            inside[0] += time.perf_counter() - wall
            inside[1] += time.process_time() - cpu

registry.embedder_of = lambda workspace: Timed(open_embedder(workspace))
report = bring_up_to_date(load_workspace(Path(sys.argv[1])), quiet=True)
print(json.dumps({
    "wall": time.perf_counter() - begin[0], "cpu": time.process_time(), "inside_wall": inside[0],
    "inside_cpu": inside[1], "embedded": report.embedded, "passages": report.passages, "read": report.read,
}))
"""


def run(workspace: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KB_OFFLINE": "1"}
    arguments = [sys.executable, "-c", CHILD, str(workspace)]
    ran = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    values: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return values


def show(what: str, values: dict[str, float]) -> None:
    line = f"{what:<38} {values['cpu']:7.2f} s CPU {values['wall']:7.2f} s wall, {values['embedded']:.0f} texts embedded"
    if values["inside_cpu"]:
        ratio = values["cpu"] / values["inside_cpu"]
        line += f", {ratio:.3f} x the embedder's CPU ({values['wall'] / values['inside_wall']:.3f} x its wall time)"
        line += "" if ratio <= MOST_RATIO else f"  ABOVE {MOST_RATIO}"
    print(line, flush=True)


def make_workspace(folder: Path, papers: int) -> None:
    """LaTeX sources, which are read faster than PDFs, and one note."""
    (folder / "notes").mkdir(parents=True)
    (folder / "papers").mkdir()
    (folder / "kb.toml").write_text("", encoding="utf-8")
    (folder / "notes" / "n.md").write_text("# 笔记\n\n优势归一化。\n", encoding="utf-8")
    sources = [path for path in sorted((CORPUS / "sources").iterdir()) if path.is_dir() and path.name[:2].isdigit()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KB_OFFLINE": "1", "KB_WORKSPACE": str(folder)}
    arguments = ["ingest", "--no-index", *map(str, sources[:papers])]
    code = "from kb.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *arguments], env=environment, check=False, stdout=subprocess.DEVNULL)


def set_store(folder: Path, kind: str) -> None:
    (folder / "kb.toml").write_text(f'[store]\nkind = "{kind}"\n', encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=4)
    parser.add_argument("--workspace", type=Path, help="Index a copy of this one.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kb-bench-") as name:
        folder = Path(name) / "workspace"
        if options.workspace:
            shutil.copytree(options.workspace, folder, ignore=shutil.ignore_patterns(".kb", "files"))
        else:
            make_workspace(folder, options.papers)
        set_store(folder, "chroma")
        first = run(folder)
        print(f"{first['passages']:.0f} passages of {first['read']:.0f} papers and notes")
        show("first run, with Chroma", first)
        show("nothing to do", run(folder))
        note = next((folder / "notes").rglob("*.md"))
        note.write_text(note.read_text(encoding="utf-8") + "\n\n新的一句。\n", encoding="utf-8")
        show("one note edited", run(folder))
        shutil.rmtree(folder / ".kb" / "index")
        shutil.rmtree(folder / ".kb" / "chroma")
        show("index and Chroma deleted, cache kept", run(folder))
        shutil.rmtree(folder / ".kb")
        set_store(folder, "exact")
        show("first run, exact store alone", run(folder))


if __name__ == "__main__":
    main()

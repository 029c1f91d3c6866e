"""Imports run one way, help starts without heavy packages, and files keep their size."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "chromadb", "pymupdf", "sentence_transformers", "sklearn", "matplotlib", "httpx", "numpy", "selectolax",
         "arxiv", "onnxruntime", "tokenizers", "rapidocr")  # fmt: skip
# Which parts of kb a part may import; a part not named here may import anything below cli.
LOWEST = {"errors", "model", "frontmatter", "workspace", "sections", "textfile", "library"}


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def sources(root: Path, package: str) -> list[Path]:
    return sorted((root / package).rglob("*.py"))


def test_reproductions_never_import_kb(root: Path) -> None:
    for path in sources(root, "reproductions"):
        assert not {name for name in imports(path) if name.split(".")[0] == "kb"}, path


def test_a_method_imports_numpy_scikit_learn_and_core_only(root: Path) -> None:
    allowed = {"__future__", "numpy", "sklearn", "collections", "dataclasses", "typing", "math", "functools", "random"}
    for path in sources(root, "reproductions/methods"):
        for name in imports(path):
            own = name in ("reproductions.core", "reproductions.losses", "reproductions.anchors")
            sibling = name == "reproductions.methods" or name.startswith("reproductions.methods.")
            assert own or sibling or name.split(".")[0] in allowed, f"{path} imports {name}"


def test_only_one_file_names_chromadb_and_nothing_below_cli_imports_cli(root: Path) -> None:
    for path in sources(root, "kb"):
        names = imports(path)
        if path.name != "chroma.py":
            assert not any(name.split(".")[0] == "chromadb" for name in names), path
        if "cli" not in path.parts:
            assert not any(name.startswith("kb.cli") for name in names), path


def test_the_ground_floor_imports_nothing_above_it(root: Path) -> None:
    for path in sources(root, "kb"):
        part = path.relative_to(root / "kb").parts[0].removesuffix(".py")
        if part in LOWEST:
            above = {name for name in imports(path) if name.startswith("kb.") and name.split(".")[1] not in LOWEST}
            assert not above, f"{path} imports {above}"


LIGHT = ("--help", "list", "show dapo", "status", "ingest --help", "search --help", "note list", "note show plan", "note links dapo",
         "queue list", "queue next", "check", "check links", "check records", "check claims", "compare dapo", "gaps", "gaps --show matrix",
         "facts review dapo --json", "models list", "glossary list --own", "import --help", "update --help", "report --help",
         "bench --help", "repro --help")  # fmt: skip


@pytest.mark.parametrize("arguments", LIGHT)
def test_commands_that_only_read_start_without_heavy_packages(arguments: str, workspace: Path, root: Path) -> None:
    shutil.copytree(
        root / "papers" / "dapo", workspace / "papers" / "dapo", ignore=shutil.ignore_patterns("files", "text*")
    )
    (workspace / "notes" / "plan.md").write_text("# Plan\n\nRead [[dapo]].\n", encoding="utf-8")
    program = (
        "import sys\nfrom kb.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print('LOADED', [n for n in {HEAVY!r} if n in sys.modules])"
    )
    environment = os.environ | {"KB_WORKSPACE": str(workspace), "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments.split()],
        capture_output=True,
        text=True,
        env=environment,
        encoding="utf-8",
    )
    assert "LOADED []" in ran.stdout, ran.stdout[-300:] + ran.stderr[-300:]
    assert "error" not in ran.stderr.lower(), ran.stderr[-300:]


def test_modules_stay_under_four_hundred_lines(root: Path) -> None:
    long = {
        str(path.relative_to(root)): count
        for package in ("kb", "reproductions")
        for path in sources(root, package)
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_no_path_of_one_machine_is_in_the_tree(root: Path) -> None:
    names = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.toml", "*.j2"],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    pattern = re.compile(r"(?<![\w.])/(?:work|root|opt/kbenv|tmp/w)/")
    found = [
        name
        for name in names.stdout.splitlines()
        if name != "tests/test_architecture.py"
        and (root / name).is_file()
        and pattern.search((root / name).read_text(encoding="utf-8"))
    ]
    assert found == []

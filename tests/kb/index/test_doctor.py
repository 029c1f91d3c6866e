"""The doctor sees what is lost or damaged, and a repair costs no embedding while the cache is there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from small_workspace import CountingEmbedder, fill_workspace

from kb.index import doctor
from kb.index.chroma import ChromaStore
from kb.index.doctor import examine, repair
from kb.index.exact import EXACT_FILE, ExactStore
from kb.index.reader import Index
from kb.index.recipe import NoIndexError, Recipe, current_folder
from kb.index.reconcile import reconcile
from kb.index.stores import store_config
from kb.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = fill_workspace(tmp_path, "chroma")
    reconcile(workspace, CountingEmbedder())
    return workspace


def folder_of(workspace: Workspace) -> Path:
    folder = current_folder(workspace)
    assert folder is not None
    return folder


def dense(workspace: Workspace) -> list[tuple[str, float]]:
    with Index.open(workspace) as index:
        return index.dense(CountingEmbedder().embed_queries(["reward share"])[0], 100)


def lose_chroma_vectors(workspace: Workspace) -> None:
    store = ChromaStore(workspace, store_config(workspace), Recipe(CountingEmbedder().identity))
    store.delete(sorted(store.ids())[:3])
    store.close()


def remove_from_exact(workspace: Workspace) -> None:
    store = ExactStore(folder_of(workspace) / EXACT_FILE, 256)
    store.delete(sorted(store.ids())[:2])
    store.upsert(["stray"], np.eye(1, 256, dtype=np.float32))
    store.commit()


def overwrite(name: str) -> Callable[[Workspace], None]:
    def damage(workspace: Workspace) -> None:
        path = folder_of(workspace) / name
        path.write_bytes(b"x" * 5000)

    return damage


def damage_a_page(workspace: Workspace) -> None:
    """Garbage in the middle of the database, which opening it does not notice."""
    path = folder_of(workspace) / "passages.sqlite"
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    path.write_bytes(bytes(data))


def lose_folder(workspace: Workspace) -> None:
    import shutil

    shutil.rmtree(folder_of(workspace))


def lose_manifest(workspace: Workspace) -> None:
    (folder_of(workspace) / "manifest.json").write_text(json.dumps({"recipe": 1}), encoding="utf-8")


DAMAGES: list[tuple[str, Callable[[Workspace], None], str]] = [
    ("Chroma", lose_chroma_vectors, "3 vectors are missing, 0 too many"),
    ("exact vectors", remove_from_exact, "2 vectors are missing, 1 too many"),
    ("exact vectors", overwrite(EXACT_FILE), "its header cannot be read"),
    ("passages.sqlite", overwrite("passages.sqlite"), "damaged"),
    ("passages.sqlite", damage_a_page, "damaged"),
    ("passages.sqlite", lambda workspace: (folder_of(workspace) / "passages.sqlite").unlink(), "missing"),
    ("index", lose_folder, "is gone"),
    ("index", lose_manifest, "no manifest"),
]


def test_a_sound_index_has_no_findings(workspace: Workspace) -> None:
    assert examine(workspace) == []


@pytest.mark.parametrize(("where", "damage", "what"), DAMAGES)
def test_damage_is_found_and_repaired_without_embedding(
    workspace: Workspace, where: str, damage: Callable[[Workspace], None], what: str
) -> None:
    before = dense(workspace)
    damage(workspace)
    findings = examine(workspace)
    assert [finding.where for finding in findings] == [where]
    assert what in findings[0].what
    repair(workspace, findings)
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    assert examine(workspace) == []
    assert dense(workspace) == before
    assert embedder.passages == []


def test_vectors_that_are_counted_but_not_found_are_seen(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after two processes wrote to one store: the count is right, and queries miss some."""
    query = ChromaStore._nearest
    monkeypatch.setattr(ChromaStore, "reachable", lambda self: len(query(self, np.eye(1, 256, dtype=np.float32)[0], self.count())[2:]))
    (finding,) = examine(workspace)
    assert finding.where == "Chroma" and "2 of" in finding.what and "no query finds them" in finding.what


def test_two_processes_that_wrote_at_once_are_put_right(workspace: Workspace) -> None:
    """What really happens to Chroma then: stale writers, each with its own picture of the index."""
    recipe = Recipe(CountingEmbedder().identity)
    total = {finding.where for finding in examine(workspace)}
    assert total == set()
    code_root = Path(__file__).resolve().parents[2]
    import subprocess
    import sys

    code = (
        "import sys\nsys.path.insert(0, sys.argv[2])\nfrom pathlib import Path\nimport numpy as np\n"
        "from kb.index.chroma import ChromaStore\nfrom kb.index.recipe import Recipe\nfrom kb.index.stores import store_config\n"
        "from kb.workspace import load_workspace\nfrom small_workspace import CountingEmbedder\n"
        "w = load_workspace(Path(sys.argv[1]))\ns = ChromaStore(w, store_config(w), Recipe(CountingEmbedder().identity))\n"
        "rows = np.random.default_rng(int(sys.argv[3])).normal(size=(600, 256)).astype(np.float32)\n"
        "for n in range(0, 600, 20):\n    s.upsert([f'{sys.argv[3]}-{n + i}' for i in range(20)], rows[n:n + 20])\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(workspace.root), str(code_root), str(number)]) for number in (1, 2)
    ]
    assert all(writer.wait(120) is not None for writer in writers)
    findings = examine(workspace)
    assert [finding.where for finding in findings] == ["Chroma"]
    repair(workspace, findings)
    reconcile(workspace, CountingEmbedder())
    assert examine(workspace) == []
    store = ChromaStore(workspace, store_config(workspace), recipe)
    assert store.reachable() == store.count() == len(dense(workspace))
    store.close()


def test_a_lost_cache_is_found_and_only_then_texts_are_embedded_again(workspace: Workspace) -> None:
    before = dense(workspace)
    with sqlite3.connect(workspace.derived / "vectors.sqlite") as connection:
        connection.execute("DELETE FROM vectors WHERE rowid % 2")
    findings = examine(workspace)
    assert [finding.where for finding in findings] == ["vector cache"] and "have to be embedded" in findings[0].what
    repair(workspace, findings)
    embedder = CountingEmbedder()
    reconcile(workspace, embedder)
    assert embedder.passages and examine(workspace) == [] and dense(workspace) == before


def test_a_damaged_cache_is_made_anew(workspace: Workspace) -> None:
    (workspace.derived / "vectors.sqlite").write_bytes(b"x" * 5000)
    findings = examine(workspace)
    assert [finding.where for finding in findings] == ["vector cache"]
    repair(workspace, findings)
    reconcile(workspace, CountingEmbedder())
    assert examine(workspace) == []


def test_without_an_index_the_doctor_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError):
        examine(fill_workspace(tmp_path))


def test_examining_changes_nothing(workspace: Workspace) -> None:
    def files() -> dict[str, bytes]:
        written = (".sqlite", EXACT_FILE, ".json", "current")
        return {str(p): p.read_bytes() for p in workspace.derived.rglob("*") if p.is_file() and p.name.endswith(written)}

    (folder_of(workspace) / EXACT_FILE).write_bytes(b"bad")
    before = files()
    doctor.examine(workspace)
    assert files() == before

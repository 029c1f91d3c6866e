"""The heat map: drawn without warnings, with Chinese labels where a font has them, and the same every time."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from kb import gap_pictures
from kb.bench.canvas import chinese_font
from kb.capabilities import Matrix, matrix_of, read_traits
from kb.errors import UsageError
from kb.facts import read_record
from kb.library import Library
from kb.workspace import load_workspace


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    workspace = load_workspace(Path(__file__).resolve().parents[2])
    records = [read_record(paper) for paper in Library.load(workspace).papers.values()]
    return matrix_of(records, read_traits(workspace))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_pictures_are_drawn_without_a_warning(matrix: Matrix, tmp_path: Path, language: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of matplotlib's own reading of its font list.
        warnings.simplefilter("ignore", EncodingWarning)
        gap_pictures.draw(matrix, tmp_path / "g.png", language)
        gap_pictures.draw(matrix, tmp_path / "g.svg", language)
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    first = (tmp_path / "g.svg").read_bytes()
    assert b"<svg" in first
    gap_pictures.draw(matrix, tmp_path / "g.svg", language)
    assert (tmp_path / "g.svg").read_bytes() == first


def test_without_a_chinese_font_the_labels_are_english(
    matrix: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap_pictures.draw(matrix, tmp_path / "en.svg", "en")
    monkeypatch.setattr(gap_pictures, "chinese_font", lambda: "")
    assert gap_pictures.drawn_language("zh") == "en"
    gap_pictures.draw(matrix, tmp_path / "zh.svg", "zh")
    assert (tmp_path / "zh.svg").read_bytes() == (tmp_path / "en.svg").read_bytes()


def test_with_a_chinese_font_the_labels_are_chinese(matrix: Matrix, tmp_path: Path) -> None:
    if not chinese_font():
        pytest.skip("no font with Chinese letters is installed")
    assert gap_pictures.drawn_language("zh") == "zh"
    for language in ("zh", "en"):
        gap_pictures.draw(matrix, tmp_path / f"{language}.svg", language)
    assert (tmp_path / "zh.svg").read_bytes() != (tmp_path / "en.svg").read_bytes()


def test_other_endings_are_refused(matrix: Matrix, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"g\.jpg"):
        gap_pictures.draw(matrix, tmp_path / "g.jpg", "en")
    assert not list(tmp_path.iterdir())

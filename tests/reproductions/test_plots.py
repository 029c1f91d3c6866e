"""Pictures from nothing, one, two and sixty methods, from what is no number, and without Chinese fonts: drawn, and without a warning."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reproductions import figures, plots
from reproductions.plots import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = pytest.mark.filterwarnings("error")
NAN, INF = math.nan, math.inf
KINDS = ("credit_scatter", "pareto", "heat_map", "learning_curves", "crossing", "forest")


def picture(kind: str, point: Callable[[int], Point], methods: int, language: plots.Language = "en") -> Figure:
    """A picture of so many methods, each of whose numbers is ``point(i)``."""
    names = [f"method_number_{i}" for i in range(methods)]
    if kind == "credit_scatter":
        values = {name: np.array([point(i).mean for i in range(5)]) for name in names}
        return plots.credit_scatter(values, values, {name: np.arange(5) % 2 for name in names}, language)
    if kind == "pareto":
        return plots.pareto({name: (1.0 + i % 4, point(i)) for i, name in enumerate(names)}, "snr", language)
    if kind == "heat_map":
        return plots.heat_map(
            names, ["a", "b"], {(name, "b"): point(i) for i, name in enumerate(names)}, "cosine", language
        )
    if kind == "learning_curves":
        curves = {name: ([0.0, 1.0, 2.0], [point(i) for i in range(3)]) for name in names}
        return plots.learning_curves(curves, language, best=1.0)
    if kind == "crossing":
        found = {name: point(i) for i, name in enumerate(names)}
        return plots.crossing([0.1, 0.5], {name: [point(0), point(1)] for name in names}, found, language)
    return plots.forest(
        [(name, point(i), ("supported", "refuted", "undecided")[i % 3]) for i, name in enumerate(names)], language
    )


POINTS: dict[str, Callable[[int], Point]] = {
    "plain": lambda i: Point(0.1 * i, 0.1 * i - 0.05, 0.1 * i + 0.05),
    "seeds missing": lambda i: Point(0.1 * i, 0.1 * i - 0.05, 0.1 * i + 0.05, finished=i % 2 == 0),
    "one seed": lambda i: Point(0.1 * i, -INF, INF),
    "no number": lambda i: Point(NAN, NAN, NAN),
    "no crossing": lambda i: Point(INF, 0.3, INF),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("methods", [0, 1, 2, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_methods_is_drawn(kind: str, methods: int, language: plots.Language, tmp_path: Path) -> None:
    if kind == "credit_scatter" and methods == 60:
        methods = 12
    png, svg = plots.save(picture(kind, POINTS["plain"], methods, language), tmp_path / "it")
    assert png.read_bytes()[:4] == b"\x89PNG" and b"<svg" in svg.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", list(POINTS))
def test_what_is_no_number_is_left_out(kind: str, what: str, tmp_path: Path) -> None:
    plots.save(picture(kind, POINTS[what], 3), tmp_path / "it")
    assert (tmp_path / "it.png").stat().st_size > 0


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_draw_is_said(kind: str) -> None:
    said = [text.get_text() for ax in picture(kind, POINTS["plain"], 0).axes for text in ax.texts]
    assert kind == "crossing" or said == ["no numbers yet"]


def test_without_a_chinese_font_labels_are_english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(figures, "chinese_font", lambda: "")
    drawn = picture("learning_curves", POINTS["plain"], 2, "zh")
    assert drawn.axes[0].get_xlabel() == "fresh episodes"
    plots.save(drawn, tmp_path / "it")


def test_faint_where_seeds_are_missing() -> None:
    (line, *_) = picture("learning_curves", POINTS["seeds missing"], 1).axes[0].lines
    assert line.get_alpha() == plots.FAINT
    (line, *_) = picture("learning_curves", POINTS["plain"], 1).axes[0].lines
    assert line.get_alpha() == 1.0


def test_sixty_curves_are_told_apart_as_far_as_lines_and_colours_go() -> None:
    lines = picture("learning_curves", POINTS["plain"], 28).axes[0].lines[:28]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 28


def test_names_of_like_marks_keep_apart_and_stay_in_order() -> None:
    points = {f"m{i}": (1.0, Point(1.0 + 1e-3 * i, 0.0, 10.0)) for i in range(5)}
    places = sorted(plots._label_places(points).items())
    heights = [height for _, height in places]
    assert np.diff(heights).min() == pytest.approx(0.2)
    assert np.mean(heights) == pytest.approx(1.002)

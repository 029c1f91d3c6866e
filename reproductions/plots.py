"""Pictures of benchmark results, at the width of a paper's column, colour-blind safe, as PNG and SVG.

Functions take plain values and give a matplotlib figure; ``save`` writes it, byte for byte the same for the same values. Given
nothing, they say so in the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from reproductions.core import Floats, Ints
from reproductions.figures import (
    COLUMN,
    Language,
    chinese_font,
    legend,
    legend_height,
    new_figure,
    nothing,
    save,
    words,
)
from reproductions.metrics import pearson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Language", "Point", "chinese_font", "credit_scatter", "crossing", "forest", "heat_map", "learning_curves", "new_figure", "pareto", "save",
]  # fmt: skip
PAGE = 7.2
# Okabe and Ito's palette, told apart with the common colour deficiencies.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
LINES = ("-", "--", "-.", ":")
FAINT = 0.3
# What lies farther out says only how sure a check is.
FARTHEST = 1000.0
VERDICT_COLOUR = {"supported": COLOURS[2], "refuted": COLOURS[1], "undecided": "#777777"}


@dataclass(frozen=True, slots=True)
class Point:
    """A mean with its 95% interval; ``finished`` is False while seeds are missing, and the mark is then drawn faint."""

    mean: float
    low: float
    high: float
    finished: bool = True


def credit_scatter(
    truth: Mapping[str, Floats], credit: Mapping[str, Floats], agent: Mapping[str, Ints], language: Language = "en"
) -> Figure:
    """Credit against truth, a panel for each method, a colour and marker for each agent."""
    _, label = words(language)
    if not truth:
        return nothing(label)
    columns = min(len(truth), 3)
    rows = -(-len(truth) // columns)
    figure, axes = new_figure(max(COLUMN, 2.3 * columns), 2.2 * rows, rows, columns)
    for ax in axes[len(truth) :]:
        ax.set_visible(False)
    for ax, name in zip(axes, truth, strict=False):
        told = np.isfinite(truth[name]) & np.isfinite(credit[name])
        x, y, whose = _standardised(truth[name][told]), _standardised(credit[name][told]), agent[name][told]
        for number in np.unique(whose):
            at, look = whose == number, int(number) % len(COLOURS)
            ax.scatter(x[at], y[at], s=6, alpha=0.5, color=COLOURS[look], marker=MARKERS[look], linewidths=0,
                       label=f"{label['agent']} {number + 1}")  # fmt: skip
        ax.axline((0, 0), slope=1, color="#999999", linewidth=0.7, linestyle="--")
        r = pearson(x, y)
        ax.set_title(f"{name}   r = {'–' if np.isnan(r) else f'{r:.2f}'}", fontsize=7.5)
    legend(figure, axes[0], "outside upper center")
    figure.supxlabel(label["truth"], fontsize=7.5)
    figure.supylabel(label["credit"], fontsize=7.5)
    return figure


def crossing(
    r2: Sequence[float],
    curves: Mapping[str, Sequence[Point]],
    crossings: Mapping[str, Point | None],
    language: Language = "en",
    conjecture: float = 0.3,
) -> Figure:
    """Difference of two methods against R^2, a curve for each metric, with the point where it changes sign."""
    _, label = words(language)
    figure, (ax,) = new_figure(COLUMN, 2.6 + legend_height(len(curves) + 1))
    for i, (metric, points) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        _band(ax, r2, points, i, MARKERS[i % len(MARKERS)], metric)
        if (found := crossings.get(metric)) is not None:
            # An end at infinity (no crossing on the grid) is drawn to the grid's end.
            low, high = np.clip([found.low, found.high], min(r2), max(r2))
            ax.axvspan(low, high, color=colour, alpha=0.12, linewidth=0)
            if np.isfinite(found.mean):
                ax.axvline(found.mean, color=colour, linewidth=0.8)
    ax.axhline(0, color="#999999", linewidth=0.7)
    ax.axvline(conjecture, color="#000000", linewidth=0.8, linestyle=":", label=label["conjecture"])
    ax.set(xlabel=label["r2"], ylabel=label["difference"])
    legend(figure, ax)
    return figure


def pareto(points: Mapping[str, tuple[float, Point]], ylabel: str, language: Language = "en") -> Figure:
    """Cost against fidelity, a mark for each method; those that nothing beats in both are joined."""
    from matplotlib.ticker import FixedLocator, NullLocator

    _, label = words(language)
    points = {name: (cost, point) for name, (cost, point) in points.items() if np.isfinite([cost, point.mean]).all()}
    if not points:
        return nothing(label)
    figure, (ax,) = new_figure(PAGE, max(5.0, 1.0 + 0.11 * _most_in_a_column(points)))
    best, front = -np.inf, []
    place = _label_places(points)
    for name, (cost, point) in sorted(points.items(), key=lambda item: (item[1][0], -item[1][1].mean)):
        on_front = point.mean > best and point.finished
        if on_front:
            best = point.mean
            front.append((cost, point.mean))
        colour = COLOURS[1] if on_front else COLOURS[0]
        alpha = 1.0 if point.finished else FAINT
        # One seed has no interval.
        below, above = np.nan_to_num([point.mean - point.low, point.high - point.mean], posinf=0.0)
        ax.errorbar(
            cost, point.mean, [[below], [above]], fmt="o", markersize=3.5, color=colour, alpha=alpha, elinewidth=0.7
        )
        arrow = {
            "arrowstyle": "-",
            "linewidth": 0.3,
            "color": "#999999",
            "shrinkA": 0,
            "shrinkB": 0,
            "relpos": (0, 0.5),
        }
        ax.annotate(name, (cost, point.mean), xytext=(cost * 1.03, place[name]), fontsize=5.5, va="center", alpha=alpha, zorder=4,
                    arrowprops=arrow)  # fmt: skip
    if front:
        ax.plot(*zip(*front, strict=True), color=COLOURS[1], linewidth=0.8, linestyle="--")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 32]))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel=label["cost"], ylabel=ylabel)
    if not all(point.finished for _, point in points.values()):
        ax.set_title(label["unfinished"], fontsize=6.5, loc="right")
    return figure


def learning_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[Point]]],
    language: Language = "en",
    against: Literal["episodes", "total"] = "episodes",
    best: float | None = None,
) -> Figure:
    """Exact value of the policies during training, a band for each method."""
    _, label = words(language)
    if not curves:
        return nothing(label)
    figure, (ax,) = new_figure(COLUMN, 2.6 + legend_height(len(curves)))
    for i, (name, (x, points)) in enumerate(curves.items()):
        _band(ax, x, points, i, "" if len(x) > 1 else MARKERS[i % len(MARKERS)], name)
    if best is not None:
        ax.axhline(best, color="#999999", linewidth=0.7, linestyle="--")
    ax.set(xlabel=label[against], ylabel=label["value"])
    legend(figure, ax)
    return figure


def heat_map(
    methods: Sequence[str],
    worlds: Sequence[str],
    points: Mapping[tuple[str, str], Point],
    title: str,
    language: Language = "en",
) -> Figure:
    """Methods by worlds. A cell that could not run has a dash, one that misses seeds has its number in brackets and is pale."""
    import matplotlib as mpl

    _, label = words(language)
    if not methods or not worlds:
        return nothing(label)
    figure, (ax,) = new_figure(max(COLUMN, 1.8 + 0.52 * len(worlds)), 1.0 + 0.17 * len(methods))
    value = np.full((len(methods), len(worlds)), np.nan)
    faint = np.ones_like(value)
    for (method, world), point in points.items():
        at = methods.index(method), worlds.index(world)
        value[at], faint[at] = point.mean, 1.0 if point.finished else FAINT
    ax.set_facecolor("#EEEEEE")
    image = ax.imshow(
        np.ma.masked_invalid(value), cmap=mpl.colormaps["cividis"], vmin=-1, vmax=1, aspect="auto", alpha=faint
    )
    for (i, j), number in np.ndenumerate(value):
        pale = faint[i, j] < 1.0
        text = "–" if np.isnan(number) else f"({number:.2f})" if pale else f"{number:.2f}"
        colour = "#888888" if np.isnan(number) else "white" if number < 0.3 and not pale else "black"
        # A thousand labels inside their cells need no place of their own in the layout.
        ax.text(j, i, text, ha="center", va="center", fontsize=5, color=colour).set_in_layout(False)
    ax.set_xticks(range(len(worlds)), worlds, rotation=40, ha="right", fontsize=6)
    ax.set_yticks(range(len(methods)), methods, fontsize=6)
    ax.tick_params(length=0)
    ax.set_title(f"{title}   ({label['lacks']}: –)", fontsize=7, loc="left")
    figure.colorbar(image, ax=ax, shrink=0.5, pad=0.01)
    return figure


def forest(rows: Sequence[tuple[str, Point, str]], language: Language = "en") -> Figure:
    """Claims: where the interval of each check lies from its bound, coloured by verdict. Right of 0 the check holds.

    What lies beyond ``FARTHEST`` is an arrowhead there: an interval next to nothing wide puts its check any distance away.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    _, label = words(language)
    if not rows:
        return nothing(label)
    figure, (ax,) = new_figure(PAGE, 0.7 + 0.17 * len(rows))
    for i, (_, point, verdict) in enumerate(reversed(rows)):
        colour = VERDICT_COLOUR[verdict]
        ax.text(1.01, i, label[verdict], transform=ax.get_yaxis_transform(), fontsize=6, va="center", color=colour)
        if not np.isfinite(point.mean):
            continue
        at, low, high = np.clip([point.mean, point.low, point.high], -FARTHEST, FARTHEST)
        shape = "s" if at == point.mean else ">" if at > 0 else "<"
        ax.errorbar(at, i, xerr=[[at - low], [high - at]], fmt=shape, markersize=3, color=colour, elinewidth=0.9)
    ax.axvline(0, color="#000000", linewidth=0.8)
    ax.set_yticks(range(len(rows)), [name for name, _, _ in reversed(rows)], fontsize=6)
    ax.set_ylim(-0.8, len(rows) - 0.2)
    ax.set_xscale("symlog", linthresh=2)
    ax.set_xlim(-1.5 * FARTHEST, 1.5 * FARTHEST)
    ax.xaxis.set_major_locator(FixedLocator([-1000, -100, -10, -1, 0, 1, 10, 100, 1000]))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(label["margin"])
    return figure


def _label_places(points: Mapping[str, tuple[float, Point]]) -> dict[str, float]:
    """Heights of the names beside their marks, pushed apart where marks of like cost lie close."""
    from scipy.optimize import isotonic_regression

    ends = [end for _, point in points.values() for end in (point.low, point.mean, point.high) if np.isfinite(end)]
    gap = 0.02 * ((max(ends) - min(ends)) or 1.0) if ends else 0.0
    place: dict[str, float] = {}
    for column in {round(float(np.log(cost)), 1) for cost, _ in points.values()}:
        names = [name for name, (cost, _) in points.items() if round(float(np.log(cost)), 1) == column]
        names.sort(key=lambda name: points[name][1].mean)
        # The least squared displacement that keeps a gap between neighbours.
        steps = gap * np.arange(len(names))
        height = isotonic_regression([points[name][1].mean for name in names] - steps).x + steps
        place |= dict(zip(names, height.tolist(), strict=True))
    return place


def _band(ax: Axes, x: Sequence[float], points: Sequence[Point], number: int, marker: str, name: str) -> None:
    """A curve with its interval; colours come again after the seventh curve, with another line."""
    colour, line = COLOURS[number % len(COLOURS)], LINES[number // len(COLOURS) % len(LINES)]
    alpha = 1.0 if all(point.finished for point in points) else FAINT
    ax.plot(
        x,
        [point.mean for point in points],
        color=colour,
        linestyle=line,
        marker=marker,
        markersize=2.5,
        linewidth=1.0,
        alpha=alpha,
        label=name,
    )
    ends = np.array([(point.low, point.high) for point in points])
    low, high = np.where(np.isfinite(ends), ends, np.nan).T
    ax.fill_between(x, low, high, color=colour, alpha=0.18 * alpha, linewidth=0)


def _most_in_a_column(points: Mapping[str, tuple[float, Point]]) -> int:
    """How many names stand above each other at most."""
    columns = [round(float(np.log(cost)), 1) for cost, _ in points.values()]
    return max(columns.count(column) for column in columns)


def _standardised(values: Floats) -> Floats:
    if not len(values):
        return values
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread if spread > 0 else values - values.mean())

"""Pictures of benchmark results, at the width of a paper's column, colour-blind safe, as PNG and SVG.

Labels are Chinese when that is asked for and a font with Chinese letters is installed, English otherwise. Functions take plain
values and give a matplotlib figure; ``save`` writes it, byte for byte the same for the same values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from reproductions.core import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Language = Literal["en", "zh"]
COLUMN = 3.5  # inches
PAGE = 7.2
# Okabe and Ito's palette, told apart with the common colour deficiencies.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
FAINT = 0.3
_CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
)
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "credit": "credit given (standardised)",
        "truth": "true advantage (standardised)",
        "agent": "agent",
        "r2": r"share of reward that quality explains, $R^2$",
        "difference": "CAD-GRPO minus Dr.MAS",
        "crossing": "crossing",
        "conjecture": "conjectured 0.3",
        "cost": "cost in episodes per fresh episode",
        "episodes": "fresh episodes",
        "total": "total cost (episodes)",
        "value": "expected team reward",
        "unfinished": "faint: seeds missing",
        "lacks": "not runnable",
        "supported": "supported",
        "refuted": "refuted",
        "undecided": "undecided",
        "margin": "distance to the bound, in half widths of the interval",
    },
    "zh": {
        "credit": "分配的信用（标准化）",
        "truth": "真实优势（标准化）",
        "agent": "智能体",
        "r2": "质量指标对奖励的解释力 $R^2$",
        "difference": "CAD-GRPO 减 Dr.MAS",
        "crossing": "交叉点",
        "conjecture": "猜想值 0.3",
        "cost": "成本（每条新轨迹折合的轨迹数）",
        "episodes": "新采样轨迹数",
        "total": "总成本（轨迹数）",
        "value": "期望团队奖励",
        "unfinished": "浅色：种子未跑完",
        "lacks": "无法运行",
        "supported": "成立",
        "refuted": "被否定",
        "undecided": "未定",
        "margin": "与界限的距离（以区间半宽计）",
    },
}
VERDICT_COLOUR = {"supported": COLOURS[2], "refuted": COLOURS[1], "undecided": "#777777"}


@dataclass(frozen=True, slots=True)
class Point:
    """A mean with its 95% interval; ``finished`` is False while seeds are missing, and the mark is then drawn faint."""

    mean: float
    low: float
    high: float
    finished: bool = True


@cache
def chinese_font() -> str:
    """An installed font with Chinese letters, or an empty string."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in _CHINESE_FONTS if name in installed), "")


def words(language: Language) -> tuple[Language, dict[str, str]]:
    """The language that can be drawn, and its labels."""
    drawn: Language = "zh" if language == "zh" and chinese_font() else "en"
    return drawn, _WORDS[drawn]


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure on its own canvas: no display, no global state but the fonts."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    family = [name for name in (chinese_font(), "DejaVu Sans") if name]
    mpl.rcParams.update(
        {
            "font.family": family,
            "font.size": 7.5,
            "axes.unicode_minus": False,
            "svg.hashsalt": "kb",
            "svg.fonttype": "path",
        }
    )
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(rows, columns, i + 1) for i in range(rows * columns)]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write ``stem.png`` (300 dpi) and ``stem.svg``, without the time of writing."""
    png, svg = stem.with_suffix(".png"), stem.with_suffix(".svg")
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(png, dpi=300, metadata={"Software": None})
    figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg


def credit_scatter(
    truth: Mapping[str, Floats], credit: Mapping[str, Floats], agent: Mapping[str, Ints], language: Language = "en"
) -> Figure:
    """Credit against truth, a panel for each method, a colour and marker for each agent."""
    _, label = words(language)
    columns = min(len(truth), 3)
    rows = -(-len(truth) // columns)
    figure, axes = new_figure(max(COLUMN, 2.3 * columns), 2.2 * rows, rows, columns)
    for ax in axes[len(truth) :]:
        ax.set_visible(False)
    for ax, name in zip(axes, truth, strict=False):
        x, y = _standardised(truth[name]), _standardised(credit[name])
        for number in np.unique(agent[name]):
            at, look = agent[name] == number, int(number) % len(COLOURS)
            ax.scatter(x[at], y[at], s=6, alpha=0.5, color=COLOURS[look], marker=MARKERS[look], linewidths=0,
                       label=f"{label['agent']} {number + 1}")  # fmt: skip
        ax.axline((0, 0), slope=1, color="#999999", linewidth=0.7, linestyle="--")
        ax.set_title(f"{name}   r = {np.corrcoef(x, y)[0, 1]:.2f}", fontsize=7.5)
    axes[0].legend(frameon=False, handletextpad=0.2)
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
    figure, (ax,) = new_figure(COLUMN, 2.6)
    for i, (metric, points) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        _band(ax, r2, points, colour, MARKERS[i % len(MARKERS)], metric)
        if (found := crossings.get(metric)) is not None:
            ax.axvspan(found.low, found.high, color=colour, alpha=0.12, linewidth=0)
            ax.axvline(found.mean, color=colour, linewidth=0.8)
    ax.axhline(0, color="#999999", linewidth=0.7)
    ax.axvline(conjecture, color="#000000", linewidth=0.8, linestyle=":", label=label["conjecture"])
    ax.set(xlabel=label["r2"], ylabel=label["difference"])
    ax.legend(frameon=False)
    return figure


def pareto(points: Mapping[str, tuple[float, Point]], ylabel: str, language: Language = "en") -> Figure:
    """Cost against fidelity, a mark for each method; those that nothing beats in both are joined."""
    from matplotlib.ticker import FixedLocator, NullLocator

    _, label = words(language)
    figure, (ax,) = new_figure(PAGE, 5.0)
    best, front = -np.inf, []
    place = _label_places(points)
    for name, (cost, point) in sorted(points.items(), key=lambda item: (item[1][0], -item[1][1].mean)):
        on_front = point.mean > best and point.finished
        if on_front:
            best = point.mean
            front.append((cost, point.mean))
        colour = COLOURS[1] if on_front else COLOURS[0]
        alpha = 1.0 if point.finished else FAINT
        ax.errorbar(cost, point.mean, [[point.mean - point.low], [point.high - point.mean]], fmt="o", markersize=3.5,
                    color=colour, alpha=alpha, elinewidth=0.7)  # fmt: skip
        arrow = {"arrowstyle": "-", "linewidth": 0.3, "color": "#999999", "shrinkA": 0, "shrinkB": 0}
        ax.annotate(name, (cost, point.mean), xytext=(cost * 1.03, place[name]), fontsize=5.5, va="center", alpha=alpha,
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
    figure, (ax,) = new_figure(COLUMN, 2.6)
    for i, (name, (x, points)) in enumerate(curves.items()):
        _band(ax, x, points, COLOURS[i % len(COLOURS)], "", name)
    if best is not None:
        ax.axhline(best, color="#999999", linewidth=0.7, linestyle="--")
    ax.set(xlabel=label[against], ylabel=label["value"])
    ax.legend(frameon=False)
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
    """Claims: where the interval of each check lies from its bound, coloured by verdict. Right of 0 the check holds."""
    _, label = words(language)
    figure, (ax,) = new_figure(PAGE, 0.7 + 0.19 * len(rows))
    for i, (_, point, verdict) in enumerate(reversed(rows)):
        colour = VERDICT_COLOUR[verdict]
        ax.errorbar(point.mean, i, xerr=[[point.mean - point.low], [point.high - point.mean]], fmt="s", markersize=3,
                    color=colour, elinewidth=0.9)  # fmt: skip
        ax.text(1.01, i, label[verdict], transform=ax.get_yaxis_transform(), fontsize=6, va="center", color=colour)
    ax.axvline(0, color="#000000", linewidth=0.8)
    ax.set_yticks(range(len(rows)), [name for name, _, _ in reversed(rows)], fontsize=6)
    ax.set_xscale("symlog", linthresh=2)
    ax.set_xlabel(label["margin"])
    return figure


def _label_places(points: Mapping[str, tuple[float, Point]]) -> dict[str, float]:
    """Heights of the names beside their marks, pushed apart where marks of like cost lie close."""
    ends = [end for _, point in points.values() for end in (point.low, point.high)]
    gap = 0.02 * ((max(ends) - min(ends)) or 1.0) if ends else 0.0
    place: dict[str, float] = {}
    for column in {round(float(np.log(cost)), 1) for cost, _ in points.values()}:
        names = [name for name, (cost, _) in points.items() if round(float(np.log(cost)), 1) == column]
        names.sort(key=lambda name: points[name][1].mean)
        lowest = -np.inf
        for name in names:
            lowest = place[name] = max(points[name][1].mean, lowest + gap)
    return place


def _band(ax: Axes, x: Sequence[float], points: Sequence[Point], colour: str, marker: str, name: str) -> None:
    alpha = 1.0 if all(point.finished for point in points) else FAINT
    ax.plot(
        x,
        [point.mean for point in points],
        color=colour,
        marker=marker,
        markersize=2.5,
        linewidth=1.0,
        alpha=alpha,
        label=name,
    )
    low, high = [point.low for point in points], [point.high for point in points]
    ax.fill_between(x, low, high, color=colour, alpha=0.18 * alpha, linewidth=0)


def _standardised(values: Floats) -> Floats:
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread if spread > 0 else values - values.mean())

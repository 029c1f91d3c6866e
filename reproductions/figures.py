"""What the pictures have in common: size, fonts, words in two languages, legends outside the axes, files that do not change.

Labels are Chinese when that is asked for and a font with Chinese letters is installed, English otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Language = Literal["en", "zh"]
COLUMN = 3.5  # inches
_LEGEND_COLUMNS = 3
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
        "nothing": "no numbers yet",
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
        "nothing": "还没有数据",
    },
}


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


def legend_height(entries: int) -> float:
    """Inches for a legend below the axes."""
    return 0.1 + 0.15 * -(-entries // _LEGEND_COLUMNS)


def legend(
    figure: Figure, ax: Axes, place: Literal["outside lower center", "outside upper center"] = "outside lower center"
) -> None:
    """Outside the axes, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc=place, ncols=_LEGEND_COLUMNS, frameon=False, fontsize=6.5,
                      handletextpad=0.4, columnspacing=1.0)  # fmt: skip


def nothing(label: Mapping[str, str]) -> Figure:
    """A picture that says that there is nothing to draw."""
    figure, (ax,) = new_figure(COLUMN, 1.0)
    ax.set_axis_off()
    ax.text(0.5, 0.5, label["nothing"], ha="center", va="center", color="#777777")
    return figure

"""The figure and the fonts of ``reproductions.plots``, for pictures that kb draws of its own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def chinese_font() -> str:
    """An installed font with Chinese letters, or an empty string."""
    from reproductions import plots

    return plots.chinese_font()


def new_figure(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure of so many inches with axes side by side."""
    from reproductions import plots

    return plots.new_figure(width, height, 1, columns)

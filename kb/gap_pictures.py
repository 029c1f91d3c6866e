"""The capability matrix and the pairs that papers cover, as one picture (PNG or SVG)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from kb.bench.canvas import chinese_font, new_figure
from kb.capabilities import Matrix
from kb.errors import UsageError
from kb.gap_tables import name_of
from kb.gaps import combinations
from kb.workspace import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue has it, white has not, grey nobody looked; told apart without colour too.
_COLOURS = {"yes": "#0072B2", "no": "#FFFFFF", "not stated": "#E8E2D0", "not checked": "#C8C8C8"}
_SIGNS = {"yes": "", "no": "", "not stated": "·", "not checked": "?"}
_WORDS = {
    "en": {"matrix": "Capabilities:  blue has it,  white has not,  · looked for, not found,  ? nobody looked",
           "pairs": "Papers that have both.  Red: nobody;  ? open", "own": "(own)"},
    "zh": {"matrix": "能力：蓝色有，白色无，· 找过而未写明，? 未查",
           "pairs": "两项都有的论文数。红框：无人做到；? 待查", "own": "（自己的）"},
}  # fmt: skip
FORMATS = (".png", ".svg")


def drawn_language(language: str) -> str:
    """The language that the labels can be drawn in: English where no font has Chinese letters."""
    return language if language == "en" or chinese_font() else "en"


def draw(matrix: Matrix, path: Path, language: str) -> None:
    """Draw the picture into a file. Raises UsageError for an ending that is neither png nor svg."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path.name} is no picture that can be drawn", f"one of {', '.join(FORMATS)}")
    language = drawn_language(language)
    rows = len(matrix.papers) + len(matrix.proposals)
    columns = len(matrix.traits)
    figure, (left, right) = new_figure(4.2 + 0.52 * columns, 2.2 + max(0.16 * rows, 0.26 * columns), columns=2)
    _draw_matrix(left, matrix, language)
    _draw_pairs(right, matrix, language)
    stream = io.BytesIO()
    kind = path.suffix.lower().removeprefix(".")
    metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    figure.savefig(stream, format=kind, dpi=200, metadata=metadata)
    write_atomic(path, stream.getvalue())


def _draw_matrix(ax: Axes, matrix: Matrix, language: str) -> None:
    records = (*matrix.papers, *matrix.proposals)
    for y, record in enumerate(records):
        for x, trait in enumerate(matrix.traits):
            has = matrix.has(record.paper.slug, trait.key)
            _square(ax, x, y, _COLOURS[has], _SIGNS[has], "#444444")
    names = [
        f"{name_of(one)} {_WORDS[language]['own']}" if one in matrix.proposals else name_of(one) for one in records
    ]
    _frame(ax, [trait.name(language) for trait in matrix.traits], names, _WORDS[language]["matrix"])


def _draw_pairs(ax: Axes, matrix: Matrix, language: str) -> None:
    found = {frozenset(one.keys): one for one in combinations(matrix, 2)}
    most = max([len(one.covered_by) for one in found.values()], default=1) or 1
    order = list(matrix.traits)
    for y, lower in enumerate(order):
        for x, upper in enumerate(order[: y + 1]):
            one = found.get(frozenset((lower.key, upper.key)))
            if one is None:  # the one needs the other: no combination
                _square(ax, x, y, "#F4F4F4", "", "black")
                continue
            count = len(one.covered_by)
            share = count / most
            sign = str(count) if count else "?" if one.status == "question" else "0"
            edge = "#D55E00" if one.status == "gap" else "#DDDDDD"
            _square(ax, x, y, _shade(share), sign, "white" if share > 0.5 else "black", edge)
    names = [trait.name(language) for trait in order]
    _frame(ax, names, names, _WORDS[language]["pairs"])


def _shade(share: float) -> tuple[float, float, float]:
    """From white to blue."""
    blue = (0.0, 0.447, 0.698)
    return tuple(1 - share * (1 - part) for part in blue)  # type: ignore[return-value]


def _square(ax: Axes, x: int, y: int, colour: object, sign: str, ink: str, edge: str = "#DDDDDD") -> None:
    from matplotlib.patches import Rectangle

    is_gap = edge != "#DDDDDD"
    ax.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor=edge, linewidth=1.2 if is_gap else 0.4,
                  zorder=2 if is_gap else 1)
    )  # fmt: skip
    if sign:
        ax.text(x, y, sign, ha="center", va="center", fontsize=6, color=ink, zorder=3)


def _frame(ax: Axes, across: list[str], down: list[str], title: str) -> None:
    ax.set_xlim(-0.5, len(across) - 0.5)
    ax.set_ylim(len(down) - 0.5, -0.5)
    ax.set_xticks(range(len(across)), across, rotation=50, ha="right", rotation_mode="anchor", fontsize=6.5)
    ax.set_yticks(range(len(down)), down, fontsize=6.5)
    ax.tick_params(length=0)
    ax.set_title(title, fontsize=8, loc="left")
    for side in ax.spines.values():
        side.set_visible(False)

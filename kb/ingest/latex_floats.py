"""Floats of LaTeX: figures, tables, algorithms and listings with their captions, numbers, labels and parts."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from kb.ingest.latex_blocks import RawAlgorithm, RawBlock, RawFigure, RawTable, RawText
from kb.ingest.latex_context import TextContext
from kb.ingest.latex_counters import Counters, Target
from kb.ingest.latex_groups import read_environment, read_group, read_groups, read_option, skip_options
from kb.ingest.latex_tables import TABULARS
from kb.ingest.latex_text import to_line

# Brace groups that follow ``\begin``.
FLOATS = {
    "figure": 0, "figure*": 0, "wrapfigure": 2, "SCfigure": 0, "SCfigure*": 0, "teaserfigure": 0,
    "marginfigure": 0, "sidewaysfigure": 0, "sidewaysfigure*": 0, "figwindow": 0, "floatingfigure": 1, "table": 0,
    "table*": 0, "wraptable": 2, "sidewaystable": 0, "sidewaystable*": 0, "SCtable": 0, "margintable": 0,
    "longtable": 0, "longtable*": 0, "algorithm": 0, "algorithm*": 0, "algorithm2e": 0, "procedure": 0,
    "listing": 0, "listing*": 0, "xltabular": 0, "longtblr": 0, "longtabu": 0,
}  # fmt: skip
_CAPTION = re.compile(
    r"\\(?:caption|tcaption|tablecaption)(?P<star>\*?)(?=\s*[\[{])|\\captionof\s*\{(?P<kind>\w+)\}(?=\s*[\[{])"
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_PART = re.compile(
    r"\\begin\s*\{(?P<environment>subfigure|subtable|subcaptionblock|subtable\*|subfigure\*)\}"
    r"|\\(?P<command>subfloat|subfigure|subtable|subcaptionbox|sidesubfloat)\*?(?=\s*[\[{])"
)
_TABULAR = re.compile(r"\\begin\s*\{(" + "|".join(re.escape(name) for name in TABULARS) + r")\}")
_MINIPAGE = re.compile(
    r"\\begin\s*\{(minipage|floatrow|varwidth|subfloatrow|threeparttable)\}|\\(?:parbox|ffigbox|ttabbox|"
    r"capbtabbox)(?=\s*[\[{])"
)
_DRAWING = re.compile(r"\\begin\s*\{(tikzpicture|pgfpicture|picture|axis|overpic|forest|pspicture)\}")
_DISPLAY = re.compile(r"\\begin\s*\{(?:equation|align|gather|multline|eqnarray)\*?\}|(?<!\\)\\\[|\$\$")
_GRAPHICS = re.compile(
    r"\\(?:includegraphics|animategraphics|epsfig|psfig|input|includesvg|resizebox|scalebox)(?![a-zA-Z])"
)
_SHORTEST_TEXT = 12  # words: less is the labelling of a picture


@dataclass(slots=True)
class _Float:
    """One caption with what belongs to it."""

    kind: str
    inside: str
    caption: str = ""
    starred: bool = False
    part_captions: list[str] = field(default_factory=list)
    grids: list[tuple[str, str, str]] = field(default_factory=list)


def read_float(name: str, inside: str, counters: Counters, context: TextContext) -> list[RawBlock]:
    """The blocks of one float environment. A float with several captions is several floats."""
    kind = _kind(name)
    if name in TABULARS:
        inside = f"\\begin{{{name}}}{inside}\\end{{{name}}}"
    else:
        inside = inside[read_groups(inside, skip_options(inside, 0), FLOATS.get(name, 0))[1] :]
    blocks: list[RawBlock] = []
    for piece in _pieces(inside):
        blocks += _read_piece(kind, piece, counters, context)
    return blocks


def _kind(name: str) -> str:
    bare = name.rstrip("*").lower()
    if "tab" in bare or "tblr" in bare:
        return "table"
    if "algorithm" in bare or bare == "procedure":
        return "algorithm"
    return "listing" if bare == "listing" else "figure"


def _pieces(inside: str) -> list[str]:
    """A float's inside cut so that each piece has one main caption at most."""
    if len(_main_captions(inside)) < 2:
        return [inside]
    boxes = _boxes(inside)
    if len(boxes) > 1 and sum(len(_main_captions(box)) for box in boxes) == len(_main_captions(inside)):
        return [piece for box in boxes for piece in (_pieces(box) if box != inside else [box])]
    ends = [_caption_end(inside, match) for match in _main_captions(inside)]
    first = _TABULAR.search(inside)
    if first and first.start() > _main_captions(inside)[0].start():  # captions stand above
        cuts = [match.start() for match in _main_captions(inside)][1:]
    else:
        cuts = ends[:-1]
    bounds = [0, *cuts, len(inside)]
    return [inside[start:stop] for start, stop in itertools.pairwise(bounds)]


def _main_captions(inside: str) -> list[re.Match[str]]:
    """Captions that are not inside a part."""
    parts = [(start, stop) for start, stop, _, _ in _parts(inside)]
    return [
        match for match in _CAPTION.finditer(inside) if not any(start <= match.start() < stop for start, stop in parts)
    ]


def _caption_end(inside: str, match: re.Match[str]) -> int:
    end = read_groups(inside, skip_options(inside, match.end()), 1)[1]
    label = re.compile(r"\s*\\label\s*\{[^{}]*\}").match(inside, end)
    return label.end() if label else end


def _boxes(inside: str) -> list[str]:
    """The insides of the boxes that hold a caption."""
    found: list[str] = []
    position = 0
    while match := _MINIPAGE.search(inside, position):
        if match[1]:
            body, position = read_environment(inside, match.end(), match[1])
            body = body[read_groups(body, skip_options(body, 0), 1 if match[1] in ("minipage", "varwidth") else 0)[1] :]
        else:
            groups, position = read_groups(inside, skip_options(inside, match.end()), 2)
            body = " ".join(groups)
        if _CAPTION.search(body):
            found.append(body)
    return found


def _parts(inside: str) -> list[tuple[int, int, str, str]]:
    """``(start, stop, caption, body)`` of every sub-figure or sub-table."""
    found: list[tuple[int, int, str, str]] = []
    position = 0
    while match := _PART.search(inside, position):
        if match["environment"]:
            body, stop = read_environment(inside, match.end(), match["environment"])
            caption = _CAPTION.search(body)
            group = read_group(body, skip_options(body, caption.end())) if caption else None
            shown = group[0] if group else ""
        else:
            option = read_option(inside, match.end())
            groups, stop = read_groups(inside, match.end(), 2 if match["command"] == "subcaptionbox" else 1)
            body = groups[-1] if groups else ""
            shown = groups[0] if len(groups) > 1 else option[0] if option else ""
            body = f"{shown} {body}" if "\\label" in shown else body
        found.append((match.start(), stop, shown, body))
        position = max(stop, match.end())
    return found


def _read_piece(kind: str, piece: str, counters: Counters, context: TextContext) -> list[RawBlock]:
    captions = _main_captions(piece)
    made = _Float(kind, piece)
    if captions:
        last = captions[-1]
        group = read_group(piece, skip_options(piece, last.end()))
        made.kind = last["kind"] or kind
        made.caption, made.starred = (group[0] if group else ""), bool(last["star"])
    number = None
    if captions and not made.starred:
        number = counters.shown(made.kind) if "\\ContinuedFloat" in piece else counters.step(made.kind)
    label = _register(made, number, counters, context)
    rest, made.grids = _without_tabulars(_without(piece, captions), made.grids)
    caption = made.caption + "".join(f" {part}" for part in made.part_captions)
    if made.kind == "algorithm":
        return [RawAlgorithm(_without(piece, captions), made.caption, number)]
    rest += "".join(
        f"\n\n{_without(body, list(_CAPTION.finditer(body)))}" for *_, body in _parts(piece) if _DISPLAY.search(body)
    )
    text = _left_over(rest, context, _SHORTEST_TEXT if made.kind == "figure" else 4)
    if made.kind == "listing":
        return [*([RawText(f"\n\n**Listing {number}.** {caption}\n\n")] if captions else []), *text]
    if made.grids and (made.kind == "table" or not _GRAPHICS.search(rest)):
        name = "tab" if made.kind == "table" else "fig"
        return [*_tables(made, caption, number, label, name), *text]
    if made.kind == "table":
        return [RawTable(None, caption, number, label), *text] if caption else text
    # A table of results beside a picture; one that only arranges pictures is none.
    beside: list[RawBlock] = [RawTable((grid, body)) for grid, body, _ in made.grids if not _GRAPHICS.search(body)]
    return [*text, *beside, RawFigure(caption, number, label)] if caption else [*text, *beside]


def _tables(made: _Float, caption: str, number: str | None, label: str | None, name: str) -> list[RawBlock]:
    tables: list[RawBlock] = []
    for environment, body, part in made.grids:
        shown = f"{made.caption} {part}" if part else caption
        tables.append(
            RawTable((environment, body), shown, number, label, name if not tables else f"{name}{len(tables) + 1}")
        )
    return tables


def _register(made: _Float, number: str | None, counters: Counters, context: TextContext) -> str | None:
    """Give every label of the float its number; parts are ``2a``, ``2b``. Returns the label of the whole."""
    piece = made.inside
    part_labels: set[str] = set()
    for index, (_, _, shown, body) in enumerate(_parts(piece)):
        letter = chr(ord("a") + index % 26)
        for found in _LABEL.finditer(body):
            context.labels[found[1].strip()] = Target(made.kind, f"{number or counters.shown(made.kind)}{letter}")
            part_labels.add(found[1].strip())
        bare = _LABEL.sub("", shown).strip()
        if bare:
            made.part_captions.append(f"({letter}) {bare}")
        for match in _TABULAR.finditer(body):
            made.grids.append(
                (match[1], read_environment(body, match.end(), match[1])[0], f"({letter}) {bare}" if bare else "")
            )
    labels = [found[1].strip() for found in _LABEL.finditer(piece) if found[1].strip() not in part_labels]
    for label in labels:
        context.labels[label] = Target(made.kind, number or "")
    return labels[0] if labels else None


def _without(piece: str, captions: list[re.Match[str]]) -> str:
    """The float without its captions, labels, parts and drawings."""
    spans = [(match.start(), read_groups(piece, skip_options(piece, match.end()), 1)[1]) for match in captions]
    spans += [(start, stop) for start, stop, _, _ in _parts(piece)]
    position, kept = 0, []
    for start, stop in sorted(spans):
        if start >= position:
            kept.append(piece[position:start])
            position = stop
    kept.append(piece[position:])
    text = _LABEL.sub("", "".join(kept))
    while match := _DRAWING.search(text):
        text = text[: match.start()] + text[read_environment(text, match.end(), match[1])[1] :]
    return text


def _without_tabulars(text: str, grids: list[tuple[str, str, str]]) -> tuple[str, list[tuple[str, str, str]]]:
    kept: list[str] = []
    position = 0
    while match := _TABULAR.search(text, position):
        body, end = read_environment(text, match.end(), match[1])
        kept.append(text[position : match.start()])
        grids = [*grids, (match[1], body, "")]
        position = end
    kept.append(text[position:])
    return "".join(kept), grids


def _left_over(rest: str, context: TextContext, shortest: int) -> list[RawBlock]:
    """Text in a float beside its caption: prompts, notes, examples. The labelling of pictures is dropped."""
    if _DISPLAY.search(rest):
        return [RawText(f"\n\n{rest}\n\n")]
    words = re.findall(r"[^\W\d_]{2,}", to_line(rest, context))
    han = sum("\u4e00" <= char <= "\u9fff" for word in words for char in word)
    return [RawText(f"\n\n{rest}\n\n")] if len(words) >= shortest or han >= 2 * shortest else []

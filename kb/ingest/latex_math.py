"""Maths as it is stored: the authors' macros expanded, what only steers its setting gone."""

from __future__ import annotations

import re

from kb.ingest.latex_groups import CONTROL, read_group, read_groups, skip_options
from kb.ingest.latex_macros import Macros, expand

_NOTHING = frozenset(
    "nonumber notag displaystyle textstyle allowdisplaybreaks qedhere xspace hfill hfil noindent footnotemark small "
    "footnotesize "
    "scriptsize tiny normalsize large Large boldmath protect relax ignorespaces strut mathstrut centering ! / "
    "-".split(" ")
)
_WITH_GROUPS = {
    "label": 1, "tag": 1, "vspace": 1, "hspace": 1, "color": 1, "footnote": 1, "footnotetext": 1, "vphantom": 1,
    "hphantom": 1, "addtocounter": 2, "setcounter": 2, "setlength": 2, "tikzmark": 1, "rule": 2,
}  # fmt: skip
_SHOW_LAST = {
    "textcolor": 2, "mathcolor": 2, "colorbox": 2, "fcolorbox": 3, "ensuremath": 1, "resizebox": 3, "scalebox": 2,
    "adjustbox": 2, "tikzmarknode": 2, "eqnmarkbox": 2, "eqnmark": 2, "mathmakebox": 1, "highlight": 1, "hl": 1,
}  # fmt: skip
_ENDS_IN_WORD = re.compile(r"\\[a-zA-Z]+$")
_MAX_DEPTH = 30


def clean_math(latex: str) -> str:
    """Maths without labels, tags, colours and boxes; the lines stay."""
    cleaned = _clean(latex, 0)
    return "\n".join(line.strip() for line in cleaned.splitlines() if line.strip())


def inline_math(latex: str) -> str:
    """The same on one line."""
    return " ".join(_clean(latex, 0).split())


def expanded_math(latex: str, macros: Macros) -> str:
    """Maths with the authors' macros expanded, cleaned."""
    return clean_math(expand(latex, macros))


def _clean(latex: str, depth: int) -> str:
    if "\\" not in latex or depth > _MAX_DEPTH:
        return latex
    kept: list[str] = []
    position = copied = 0
    while match := CONTROL.search(latex, position):
        name, position = match[1], match.end()
        if name in _NOTHING:
            end, shown = position, ""
        elif name in _WITH_GROUPS:
            after = position + latex.startswith("*", position)
            end, shown = read_groups(latex, skip_options(latex, after), _WITH_GROUPS[name])[1], ""
        elif name in _SHOW_LAST:
            groups, end = read_groups(latex, position, _SHOW_LAST[name])
            if not groups:
                continue
            shown = "{" + _clean(_without_dollars(groups[-1]), depth + 1) + "}"
        else:
            continue
        before = latex[copied : match.start()]
        runs_on = not shown and latex[end : end + 1].isalpha() and _ENDS_IN_WORD.search(before)
        kept += [before, " " if runs_on else shown]
        position = copied = end
    kept.append(latex[copied:])
    return "".join(kept)


def _without_dollars(latex: str) -> str:
    bare = latex.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == "$":
        return bare.strip("$")
    return bare


def skip_math(text: str, at: int, closing: str) -> int:
    """The place of the ``closing`` mark of maths that begins at ``at``; -1 if an empty line or the end comes first."""
    position = at
    pattern = re.compile(r"\\.|[{$]|\n[ \t]*\n", re.DOTALL)
    while match := pattern.search(text, position):
        if text.startswith(closing, match.start()):
            return match.start()
        sign, position = match[0], match.end()
        if sign == "{":
            group = read_group(text, match.start())
            position = group[1] if group else position
        elif sign.startswith("\n"):
            return -1
    return -1

"""Where maths begins and ends in a cell or a line: ``$...$`` as Pandoc reads it, so that a price is no formula.

What is maths here is set as maths. ``kb.markup`` errs to the other side: in whole notes, where people write ``$ x $`` too,
what might be maths, code or a comment is left alone.
"""

from __future__ import annotations

import re

# The dollar before maths has no space behind it, the one after it none before it and no digit behind it.
_MATH = re.compile(r"(?<![\\$])(\$\$[^$]+\$\$|\$(?!\s)(?:\\.|[^$\\])*?(?<![\s\\])\$(?![\d$]))", re.DOTALL)


def split_math(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, each with whether it is maths (with its dollars). A formula whose braces do not close is text."""
    pieces: list[tuple[bool, str]] = []
    for index, piece in enumerate(_MATH.split(text)):
        is_math = index % 2 == 1 and _is_closed(piece)
        if pieces and not is_math and not pieces[-1][0]:
            pieces[-1] = (False, pieces[-1][1] + piece)
        elif piece:
            pieces.append((is_math, piece))
    return pieces


def _is_closed(formula: str) -> bool:
    depth = 0
    for sign in re.findall(r"\\.|[{}]", formula, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0 and len(re.findall(r"\\left\b", formula)) == len(re.findall(r"\\right\b", formula))

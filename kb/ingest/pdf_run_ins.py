"""Headings that run into their text: ``2.1. Title. The text begins on the same line``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kb.ingest.pdf_lines import CUT_OFF, Line
from kb.sections import section_kind

_NUMBERED = re.compile(r"^(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,3}\.?\s+\S")
_END = re.compile(r"[.:：。]\s*$|\s*[—–]$")
LONGEST = 100


def split_run_ins(lines: Sequence[Line]) -> list[Line]:
    """The lines, those with a heading at their start cut in two.

    Only a number of two parts or more, or the word limitations, makes a bold start a heading: papers emphasise the
    first words of many paragraphs.
    """
    made: list[Line] = []
    for line in lines:
        head = line.text[: line.lead].rstrip() if line.lead > 0 else ""
        if head and _is_heading(head, line.text[line.lead :]):
            width = (line.x1 - line.x0) * line.lead / len(line.text)
            title = _END.sub("", head)
            made.append(replace(line, text=title, x1=line.x0 + width, bold=True, math=0.0, full=False, lead=CUT_OFF))
            line = replace(line, text=line.text[line.lead :].lstrip(" .:—–"), x0=line.x0 + width, lead=0)
        made.append(line)
    return made


def _is_heading(head: str, rest: str) -> bool:
    if len(head) > LONGEST or len(rest.strip()) < 3 or not (_END.search(head) or rest.lstrip()[:1] in ".:—–"):
        return False
    if _NUMBERED.match(head):
        return True
    return section_kind(head) == "limitations" and len(head) < 40

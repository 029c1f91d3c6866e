r"""``\iffalse``, ``\newif`` switches and etoolbox toggles: the branch that TeX would take, found without running TeX.

A condition that cannot be told (``\ifx``, ``\ifnum``) keeps both branches: text twice is better than text lost.
"""

from __future__ import annotations

import re

from kb.ingest.latex_groups import read_groups

# Commands that begin like a condition and take their branches as arguments, and the sign for "if and only if".
_NO_CONDITIONS = frozenset(
    "iff ifthenelse iftoggle ifbool ifdef ifundef ifcsdef ifcsundef ifstrequal ifstrempty ifblank ifnumcomp "
    "ifnumequal "
    "ifdefempty ifdefequal ifdefstring ifdefvoid ifcsempty ifcsstring iflanguage ifmtarg ifnotmtarg "
    "ifinlist".split(" ")
)
_TOKEN = re.compile(
    r"\\newif\s*\\if(?P<new>[a-zA-Z@]+)"
    r"|\\(?P<toggle>newtoggle|newbool|newboolean|toggletrue|togglefalse|booltrue|boolfalse|settoggle|setbool|"
    r"setboolean|"
    r"iftoggle|ifbool|nottoggle|notbool)(?![a-zA-Z@])"
    r"|\\(?P<word>if[a-zA-Z@]*|else|fi|[a-zA-Z@]+(?:true|false))(?![a-zA-Z@])"
)


class Conditionals:
    """Reads texts in the order of TeX (styles before the document) and remembers the switches."""

    def __init__(self) -> None:
        self.switches: dict[str, bool] = {}
        self._toggles: dict[str, bool] = {}

    def declare(self, text: str) -> None:
        """Learn the switches of a style, which are all off until the document says otherwise."""
        for match in re.finditer(r"\\newif\s*\\if([a-zA-Z@]+)", text):
            self.switches.setdefault(match[1], False)

    def resolve(self, text: str) -> str:
        """The text without the branches that are off, and without the conditions themselves where they are known."""
        kept: list[str] = []
        branches = _Branches()
        position = 0
        while match := _TOKEN.search(text, position):
            alive = branches.alive
            if alive:
                kept.append(text[position : match.start()])
            position = match.end()
            if match["toggle"]:
                position = self._toggle(text, match, kept, alive)
            elif match["new"]:
                self.switches.setdefault(match["new"], False)
            elif not self._step(match["word"], branches) and alive:
                kept.append(match[0])
        if branches.alive:
            kept.append(text[position:])
        return "".join(kept)

    def _step(self, word: str, branches: _Branches) -> bool:
        """Take one word in; False when it is no part of a condition and stays in the text."""
        if word == "fi":
            branches.close()
        elif word == "else":
            branches.turn()
        elif word.startswith("if") and word not in _NO_CONDITIONS:
            known = {"iffalse": False, "iftrue": True}.get(word, self.switches.get(word[2:]))
            alive = branches.alive
            branches.open(known if alive else None)
            return known is not None or not alive
        elif (name := re.sub("(?:true|false)$", "", word)) != word and name in self.switches:
            if branches.alive:
                self.switches[name] = word.endswith("true")
        else:
            return False
        return True

    def _toggle(self, text: str, match: re.Match[str], kept: list[str], alive: bool) -> int:
        """One toggle command with its arguments; returns the place after what is settled."""
        command = match["toggle"]
        count = 3 if command.startswith(("if", "not")) else 2 if command.startswith("set") else 1
        groups, end = read_groups(text, match.end(), count)
        if len(groups) < count or not alive:
            return match.end()
        name = groups[0].strip()
        if count == 3:
            on = self._toggles.get(name, False) != command.startswith("not")
            kept.append(self.resolve(groups[1] if on else groups[2]))
        elif command.startswith("set"):
            self._toggles[name] = groups[1].strip() == "true"
        elif not command.startswith("new"):
            self._toggles[name] = command.endswith("true")
        return end


class _Branches:
    """The conditions that are open, each with its branch: taken, not taken, or None for one that cannot be told.

    Inside a branch that is not taken all are None, so at most one is not taken.
    """

    def __init__(self) -> None:
        self._open: list[bool | None] = []
        self.alive = True

    def open(self, taken: bool | None) -> None:
        self._open.append(taken)
        self.alive = self.alive and taken is not False

    def close(self) -> None:
        if self._open and self._open.pop() is False:
            self.alive = True

    def turn(self) -> None:
        """``\\else``."""
        if self._open and self._open[-1] is not None:
            self._open[-1] = self.alive = not self._open[-1]

"""What TeX never reads as text: comments, parts that are switched off; and verbatim text, kept aside as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_ENVIRONMENTS = "verbatim verbatim* Verbatim Verbatim* BVerbatim LVerbatim lstlisting minted alltt tcblisting comment"
_DECLARED = re.compile(
    r"\\(?:lstnewenvironment|newtcblisting|DefineVerbatimEnvironment|"
    r"newminted(?=\s*\[))\s*(?:\[([\w*]+)\]\s*)?\{([\w*]*)\}"
)
_EXCLUDED = re.compile(r"\\(?:excludecomment|specialcomment)\s*\{(\w+)\}")
_PERCENT = re.compile(r"\\?%")
_LINE_BREAK = re.compile(r"\n[ \t]*")


@dataclass(slots=True)
class Verbatim:
    r"""Verbatim texts by number; in the text stand ``\kbverbatim{7}`` (a block) or ``\kbverb{7}`` (in a line)."""

    texts: list[str] = field(default_factory=list)

    def keep(self, text: str, block: bool) -> str:
        self.texts.append(text)
        return f"\\{'kbverbatim' if block else 'kbverb'}{{{len(self.texts) - 1}}}"


class CommentStripper:
    """Reads files one by one; verbatim environments that any of the files declares are known."""

    def __init__(self, files: Iterable[str], verbatim: Verbatim) -> None:
        self._verbatim = verbatim
        self._comments = {"comment"}
        self._unclosed = ("", "")  # an environment that the rest of a text does not close
        names = set(_ENVIRONMENTS.split())
        for text in files:
            names |= {match[2] or match[1] for match in _DECLARED.finditer(text) if match[2] or match[1]}
            excluded = {match[1] for match in _EXCLUDED.finditer(text)}
            self._comments |= excluded
            names |= excluded
        listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._special = re.compile(
            rf"\\begin\s*\{{(?P<environment>{listed})\}}"
            r"|\\(?P<verb>verb|lstinline|Verb|mintinline)\*?(?![a-zA-Z])"
            r"|\\(?:url|path|nolinkurl|href)\s*\{(?P<address>[^{}\n]*)\}"
            r"|\\(?s:.)|(?P<comment>%)"
        )

    def strip(self, text: str) -> str:
        """A file's text without its comments, verbatim text replaced by its number."""
        kept: list[str] = []
        position = 0
        while match := self._special.search(text, position):
            kept.append(text[position : match.start()])
            if match["environment"]:
                position = self._environment(text, match, kept)
            elif match["verb"]:
                position = self._verb(text, match, kept)
            elif match["comment"]:
                position = _after_comment(text, match.end(), kept)
            else:
                kept.append(_PERCENT.sub(r"\\%", match[0]) if match["address"] else match[0])
                position = match.end()
        kept.append(text[position:])
        return "".join(kept)

    def _environment(self, text: str, match: re.Match[str], kept: list[str]) -> int:
        name = match["environment"]
        closing = f"\\end{{{name}}}"
        end = text.find(closing, match.end()) if (name, text) != self._unclosed else -1
        if end < 0:
            self._unclosed = (name, text)
            kept.append(match[0])
            return match.end()
        if name not in self._comments:
            kept.append(self._verbatim.keep(f"{name}\n{text[match.end() : end]}", block=True))
        return end + len(closing)

    def _verb(self, text: str, match: re.Match[str], kept: list[str]) -> int:
        at = match.end()
        options = re.compile(r"(?:\[[^\]\n]*\])?(?:\{\w+\}(?=[{|!]))?" if match["verb"] != "verb" else "").match(
            text, at
        )
        at = options.end() if options else at
        opening = text[at : at + 1]
        closing = "}" if opening == "{" else opening
        end = text.find(closing, at + 1) if opening.strip() and not opening.isalnum() else -1
        if end < 0 or "\n" in text[at:end]:
            kept.append(match[0])
            return match.end()
        kept.append(self._verbatim.keep(text[at + 1 : end], block=False))
        return end + 1


def _after_comment(text: str, at: int, kept: list[str]) -> int:
    """A comment takes its line break and the next indentation along, but an empty line still ends a paragraph."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    after = _LINE_BREAK.match(text, end)
    position = after.end() if after else end + 1
    if text.startswith("\n", position):
        kept.append("\n")
    return position

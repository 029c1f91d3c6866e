"""What a paper's LaTeX source says its PDF must hold: runs of plain words in order, headings, entries of its list.

A deliberately plain reading, independent of ``kb.ingest.latex``: whatever is not running words ends a run.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from pathlib import Path

RUN = 8  # words
_ENVIRONMENTS = (
    "equation align gather multline eqnarray displaymath math table figure wrapfigure wraptable tabular algorithm "
    "lstlisting verbatim minted thebibliography filecontents tikzpicture tcolorbox comment longtable CCSXML "
    "keyword keywords frontmatter titlepage abstract_not"
).split(" ")
_BLOCK = re.compile(rf"\\begin\s*\{{({'|'.join(_ENVIRONMENTS)})\*?\}}.*?\\end\s*\{{\1\*?\}}", re.DOTALL)
_MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)%.*")
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{([^}]+)\}")
_ARGUMENTS = re.compile(r"\\[a-zA-Z@]+\*?\s*((?:\[[^\]]*\]|\{[^{}]*\})*)")
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Words for comparison: letters and digits, case and accents folded."""
    plain = unicodedata.normalize("NFKD", text)
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)).casefold())


def read_flat(folder: Path, name: str, depth: int = 0) -> str:
    """A source with its inputs in place and its comments gone."""
    path = folder / (name if name.endswith((".tex", ".bbl")) else f"{name}.tex")
    if depth > 8 or not path.is_file():
        return ""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
    return _INPUT.sub(lambda match: read_flat(folder, match[1].strip(), depth + 1), text)


def main_file(folder: Path) -> str:
    """The name of the main file without its suffix: it has a class, a title and, among several, a list of its own."""

    def score(path: Path) -> int:
        text = _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
        if not re.search(r"\\document(?:class|style)", text):
            return -1
        return ("\\begin{document}" in text) + ("\\title" in text) + path.with_suffix(".bbl").exists()

    return max(sorted(folder.glob("*.tex")), key=score).stem


def prose_runs(tex: str) -> list[list[str]]:
    """Runs of ``RUN`` words, each out of one stretch of unbroken prose, in the order of the source."""
    start = tex.find("\\begin{document}")
    end = tex.find("\\end{document}")
    body = tex[max(start, 0) : end if end > 0 else len(tex)]
    body = _without_calls(body, ("footnote", "footnotetext", "thanks", "author", "title", "caption", "icmlauthor"))
    body = _MATHS.sub("\0", _BLOCK.sub("\0", body))
    body = re.sub(r"\\(?:emph|textit|textbf|text|textsc|textrm)\s*\{([^{}\\]*)\}", r"\1", body)
    body = re.sub(r"\\([&%#_ ])", r" \1", body).replace("~", " ").replace("\\-", "").replace("\\/", "")
    body = re.sub(r"\\['`^\"~=.][ ]?\{?(\w)\}?", r"\1", body)
    body = re.sub(r"---?|``|''", " ", body)
    runs = []
    for stretch in re.split(r"\0|[{}]|\\\\|\n\s*\n|&", _ARGUMENTS.sub("\0", body)):
        words = words_of(stretch)
        runs += [words[at : at + RUN] for at in range(0, len(words) - RUN + 1, RUN // 2)]
    return runs


def _without_calls(text: str, names: tuple[str, ...]) -> str:
    """The text without these commands and their arguments, whose braces may nest."""
    pattern = re.compile(rf"\\(?:{'|'.join(names)})\s*(?:\[[^\]]*\]\s*)?\{{")
    while match := pattern.search(text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0) if text[at - 1] != "\\" else 0
            at += 1
        text = f"{text[: match.start()]}\0{text[at:]}"
    return text


def entry_count(folder: Path, main: str, tex: str) -> int:
    """How many entries the reference list has."""
    bbl = folder / f"{main}.bbl"
    text = bbl.read_text(encoding="utf-8", errors="replace") if bbl.is_file() else tex
    return len(re.findall(r"\\bibitem|\\entry\{", text))


def longest_rising(values: list[int]) -> int:
    """The length of the longest rising run that can be picked out of the values."""
    tails: list[int] = []
    for value in values:
        at = bisect.bisect_left(tails, value)
        tails[at : at + 1] = [value]
    return len(tails)

r"""From the files of a LaTeX source to one text: the main file with every ``\input`` in its place.

Nothing outside the given files is ever read, whatever an ``\input`` names, and no TeX is run.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from kb.errors import BadDocument

MAX_DEPTH = 20
MAX_LENGTH = 20_000_000  # characters
TEX_SUFFIXES = (".tex", ".ltx", ".latex")
_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}")
_INCLUDE = re.compile(
    r"\\(?:input|include|subfile|subfileinclude|includestandalone)\s*(?:\[[^\]\n]*\])?\s*\{([^{}]*)\}"
    r"|\\input\s+([^\s{}\\]+)"
    r"|\\(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{([^{}]*)\}\s*\{([^{}]*)\}"
)
_README_LINE = re.compile(r"^\s*(\S+\.(?:tex|ltx))\s*(?:toplevelfile)?\s*$", re.MULTILINE)
_README_SOURCE = re.compile(
    r'"?filename"?\s*:\s*"?([^\s",}]+\.(?:tex|ltx))"?[^}]{0,200}?"?usage"?\s*:\s*"?toplevel', re.DOTALL
)


def decode(data: bytes) -> str:
    """Text of a source file: UTF-8, else GB18030 where that gives Chinese, else Latin-1."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        pass
    latin = data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
    try:
        text = data.decode("gb18030").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return latin
    foreign = [char for char in text if char > "\x7f"]
    han = sum("\u4e00" <= char <= "\u9fff" or "\u3000" <= char <= "\u303f" for char in foreign)
    return text if han > 20 and han > 0.7 * len(foreign) else latin


def choose_main(files: Mapping[str, str]) -> str:
    """The name of the main file among files without comments. Raises BadDocument when no file can be one."""
    named = _from_readme(files)
    if named:
        return named
    scores: dict[str, tuple[int, ...]] = {}
    for name, text in files.items():
        base = posixpath.basename(name)
        match = _CLASS.search(text) if base.lower().endswith(TEX_SUFFIXES) or "." not in base else None
        if match is None or match[1].strip() in ("subfiles", "standalone"):
            continue
        stem = posixpath.splitext(name)[0]
        scores[name] = (
            "\\begin{document}" in text,
            f"{stem}.bbl" in files,
            bool(re.search(r"\\(?:icml)?title(?![a-zA-Z])", text))
            + bool(re.search(r"\\(?:begin\s*\{)?abstract", text)),
            bool(re.search(r"\\(?:section|chapter|input|include|bibliography)(?![a-zA-Z])", text)),
            -name.count("/"),
            len(text),
        )
    if scores:
        return max(scores, key=lambda name: scores[name])
    return _largest(files)


def _largest(files: Mapping[str, str]) -> str:
    """Sources older than document classes: the longest file of TeX."""
    plain = [name for name in files if name.lower().endswith(TEX_SUFFIXES) or "." not in posixpath.basename(name)]
    plain = [name for name in plain if "\\" in files[name]]
    if not plain:
        raise BadDocument("no TeX source: no file with a document class")
    return max(plain, key=lambda name: len(files[name]))


def _from_readme(files: Mapping[str, str]) -> str | None:
    """The main file that arXiv's own ``00README`` (a list of lines, JSON or YAML) names."""
    for name, text in files.items():
        if posixpath.basename(name).lower().startswith("00readme"):
            for pattern in (_README_SOURCE, _README_LINE):
                for match in pattern.finditer(text):
                    if match[1] in files and _CLASS.search(files[match[1]]):
                        return match[1]
    return None


def flatten(files: Mapping[str, str], main: str) -> str:
    """The main file's text with every include that the source itself holds. The files have no comments any more."""
    return _Flattener(files).include(main, posixpath.dirname(main), ())


class _Flattener:
    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._folded = {name.lower(): name for name in files}
        self._length = 0

    def include(self, name: str, base: str, opened: tuple[str, ...]) -> str:
        if len(opened) > MAX_DEPTH or name in opened:
            return ""
        text = self._files[name]
        if opened and "\\begin{document}" in text:
            text = text.split("\\begin{document}", 1)[1].split("\\end{document}")[0]
        self._length += len(text)
        if self._length > MAX_LENGTH:
            raise BadDocument("source too large: its includes unfold without end")
        kept: list[str] = []
        position = 0
        for match in _INCLUDE.finditer(text):
            folder = base if match[3] is None else posixpath.normpath(posixpath.join(base, match[3]))
            wanted = match[1] or match[2] or match[4] or ""
            found = self._resolve(wanted.strip().strip('"'), folder)
            kept.append(text[position : match.start()])
            if found:
                kept.append(self.include(found, folder, (*opened, name)))
            position = match.end()
        kept.append(text[position:])
        return "".join(kept)

    def _resolve(self, wanted: str, folder: str) -> str | None:
        """The member that an include names; None for anything that is not a member."""
        if not wanted:
            return None
        for start in dict.fromkeys((folder, "")):
            path = posixpath.normpath(posixpath.join(start, wanted))
            for name in (path, *(path + suffix for suffix in TEX_SUFFIXES)):
                if name in self._files:
                    return name
                if name.lower() in self._folded:  # written where names of files know no case
                    return self._folded[name.lower()]
        return None

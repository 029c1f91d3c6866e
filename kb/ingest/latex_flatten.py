"""From the files of a LaTeX source to one text: main file found, includes resolved, comments and dead parts gone.

Nothing outside the given files is ever read, whatever an ``\\input`` names, and no TeX is run.
"""

from __future__ import annotations

import posixpath
import re

from kb.errors import BadDocument

MAX_DEPTH = 20
MAX_LENGTH = 20_000_000
_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}")
_INCLUDE = re.compile(
    r"\\(?:input|include|subfile|subfileinclude)\s*\{([^{}]*)\}|\\input\s+([^\s{}\\]+)|"
    r"\\(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{([^{}]*)\}\s*\{([^{}]*)\}"
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*)?")
_VERBATIM = re.compile(r"\\begin\{(verbatim\*?|lstlisting|minted|comment)\}.*?\\end\{\1\}", re.DOTALL)
_IF = re.compile(r"\\(if(?:false|true|[a-zA-Z@]*)|else|fi)(?![a-zA-Z@])")


def decode(data: bytes) -> str:
    """Text of a source file: UTF-8, else GB18030 where that fits Chinese, else Latin-1."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return data.decode("latin-1")
    han = sum("\u4e00" <= char <= "\u9fff" for char in text)
    return text if han > 20 else data.decode("latin-1")


def choose_main(files: dict[str, str]) -> str:
    """The name of the main file. Raises BadDocument when no file can be one."""
    named = _from_readme(files)
    if named:
        return named
    scores: dict[str, tuple[int, ...]] = {}
    for name, text in files.items():
        if not name.lower().endswith((".tex", ".ltx", ".latex")) and "." in posixpath.basename(name):
            continue
        bare = strip_comments(text)
        match = _CLASS.search(bare)
        if match is None or match[1].strip() in ("subfiles", "standalone"):
            continue
        stem = posixpath.splitext(name)[0]
        scores[name] = (
            "\\begin{document}" in bare,
            f"{stem}.bbl" in files,
            "\\title" in bare,
            "\\begin{abstract}" in bare or "\\abstract" in bare or "\\section" in bare,
            -name.count("/"),
            len(bare),
        )
    if scores:
        return max(scores, key=lambda name: scores[name])
    plain = [name for name in files if name.lower().endswith((".tex", ".ltx", ".latex")) or "." not in name]
    plain = [name for name in plain if "\\" in files[name]]
    if not plain:
        raise BadDocument("no TeX source: no file with a document class")
    return max(plain, key=lambda name: len(files[name]))


def _from_readme(files: dict[str, str]) -> str | None:
    for name, text in files.items():
        if posixpath.basename(name).lower().startswith("00readme"):
            for line in text.splitlines():
                match = re.search(r"([\w./-]+\.(?:tex|ltx))", line)
                if match and re.search(r"toplevel|^\s*[\w./-]+\.tex\s*$", line) and match[1] in files:
                    return match[1]
    return None


def strip_comments(text: str) -> str:
    """Text without comments, ``comment`` environments and parts that ``\\iffalse`` switches off."""
    kept: list[str] = []
    position = 0
    for match in _VERBATIM.finditer(text):
        kept += [_COMMENT.sub(r"\1", text[position : match.start()]), "" if match[1] == "comment" else match[0]]
        position = match.end()
    kept.append(_COMMENT.sub(r"\1", text[position:]))
    return _drop_false("".join(kept))


def _drop_false(text: str) -> str:
    if "\\iffalse" not in text:
        return text
    kept: list[str] = []
    position = 0
    stack: list[str] = []
    for match in _IF.finditer(text):
        word = match[1]
        dead = "dead" in stack
        if not dead:
            kept.append(text[position : match.start()])
        position = match.start()
        if word.startswith("if"):
            stack.append("dead" if word == "iffalse" else "live")
            if word == "iffalse" and not dead:
                position = match.end()
        elif word == "else" and stack and stack[-1] == "dead" and stack.count("dead") == 1:
            stack[-1] = "was dead"
            position = match.end()
        elif word == "fi" and stack and stack.pop() in ("dead", "was dead") and "dead" not in stack:
            position = match.end()
        if "dead" in stack:
            position = match.end()
    if "dead" not in stack:
        kept.append(text[position:])
    return "".join(kept)


def flatten(files: dict[str, str], main: str) -> str:
    """The text of the main file with every include that the source itself holds."""
    text = _include(files, main, posixpath.dirname(main), 0, set())
    return text.split("\\end{document}")[0] if "\\end{document}" in text else text


def _include(files: dict[str, str], name: str, base: str, depth: int, open_files: set[str]) -> str:
    if depth > MAX_DEPTH or name in open_files:
        return ""
    text = strip_comments(files[name])
    if depth and "\\begin{document}" in text:
        text = text.split("\\begin{document}", 1)[1].split("\\end{document}")[0]
    kept: list[str] = []
    position = length = 0
    for match in _INCLUDE.finditer(text):
        folder = base
        wanted = match[1] or match[2] or ""
        if match[3] is not None:
            folder = posixpath.normpath(posixpath.join(base, match[3]))
            wanted = match[4]
        found = _resolve(files, wanted.strip().strip('"'), folder)
        kept.append(text[position : match.start()])
        if found:
            inner = _include(files, found, folder if match[3] is not None else base, depth + 1, open_files | {name})
            length += len(inner)
            if length > MAX_LENGTH:
                raise BadDocument("source too large: its includes unfold without end")
            kept.append(inner)
        position = match.end()
    kept.append(text[position:])
    return "".join(kept)


def _resolve(files: dict[str, str], wanted: str, folder: str) -> str | None:
    """The member that an include names; None for anything that is not a member."""
    if not wanted:
        return None
    for start in dict.fromkeys((folder, "")):
        path = posixpath.normpath(posixpath.join(start, wanted))
        for name in (path, f"{path}.tex", f"{path}.ltx"):
            if name in files:
                return name
    return None

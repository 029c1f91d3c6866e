"""Running LaTeX as readable Markdown: inline maths kept, accents and dashes as characters, citations as ``[@key]``."""

from __future__ import annotations

import re
import unicodedata

from kb.ingest import latex_cross_references
from kb.ingest.latex_commands import HANDLERS, drop, is_citation, print_citation
from kb.ingest.latex_context import TextContext
from kb.ingest.latex_groups import CONTROL, read_argument, read_group, read_groups, skip_options, skip_space
from kb.ingest.latex_macros import expand
from kb.ingest.latex_math import inline_math, skip_math
from kb.ingest.latex_symbols import ACCENTS, LETTERS, MATH_SIGNS, SHOW_LAST, SHOW_ONE, SYMBOLS

MAX_DEPTH = 60
_PLAIN = re.compile(r"[^\\${}\-`'~&]+")
_LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "))
_INNER_MARKS = re.compile(r"\*{1,2}([^*\n]+)\*{1,2}")
_HAN = "\u2e80-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_HAN_GAP = re.compile(rf"(?<=[{_HAN}]) +(?=[{_HAN}])")
_SPACE_BEFORE_MARK = re.compile(r" +([,.;:)\]])(?=[\s,.;:)\]]|$)")
_MATH_REFERENCE = re.compile(r"\\(?:eq)?ref\s*\{([^{}]*)\}")
# Maths inside the text of a formula: a dollar there would end the formula for a reader of Markdown.
_NESTED_MATH = re.compile(r"(?<!\\)\$([^$]*)\$")
_INVISIBLE = re.compile(r"\\color\s*\{white\}")
_SWITCHES = dict.fromkeys(("bf", "bfseries"), "**") | dict.fromkeys(("em", "it", "itshape", "sl", "slshape"), "*")
_SWITCHES |= dict.fromkeys(("tt", "ttfamily"), "`")


def to_markdown(tex: str, context: TextContext, plain: bool = False) -> str:
    """Running LaTeX as Markdown paragraphs, apart by blank lines. ``plain`` leaves out emphasis and footnotes."""
    text = Converter(context, plain).run(expand(tex, context.macros))
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", text))
    return "\n\n".join(_tidy(part) for part in paragraphs if part)


def to_line(tex: str, context: TextContext) -> str:
    """LaTeX as one plain line, without emphasis: for titles, cells and captions."""
    return _tidy(to_markdown(tex, context, plain=True).replace("\n\n", " ")).strip()


def _tidy(text: str) -> str:
    return _HAN_GAP.sub("", _SPACE_BEFORE_MARK.sub(r"\1", text))


class Converter:
    """One pass over expanded LaTeX. A step takes the place after its command and returns where to go on."""

    def __init__(self, context: TextContext, plain: bool) -> None:
        self.context = context
        self.plain = plain
        self._depth = 0

    def run(self, tex: str) -> str:
        """The text that a piece of LaTeX prints."""
        if self._depth > MAX_DEPTH:
            return re.sub(r"\\[a-zA-Z@]+|[{}$]", "", tex)
        self._depth += 1
        out: list[str] = []
        at = 0
        while at < len(tex):
            at = self._step(tex, at, out)
        self._depth -= 1
        return "".join(out)

    def _step(self, tex: str, at: int, out: list[str]) -> int:
        char = tex[at]
        if char == "\\":
            return self._command(tex, at, out)
        if char == "$":
            return self._math(tex, at, out)
        if char == "{":
            return self._group(tex, at, out)
        if char in "-`'~":
            return _ligature(tex, at, out)
        if char in "}&":
            out.append(" " if char == "&" else "")
            return at + 1
        match = _PLAIN.match(tex, at)
        out.append(match[0] if match else char)
        return match.end() if match else at + 1

    def _group(self, tex: str, at: int, out: list[str]) -> int:
        r"""``{\bf text}`` is set as a whole; any other group is read on as it stands."""
        if _INVISIBLE.match(tex, at + 1):
            hidden = read_group(tex, at)
            return hidden[1] if hidden else at + 1
        switch = CONTROL.match(tex, skip_space(tex, at + 1))
        group = read_group(tex, at) if switch and switch[1] in _SWITCHES else None
        if switch is None or group is None:
            return at + 1
        out.append(self.marked(_SWITCHES[switch[1]], self.run(group[0][switch.end() - at - 1 :].lstrip())))
        return group[1]

    def marked(self, mark: str, inside: str) -> str:
        """Text between Markdown marks, unless it has such marks or paragraphs inside."""
        bare = inside.strip()
        if mark != "`" and not self.plain:
            inside = inside.replace(bare, _INNER_MARKS.sub(r"\1", bare)) if "*" in bare else inside
            bare = inside.strip()
        if self.plain or not bare or "\n\n" in bare or mark[0] in bare or (mark == "`" and "$" in bare):
            return inside
        lead, tail = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
        return f"{lead}{mark}{bare}{mark}{tail}"

    def _math(self, tex: str, at: int, out: list[str]) -> int:
        mark = "$$" if tex.startswith("$$", at) else "$"
        end = skip_math(tex, at + len(mark), mark)
        if end < 0:
            out.append("\\$" if mark == "$" else "")
            return at + len(mark)
        out.append(self.math(tex[at + len(mark) : end]))
        return end + len(mark)

    def math(self, latex: str) -> str:
        """Maths in a line, between dollars."""
        inside = _MATH_REFERENCE.sub(lambda match: self.refer("ref", match[1]), inline_math(latex))
        inside = _NESTED_MATH.sub(r"\\(\1\\)", inside)
        return f"${inside}$" if inside else ""

    def refer(self, command: str, keys: str) -> str:
        """What a reference command prints."""
        context = self.context
        words = context.theorem_words() if command != "ref" else {}
        return latex_cross_references.print_reference(command, keys, context.labels, words, context.chinese)

    def _command(self, tex: str, at: int, out: list[str]) -> int:
        match = CONTROL.match(tex, at)
        if match is None:
            return at + 1
        name, end = match[1], match.end()
        if not name[0].isalpha() and name[0] != "@":
            return self._sign(name, tex, end, out)
        return self._word(name, tex, end + tex.startswith("*", end), out)

    def _word(self, name: str, tex: str, end: int, out: list[str]) -> int:
        if name in HANDLERS:
            return HANDLERS[name](self, tex, end, out)
        if name in latex_cross_references.COMMANDS:
            return self._reference(name, tex, end, out)
        if is_citation(name):
            return print_citation(self, tex, end, out)
        if name in LETTERS:
            out.append(LETTERS[name])
            return _after_word(tex, end)
        if name in SYMBOLS:
            out.append(SYMBOLS[name])
            return end + 2 if tex.startswith("{}", end) else end
        if name in SHOW_LAST or name in SHOW_ONE:
            return self._show(name, tex, end, out)
        if name in ACCENTS:
            return self._accent(name, tex, end, out)
        if name in MATH_SIGNS:
            out.append(f"$\\{name}$")
            return end
        return drop(self, name, tex, end, out)

    def _sign(self, name: str, tex: str, end: int, out: list[str]) -> int:
        if name in "%&_#{}":
            out.append(name)
        elif name == "$":
            out.append("\\$")
        elif name == "\\":
            out.append("\n")
            return skip_options(tex, end + tex.startswith("*", end))
        elif name in "([":
            close = tex.find("\\)" if name == "(" else "\\]", end)
            close = len(tex) if close < 0 else close
            out.append(self.math(tex[end:close]))
            return close + 2
        elif name in ACCENTS:
            return self._accent(name, tex, end, out)
        elif name in " ,;:\n\t>":
            out.append(" ")
        return end

    def _accent(self, name: str, tex: str, end: int, out: list[str]) -> int:
        argument = read_argument(tex, end)
        if argument is None:
            return end
        letter = self.run(argument[0]).replace("ı", "i").replace("ȷ", "j")
        out.append(unicodedata.normalize("NFC", letter[:1] + ACCENTS[name]) + letter[1:] if letter else "")
        return argument[1]

    def _show(self, name: str, tex: str, end: int, out: list[str]) -> int:
        count, which = SHOW_ONE.get(name, (SHOW_LAST.get(name, 1), -1))
        groups, after = read_groups(tex, end, count)
        if groups:
            out.append(self.run(groups[which] if len(groups) == count else groups[-1]))
        return after

    def _reference(self, name: str, tex: str, end: int, out: list[str]) -> int:
        groups, after = read_groups(tex, end, 2 if name.lower().startswith("crefrange") else 1)
        if groups:
            out.append(self.refer(name, ",".join(groups)))
        return after if groups else end


def _ligature(tex: str, at: int, out: list[str]) -> int:
    for raw, shown in _LIGATURES:
        if tex.startswith(raw, at):
            out.append(shown)
            return at + len(raw)
    out.append({"`": "‘", "'": "’"}.get(tex[at], tex[at]))
    return at + 1


def _after_word(tex: str, at: int) -> int:
    """TeX swallows the space after a control word; empty braces are put to keep it."""
    if tex.startswith("{}", at):
        return at + 2
    return at + 1 if tex.startswith(" ", at) else at

"""Running LaTeX as readable Markdown: inline maths kept, accents and dashes as characters, citations as ``[@key]``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from kb.ingest import latex_references
from kb.ingest.latex_comments import Verbatim
from kb.ingest.latex_counters import Target
from kb.ingest.latex_groups import (
    CONTROL,
    read_argument,
    read_environment,
    read_group,
    read_groups,
    read_option,
    skip_options,
    skip_space,
)
from kb.ingest.latex_macros import Macros, expand
from kb.ingest.latex_math import inline_math, skip_math
from kb.ingest.latex_symbols import (
    ACCENTS,
    DING,
    DROPPED,
    LENGTHS,
    LETTERS,
    MATH_SIGNS,
    SHOW_LAST,
    SHOW_ONE,
    SYMBOLS,
)

MAX_DEPTH = 60
_CITES = re.compile(r"(?:full|foot|super|paren|text|auto|smart|Paren|Text|Auto)?[cC]ite[a-zA-Z]*")
_ACRONYMS = re.compile(r"(?:[gG][lL][sS]|[aA]cr?|AC)(?:pl|s|l|f|p|sp|lp|fp|short|long|full|shortpl|longpl|fullpl|entrytext|text|lu|fi)?")
_PLAIN = re.compile(r"[^\\${}\-`'~&]+")
_LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "))
_MATH_ENVIRONMENTS = re.compile(r"(?:equation|align|gather|multline|eqnarray|displaymath|math|flalign|alignat)\*?")
_TABULARS = re.compile(r"(?:tabular[xy*]?|array|minipage|tblr|longtable)\*?")
_LENGTH = re.compile(
    r"\s*=?\s*(?:by\s*)?(?:[-+]?[\d.]*\s*(?:pt|em|ex|in|cm|mm|bp|pc|sp|dd|mu|true\w\w|\\[a-zA-Z]+)|[-+]?\d+)"
    r"(?:\s*(?:plus|minus)\s*[-+]?[\d.]*\s*(?:pt|em|ex|in|cm|mm|fil+|mu|\\[a-zA-Z]+))*"
)
_HAN = "\u2e80-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_HAN_GAP = re.compile(rf"(?<=[{_HAN}]) +(?=[{_HAN}])")
_SPACE_BEFORE_MARK = re.compile(r" +([,.;:)\]])(?=[\s,.;:)\]]|$)")
_BOLD = frozenset("bf bfseries boldmath textbf".split())
_ITALIC = frozenset("em it itshape sl slshape emph textit textsl".split())
_CODE = frozenset("tt ttfamily texttt code".split())


@dataclass(slots=True)
class TextContext:
    """What running text is read with: macros, what every label points to, verbatim pieces, the document's language."""

    macros: Macros = field(default_factory=Macros)
    labels: dict[str, Target] = field(default_factory=dict)
    verbatim: Verbatim = field(default_factory=Verbatim)
    chinese: bool = False
    named: set[str] = field(default_factory=set)  # acronyms that the text has spelled out already

    def theorem_words(self) -> dict[str, str]:
        return {theorem.counter or name: theorem.shown for name, theorem in self.macros.theorems.items()} | {
            name: theorem.shown for name, theorem in self.macros.theorems.items()
        }


def to_markdown(tex: str, context: TextContext, plain: bool = False) -> str:
    """Running LaTeX as Markdown paragraphs, apart by blank lines. ``plain`` leaves emphasis out and drops notes."""
    text = _Converter(context, plain).run(expand(tex, context.macros))
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", text))
    return "\n\n".join(_tidy(part) for part in paragraphs if part)


def to_line(tex: str, context: TextContext) -> str:
    """LaTeX as one plain line, without emphasis: for titles, cells and captions."""
    return _tidy(to_markdown(tex, context, plain=True).replace("\n\n", " ")).strip()


def _tidy(text: str) -> str:
    return _HAN_GAP.sub("", _SPACE_BEFORE_MARK.sub(r"\1", text))


class _Converter:
    """One pass over expanded LaTeX; every handler takes the place after its command and returns where to go on."""

    def __init__(self, context: TextContext, plain: bool) -> None:
        self._context = context
        self._plain = plain
        self._depth = 0

    def run(self, tex: str) -> str:
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
        """``{\\bf text}`` is set as a whole; any other group is read on as it stands."""
        switch = CONTROL.match(tex, skip_space(tex, at + 1))
        if switch and switch[1] in _BOLD | _ITALIC | _CODE and switch[1] not in ("boldmath", "textbf", "emph", "textit", "texttt", "code"):
            group = read_group(tex, at)
            if group:
                out.append(self._marked(switch[1], self.run(group[0][switch.end() - at - 1 :].lstrip())))
                return group[1]
        return at + 1

    def _marked(self, command: str, inside: str) -> str:
        mark = "**" if command in _BOLD else "*" if command in _ITALIC else "`"
        bare = inside.strip()
        if self._plain or not bare or "\n\n" in bare or mark[0] in bare or (mark == "`" and "$" in bare):
            return inside
        lead, tail = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
        return f"{lead}{mark}{bare}{mark}{tail}"

    def _math(self, tex: str, at: int, out: list[str]) -> int:
        mark = "$$" if tex.startswith("$$", at) else "$"
        end = skip_math(tex, at + len(mark), mark)
        if end < 0:
            out.append("\\$" if mark == "$" else "")
            return at + len(mark)
        self._put_math(tex[at + len(mark) : end], out)
        return end + len(mark)

    def _put_math(self, latex: str, out: list[str]) -> None:
        inside = inline_math(latex)
        inside = re.sub(r"\\(?:eq)?ref\s*\{([^{}]*)\}", lambda match: self._refer("ref", match[1]), inside)
        if inside:
            out.append(f"${inside}$")

    def _command(self, tex: str, at: int, out: list[str]) -> int:
        match = CONTROL.match(tex, at)
        if match is None:
            return at + 1
        name, end = match[1], match.end()
        if not name[0].isalpha() and name[0] != "@":
            return self._sign(name, tex, end, out)
        end += tex.startswith("*", end)
        handler = _HANDLERS.get(name)
        if handler:
            return handler(self, tex, end, out)
        if name in latex_references.COMMANDS:
            return self._reference(name, tex, end, out)
        if _CITES.fullmatch(name):
            return self._citation(tex, end, out)
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
        if self._context.macros.acronyms and _ACRONYMS.fullmatch(name):
            return self._acronym(name, tex, end, out)
        return _drop(name, tex, end)

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
            self._put_math(tex[end:close], out)
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

    def _refer(self, command: str, keys: str) -> str:
        context = self._context
        words = context.theorem_words() if command != "ref" else {}
        return latex_references.print_reference(command, keys, context.labels, words, context.chinese)

    def _reference(self, name: str, tex: str, end: int, out: list[str]) -> int:
        groups, after = read_groups(tex, end, 2 if name.lower().startswith("crefrange") else 1)
        if groups:
            out.append(self._refer(name, ",".join(groups)))
        return after if groups else end

    def _citation(self, tex: str, end: int, out: list[str]) -> int:
        notes: list[str] = []
        while len(notes) < 2 and (option := read_option(tex, end)) is not None:
            notes.append(self.run(option[0]).strip())
            end = option[1]
        group = read_group(tex, end)
        if group is None:
            return end
        keys = "; ".join(f"@{key.strip()}" for key in group[0].split(",") if key.strip())
        before = notes[0] + " " if len(notes) == 2 and notes[0] else ""
        after = ", " + notes[-1] if notes and notes[-1] else ""
        if keys:
            out.append(f"[{before}{keys}{after}]")
        return group[1]

    def _acronym(self, name: str, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, skip_options(tex, end))
        known = self._context.macros.acronyms.get(group[0].strip()) if group else None
        if group is None or known is None:
            return end
        short, long = (self.run(part) for part in known)
        form = re.sub(r"^(?:gls|acr?)", "", name.lower())
        plural = "s" if "p" in form.replace("sp", "p") and form not in ("sp",) else ""
        first = group[0].strip() not in self._context.named
        self._context.named.add(group[0].strip())
        if long and (form.startswith("l") and form != "lu"):
            shown = long + plural
        elif long and (form.startswith("f") or (first and form in ("", "p", "pl"))):
            shown = f"{long}{plural} ({short}{plural})"
        else:
            shown = short + plural
        out.append(shown[:1].upper() + shown[1:] if name[0].isupper() and not name.isupper() else shown)
        return group[1]

    def footnote(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, skip_options(tex, end))
        if group is None:
            return end
        if not self._plain:
            out.append(f" (footnote: {' '.join(self.run(group[0]).split())})")
        return group[1]

    def emphasis(self, command: str, tex: str, end: int, out: list[str]) -> int:
        argument = read_argument(tex, end)
        if argument is None:
            return end
        out.append(self._marked(command, self.run(argument[0])))
        return argument[1]

    def link(self, tex: str, end: int, out: list[str]) -> int:
        groups, after = read_groups(tex, end, 2)
        if len(groups) < 2:
            return end
        address, text = plain_address(groups[0]), self.run(groups[1]).strip()
        same = text.replace("\\", "") in (address, re.sub(r"^https?://", "", address))
        inner = not address.startswith(("http", "mailto", "ftp"))
        out.append(text if same or inner or self._plain else f"[{text}]({address})")
        return after

    def address(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        if group is None:
            return end
        out.append(plain_address(group[0]))
        return group[1]

    def verbatim(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        if group is None:
            return end
        raw = self._context.verbatim.texts[int(group[0])]
        out.append(raw if self._plain or "`" in raw else f"`{raw}`")
        return group[1]

    def item(self, tex: str, end: int, out: list[str]) -> int:
        option = read_option(tex, end)
        out.append("\n\n- " if not self._plain else " • ")
        if option:
            out.append(self.run(option[0]).strip() + " ")
        return option[1] if option else end

    def keywords(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        if group is None:
            return end
        out.append(f"\n\n{'**关键词。**' if self._context.chinese else '**Keywords.**'} {self.run(group[0]).strip()}\n\n")
        return group[1]

    def begin(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        if group is None:
            return end
        name = group[0].strip()
        if _MATH_ENVIRONMENTS.fullmatch(name):
            inside, after = read_environment(tex, group[1], name)
            self._put_math(inside, out)
            return after
        out.append(" " if self._plain else "\n\n")
        at = skip_options(tex, group[1])
        return read_groups(tex, at, 1)[1] if _TABULARS.fullmatch(name) else at

    def end(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        out.append(" " if self._plain else "\n\n")
        return group[1] if group else end

    def ensured(self, tex: str, end: int, out: list[str]) -> int:
        group = read_group(tex, end)
        if group is None:
            return end
        self._put_math(group[0], out)
        return group[1]

    def raised(self, before: str, after: str, tex: str, end: int, out: list[str]) -> int:
        """Superscripts and subscripts: ``1st`` stays a word, anything longer is shown as maths would be."""
        argument = read_argument(tex, end)
        if argument is None:
            return end
        out.append(before + self.run(argument[0]).strip() + after)
        return argument[1]


def plain_address(text: str) -> str:
    """A URL as it is typed, without TeX's escapes."""
    return re.sub(r"\\([%&_#~{}$])", r"\1", re.sub(r"\\(?:allowbreak|discretionary|-)\s*(?:\{\}){0,3}", "", text)).strip().replace("\\~", "~")


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


def _drop(name: str, tex: str, end: int) -> int:
    """Pass over a command that prints nothing, and over the name alone of one that is not known."""
    if name in LENGTHS:
        match = _LENGTH.match(tex, end)
        return match.end() if match else end
    if name in ("setlength", "addtolength", "settowidth"):
        what = read_argument(tex, end)
        return read_groups(tex, what[1], 1)[1] if what else end
    if name in DROPPED:
        return read_groups(tex, skip_options(tex, end), DROPPED[name])[1] if DROPPED[name] else skip_options(tex, end)
    return skip_options(tex, end)


Handler = Callable[[_Converter, str, int, list[str]], int]


def _emphasis(command: str) -> Handler:
    return lambda converter, tex, end, out: converter.emphasis(command, tex, end, out)


def _ding(converter: _Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    out.append(DING.get(group[0].strip(), "•") if group else "")
    return group[1] if group else end


_HANDLERS: dict[str, Handler] = {
    **{name: _emphasis(name) for name in ("textbf", "emph", "textit", "textsl", "texttt", "code")},
    "footnote": _Converter.footnote,
    "footnotetext": _Converter.footnote,
    "href": _Converter.link,
    "url": _Converter.address,
    "Url": _Converter.address,
    "path": _Converter.address,
    "nolinkurl": _Converter.address,
    "kbverb": _Converter.verbatim,
    "kbverbatim": _Converter.verbatim,
    "item": _Converter.item,
    "keywords": _Converter.keywords,
    "begin": _Converter.begin,
    "end": _Converter.end,
    "ensuremath": _Converter.ensured,
    "textsuperscript": lambda converter, tex, end, out: converter.raised("", "", tex, end, out),
    "textsubscript": lambda converter, tex, end, out: converter.raised("_", "", tex, end, out),
    "ding": _ding,
}

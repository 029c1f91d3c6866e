"""Single commands of running LaTeX: what each prints in Markdown, and which of its arguments it takes along."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kb.ingest.latex_groups import read_argument, read_environment, read_group, read_groups, read_option, skip_options
from kb.ingest.latex_symbols import DING, DROPPED, LENGTHS

if TYPE_CHECKING:
    from kb.ingest.latex_text import Converter

# ``(converter, text, place after the command, output)`` -> where to go on.
Handler: TypeAlias = "Callable[[Converter, str, int, list[str]], int]"

_CITES = re.compile(r"(?:full|foot|super|paren|text|auto|smart|Paren|Text|Auto)?[cC]ite[a-zA-Z]*")
_ACRONYM = re.compile(r"(?:[gG][lL][sS]|[aA]cr?|AC)(?P<form>(?:short|long|full|s|l|f)?(?:pl|p)?|entrytext|text)")
_MATH_ENVIRONMENTS = re.compile(r"(?:equation|align|gather|multline|eqnarray|displaymath|math|flalign|alignat)\*?")
_WITH_GROUP = re.compile(r"(?:tabular[xy*]?|array|minipage|tblr|longtable)\*?")
_LENGTH = re.compile(
    r"\s*=?\s*(?:[-+]?[\d.]*\s*(?:pt|em|ex|in|cm|mm|bp|pc|sp|dd|mu|true\w\w|\\[a-zA-Z]+)|[-+]?\d+)"
    r"(?:\s*(?:plus|minus)\s*[-+]?[\d.]*\s*(?:pt|em|ex|in|cm|mm|fil+|mu|\\[a-zA-Z]+))*"
)
_URL_ESCAPE = re.compile(r"\\([%&_#~{}$])")
_URL_BREAK = re.compile(r"\\(?:allowbreak|discretionary|-)\s*(?:\{\}){0,3}")


def is_citation(name: str) -> bool:
    r"""Whether a command cites: ``\cite``, ``\citep``, ``\parencite`` and the like."""
    return bool(_CITES.fullmatch(name))


def print_citation(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    """``[@key; @key]``, with the notes before and after."""
    notes: list[str] = []
    while len(notes) < 2 and (option := read_option(tex, end)) is not None:
        notes.append(converter.run(option[0]).strip())
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


def plain_address(text: str) -> str:
    """A URL as it is typed into a browser, without TeX's escapes."""
    return _URL_ESCAPE.sub(r"\1", _URL_BREAK.sub("", text)).strip()


def drop(converter: Converter, name: str, tex: str, end: int, out: list[str]) -> int:
    """Pass over a command that prints nothing, and over the name alone of one that is not known."""
    if name in LENGTHS:
        match = _LENGTH.match(tex, end)
        return match.end() if match else end
    if name in ("setlength", "addtolength", "settowidth"):
        what = read_argument(tex, end)
        return read_groups(tex, what[1], 1)[1] if what else end
    if DROPPED.get(name):
        return read_groups(tex, skip_options(tex, end), DROPPED[name])[1]
    acronym = _ACRONYM.fullmatch(name)
    if acronym and converter.context.macros.acronyms:
        return _acronym(converter, acronym, tex, end, out)
    return skip_options(tex, end)


def _acronym(converter: Converter, command: re.Match[str], tex: str, end: int, out: list[str]) -> int:
    """An acronym: long and short form at its first use, the short form after."""
    context = converter.context
    group = read_group(tex, skip_options(tex, end))
    known = context.macros.acronyms.get(group[0].strip()) if group else None
    if group is None or known is None:
        return end
    key, form = group[0].strip(), command["form"]
    short, long = (converter.run(part) for part in known)
    plural = "s" if form.endswith(("p", "pl")) else ""
    bare = form.removesuffix("pl").removesuffix("p")
    first = key not in context.spelled_out
    context.spelled_out.add(key)
    if long and bare in ("l", "long"):
        shown = long + plural
    elif long and (bare in ("f", "full") or (first and bare == "")):
        shown = f"{long}{plural} ({short}{plural})"
    else:
        shown = short + plural
    capital = command[0][0].isupper() and not command[0].isupper()
    out.append(shown[:1].upper() + shown[1:] if capital else shown)
    return group[1]


def _footnote(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, skip_options(tex, end))
    if group is None:
        return end
    if not converter.plain:
        out.append(f" (footnote: {' '.join(converter.run(group[0]).split())})")
    return group[1]


def _emphasis(mark: str) -> Handler:
    def handle(converter: Converter, tex: str, end: int, out: list[str]) -> int:
        argument = read_argument(tex, end)
        if argument is None:
            return end
        out.append(converter.marked(mark, converter.run(argument[0])))
        return argument[1]

    return handle


def _link(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    groups, after = read_groups(tex, end, 2)
    if len(groups) < 2:
        return end
    address, text = plain_address(groups[0]), converter.run(groups[1]).strip()
    same = text.replace("\\", "") in (address, re.sub(r"^https?://", "", address))
    inner = not address.startswith(("http", "mailto", "ftp"))
    out.append(text if same or inner or converter.plain else f"[{text}]({address})")
    return after


def _address(_: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    if group is None:
        return end
    out.append(plain_address(group[0]))
    return group[1]


def _verbatim(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    if group is None:
        return end
    raw = converter.context.verbatim.texts[int(group[0])]
    out.append(raw if converter.plain or "`" in raw else f"`{raw}`")
    return group[1]


def _item(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    option = read_option(tex, end)
    out.append(" • " if converter.plain else "\n\n- ")
    if option:
        out.append(converter.run(option[0]).strip() + " ")
    return option[1] if option else end


def _keywords(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    if group is None:
        return end
    word = "**关键词。**" if converter.context.chinese else "**Keywords.**"
    out.append(f"\n\n{word} {converter.run(group[0]).strip()}\n\n")
    return group[1]


def _begin(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    """An environment in a footnote, cell or caption: maths is kept in the line, anything else is read on."""
    group = read_group(tex, end)
    if group is None:
        return end
    name = group[0].strip()
    if _MATH_ENVIRONMENTS.fullmatch(name):
        inside, after = read_environment(tex, group[1], name)
        out.append(converter.math(inside))
        return after
    out.append(" " if converter.plain else "\n\n")
    at = skip_options(tex, group[1])
    return read_groups(tex, at, 1)[1] if _WITH_GROUP.fullmatch(name) else at


def _end(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    out.append(" " if converter.plain else "\n\n")
    return group[1] if group else end


def _ensured_math(converter: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    if group is None:
        return end
    out.append(converter.math(group[0]))
    return group[1]


def _raised(before: str) -> Handler:
    def handle(converter: Converter, tex: str, end: int, out: list[str]) -> int:
        argument = read_argument(tex, end)
        if argument is None:
            return end
        out.append(before + converter.run(argument[0]).strip())
        return argument[1]

    return handle


def _ding(_: Converter, tex: str, end: int, out: list[str]) -> int:
    group = read_group(tex, end)
    out.append(DING.get(group[0].strip(), "•") if group else "")
    return group[1] if group else end


HANDLERS: dict[str, Handler] = {
    "textbf": _emphasis("**"),
    "emph": _emphasis("*"),
    "textit": _emphasis("*"),
    "textsl": _emphasis("*"),
    "texttt": _emphasis("`"),
    "code": _emphasis("`"),
    "footnote": _footnote,
    "footnotetext": _footnote,
    "href": _link,
    "url": _address,
    "Url": _address,
    "path": _address,
    "nolinkurl": _address,
    "kbverb": _verbatim,
    "kbverbatim": _verbatim,
    "item": _item,
    "keywords": _keywords,
    "begin": _begin,
    "end": _end,
    "ensuremath": _ensured_math,
    "textsuperscript": _raised(""),
    "textsubscript": _raised("_"),
    "ding": _ding,
}

"""Definitions of a LaTeX source, taken out of its text: macros, environments, theorems, acronyms."""

from __future__ import annotations

import re

from kb.ingest.latex_groups import read_group, read_groups, read_option, skip_options
from kb.ingest.latex_macros import Macro, Macros, Theorem, read_name

_DEFINITION = re.compile(
    r"\\(?P<command>(?:re|provide)?newcommand|providecommand|DeclareRobustCommand|newrobustcmd|DeclareMathOperator|"
    r"newenvironment|"
    r"renewenvironment|[gex]?def|let|(?:New|Renew|Provide|Declare)DocumentCommand|(?:New|Renew|"
    r"Declare)DocumentEnvironment|"
    r"DeclarePairedDelimiterX?|newtheorem|spnewtheorem|declaretheorem|newacronym|acrodef|newglossaryentry|"
    r"DeclareAcronym)"
    r"(?P<star>\*?)(?![a-zA-Z@])"
)
# What structures a document keeps its meaning even where a paper redefines it.
_KEPT = frozenset(
    "section subsection subsubsection paragraph subparagraph chapter part caption label ref eqref cite citep citet "
    "footnote item begin end maketitle title author date abstract bibliography bibitem input include documentclass "
    "usepackage frac sqrt left right over text mathrm textbf textit emph hline and thanks par footnotetext "
    "newblock url href textsc texttt bf it em rm".split(" ")
)
# How a counter is printed may change within the text, so such a definition stays where it is for the scan.
_COUNTER = re.compile(
    r"(?:the|p@)(?:part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|equation|(?:sub)?figure|(?:sub)?table|"
    r"algorithm|listing|"
    r"lstlisting|theorem|lemma|proposition|corollary|definition|assumption|footnote|enumi{1,3}|page)"
)

_NEW_COUNTER = re.compile(r"\\newcounter\s*\{(\w+)\}")
_BOXES = re.compile(r"\\(?:list|trivlist|vbox|setbox|lrbox|minipage|everypar|csname|expandafter)(?![a-zA-Z])")


def collect(text: str, macros: Macros) -> str:
    """Take every definition out of a text into ``macros``; returns the text without them."""
    macros.counters |= {match[1] for match in _NEW_COUNTER.finditer(text)}
    kept: list[str] = []
    position = 0
    while match := _DEFINITION.search(text, position):
        end = _read(text, match, macros)
        kept.append(text[position : match.start() if end is not None else match.end()])
        position = match.end() if end is None else end
    kept.append(text[position:])
    return "".join(kept)


def _read(text: str, match: re.Match[str], macros: Macros) -> int | None:
    """Where the definition ends; None when it is none, or one that must stay in its place."""
    command, at, star = match["command"], match.end(), match["star"]
    if command.endswith("def") and command != "acrodef":
        return _def(text, at, macros)
    if command == "let":
        return _let(text, at, macros)
    if command in ("newtheorem", "spnewtheorem", "declaretheorem"):
        return _theorem(text, at, command, star, macros)
    if command.endswith("nvironment"):
        return _environment(text, at, command.endswith("DocumentEnvironment"), macros)
    if command in ("newacronym", "acrodef", "newglossaryentry", "DeclareAcronym"):
        return _acronym(text, at, macros)
    name = read_name(text, at)
    if name is None or _prints_counter(name[0], macros):
        return None
    word, at = name
    if command == "DeclareMathOperator":
        body = read_group(text, at)
        if body:
            macros.commands[word] = Macro(0, f"\\operatorname{star}{{{body[0]}}}")
        return body[1] if body else None
    if command.startswith("DeclarePairedDelimiter"):
        return _paired(text, at, word, macros)
    if command.endswith("DocumentCommand"):
        return _document_command(text, at, word, macros)
    return _newcommand(text, at, word, command.startswith("provide"), macros)


def _prints_counter(name: str, macros: Macros) -> bool:
    return bool(_COUNTER.fullmatch(name)) or (name.startswith("the") and name[3:] in macros.counters)


def _signature(text: str, at: int) -> tuple[int, str | None, int]:
    """``(arguments, default of an optional first one, end)`` of ``[2][x]``."""
    option = read_option(text, at)
    if option is None or not option[0].strip().isdigit():
        return 0, None, at
    second = read_option(text, option[1])
    return int(option[0]), second[0] if second else None, second[1] if second else option[1]


def _newcommand(text: str, at: int, word: str, weak: bool, macros: Macros) -> int | None:
    count, default, at = _signature(text, at)
    body = read_group(text, at)
    if body is None:
        return None
    if not (weak and word in macros.commands):
        _add(macros, word, Macro(count, body[0], default))
    return body[1]


def _document_command(text: str, at: int, word: str, macros: Macros) -> int | None:
    groups, end = read_groups(text, at, 2)
    if len(groups) < 2:
        return None
    made = _document_macro(groups[0], groups[1])
    if made:
        _add(macros, word, made)
    return end


def _document_macro(signature: str, body: str) -> Macro | None:
    """A macro of an xparse signature with at most a star and one optional argument, both in front."""
    match = re.fullmatch(r"\s*(?P<star>s?)\s*(?P<option>o|O\s*\{(?P<default>[^{}]*)\})?(?P<rest>[m+\s]*)", signature)
    if match is None:
        return None
    count = match["rest"].count("m")
    if match["star"]:  # the star is argument 1 of the body, and mostly chooses a form by \IfBooleanTF
        body = re.sub(r"\\IfBooleanTF\s*\{?#1\}?\s*\{[^{}]*\}\s*", "", body)
        body = re.sub(r"#([2-9])", lambda found: f"#{int(found[1]) - 1}", body)
    if match["option"]:
        body = re.sub(r"\\IfNoValueTF\s*\{?#1\}?\s*\{([^{}]*)\}\s*\{[^{}]*\}", r"\1", body)
        return Macro(count + 1, body, match["default"] or "", starred=bool(match["star"]))
    return Macro(count, body, starred=bool(match["star"]))


def _paired(text: str, at: int, word: str, macros: Macros) -> int | None:
    r"""``\DeclarePairedDelimiter\abs{\lvert}{\rvert}``, and its X form with arguments and a body."""
    count, _, at = _signature(text, at)
    groups, end = read_groups(text, at, 3 if count else 2)
    if len(groups) < 2:
        return None
    inside = groups[2].replace("\\delimsize", "") if len(groups) == 3 else "#2"
    if len(groups) == 3:  # the size option of a call becomes argument 1
        inside = re.sub(r"#([1-8])", lambda found: f"#{int(found[1]) + 1}", inside)
    body = f"\\left{groups[0].strip()} {inside} \\right{groups[1].strip()}"
    macros.commands[word] = Macro(max(count, 1) + 1, body, "", starred=True)
    return end


def _def(text: str, at: int, macros: Macros) -> int | None:
    match = re.compile(r"\s*\\([a-zA-Z@]+|[^\sa-zA-Z])([^{}\\\n]{0,60})(?=\{)").match(text, at)
    body = read_group(text, match.end()) if match else None
    if match is None or body is None:
        return None
    if _prints_counter(match[1], macros):
        return None
    marks = re.split(r"#\d", match[2].strip())
    count = len(marks) - 1
    delimiters = tuple(marks) if any(marks) else ()
    if count or not delimiters:
        _add(macros, match[1], Macro(count, body[0], delimiters=delimiters))
    return body[1]


def _let(text: str, at: int, macros: Macros) -> int | None:
    match = re.compile(r"\s*\\([a-zA-Z@]+)\s*=?\s*\\([a-zA-Z@]+|[^\sa-zA-Z])").match(text, at)
    if match is None:
        return None
    _add(macros, match[1], macros.commands.get(match[2]) or Macro(0, f"\\{match[2]}"))
    return match.end()


def _theorem(text: str, at: int, command: str, star: str, macros: Macros) -> int | None:
    if command == "declaretheorem":
        return _declared_theorem(text, at, macros)
    name = read_group(text, at)
    sibling = read_option(text, name[1]) if name else None
    shown = read_group(text, sibling[1] if sibling else name[1]) if name else None
    if name is None or shown is None:
        return None
    end = shown[1]
    parent = read_option(text, end)
    if command == "spnewtheorem":
        end = read_groups(text, parent[1] if parent else end, 2)[1]
    elif parent:
        end = parent[1]
    _add_theorem(
        macros, name[0], shown[0], None if star else sibling[0] if sibling else name[0], parent[0] if parent else ""
    )
    return end


def _declared_theorem(text: str, at: int, macros: Macros) -> int | None:
    options = read_option(text, at)
    name = read_group(text, options[1] if options else at)
    if name is None:
        return None
    given = dict(re.findall(r"(\w+)\s*=\s*\{?([^,{}]*)\}?", options[0] if options else ""))
    counter: str | None = given.get("sibling") or given.get("sharenumber") or given.get("numberlike") or name[0]
    if given.get("numbered", "").strip() == "no":
        counter = None
    parent = given.get("numberwithin") or given.get("within") or given.get("parent") or ""
    for word in name[0].split(","):
        _add_theorem(
            macros, word.strip(), given.get("name") or given.get("title") or word.strip().title(), counter, parent
        )
    return skip_options(text, name[1])


def _add_theorem(macros: Macros, name: str, shown: str, counter: str | None, parent: str) -> None:
    if counter and counter != name and counter in macros.theorems:
        counter = macros.theorems[counter].counter or counter
    macros.theorems[name.strip()] = Theorem(shown.strip(), counter)
    if counter and parent:
        macros.within.append((counter, parent.strip()))


def _environment(text: str, at: int, modern: bool, macros: Macros) -> int | None:
    name = read_group(text, at)
    if name is None:
        return None
    if modern:
        groups, end = read_groups(text, name[1], 3)
        opening = _document_macro(groups[0], groups[1]) if len(groups) == 3 else None
    else:
        count, default, at = _signature(text, name[1])
        groups, end = read_groups(text, at, 2)
        opening = Macro(count, groups[0], default) if len(groups) == 2 else None
    if not groups:
        return None
    itself = re.search(rf"\\begin\s*\{{{re.escape(name[0])}\}}", opening.body) if opening else None
    if opening and not itself and not _BOXES.search(opening.body):
        macros.environments[name[0].strip()] = (opening, groups[-1])
    return end


def _acronym(text: str, at: int, macros: Macros) -> int | None:
    r"""``\newacronym{rl}{RL}{reinforcement learning}`` and its kin."""
    at = skip_options(text, at)
    key = read_group(text, at)
    if key is None:
        return None
    option = read_option(text, key[1], adjacent=True)
    first = read_group(text, option[1] if option else key[1])
    if first is None:
        return None
    if "=" in first[0]:
        given = dict(re.findall(r"(short|long|name|text)\s*=\s*\{?([^,{}]*)\}?", first[0]))
        short = given.get("short") or given.get("text") or given.get("name") or key[0]
        macros.acronyms[key[0].strip()] = (short.strip(), given.get("long", "").strip())
        return first[1]
    groups, end = read_groups(text, option[1] if option else key[1], 2)
    short = option[0] if option else groups[0] if len(groups) == 2 else key[0]
    macros.acronyms[key[0].strip()] = (short.strip(), groups[-1].strip())
    return end


def _add(macros: Macros, word: str, macro: Macro) -> None:
    itself = re.search(rf"\\{re.escape(word)}(?![a-zA-Z@])", macro.body)
    if word not in _KEPT and not itself:
        macros.commands[word] = macro

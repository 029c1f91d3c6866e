"""Pseudocode of the algorithmic, algpseudocode and algorithm2e packages as a Markdown list, indented by its blocks."""

from __future__ import annotations

import re

from kb.ingest.latex_context import TextContext
from kb.ingest.latex_groups import read_group, read_groups, skip_options
from kb.ingest.latex_macros import expand
from kb.ingest.latex_text import to_line

_OPENING = {
    "for": "for {}", "forall": "for all {}", "foreach": "for each {}", "while": "while {}", "if": "if {}",
    "loop": "loop", "repeat": "repeat", "procedure": "procedure {}", "function": "function {}",
}  # fmt: skip
_MIDDLE = {"else": "else", "elsif": "else if {}", "elseif": "else if {}"}
_LINES = {
    "state": "", "statex": "", "require": "Require: ", "ensure": "Ensure: ", "return": "return ",
    "input": "Input: ", "output": "Output: ", "print": "print ", "until": "until ", "kwin": "Input: ",
    "kwout": "Output: ", "kwdata": "Data: ", "kwresult": "Result: ", "kwinput": "Input: ", "kwoutput": "Output: ",
    "inputs": "Input: ", "outputs": "Output: ", "initialize": "Initialize: ", "globals": "Globals: ",
}  # fmt: skip
_HEADS_2E = _OPENING | _MIDDLE | {"eif": "if {}", "fn": "function {}", "forpar": "parallel for {}", "repeat": "repeat until {}",
                                 "else": "else", "begin": "begin"}  # fmt: skip
_WORDS = {"to": "to", "and": "and", "or": "or", "not": "not", "true": "true", "false": "false", "algorithmicdo": "do",
          "break": "break", "continue": "continue"}  # fmt: skip
_STEP = re.compile(
    r"\\(?P<word>State|Statex|Require|Ensure|Return|Input|Output|Inputs|Outputs|Print|For|ForAll|ForEach|While|If|"
    r"Else|ElsIf|ElseIf|"
    r"Loop|Repeat|Until|Procedure|Function|End(?:For|While|If|Loop|Procedure|Function)|"
    r"STATE|REQUIRE|ENSURE|RETURN|INPUT|OUTPUT|PRINT|FOR|FORALL|WHILE|IF|ELSE|ELSIF|LOOP|REPEAT|UNTIL|"
    r"END(?:FOR|WHILE|IF|LOOP))(?![a-zA-Z])"
)
_STEP_2E = re.compile(
    r"\\(?P<word>For|ForEach|ForAll|While|If|uIf|lIf|ElseIf|uElseIf|lElseIf|Else|uElse|lElse|eIf|lFor|lForEach|"
    r"Repeat|Return|KwRet|"
    r"KwIn|KwOut|KwData|KwResult|KwInput|KwOutput|Input|Output|tcp|tcc|Begin|Fn|ForPar)\*?(?![a-zA-Z])|\\;|\\\\"
)
_COMMENT = re.compile(r"\\(?:Comment|COMMENT|tcp|tcc|tcp\*|LComment)\*?(?=\s*[{(])")
_SETTINGS = re.compile(
    r"\\(?:Set[A-Z][a-zA-Z]*|DontPrintSemicolon|LinesNumbered|Indp|Indm|BlankLine|vspace|label|caption|small|"
    r"footnotesize|SetAlgo\w+|"
    r"algsetup|algrenewcommand|renewcommand|setcounter|STATEX?(?=\s*\\STATE))\*?(?![a-zA-Z])"
)
_WORD = re.compile(r"\\(TO|AND|OR|NOT|TRUE|FALSE|To|And|Or|Not|True|False|Break|Continue)(?![a-zA-Z])")
_CALL = re.compile(r"\\(?:Call|CALL)(?=\s*\{)")


def algorithm_lines(tex: str, context: TextContext) -> list[str]:
    """The steps of an algorithm, one line each, as items of a nested list."""
    text = _prepared(expand(tex, context.macros))
    if "\\begin{algorithmic}" in text or (_STEP.search(text) and not re.search(r"\\;|\\Kw|\\eIf", text)):
        body = re.sub(r"\\(?:begin|end)\s*\{algorithmic\}(?:\s*\[[^\]]*\])?", " ", text)
        steps = _read_flat(body)
    else:
        steps = []
        _read_nested(text, 0, steps, 0)
    lines = [(depth, to_line(step, context)) for depth, step in steps]
    return [f"{'  ' * depth}- {line}" for depth, line in lines if re.search(r"\w", line)]


def _prepared(text: str) -> str:
    """Without settings; comments behind a mark, calls and logical words as text."""
    text = _replaced(text, _SETTINGS, lambda groups: "")
    text = _replaced(
        text, _CALL, lambda groups: f"{groups[0]}({groups[1] if len(groups) > 1 else ''})" if groups else "", 2
    )
    text = _WORD.sub(lambda match: f" {_WORDS[match[1].lower()]} ", text)
    return _replaced(text, _COMMENT, lambda groups: f" ▷ {groups[0]} " if groups else " ▷ ", 1)


def _replaced(text: str, pattern: re.Pattern[str], shown: object, count: int = 3) -> str:
    kept: list[str] = []
    position = 0
    while match := pattern.search(text, position):
        end = skip_options(text, match.end())
        end = text.find(")", end) + 1 if text.startswith("(", end) and ")" in text[end:] else end
        groups, end = read_groups(text, end, count)
        kept += [text[position : match.start()], shown(groups)]  # type: ignore[operator]
        position = end
    kept.append(text[position:])
    return "".join(kept)


def _read_flat(text: str) -> list[tuple[int, str]]:
    """algorithmic and algpseudocode: every command begins a line, ``\\EndFor`` and its kin close a block."""
    steps: list[tuple[int, str]] = []
    depth = 0
    matches = list(_STEP.finditer(text))
    if matches and text[: matches[0].start()].strip():
        steps.append((0, text[: matches[0].start()]))
    for index, match in enumerate(matches):
        stop = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        rest = text[match.end() : stop]
        word = match["word"].lower()
        if word.startswith("end") and word != "ensure":
            depth = max(0, depth - 1)
            steps.append((depth, rest))
        elif word in _OPENING or word in _MIDDLE:
            groups, end = read_groups(
                text, skip_options(text, match.end()), 2 if word in ("procedure", "function") else 1
            )
            groups = groups if end <= stop else []
            depth = max(0, depth - 1) if word in _MIDDLE else depth
            head = (_OPENING | _MIDDLE)[word].format("(".join(groups) + (")" if len(groups) > 1 else ""))
            steps.append((depth, f"{head} {text[end:stop] if groups else rest}"))
            depth += 1
        else:
            depth = max(0, depth - 1) if word == "until" else depth
            steps.append((depth, _LINES.get(word, "") + rest))
    return steps


def _read_nested(text: str, depth: int, steps: list[tuple[int, str]], nesting: int) -> None:
    """algorithm2e: blocks are arguments, ``\\;`` ends a line."""
    position = 0
    while match := _STEP_2E.search(text, position):
        if text[position : match.start()].strip():
            steps.append((depth, text[position : match.start()]))
        position = match.end()
        word = (match["word"] or "").lstrip("ul").lower() if match["word"] else ""
        if not word or nesting > 20:
            continue
        position = _nested_step(text, skip_options(text, position), word, depth, steps, nesting)
    if text[position:].strip():
        steps.append((depth, text[position:]))


def _nested_step(text: str, at: int, word: str, depth: int, steps: list[tuple[int, str]], nesting: int) -> int:
    """One command of algorithm2e with its arguments; returns the place after it."""
    if word in _LINES or word == "kwret":
        group = read_group(text, at)
        steps.append((depth, _LINES.get(word, "return ") + (group[0] if group else "")))
        return group[1] if group else at
    wanted = {"else": 1, "begin": 1, "eif": 3}.get(word, 2)
    groups, end = read_groups(text, at, wanted)
    if not groups:
        return end
    bodies = groups if wanted == 1 else groups[1:]
    steps.append((depth, _HEADS_2E.get(word, word + " {}").format("" if wanted == 1 else groups[0])))
    for index, body in enumerate(bodies):
        if index:
            steps.append((depth, "else"))
        _read_nested(body, depth + 1, steps, nesting + 1)
    return end

r"""What ``\ref``, ``\eqref``, ``\cref`` and their kin print, in English and Chinese."""

from __future__ import annotations

import itertools

from kb.ingest.latex_counters import Target

COMMANDS = frozenset(
    "ref eqref cref Cref autoref pageref nameref vref Vref subref labelcref fullref prettyref crefrange Crefrange "
    "namecref "
    "nameCref zcref figref tabref secref appref algref".split(" ")
)
_BARE = frozenset("ref subref labelcref".split(" "))
UNKNOWN = "??"  # what LaTeX prints
_ENGLISH = {
    "section": "Section", "subsection": "Section", "subsubsection": "Section", "chapter": "Chapter",
    "appendix": "Appendix", "figure": "Figure", "table": "Table", "equation": "Equation", "algorithm": "Algorithm",
    "enumi": "Item", "listing": "Listing", "lstlisting": "Listing", "footnote": "Footnote", "paragraph": "Section",
}  # fmt: skip
_CHINESE = {
    "section": "第 {} 节", "subsection": "第 {} 节", "subsubsection": "第 {} 节", "chapter": "第 {} 章", "appendix": "附录 {}",
    "figure": "图 {}", "table": "表 {}", "equation": "式 {}", "algorithm": "算法 {}", "enumi": "第 {} 项", "listing": "代码 "
    "{}",
    "lstlisting": "代码 {}", "footnote": "脚注 {}", "paragraph": "第 {} 节",
}  # fmt: skip
_PREFIXES = {"fig": "figure", "tab": "table", "sec": "section", "eq": "equation", "alg": "algorithm", "app": "appendix"}


def print_reference(command: str, keys: str, labels: dict[str, Target], theorems: dict[str, str], chinese: bool) -> str:
    """The text of one reference command. ``theorems`` gives the printed word of each theorem counter."""
    targets = [labels.get(key.strip()) or _unknown(key.strip()) for key in keys.split(",") if key.strip()]
    if not targets:
        return ""
    if command == "nameref":
        return ", ".join(target.title or target.number for target in targets)
    if command == "pageref":
        return UNKNOWN
    if command == "eqref":
        return ", ".join(f"({target.number})" for target in targets)
    if command in ("namecref", "nameCref"):
        return _word(targets[0].kind, theorems)
    if command in _BARE:
        return ", ".join(target.number for target in targets)
    groups = [(kind, list(group)) for kind, group in itertools.groupby(targets, key=lambda target: target.kind)]
    return _joined([_named(kind, group, theorems, chinese) for kind, group in groups], chinese)


def _unknown(key: str) -> Target:
    return Target(_PREFIXES.get(key.split(":")[0].lower(), ""), UNKNOWN)


def _named(kind: str, targets: list[Target], theorems: dict[str, str], chinese: bool) -> str:
    numbers = [f"({target.number})" if kind == "equation" else target.number for target in targets]
    shown = _joined(numbers, chinese)
    if chinese and kind in _CHINESE:
        return _CHINESE[kind].format(shown)
    word = _word(kind, theorems)
    if len(targets) > 1 and word and not chinese:
        word = {"Appendix": "Appendices", "Corollary": "Corollaries"}.get(word, f"{word}s")
    return f"{word} {shown}".strip()


def _word(kind: str, theorems: dict[str, str]) -> str:
    return theorems.get(kind) or _ENGLISH.get(kind, "")


def _joined(parts: list[str], chinese: bool) -> str:
    if len(parts) < 2:
        return "".join(parts)
    if chinese:
        return "、".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]

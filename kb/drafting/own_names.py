"""What a paper calls its own method: the name before the colon of its title, its aliases, acronyms it introduces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kb.library import Paper
from kb.model import Block, Figure, Paragraph, Table

_NAME = r"((?:\d+-)?[A-Z]\w*[A-Z\d][\w.+-]*|(?:\d+-)?[A-Z]{2,}[\w-]*)"
_INTRODUCED = re.compile(
    r"(?:propos|introduc|present|develop|call(?:ed)?|nam(?:e|ed)|term(?:ed)?|dubbed|train|releas|build|design|refer)\w*[^.]{0,120}?\b"
    + _NAME
)
_PARENTHESISED = re.compile(rf"\({_NAME}\)")
_OURS = re.compile(rf"\b(?:our|we call [^.]{{0,60}}?) {_NAME}(?! baseline)")
_MARKED = re.compile(r"\b(?=\w*[A-Z\d]\w*[A-Z])[\w-]{3,}\b")
_MOST = 4
_COMMON = frozenset(
    "RL LLM LLMS NLP MDP AI API GPU SOTA MARL RLHF NN DNN ML LM LMS GPT QA PDF SFT RM COT IID KL".split()
)


def own_names(paper: Paper, abstract: str) -> tuple[str, ...]:
    """Names, the most certain first, each once; without fields and measures that everybody names."""
    head, colon, _ = paper.title.partition(":")
    found: list[str] = list(paper.aliases)
    if colon and len(head.split()) <= 3:
        found.append(head.strip())
    introduced = [match[1] for match in _INTRODUCED.finditer(abstract)]
    initials = _initials(paper.title)
    found += [name for name in _PARENTHESISED.findall(abstract) if name.upper() in initials or name in introduced]
    found += introduced
    names = _kept(found)
    if not names and paper.text is not None:
        counted = Counter(name for _, block in paper.text.document.blocks() for name in _OURS.findall(_prose(block)))
        names = _kept(name for name, _ in counted.most_common(2))
    return names or _kept(_MARKED.findall(paper.title) if not paper.title.isupper() else ())


def _kept(names: Iterable[str]) -> tuple[str, ...]:
    bare = (name.strip(".-") for name in names)
    return tuple(dict.fromkeys(name for name in bare if _is_name(name)))[:_MOST]


def _prose(block: Block) -> str:
    return block.text if isinstance(block, Paragraph) else block.caption if isinstance(block, Figure | Table) else ""


def _initials(title: str) -> str:
    return "".join(word[0] for word in re.findall(r"[A-Za-z]+", title)).upper()


def _is_name(name: str) -> bool:
    return len(name) > 1 and name.upper().rstrip("S") not in _COMMON and name.upper() not in _COMMON


def names_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Finds any of the names as a word; None without names."""
    # A table heading is broken where the text has a hyphen.
    parts = [re.escape(name).replace(r"\-", r"[-\s]*") for name in sorted(names, key=len, reverse=True)]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])", re.IGNORECASE) if parts else None

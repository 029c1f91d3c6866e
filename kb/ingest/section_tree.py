"""What the readers of LaTeX and HTML do alike to the sections they found.

The abstract is told from them, a run-in paragraph of limitations becomes a section, kinds pass on to subsections, ids
become unique, and equations get the sentences before and after them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kb.model import Block, Equation, Figure, Paragraph, Section, Table
from kb.sections import section_kind

FRONT_TITLE = "Front matter"
_ABSTRACT_WORD = re.compile(r"\**(?:abstract|摘\s*要)[\s.:：—-]*\**[\s.:：—-]*", re.IGNORECASE)
_RUN_IN = re.compile(r"\*\*([^*\n]{3,80}?)[.:：。]?\*\*[.:：。]?\s*(?=\S)")
# Heads of what is numbered or stands by itself are no run-in headings.
_HEAD = re.compile(r"\*\*(?:[A-Z]\w+ [\dA-Z.]+\b|Proof|Keywords|证明|关键词)")
_END = re.compile(r"(?<=[.!?])[”’)]?\s+(?=[A-Z$\[*“(`>])|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|cf|vs|[Ff]igs?|[Ee]qs?|[Ss]ecs?|[Tt]abs?|resp|approx|w\.r\.t|[Aa]pp|No)|\b[A-Z])\.$"
)
_LONGEST = 400  # characters of a sentence
_NEAR = 1200  # characters at the end of a paragraph in which its first or last sentence is looked for


def finish_sections(abstract: str, sections: Iterable[Section]) -> tuple[str, tuple[Section, ...]]:
    """``(abstract, sections)``: empty sections without a title go, the rest is put in order."""
    made: list[Section] = []
    for section in sections:
        if section.kind == "abstract" and section.title and not abstract:
            abstract = "\n\n".join(block.text for block in section.blocks if isinstance(block, Paragraph))
            continue
        if not section.title and not abstract and not made:
            abstract, section = _abstract_in_front(section)
        if section.title or _is_worth_keeping(section.blocks):
            made.append(section if section.title else replace(section, title=FRONT_TITLE, id="front"))
    made = [part for section in made for part in _with_run_in_limitations(section)]
    return abstract, tuple(_unique(replace(s, blocks=with_sentences(s.blocks)) for s in inherit_kinds(made)))


def _is_worth_keeping(blocks: Sequence[Block]) -> bool:
    text = "".join(block.text for block in blocks if isinstance(block, Paragraph))
    return len(text) > 40 or any(not isinstance(block, Paragraph) for block in blocks)


def _abstract_in_front(section: Section) -> tuple[str, Section]:
    """An abstract that is set by hand: a paragraph "Abstract", and what follows it."""
    for index, block in enumerate(section.blocks):
        match = _ABSTRACT_WORD.match(block.text) if isinstance(block, Paragraph) else None
        if match is None or not isinstance(block, Paragraph):
            continue
        rest = [block.text[match.end() :], *(b.text for b in section.blocks[index + 1 :] if isinstance(b, Paragraph))]
        others = tuple(b for b in section.blocks[index + 1 :] if not isinstance(b, Paragraph))
        return "\n\n".join(text for text in rest if len(text) > 20), replace(
            section, blocks=section.blocks[:index] + others
        )
    return "", section


def _with_run_in_limitations(section: Section) -> list[Section]:
    """A paragraph that begins with a bold "Limitations." opens a section, and so do the run-ins after it."""
    titles = {index: title for index, block in enumerate(section.blocks) if (title := _run_in_title(block))}
    first = next((index for index, title in titles.items() if section_kind(title) == "limitations"), None)
    if first is None or section.kind == "limitations":
        return [section]
    starts = [index for index in titles if index >= first] + [len(section.blocks)]
    parts = [replace(section, blocks=section.blocks[:first])]
    for start, stop in itertools.pairwise(starts):
        head = section.blocks[start]
        assert isinstance(head, Paragraph)
        text = _RUN_IN.sub("", head.text, count=1)
        title = titles[start].rstrip(".:：。 ")
        parts.append(
            Section(f"{section.id}.r{start}", title, section.level + 1, section_kind(title), None,
                    (replace(head, text=text), *section.blocks[start + 1 : stop]), section.page)
        )  # fmt: skip
    return parts


def _run_in_title(block: Block) -> str:
    text = block.text if isinstance(block, Paragraph) else ""
    match = _RUN_IN.match(text)
    return match[1] if match and not _HEAD.match(text) else ""


def inherit_kinds(sections: Sequence[Section]) -> list[Section]:
    """A subsection whose heading tells nothing is of its section's kind."""
    made: list[Section] = []
    above: list[Section] = []
    for section in sections:
        above = [parent for parent in above if parent.level < section.level]
        parent = above[-1] if above else None
        if parent and (section.kind == "other" or parent.kind == "appendix"):
            section = replace(section, kind=parent.kind)
        above.append(section)
        made.append(section)
    return made


def with_sentences(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks, each equation with the sentence before and after it."""
    made: list[Block] = []
    for index, block in enumerate(blocks):
        if isinstance(block, Equation):
            before = _prose(reversed(blocks[max(0, index - 3) : index]))
            after = _prose(blocks[index + 1 : index + 4])
            block = replace(
                block, before=_sentences(before[-_NEAR:])[-1][-_LONGEST:], after=_sentences(after[:_NEAR])[0][:_LONGEST]
            )
        made.append(block)
    return tuple(made)


def _prose(blocks: Iterable[Block]) -> str:
    """The first paragraph that is no listing or algorithm."""
    texts = (block.text for block in blocks if isinstance(block, Paragraph))
    return next((text for text in texts if not text.startswith(("**Algorithm", "**Listing"))), "")


def _sentences(text: str) -> list[str]:
    """The sentences of a paragraph; one empty string for no text."""
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if not _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()]):
            found.append(text[start : match.start()].strip())
            start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence] or [""]


def _unique(sections: Iterable[Section]) -> Iterable[Section]:
    """No two sections, and no two blocks, with one id."""
    seen: set[str] = set()
    for section in sections:
        blocks = tuple(
            block if isinstance(block, Paragraph) else _with_free_id(block, seen) for block in section.blocks
        )
        yield replace(section, id=_free(section.id, seen), blocks=blocks)


def _with_free_id(block: Equation | Table | Figure, seen: set[str]) -> Block:
    name = _free(block.id, seen)
    return block if name == block.id else replace(block, id=name)


def _free(name: str, seen: set[str]) -> str:
    made, count = name, 2
    while made in seen:
        made, count = f"{name}-{count}", count + 1
    seen.add(made)
    return made

"""A to-do list as people write it, as tasks: a bullet about a paper is one, and so is a heading with its steps."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kb.importing.recognise import unknown_papers
from kb.links import Names
from kb.queue import Task, paper_text, papers_of

_BULLET = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+•·]|\d{1,2}[.)、．](?=\s))[ \t]*(?:\[(?P<box>[ xX])\][ \t]+)?(?P<text>\S.*)$"
)
_STEP = re.compile(r"^[ \t]*[（(]\d{1,2}[）)][ \t]*(?P<text>\S.*)$")
_ENDS_LIKE_TEXT = ("。", "；", ";", "，", ",", "：", ":", "！", ".")
_LONGEST_HEADING = 60


@dataclass
class _Group:
    """A heading and what is below it: bullets with their own bullets, steps ``(1) ...``, paragraphs."""

    title: str
    bullets: list[tuple[str, bool, list[str]]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)


def tasks_of(names: Names, parts: list[tuple[str, str]], added: str) -> list[Task]:
    """The tasks of a to-do list given as headings and texts."""
    found: list[Task] = []
    for title, text in parts:
        for group in _groups(title, text):
            found += _tasks(names, group, added)
    return [task for task in found if task.text]


def mark_of(text: str, below: Iterable[str] = ()) -> str:
    """Eight digits that tell one imported task from others, whatever people make of its line later."""
    return hashlib.sha256(re.sub(r"\s+", "", text + "".join(below)).encode("utf-8")).hexdigest()[:8]


def _tasks(names: Names, group: _Group, added: str) -> Iterator[Task]:
    about_papers = [bullet for bullet in group.bullets if papers_of(names, bullet[0])]
    plain = [bullet for bullet in group.bullets if bullet not in about_papers]
    if group.title and (not about_papers or plain or group.steps):
        below = [*group.prose, *group.steps, *(text for text, _, _ in plain)]
        yield _task(names, group.title, added, below=below)
    for text, is_done, nested in group.bullets:
        if not group.title or papers_of(names, text):
            yield _task(names, text, added, is_done, nested)
    if not group.title and not group.bullets:
        for text in (*group.steps, *group.prose):
            yield _task(names, text, added)
        return
    for paragraph in group.prose:
        yield from _named_in(names, paragraph, added)


def _named_in(names: Names, paragraph: str, added: str) -> Iterator[Task]:
    """A task for every paper that a paragraph gives the id of, with the paragraph, which says why."""
    unknown = {paper.id: paper.text for paper in unknown_papers(names, paragraph)}
    targets = dict.fromkeys(link.target for link in names.links(paragraph) if link.how == "arxiv")
    for target in targets:
        paper = names.library.papers.get(target)
        text = unknown.get(target) or (paper_text(paper) if paper else target)
        yield _task(names, text, added, below=[paragraph] if len(paragraph) > 2 * len(text) else [])


def _task(names: Names, text: str, added: str, is_done: bool = False, below: list[str] | None = None) -> Task:
    words = " ".join(text.split())
    lines = tuple(f"  - {' '.join(line.split())}" for line in below or ())
    return Task(
        words,
        "done" if is_done else "open",
        papers_of(names, words),
        added,
        below=lines,
        marks=(mark_of(words, lines),),
    )


def _groups(title: str, text: str) -> list[_Group]:
    groups = [_Group(title)]
    lines = text.split("\n")
    for number, line in enumerate(lines):
        bare = line.strip()
        step = _STEP.match(line)
        bullet = _BULLET.match(line)
        if not re.search(r"\w", bare):
            continue
        if (
            step
            and len(step["text"]) <= _LONGEST_HEADING
            and not bare.endswith(_ENDS_LIKE_TEXT)
            and _is_alone(lines, number)
        ):
            groups.append(_Group(step["text"].strip()))
        elif step:
            groups[-1].steps.append(step["text"])
        elif bullet and groups[-1].bullets and len(bullet["indent"].expandtabs(4)) >= 2:
            groups[-1].bullets[-1][2].append(bullet["text"])
        elif bullet:
            groups[-1].bullets.append((bullet["text"], (bullet["box"] or " ") in "xX", []))
        else:
            groups[-1].prose.append(bare)
    return [group for group in groups if group.title or group.bullets or group.steps or group.prose]


def _is_alone(lines: list[str], number: int) -> bool:
    before = lines[number - 1].strip() if number else ""
    after = lines[number + 1].strip() if number + 1 < len(lines) else ""
    return not before and not after

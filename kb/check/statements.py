"""A note cut into statements: sentences, table rows, display formulas, headings, each with its line and its papers.

Code is left out. What a passage is about comes from the nearest heading that names one paper, else from the last
sentence that begins with one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from kb import frontmatter
from kb.check.values import Form, Statement
from kb.index.chunk_markdown import Stretch, stretches
from kb.index.sentences import sentence_spans
from kb.links import Names

_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_RULE = re.compile(r"^[\s|:\-─┌┬┐├┼┤└┴┘│=+]*$")
_BAR = re.compile(r"[│|]")
_MUSING_HEADING = re.compile(
    r"启发|想法|思考|感想|疑问|待读|计划|to-?do|下周|展望|\bideas?\b|\bthoughts?\b|\bplans?\b|\bquestions?\b", re.I
)
_MUSING_LABEL = re.compile(
    r"^\W*(?:[^\s：:]{0,8})?(?:启发|想法|思考|感想|疑问|my take|my thoughts?)(?:[（(][^）)]*[）)])?\s*[：:]", re.I
)
_PLAIN_LABEL = re.compile(
    r"^\W*(?:核心\s?)?(?:idea|思想|方法|做法|结果|实验|公式|局限|贡献|背景|问题|method|results?|formula|limitations?)\s*[：:]",
    re.I,
)
_QUESTION = re.compile(r"[？?]|^\W*Q\s*[:：]|为什么|是否|能不能|有没有|怎么(?:定义|实现|做)|需要验证|要\s?verify", re.I)
_MUSING = re.compile(
    r"如果|假如|假设|要是|也许|或许|大概|应该(?:能|会|严格|可以)|我(?:觉得|感觉|想|猜|的理解)|感觉|可以考虑|理论上|猜测|打算|想到|估计|目前先|"
    r"\b(?:if|maybe|perhaps|might|could|would|suppose|I (?:think|guess|feel|wonder))\b",
    re.IGNORECASE,
)
# A heading of several numbers that is too long for ``stretches`` or stands close to its text.
_NUMBERED = re.compile(r"^\s*\d{1,2}(?:\.\d{1,2})+[.、．]?\s+(?=\S)")
# What a sentence denies, corrects, tells of others or of the writer's own runs is not what it says of the paper.
_DISOWNED = re.compile(
    r"不是|并非|并不|不要|不对|不准确|混淆|误以为|误认为|误写|错写|写成|说成|以为|其实是|换成|改用|改成|更正|纠正|有人|很多人|常被|被归为|不同于|"
    r"[与和跟].{1,40}(?:不同|一样)|相比之下|我们|复现|自己(?:跑|实现|复)|"
    r"\b(?:is|are|was|were) not\b|n't\b|\bnot (?:of|the|an?)\b|\bmistak|\bwrong|\bincorrect|\bunlike\b|\bin contrast|\bwhereas\b|"
    r"\bours?\b|\bwe\b|reproduc|re-?implement|\bsome (?:say|people)",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"^[\s>]*(?:[-*+•]|\d{1,2}[.)、．]|[(（]?(?:[a-z]|\d{1,2}|[一二三四五六七八九十])[)）]|©)\s*")
_ENDS = re.compile(r"[。；;：:！!？?，,.]$")
_LABEL_CHARS = 60
_LONGEST = 1500


def statements(raw: str, known: Names) -> list[Statement]:
    """The statements of a Markdown or plain text, in order."""
    _, body, _ = frontmatter.split(raw)
    start = len(raw) - len(body)
    lines = [0, *(match.end() for match in re.finditer("\n", raw))]
    return list(_Reader(raw, lines, known).read(stretches(raw, start)))


def mentions(known: Names, text: str) -> tuple[tuple[str, int, int], ...]:
    """``(slug, start, stop)`` of every paper of the library that a text names, in order."""
    return tuple(
        (link.target, link.start, link.stop) for link in known.links(text) if link.target in known.library.papers
    )


class _Reader:
    """Keeps what the text is about while it reads stretch after stretch."""

    def __init__(self, raw: str, lines: list[int], known: Names) -> None:
        self._raw = raw
        self._lines = lines
        self._known = known
        self._heading: tuple[str, ...] = ()
        self._topic: str | None = None  # of the heading
        self._last: str | None = None  # that a sentence began with
        self._musing = self._musing_heading = False
        self._before = ""

    def read(self, parts: list[Stretch]) -> Iterator[Statement]:
        for part in parts:
            if part.heading != self._heading:
                yield from self._enter(part.heading, part.start)
            if part.form == "formula":
                yield from self._formula(part.start, part.stop)
            elif part.form in ("text", "table"):
                yield from self._text(part.start, part.stop)

    def _enter(self, heading: tuple[str, ...], start: int) -> Iterator[Statement]:
        title = heading[-1] if heading else ""
        self._heading, self._last, self._before = heading, None, ""
        self._musing = self._musing_heading = any(_MUSING_HEADING.search(name) for name in heading[-2:])
        self._topic = None
        for name in reversed(heading):
            slugs = {slug for slug, _, _ in mentions(self._known, name)}
            if slugs:
                self._topic = slugs.pop() if len(slugs) == 1 else None
                break
        place = self._raw.rfind(title, 0, start) if title else -1
        if place >= 0:
            yield self._statement(title, place, "heading")

    def _text(self, start: int, stop: int) -> Iterator[Statement]:
        for line_start, line_stop in self._line_ranges(start, stop):
            line = self._raw[line_start:line_stop]
            if _RULE.match(line):
                continue
            if len(_BAR.findall(_without_maths(line))) >= 2:
                yield from self._row(line_start, line)
                continue
            if _NUMBERED.match(line) and not _ENDS.search(line.rstrip()):
                yield self._numbered(line_start, line)
                continue
            if _MUSING_LABEL.match(line):
                self._musing = True
            elif _PLAIN_LABEL.match(line):
                self._musing = self._musing_heading
            for first, last in sentence_spans(line):
                for begin, end in _pieces(line, first, last):
                    yield from self._sentence(line_start + begin, line_start + end)

    def _numbered(self, start: int, line: str) -> Statement:
        named = {slug for slug, _, _ in mentions(self._known, line)}
        self._topic, self._last, self._before = named.pop() if len(named) == 1 else None, None, ""
        self._musing = self._musing_heading = bool(_MUSING_HEADING.search(line))
        return self._statement(line.strip(), start + len(line) - len(line.lstrip()), "heading")

    def _line_ranges(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Lines, but a display formula inside running text stays whole."""
        at = start
        for match in re.finditer(r"\n", self._raw[start:stop]):
            end = start + match.end()
            if self._raw[at:end].count("$$") % 2 == 0:
                yield at, end
                at = end
        if at < stop:
            yield at, stop

    def _sentence(self, start: int, stop: int) -> Iterator[Statement]:
        text = self._raw[start:stop]
        for match in _FORMULA.finditer(text):
            yield from self._formula(start + match.start(), start + match.end())
        bare = _FORMULA.sub(lambda match: " " * len(match[0]), text)
        mark = _LIST_MARK.match(bare)
        lead = mark.end() if mark else len(bare) - len(bare.lstrip())
        shown = bare[lead:].strip()
        if not shown:
            return
        statement = self._statement(shown, start + lead, "sentence")
        yield statement
        self._before = shown
        named = {slug for slug, _, _ in statement.mentions}
        if mark and len(shown) < _LABEL_CHARS and not _ENDS.search(shown):
            # A numbered label opens a part of its own, which is about one paper or about none that we know.
            self._last = named.pop() if len(named) == 1 else None
        elif statement.mentions and statement.mentions[0][1] <= 6:
            self._last = statement.mentions[0][0]

    def _row(self, start: int, line: str) -> Iterator[Statement]:
        cells = [cell.strip() for cell in _BAR.split(line) if cell.strip()]
        named = mentions(self._known, cells[0]) if cells else ()
        if not named or len(cells) < 2:
            return
        place = start + len(line) - len(line.lstrip())
        topic, self._last = self._last, named[0][0]
        yield self._statement(" │ ".join(cells), place, "row")
        self._last = topic

    def _formula(self, start: int, stop: int) -> Iterator[Statement]:
        latex = self._raw[start:stop].strip().strip("$").strip()
        if latex:
            statement = self._statement(latex, start, "formula")
            named = mentions(self._known, re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r" \1 ", latex))
            slug = named[0][0] if named else statement.subject
            topical = statement.topical and slug == statement.subject
            yield Statement(
                latex, statement.line, "formula", slug, topical, musing=statement.musing, before=statement.before
            )

    def _statement(self, text: str, place: int, form: Form) -> Statement:
        musing = self._musing or bool(_QUESTION.search(text) or _MUSING.search(text))
        return Statement(
            text=" ".join(text.split("\n")), line=bisect_right(self._lines, place), form=form,
            subject=self._topic or self._last, topical=self._topic is not None, mentions=mentions(self._known, text), musing=musing,
            disowned=form != "row" and bool(_DISOWNED.search(text)), before=self._before,
        )  # fmt: skip


def _pieces(line: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """A sentence, or one that is too long to be one cut at commas and spaces."""
    while last - first > _LONGEST:
        cut = max(line.rfind(mark, first + _LONGEST // 2, first + _LONGEST) for mark in "，,、 ")
        cut = cut + 1 if cut > first else first + _LONGEST
        yield first, cut
        first = cut
    yield first, last


def _without_maths(line: str) -> str:
    return re.sub(r"\$[^$]*\$", "", line)

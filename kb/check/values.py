"""The values that checking a note works with: statements, evidence, verdicts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from kb.search.tokens import has_han

Verdict = Literal["found", "incomplete", "contradicted", "not found"]
RECORDED = "record, claims in notes"
COMPARED = re.compile(
    r"(?:比|与|和|跟|及|、|/|相[对较比]于?|对比|超过|优于|高于|低于|不如|胜过|接近|达到|\bvs\.?|\bthan|\bover|\bagainst|\bto|\bwith|\band|\bfrom|\bof)\s*$",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(
    r"[，,。；;：:（(│|！!？?]|(?<=\w)\.\s|但|而(?!且)|\bbut\b|\band\b|\bwhile\b|\bso\b", re.IGNORECASE
)
# Something else that looks like the name of a method; a few names of the field are none.
STRANGER = re.compile(r"(?<![A-Za-z0-9@/])[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)*(?![A-Za-z0-9])")
_NO_METHODS = frozenset(
    "LLM LLMs RL MARL MAS SFT RLHF RLVR KL MDP POMDP PRM ORM MCTS CoT QA AI API GPU GPUs CPU SOTA CTDE EM MC TD AIME AMC MATH "
    "ALFWorld WebShop HotpotQA MuSiQue GAIA MMLU StarCraft MuJoCo HumanEval MBPP FrozenLake ICLR ICML ACL AAAI TMLR OK VS".split()
)
_LED = 6  # characters that may stand before the name that a clause begins with
VERDICTS: tuple[Verdict, ...] = ("contradicted", "incomplete", "found", "not found")
Form = Literal["sentence", "row", "formula", "heading"]
ClaimKind = Literal["number", "name", "property", "formula"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, table row or display formula of a note, and the papers it may be about.

    ``subject`` is the slug that the text around it is about; ``topical`` when a heading says so, which is surer than the
    sentences before. ``mentions`` are the papers it names itself, as ``(slug, start, stop)``. ``musing`` marks what the
    writer supposes, asks or plans, ``disowned`` what they deny, correct, or tell of others or of runs of their own;
    nothing in such a sentence is called wrong. ``before`` is the sentence before.
    """

    text: str
    line: int
    form: Form
    subject: str | None = None
    topical: bool = False
    mentions: tuple[tuple[str, int, int], ...] = ()
    musing: bool = False
    disowned: bool = False
    before: str = ""

    @property
    def papers(self) -> tuple[str, ...]:
        """The papers that this may be about: those it names, then the one that the text around it is about."""
        named = [slug for slug, _, _ in self.mentions]
        return tuple(dict.fromkeys([*named, *([self.subject] if self.subject else [])]))

    def paper_at(self, position: int) -> str | None:
        """Whom something at this place of the text is said of: the paper named last before it, else the subject.

        A paper that something is compared with ("than PPO", "比 PPO 高") is not the one that is spoken of.
        """
        if self.form == "row":
            return self.mentions[0][0] if self.mentions else None
        named = [
            slug for slug, start, _ in self.mentions if start <= position and not COMPARED.search(self.text[:start])
        ]
        return named[-1] if named else self.subject

    def owner(self, place: int) -> str | None:
        """Whom a predicate at this place is said of for certain enough to be called wrong.

        Its clause begins with the paper; or its clause names none, and what stands before it and around it is about one.
        """
        if self.form == "row":
            return self.paper_at(place)
        left = max((match.end() for match in CLAUSE_END.finditer(self.text[:place])), default=0)
        here = [(slug, start) for slug, start, _ in self.mentions if left <= start < place]
        end = CLAUSE_END.search(self.text, place)
        right = end.start() if end else len(self.text)
        if not here and any(place <= start < right and slug != self.subject for slug, start, _ in self.mentions):
            return None  # "the critic of PPO": said of what comes behind it
        if here:
            slug, start = here[0]
            if self._stranger_before(place):
                return None
            led = self.text[left:start]
            leads = len(here) == 1 and len(led.strip(" \t“\"'（(")) <= _LED and not COMPARED.search(led)
            return slug if leads else None
        if self._stranger_before(place):
            return None
        earlier = {slug for slug, start, _ in self.mentions if start < left}
        if len(earlier) == 1:
            slug = earlier.pop()
            return slug if self.is_sure_of(slug) and slug == (self.subject or slug) else None
        return None if earlier or (self.mentions and not self.topical) else self.subject

    def _stranger_before(self, place: int) -> bool:
        """Whether the last name before a place is that of a method that is not in the library."""
        inside = [(start, stop) for _, start, stop in self.mentions]
        last = max((start for start, _ in inside if start < place), default=-1)
        return any(
            match.start() > last and match[0] not in _NO_METHODS and not any(a <= match.start() < b for a, b in inside)
            for match in STRANGER.finditer(self.text[:place])
            if not re.search(r"\d", match[0])
        )

    def is_sure_of(self, slug: str) -> bool:
        """Whether the statement names the paper as what it speaks of, or stands below its heading."""
        named = [not COMPARED.search(self.text[:start]) for other, start, _ in self.mentions if other == slug]
        return any(named) if named else self.topical and self.subject == slug


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a record or a paper's text says, where, and how far that can be trusted (a level of ``kb.facts``)."""

    text: str
    where: str
    level: str = "paper"

    def in_language(self, language: str) -> str:
        """The part in one language of a text that has both, divided by " / "; the whole where it has one."""
        first, divider, second = self.text.partition(" / ")
        if not divider:
            return self.text
        return (first if has_han(first) else second) if language == "zh" else (second if has_han(first) else first)

    @property
    def is_firm(self) -> bool:
        """Whether somebody read it in the paper or its code; only this contradicts."""
        return self.level in ("paper", "code")


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One checked claim: what the note says of which paper in which line, and what speaks for or against it.

    ``more`` is evidence of other kinds that says the same.
    """

    paper: str
    line: int
    kind: ClaimKind
    claim: str
    statement: str
    verdict: Verdict
    evidence: Evidence | None = None
    more: tuple[Evidence, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For machines; ``where``, ``evidence`` and ``level`` are empty where nothing was found."""
        found = self.evidence
        return {
            "paper": self.paper, "line": self.line, "kind": self.kind, "claim": self.claim, "verdict": self.verdict,
            "evidence": found.text if found else "", "where": found.where if found else "",
            "level": found.level if found else "", "statement": self.statement,
            "more": [{"evidence": other.text, "where": other.where, "level": other.level} for other in self.more],
        }  # fmt: skip

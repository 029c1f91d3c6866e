"""What a report's template prints. Frozen values without words of either language, but for what people wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kb.weeks import Week

_KINDS = ("question", "project", "study", "idea", "decision")


@dataclass(frozen=True, slots=True)
class Quote:
    """A note of the week, quoted whole: ``text`` is what its author wrote, ready to stand in the report.

    ``heading`` is its title, where that is neither in the text nor the name of what the section is about.
    ``has_idea`` and ``has_thoughts`` say whether the author has such a part (核心idea, 启发) himself.
    """

    path: str
    title: str
    kind: str
    text: str
    heading: str = ""
    has_idea: bool = False
    has_thoughts: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula of a paper's record with the line that says where it was read."""

    latex: str
    source: str


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """A paper of the week. ``slug`` is empty for notes on a paper that is not here; then only title and notes are set.

    ``added`` says that it came into the base this week, ``read`` that there is a note on it or that its task was done;
    ``see`` names the paper whose note speaks of this one too.
    """

    slug: str
    name: str
    title: str
    notes: tuple[Quote, ...] = ()
    see: str = ""
    arxiv_id: str = ""
    authors: tuple[str, ...] = ()
    year: str = ""
    venue: str = ""
    version: str = ""
    code: str = ""
    idea: str = ""
    idea_level: str = ""
    formulas: tuple[Formula, ...] = ()
    withdrawn: bool = False
    added: bool = False
    read: bool = False


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task of the queue as the week ended. ``days`` is how long it had waited then, None where nobody wrote since when.

    ``why`` is what the record says of its paper, for a task that gives no reason itself. ``undated`` was done, and nobody
    wrote when; ``told`` says that the author's own to-do list of the week has it.
    """

    text: str
    below: tuple[str, ...] = ()
    days: int | None = None
    carried: bool = False
    reading: bool = False
    undated: bool = False
    why: str = ""
    told: bool = False

    @property
    def weeks(self) -> int:
        """Full weeks of waiting."""
        return (self.days or 0) // 7


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A paper that the week's papers cite and that is not here. ``cited_by`` are names, ``in_base`` counts all that cite it."""

    title: str
    arxiv_id: str
    year: int | None
    cited_by: tuple[str, ...]
    in_base: int


@dataclass(frozen=True, slots=True)
class VersionNews:
    """A version that appeared in the week, or a withdrawal.

    ``rests_on`` is the version that the record was read in, ``stale`` how many facts and notes rest on an older one.
    """

    slug: str
    name: str
    version: int
    date: str
    withdrawn: bool
    comment: str
    rests_on: int | None
    stale: int


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """A statement of a note of the week, and what the sources say of it."""

    paper: str
    claim: str
    verdict: str
    correction: str
    where: str
    note: str


@dataclass(frozen=True, slots=True)
class Check:
    """One measurement that decides a claim: its value with interval, the bounds that it must keep, how it came out."""

    says: str
    estimate: str
    bounds: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of a metric for a method in a world with its interval; ``before`` is its mean before the week."""

    method: str
    world: str
    metric: str
    mean: float
    low: float
    high: float
    n: int
    before: float | None

    @property
    def change(self) -> float | None:
        """What the week changed."""
        return None if self.before is None else self.mean - self.before


@dataclass(frozen=True, slots=True)
class ExperimentEntry:
    """An experiment with runs in the week. A claim has ``checks`` and a verdict, a suite has ``measured`` cells.

    ``address`` and the pictures' addresses are seen from the report; ``expectation`` is what a person wrote before.
    """

    slug: str
    title: str
    address: str
    expectation: str
    new: int
    failed: int
    lacking: int
    seeds: int
    number: int = 0
    verdict: str = ""
    verdict_before: str = ""
    wanted: int = 0
    checks: tuple[Check, ...] = ()
    measured: tuple[Measured, ...] = ()
    pictures: tuple[tuple[str, str], ...] = ()

    @property
    def worlds(self) -> list[list[Measured]]:
        """The cells by world."""
        names = dict.fromkeys(cell.world for cell in self.measured)
        return [[cell for cell in self.measured if cell.world == name] for name in names]

    def outcomes(self, outcome: str) -> int:
        """How many checks came out so."""
        return sum(check.outcome == outcome for check in self.checks)

    @property
    def is_claim(self) -> bool:
        """Whether it is a pre-registered claim."""
        return bool(self.verdict)


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What the author wrote in an imported report of the week, outside its notes; all empty where there is none.

    ``leads`` are words below a section's heading, its to-do list whole, and ``titles`` the headings, by what the section
    is: reading, question, project, study, todo.
    """

    path: str = ""
    title: str = ""
    lead: str = ""
    agenda: str = ""
    leads: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WeekReport:
    """Everything that the template prints."""

    week: Week
    language: str
    papers: tuple[PaperEntry, ...]
    added: tuple[PaperEntry, ...]
    comparison: str
    claims: tuple[ClaimEntry, ...]
    experiments: tuple[ExperimentEntry, ...]
    claims_pictures: tuple[tuple[str, str], ...]
    notes: tuple[Quote, ...]
    done: tuple[TaskEntry, ...]
    dropped: tuple[TaskEntry, ...]
    todo: tuple[TaskEntry, ...]
    suggestions: tuple[Suggestion, ...]
    without_text: tuple[str, ...]
    news: tuple[VersionNews, ...]
    problems: tuple[str, ...]
    own: OwnWords = OwnWords()

    @property
    def questions(self) -> list[Quote]:
        return self._of("question")

    @property
    def projects(self) -> list[Quote]:
        return self._of("project")

    @property
    def studies(self) -> list[Quote]:
        return self._of("study")

    @property
    def ideas(self) -> list[Quote]:
        return self._of("idea")

    @property
    def decisions(self) -> list[Quote]:
        return self._of("decision")

    @property
    def others(self) -> list[Quote]:
        """Notes of kinds that have no section of their own."""
        return [note for note in self.notes if note.kind not in _KINDS]

    def _of(self, kind: str) -> list[Quote]:
        return [note for note in self.notes if note.kind == kind]

    @property
    def note_count(self) -> int:
        """How many notes of the week there are."""
        return len(self.notes) + sum(len(paper.notes) for paper in self.papers)

    def count(self, verdict: str) -> int:
        """How many claims of the week's notes have this verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)

    @property
    def carried_and_told(self) -> list[TaskEntry]:
        """Open tasks older than the week that the author's own list has."""
        return [task for task in self.todo if task.carried and task.told]

    @property
    def carried(self) -> int:
        """How many open tasks are older than the week."""
        return sum(task.carried for task in self.todo)

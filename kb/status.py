"""What ``kb status`` says: counts, what failed and why, whether the index is behind the files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kb.library import Library
from kb.workspace import Workspace


@dataclass(frozen=True, slots=True)
class FailureLine:
    """A source that could not be read, and whether the next run tries it again."""

    source: str
    reason: str
    transient: bool
    tries: int


@dataclass(frozen=True, slots=True)
class Status:
    """Counts over a workspace and the lists a person acts on."""

    papers: int
    with_text: int
    withdrawn: tuple[str, ...]
    notes: int
    problems: tuple[str, ...]
    failures: tuple[FailureLine, ...]
    index: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> list[str]:
        lines = [
            f"papers  {self.papers}, {self.with_text} with text",
            f"notes   {self.notes}",
            f"index   {self.index}",
            f"failed  {len(self.failures)}",
        ]
        lines += [f"withdrawn: {slug}" for slug in self.withdrawn]
        return lines + [f"cannot be read: {problem}" for problem in self.problems]

    def failure_rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (line.source, line.reason, "transient" if line.transient else "permanent", str(line.tries))
            for line in self.failures
        ]


def gather_status(workspace: Workspace) -> Status:
    """Read the files and the journals; nothing is changed."""
    from kb.index.state import index_state
    from kb.ingest.journal import failures

    library = Library.load(workspace)
    papers = library.papers.values()
    return Status(
        papers=len(library.papers),
        with_text=sum(paper.text_path is not None for paper in papers),
        withdrawn=tuple(paper.slug for paper in papers if paper.withdrawn),
        notes=sum(1 for _ in library.notes()),
        problems=tuple(problem.message for problem in library.problems),
        failures=tuple(
            FailureLine(failure.source, failure.reason, failure.transient, failure.tries)
            for failure in failures(workspace)
        ),
        index=index_state(workspace),
    )

"""Draft a paper: every column that is open gets candidates, and nothing that a person wrote or decided is touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kb import frontmatter
from kb.drafting.columns import DraftColumn
from kb.drafting.drafts import Draft, drafts_of, is_untouched, proposed_before, state_of, with_draft
from kb.drafting.passages import PaperSearch
from kb.drafting.propose import propose
from kb.drafting.shorten import Refused, shorten
from kb.errors import KbError
from kb.index.lock import writing
from kb.index.reader import Index
from kb.library import Paper
from kb.llm import Chat
from kb.workspace import Workspace, write_atomic

OutcomeState = Literal["drafted", "worded", "waiting", "fact", "rejected", "nothing"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a column. ``remark`` says why a language model's words were not taken."""

    column: str
    state: OutcomeState
    draft: Draft | None = None
    remark: str = ""


@dataclass
class Wording:
    """Asks a language model for shorter words. An error of the connection ends the asking, and is kept in ``failure``."""

    index: Index
    chat: Chat
    tongue: str
    failure: KbError | None = field(default=None)

    def of(self, paper: Paper, draft: Draft) -> tuple[Draft, str]:
        """The draft in the model's words, or as it was, with the reason."""
        if self.failure is not None:
            return draft, ""
        ids = list(dict.fromkeys(candidate.passage for candidate in draft.candidates))
        passages = self.index.passages(ids)
        if not passages:
            return draft, "its passages are not in the index any more"
        try:
            return shorten(draft, passages, paper.title, self.chat, self.tongue), ""
        except Refused as refusal:
            return draft, str(refusal)
        except KbError as error:
            self.failure = error
            return draft, ""


def draft_paper(
    paper: Paper,
    search: PaperSearch,
    columns: Sequence[DraftColumn],
    wording: Wording | None = None,
    again: bool = False,
) -> list[Outcome]:
    """What would be drafted, column by column; nothing is written. ``again`` drafts rejected columns anew, with other words."""
    waiting = {draft.column: draft for draft in drafts_of(paper.fields)}
    outcomes = []
    for column in columns:
        state = state_of(paper.fields, column.key)
        if state == "draft":
            outcomes.append(_reworded(paper, waiting[column.key], wording))
        elif state == "fact" or (state == "rejected" and not again):
            outcomes.append(Outcome(column.key, state))
        else:
            found = propose(paper, search, column, before=proposed_before(paper.fields, column.key))
            outcomes.append(_drafted(paper, Draft(column.key, tuple(found)), wording))
    return outcomes


def _reworded(paper: Paper, draft: Draft, wording: Wording | None) -> Outcome:
    """A draft that waits stays; one that still has the paper's words may be put shortly."""
    if wording is None or draft.model or not is_untouched(paper.fields, draft):
        return Outcome(draft.column, "waiting", draft)
    fresh, remark = wording.of(paper, draft)
    return Outcome(draft.column, "worded" if fresh.model else "waiting", fresh, remark)


def _drafted(paper: Paper, draft: Draft, wording: Wording | None) -> Outcome:
    if not draft.candidates:
        return Outcome(draft.column, "nothing")
    fresh, remark = wording.of(paper, draft) if wording is not None else (draft, "")
    return Outcome(draft.column, "drafted", fresh, remark)


def write_drafts(workspace: Workspace, paper: Paper, outcomes: Sequence[Outcome]) -> bool:
    """Put what is new into the record; whether that changed it. A fact that somebody wrote in the meantime stays."""
    fresh = [
        outcome.draft for outcome in outcomes if outcome.draft is not None and outcome.state in ("drafted", "worded")
    ]
    if not fresh:
        return False

    def put_in(text: str) -> str:
        for draft in fresh:
            if state_of(frontmatter.parse(text, paper.record)[0], draft.column) != "fact":
                text = with_draft(text, paper.record, draft)
        return text

    return edit_record(workspace, paper, "kb facts draft", put_in)


def edit_record(workspace: Workspace, paper: Paper, command: str, change: Callable[[str], str]) -> bool:
    """Change a record under the write lock, line ends as they are; whether it is another text then."""
    with writing(workspace, command):
        with paper.record.open(encoding="utf-8", newline="") as stream:
            old = stream.read()
        new = change(old)
        if new != old:
            write_atomic(paper.record, new)
        return new != old

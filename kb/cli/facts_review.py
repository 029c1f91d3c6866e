"""``kb facts review``: a person's word on drafted facts, asked for one by one or given on the command line."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.output import JsonOption, console, print_json, say
from kb.errors import UsageError
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.drafting.drafts import Draft
    from kb.index.reader import Index
    from kb.library import Paper

OWN_WORDS = 20  # of a quotation; longer ones are the paper's text, not a fact in one's own words


def review(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="A slug, alias or arXiv id.")],
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN[=N]", help="Accept a draft, or its candidate N; all for every one. Asks nothing."),
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Reject a draft; all for every one. Asks nothing.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Go through the drafts of a paper: accept, edit or reject each. Every answer is kept at once."""
    from kb.library import Library, read_paper

    workspace = find_workspace()
    record = Library.load(workspace).get(paper)
    remarks: list[str] = []
    if accept or reject:
        remarks = _decide_all(workspace, record, accept or [], reject or [])
    elif not as_json:
        remarks = _Review(workspace, record).run()
    left = _waiting(read_paper(record.record))
    if as_json:
        print_json(
            {
                "paper": record.slug,
                "record": str(record.record),
                "done": remarks,
                "waiting": [draft_dict(d) for d in left],
            }
        )
    else:
        for remark in remarks:
            say(remark)
        say(f"{len(left)} drafts wait" if left else "no drafts wait")


def _waiting(paper: Paper) -> list[Draft]:
    from kb.drafting.drafts import drafts_of

    return drafts_of(paper.fields)


def _decide_all(workspace: Workspace, paper: Paper, accept: list[str], reject: list[str]) -> list[str]:
    """Carry out decisions that were given on the command line: all of them, or none when one makes no sense."""
    from kb.drafting.drafts import accepted, rejected
    from kb.drafting.run import edit_record

    waiting = [draft.column for draft in _waiting(paper)]
    taken = _accepted_ranks(accept, waiting)
    dropped = list(dict.fromkeys(column for name in reject for column in (waiting if name == "all" else [name])))
    if both := [column for column in dropped if column in taken]:
        if "all" not in (*accept, *reject):
            raise UsageError(f"{both[0]} is accepted and rejected", "name it once")
        # What is named alone stands against "all".
        taken = {column: rank for column, rank in taken.items() if column not in both or "all" in reject}
        dropped = [column for column in dropped if column not in taken]

    def change(text: str) -> str:
        for column, rank in taken.items():
            text = accepted(text, paper.record, column, rank)
        for column in dropped:
            text = rejected(text, paper.record, column)
        return text

    edit_record(workspace, paper, "kb facts review", change)
    remarks = [f"accepted {column}" for column in taken] + [f"rejected {column}" for column in dropped]
    return remarks + _long_quotes(workspace, paper, list(taken))


def _accepted_ranks(accept: list[str], waiting: list[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for word in accept:
        column, _, rank = word.partition("=")
        if rank and not rank.isdecimal():
            raise UsageError(f"{word!r} names no candidate", f"--accept {column}=1")
        if column == "all":
            ranks = {name: int(rank or 1) for name in waiting} | ranks
        else:
            ranks[column] = int(rank or 1)
    return ranks


def _long_quotes(workspace: Workspace, paper: Paper, columns: list[str]) -> list[str]:
    """A remark where accepted facts are whole sentences of the paper."""
    from kb.facts import read_record
    from kb.library import read_paper

    facts = read_record(read_paper(paper.record)).facts
    long = [column for column in columns if column in facts and len(facts[column].value("en").split()) > OWN_WORDS]
    if not long:
        return []
    return [f"in the paper's own words still: {', '.join(long)}; put them in yours before others see the record"]


class _Review:
    """The questions to a person, draft by draft."""

    def __init__(self, workspace: Workspace, paper: Paper) -> None:
        self._workspace = workspace
        self._paper = paper
        self._accepted: list[str] = []

    def run(self) -> list[str]:
        """Ask about every draft that waits, until the end of the input. Returns remarks for the end."""
        from kb.index.reader import Index
        from kb.index.recipe import NoIndexError

        try:
            opened: Any = Index.open(self._workspace)
        except NoIndexError:
            opened = nullcontext(None)
        with opened as index:
            for draft in _waiting(self._paper):
                print_draft(draft)
                if not self._one(draft, index):
                    break
        return _long_quotes(self._workspace, self._paper, self._accepted)

    def _one(self, draft: Draft, index: Index | None) -> bool:
        """Ask until the draft is dealt with; False to stop."""
        count = len(draft.candidates)
        choices = "1 accepts it" if count == 1 else f"1-{count} accepts one"
        while True:
            answer = _read(f"{choices}, e edit, r reject, c context, s skip, q quit > ")
            if answer is None or answer in ("q", "quit"):
                return False
            if answer in ("s", "skip"):
                return True
            if answer in ("c", "context"):
                self._show_context(draft, index)
            elif self._decide(draft, answer):
                return True
            else:
                say("that is none of the choices")

    def _decide(self, draft: Draft, answer: str) -> bool:
        """Carry out one answer; False when it is none."""
        from kb.drafting.drafts import accepted, rejected
        from kb.drafting.run import edit_record

        record, column, words = self._paper.record, draft.column, ""
        if answer in ("r", "reject"):
            edit_record(self._workspace, self._paper, "kb facts review", lambda text: rejected(text, record, column))
            print(f"rejected {column}")
            return True
        rank = int(answer) if answer.isdecimal() else 1
        if answer in ("e", "edit"):
            words = _read("value > ") or ""
            if not words:
                return False
        elif not (answer.isdecimal() and 1 <= rank <= len(draft.candidates)):
            return False
        edit_record(
            self._workspace, self._paper, "kb facts review", lambda text: accepted(text, record, column, rank, words)
        )
        self._accepted.append(column)
        print(f"accepted {column}")
        return True

    def _show_context(self, draft: Draft, index: Index | None) -> None:
        """The passages that the candidates stand in."""
        passages = index.passages(list(dict.fromkeys(c.passage for c in draft.candidates))) if index is not None else []
        for passage in passages:
            print(f"\n{passage.path}, {' > '.join(passage.heading)}\n{passage.text}\n")
        if not passages:
            say("its passages are not in the index; kb index makes it")


def _read(prompt: str) -> str | None:
    """One line of a person's, lower-cased when it is a command; None at the end of the input."""
    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None


def print_draft(draft: Draft) -> None:
    """Show a draft: its column, and each candidate with where it stands and its score."""
    from rich.text import Text

    out = console()
    out.print(Text(draft.column, style="bold"))
    for rank, candidate in enumerate(draft.candidates, start=1):
        by = f", worded by {draft.model}" if draft.model and rank == 1 else ""
        out.print(Text(f"  {rank}  {candidate.evidence}  ({candidate.score:.2f}){by}", style="dim"))
        for line in Text(candidate.text).wrap(out, max(20, out.width - 5)):
            line.rstrip()
            out.print(Text.assemble("     ", line))


def draft_dict(draft: Draft) -> dict[str, Any]:
    """A draft for machines."""
    candidates = [
        {"text": c.text, "evidence": c.evidence, "passage": c.passage, "score": round(c.score, 2)}
        for c in draft.candidates
    ]
    return {"column": draft.column, "candidates": candidates} | ({"worded_by": draft.model} if draft.model else {})

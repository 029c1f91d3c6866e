"""``kb facts``: ``draft`` proposes facts out of a paper's text, ``review`` (in its own file) asks a person about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.choices import LangOption, chosen_language
from kb.cli.facts_review import draft_dict, print_draft, review
from kb.cli.output import JsonOption, print_json, say
from kb.errors import NETWORK, PARTIAL, KbError
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.drafting.columns import DraftColumn
    from kb.drafting.run import Outcome, Wording
    from kb.index.reader import Index
    from kb.library import Paper

app = typer.Typer(no_args_is_help=True, help="Facts drafted from a paper's own text, and your word on them.")

app.command()(review)


@app.command()
def draft(
    papers: Annotated[list[str], typer.Argument(metavar="PAPER...", help="Slugs, aliases or arXiv ids.")],
    columns: Annotated[str | None, typer.Option(help="Only these, as problem,idea,headline.")] = None,
    llm: Annotated[
        bool,
        typer.Option("--llm", help="Let the model of kb.toml put drafts shortly, in --lang; what it says is checked."),
    ] = False,
    lang: LangOption = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also columns whose drafts you rejected, with other candidates.")
    ] = False,
    keyword_only: Annotated[bool, typer.Option("--keyword", help="Keywords alone: quicker, no model.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Draft facts for papers from their own passages. Facts that you wrote, accepted or rejected stay as they are."""
    from kb.drafting.columns import choose, load_columns
    from kb.index.reader import Index
    from kb.library import Library

    workspace = find_workspace()
    tongue = chosen_language(lang, workspace)
    chosen = choose(load_columns(workspace), [name.strip() for name in (columns or "").split(",") if name.strip()])
    library = Library.load(workspace)
    found = list({paper.slug: paper for paper in map(library.get, papers)}.values())
    with Index.open(workspace) as index, _wording(workspace, index, llm, tongue) as wording:
        drafter = _Drafter(workspace, index, chosen, wording, again, keyword_only)
        rows, failed = drafter.all(found, quiet=as_json)
    if as_json:
        print_json(rows)
    _finish(rows, failed, wording)


@contextmanager
def _wording(workspace: Workspace, index: Index, wanted: bool, tongue: str) -> Iterator[Wording | None]:
    """The language model, where it is wanted."""
    if not wanted:
        yield None
        return
    from kb.drafting.run import Wording
    from kb.llm import Chat, settings_of

    with Chat(settings_of(workspace)) as chat:
        yield Wording(index, chat, tongue)


class _Drafter:
    """Drafts paper after paper with one model and one glossary."""

    def __init__(
        self, workspace: Workspace, index: Index, columns: Sequence[DraftColumn], wording: Wording | None, again: bool,
        keyword_only: bool,
    ) -> None:  # fmt: skip
        from kb.drafting.passages import RememberedQueries
        from kb.index.embedding.registry import embedder_of
        from kb.search.glossary import load_glossary

        self._workspace, self._index, self._columns = workspace, index, columns
        self._wording, self._again = wording, again
        self._glossary = load_glossary(workspace)
        queries = [query for column in columns for query in column.queries]
        self._embedder = None if keyword_only else RememberedQueries(embedder_of(workspace), queries, self._glossary)

    def all(self, papers: Sequence[Paper], quiet: bool) -> tuple[list[dict[str, Any]], list[KbError]]:
        """What became of each paper, and the errors of those that could not be drafted. One alone raises its error."""
        rows: list[dict[str, Any]] = []
        failed: list[KbError] = []
        for paper in papers:
            try:
                outcomes = self._one(paper)
            except KbError as error:
                if len(papers) == 1:
                    raise
                failed.append(error)
                say(f"not drafted: {paper.slug}: {error.message}" + (f" ({error.hint})" if error.hint else ""))
                continue
            columns = [_outcome_dict(outcome) for outcome in outcomes]
            rows.append({"paper": paper.slug, "record": str(paper.record), "columns": columns})
            if not quiet:
                _print_outcomes(paper, outcomes)
        return rows, failed

    def _one(self, paper: Paper) -> list[Outcome]:
        from kb.drafting.passages import PaperSearch, check_indexed
        from kb.drafting.run import draft_paper, write_drafts

        check_indexed(self._index, paper)
        search = PaperSearch(self._index, paper, self._glossary, self._embedder)
        outcomes = draft_paper(paper, search, self._columns, self._wording, self._again)
        write_drafts(self._workspace, paper, outcomes)
        if search.remark:
            say(search.remark)
        return outcomes


def _print_outcomes(paper: Paper, outcomes: Sequence[Outcome]) -> None:
    fresh = [outcome for outcome in outcomes if outcome.state in ("drafted", "worded")]
    print(f"{paper.title}  {paper.slug}")
    for outcome in fresh:
        if outcome.draft is not None:
            print_draft(outcome.draft)
    for outcome in outcomes:
        if outcome.remark:
            say(f"{outcome.column}: the language model's words were not taken: {outcome.remark}")
    words = {
        "fact": "already facts",
        "waiting": "drafts that wait",
        "rejected": "rejected before",
        "nothing": "nothing found for",
    }
    for state, told in words.items():
        names = [outcome.column for outcome in outcomes if outcome.state == state]
        if names:
            say(f"{told}: {', '.join(names)}")
    if fresh:
        say(f"{len(fresh)} drafted into {paper.record}; kb facts review {paper.slug}")
    else:
        say("nothing new was drafted")


def _finish(rows: list[dict[str, Any]], failed: list[KbError], wording: Wording | None) -> None:
    """End with the exit code of the whole."""
    failure = wording.failure if wording is not None else None
    if failure is not None:
        say(
            f"the drafts keep the paper's own words: {failure.message}" + (f" ({failure.hint})" if failure.hint else "")
        )
        raise typer.Exit(NETWORK if failure.exit_code == NETWORK else PARTIAL)
    if failed or any(column.get("remark") for row in rows for column in row["columns"]):
        raise typer.Exit(PARTIAL)


def _outcome_dict(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"column": outcome.column, "state": outcome.state}
    if outcome.draft is not None:
        fields |= draft_dict(outcome.draft)
    if outcome.remark:
        fields["remark"] = outcome.remark
    return fields

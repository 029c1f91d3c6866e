"""``kb facts``: ``draft`` proposes facts out of a paper's text, ``review`` (in its own file) asks a person about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.facts_review import draft_dict, print_draft, review
from kb.cli.output import JsonOption, print_json, say
from kb.errors import NETWORK, PARTIAL, KbError, UsageError
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.drafting.columns import DraftColumn
    from kb.drafting.passages import PaperSearch
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
        bool, typer.Option("--llm", help="Let the language model of kb.toml put drafts shortly; checked.")
    ] = False,
    lang: Annotated[
        str | None, typer.Option(help="With --llm, its language: zh or en; kb.toml says which if left out.")
    ] = None,
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
    tongue = _language(workspace, lang)
    chosen = choose(load_columns(workspace), [name.strip() for name in (columns or "").split(",") if name.strip()])
    library = Library.load(workspace)
    found = list({paper.slug: paper for paper in map(library.get, papers)}.values())
    rows: list[dict[str, Any]] = []
    failed: list[KbError] = []
    with Index.open(workspace) as index, _wording(workspace, index, llm, tongue) as wording:
        for paper in found:
            try:
                outcomes = _draft_one(workspace, index, paper, chosen, wording, (again, keyword_only, as_json))
                rows.append(
                    {"paper": paper.slug, "record": str(paper.record), "columns": [_outcome_dict(o) for o in outcomes]}
                )
            except KbError as error:
                failed.append(error)
                say(f"not drafted: {paper.slug}: {error.message}" + (f" ({error.hint})" if error.hint else ""))
    if as_json:
        print_json(rows)
    _finish(rows, failed, wording, len(found))


def _language(workspace: Workspace, lang: str | None) -> str:
    tongue = lang or str(workspace.option("language", "en"))
    if tongue not in ("zh", "en"):
        raise UsageError(f"no language {tongue!r}", "--lang zh or --lang en")
    return tongue


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


def _draft_one(
    workspace: Workspace, index: Index, paper: Paper, columns: Sequence[DraftColumn], wording: Wording | None,
    switches: tuple[bool, bool, bool],
) -> list[Outcome]:  # fmt: skip
    from kb.drafting.passages import check_indexed
    from kb.drafting.run import draft_paper, write_drafts

    again, keyword_only, quiet = switches
    check_indexed(index, paper)
    search = _search(workspace, index, paper, keyword_only)
    outcomes = draft_paper(paper, search, columns, wording, again)
    write_drafts(workspace, paper, outcomes)
    if search.remark:
        say(search.remark)
    if not quiet:
        _print_outcomes(paper, outcomes)
    return outcomes


def _search(workspace: Workspace, index: Index, paper: Paper, keyword_only: bool) -> PaperSearch:
    from kb.drafting.passages import PaperSearch
    from kb.search.glossary import load_glossary

    embedder = None
    if not keyword_only:
        from kb.index.embedding.registry import embedder_of

        embedder = embedder_of(workspace)
    return PaperSearch(index, paper, load_glossary(workspace), embedder)


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


def _finish(rows: list[dict[str, Any]], failed: list[KbError], wording: Wording | None, count: int) -> None:
    """End with the exit code of the whole."""
    if failed and count == 1:
        raise failed[0]
    if wording is not None and wording.failure is not None:
        say(
            f"the drafts keep the paper's own words: {wording.failure.message}"
            + (f" ({wording.failure.hint})" if wording.failure.hint else "")
        )
        raise typer.Exit(NETWORK if wording.failure.exit_code == NETWORK else PARTIAL)
    if failed or any(column.get("remark") for row in rows for column in row["columns"]):
        raise typer.Exit(PARTIAL)


def _outcome_dict(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"column": outcome.column, "state": outcome.state}
    if outcome.draft is not None:
        fields |= draft_dict(outcome.draft)
    if outcome.remark:
        fields["remark"] = outcome.remark
    return fields

"""``kb search``: a question or a formula to passages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.output import JsonOption, console, print_json, say
from kb.errors import UsageError
from kb.model import Kind
from kb.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from kb.index.filters import Filters
    from kb.index.reader import Index
    from kb.search.hybrid import Answer, Hit

PASSAGES_OF_A_PAPER = 3


def search(
    question: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="Words or a question, English or Chinese.")
    ] = None,
    formula: Annotated[str | None, typer.Option(metavar="LATEX", help="Find equations of this structure.")] = None,
    paper: Annotated[
        list[str] | None, typer.Option("--in", metavar="PAPER", help="Only in this paper or note; repeatable.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="prose, equation, table, caption, note, fact or reference.")
    ] = None,
    section: Annotated[
        str, typer.Option(help="A kind of section (method, experiments, ...) or a part of its heading.")
    ] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only papers with this tag.")] = None,
    since: Annotated[str, typer.Option(help="Only from this year or day on.")] = "",
    most: Annotated[int, typer.Option("-n", "--number", min=1, help="How many papers to show.")] = 8,
    context: Annotated[int, typer.Option(min=0, help="Show this many passages before and after each hit.")] = 0,
    keyword_only: Annotated[bool, typer.Option("--keyword", help="Keywords alone: quicker, no model.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the parts of every score and the translation.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Find passages of papers and notes; a Chinese question finds English papers, an English one Chinese notes."""
    from kb.index.reader import Index

    if (question is None or not question.strip()) == (formula is None):
        raise UsageError(
            "give a question, or a formula with --formula",
            "kb search '优势归一化', kb search --formula '\\frac{r-\\mu}{\\sigma}'",
        )
    workspace = find_workspace()
    with Index.open(workspace) as index:
        filters = _filters(workspace, paper or (), kind or (), section, tag or (), since)
        if formula is not None:
            _formulas(index, formula, filters, most, as_json)
            return
        answer = _ask(workspace, index, str(question), filters, keyword_only, most)
        if as_json:
            print_json(_as_dict(answer))
        else:
            _print_answer(index, answer, most, context, explain)
    if not answer.hits:
        sys.exit(1)


def _filters(workspace: Workspace, names: Any, kinds: Any, section: str, tags: Any, since: str) -> Filters:
    from kb.index.filters import Filters
    from kb.library import Library

    for name in kinds:
        if name not in tuple(Kind):
            raise UsageError(f"no kind {name!r}", f"one of {', '.join(Kind)}")
    owners = []
    if names:
        library = Library.load(workspace)
        owners = [name if name.startswith("notes/") else library.get(name).slug for name in names]
    return Filters(tuple(owners), tuple(Kind(name) for name in kinds), (), section, tuple(tags), since)


def _ask(workspace: Workspace, index: Index, question: str, filters: Filters, keyword_only: bool, most: int) -> Answer:
    from kb.search.glossary import load_glossary
    from kb.search.hybrid import search as ask

    embedder = None
    if not keyword_only:
        from kb.index.embedding.registry import embedder_of

        embedder = embedder_of(workspace)
    answer = ask(index, question, load_glossary(workspace), embedder, filters, most=max(30, 4 * most))
    reranker = workspace.option("search.reranker")
    if reranker and not keyword_only:
        from kb.search.rerank import rerank

        answer = rerank(answer, str(reranker))
    return answer


def _print_answer(index: Index, answer: Answer, most: int, context: int, explain: bool) -> None:
    for remark in answer.remarks:
        say(f"note: {remark}")
    if explain and answer.translation.terms:
        pairs = "; ".join(f"{term} = {', '.join(forms[:3])}" for term, forms in answer.translation.terms)
        say(f"translated: {pairs}")
    if not answer.hits:
        say("nothing found; try other words, or kb list to see what is here")
        return
    if not answer.is_good:
        say("no good hit: nothing here seems to be about this; the nearest passages are")
    groups: dict[str, list[Hit]] = {}
    for hit in answer.hits:
        groups.setdefault(hit.passage.paper, []).append(hit)
    for owner, hits in list(groups.items())[:most]:
        _print_group(index, owner, hits[:PASSAGES_OF_A_PAPER], answer, context, explain)


def _print_group(index: Index, owner: str, hits: list[Hit], answer: Answer, context: int, explain: bool) -> None:
    from rich.text import Text

    out = console()
    first = hits[0].passage
    out.print(
        Text.assemble(
            (first.title or owner, "bold"), (f"  {owner}", "cyan"), f"  {first.date[:4]}" if first.date else ""
        )
    )
    for hit in hits:
        passage = hit.passage
        place = " > ".join(passage.heading) or passage.path
        page = f", p. {passage.page}" if passage.page else ""
        kind = "" if passage.kind in (Kind.PROSE, Kind.NOTE) else f" [{passage.kind}]"
        out.print(Text(f"  {place}{page}{kind}", style="dim"))
        for line in _marked(hit, answer, index, context).wrap(out, max(20, out.width - 4)):
            line.rstrip()
            out.print(Text.assemble("    ", line))
        if explain:
            scores = hit.scores
            parts = f"fused {scores.fused:.4f} = keyword #{scores.keyword_rank or '-'} ({scores.keyword:.2f}) + dense #{scores.dense_rank or '-'} ({scores.dense:.3f})"
            out.print(Text(f"    {parts}  {passage.id}", style="dim"))
    out.print()


def _marked(hit: Hit, answer: Answer, index: Index, context: int) -> Any:
    from rich.text import Text

    from kb.search.snippet import marked_spans, snippet

    passage = hit.passage
    if context:
        shown = "\n\n".join(neighbour.text for neighbour in index.around(passage, context))
    elif passage.kind in (Kind.EQUATION, Kind.TABLE):
        shown = passage.text[:700]
    else:
        shown = snippet(passage.text, answer.terms)
    text = Text(shown)
    for start, end in marked_spans(shown, answer.terms):
        text.stylize("bold yellow", start, end)
    return text


def _formulas(index: Index, latex: str, filters: Filters, most: int, as_json: bool) -> None:
    from kb.search.formula import search_formulas

    hits = search_formulas(latex, index.equations(filters), most)
    passages = {passage.id: passage for passage in index.passages([hit.key for hit in hits])}
    if as_json:
        print_json(
            [{"score": round(hit.score, 4), **_passage_dict(passages[hit.key])} for hit in hits if hit.key in passages]
        )
        return
    if not hits:
        say("no equation here is like this one; formulas read off a PDF have no LaTeX and cannot be found this way")
        sys.exit(1)
    for hit in hits:
        passage = passages[hit.key]
        page = f", p. {passage.page}" if passage.page else ""
        print(f"{passage.paper}  {' > '.join(passage.heading)}{page}  ({hit.score:.2f})")
        print(f"    {' '.join(passage.latex.split())}\n")


def _as_dict(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "translation": answer.translation.text,
        "good": answer.is_good,
        "hits": [
            {
                **_passage_dict(hit.passage),
                "score": round(hit.scores.fused, 6),
                "keyword": [hit.scores.keyword_rank, round(hit.scores.keyword, 4)],
                "dense": [hit.scores.dense_rank, round(hit.scores.dense, 4)],
            }
            for hit in answer.hits
        ],
    }


def _passage_dict(passage: Any) -> dict[str, Any]:
    return {
        "id": passage.id, "paper": passage.paper, "title": passage.title, "kind": str(passage.kind),
        "heading": list(passage.heading), "page": passage.page, "path": passage.path, "span": list(passage.span),
        "language": passage.language, "text": passage.text, "latex": passage.latex,
    }  # fmt: skip

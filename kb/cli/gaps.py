"""``kb gaps``: what nobody has done, what comes near, and what nobody has looked up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.choices import LangOption, choose, chosen_language
from kb.cli.output import print_json, say
from kb.cli.tables import OutputOption, print_filled
from kb.errors import UsageError
from kb.workspace import Workspace, find_workspace, write_atomic

if TYPE_CHECKING:
    from kb.capabilities import Matrix

SHOWN = ("gaps", "covered", "matrix")


def gaps(
    traits: Annotated[
        str | None, typer.Option(help="Only these capabilities, as multi_agent,process_reward; gaps.toml has all.")
    ] = None,
    size: Annotated[int, typer.Option(min=1, max=3, help="Combinations of up to so many capabilities.")] = 3,
    tag: Annotated[str | None, typer.Option(help="Only papers with this tag (and your own proposals).")] = None,
    show: Annotated[str, typer.Option(help="gaps, covered (who has each combination) or matrix.")] = "gaps",
    form: Annotated[
        str | None, typer.Option("--format", help="list, json, or a table: md, csv, latex, html, box.")
    ] = None,
    most: Annotated[int, typer.Option("-n", "--number", min=1, help="At most so many gaps in the list.")] = 8,
    near: Annotated[str | None, typer.Option(metavar="PAPER", help="What stands close to this paper instead.")] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a heat map (.png or .svg).")] = None,
    lang: LangOption = None,
    output: OutputOption = None,
) -> None:
    """Find combinations of capabilities that no paper has, the papers nearest to each, and what is still to check."""
    from kb.capabilities import narrowed
    from kb.gap_tables import gap_data, gap_list, gap_table, likeness_text, matrix_table
    from kb.gaps import combinations
    from kb.gaps import gaps as find_gaps
    from kb.proposals import closest

    workspace = find_workspace()
    language = chosen_language(lang, workspace)
    choose(show, *SHOWN)
    every = _matrix(workspace, tag)
    if near is not None:
        _print_near(every, near, language, workspace)
        return
    matrix = narrowed(every, [key.strip() for key in (traits or "").split(",") if key.strip()])
    if picture is not None:
        _draw(matrix, picture, language)
        if form is None and output is None:
            return
    found = find_gaps(matrix, size) if show == "gaps" else combinations(matrix, size)
    if show == "covered":
        found = [one for one in found if one.covered_by and len(one.traits) == size]
    nearest = [closest(every, proposal, 1)[0] for proposal in every.proposals]
    if form == "json":
        print_json(gap_data(matrix, found, nearest))
    elif show == "matrix":
        print_filled(matrix_table(matrix, language), form, "none" if form in ("md", "box", None) else "marks", output)
    elif show == "covered" or form not in (None, "list"):
        print_filled(gap_table(matrix, found, language), form, "none", output)
    else:
        parts = [gap_list(matrix, found, language, size, most)]
        parts += [likeness_text(one, language, workspace) for one in nearest]
        _print_text("\n\n".join(parts), output)


def _matrix(workspace: Workspace, tag: str | None) -> Matrix:
    """All capabilities of the papers that are asked for, and of one's own proposals."""
    from kb.capabilities import PROPOSAL_TAG, matrix_of, read_traits
    from kb.facts import read_record
    from kb.library import Library

    papers = Library.load(workspace).papers.values()
    chosen = [paper for paper in papers if tag is None or tag in paper.tags or PROPOSAL_TAG in paper.tags]
    matrix = matrix_of([read_record(paper) for paper in chosen], read_traits(workspace))
    if not matrix.papers:
        about = f"with the tag {tag!r}" if tag else "in this workspace"
        raise UsageError(
            f"no papers {about} to look for gaps among", "kb ingest adds papers; facts: in paper.md holds what they do"
        )
    return matrix


def _print_text(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text)
    else:
        write_atomic(output, text + "\n")
        say(f"wrote {output}")


def _print_near(matrix: Matrix, name: str, language: str, workspace: Workspace) -> None:
    from kb.gap_tables import likeness_text
    from kb.library import Library
    from kb.proposals import closest

    slug = Library.load(workspace).get(name).slug
    found = [record for record in (*matrix.papers, *matrix.proposals) if record.paper.slug == slug]
    if not found:
        raise UsageError(f"{slug} is not among these papers: it is a survey, or has another tag", "leave out --tag")
    typer.echo("\n\n".join(likeness_text(like, language, workspace) for like in closest(matrix, found[0])))


def _draw(matrix: Matrix, path: Path, language: str) -> None:
    from kb.gap_pictures import draw, drawn_language

    draw(matrix, path, language)
    if drawn_language(language) != language:
        say("no font with Chinese letters is installed: the labels are English (Noto Sans CJK is one)")
    say(f"wrote {path}")

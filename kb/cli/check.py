"""``kb check``: the claims of a note, dead links, records."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.choices import LangOption, chosen_language
from kb.cli.output import JsonOption, console, print_json, say
from kb.errors import PARTIAL, UsageError
from kb.library import Library
from kb.workspace import find_workspace

if TYPE_CHECKING:
    from rich.text import Text

    from kb.check.claims import RecordedClaim
    from kb.check.values import ClaimVerdict, Evidence
    from kb.index.reader import Index

app = typer.Typer(
    help="Check a note's claims, links and records. Exit code 3 when there is something to put right.",
    invoke_without_command=True,
)
_SIGNS = {"contradicted": "✗", "incomplete": "~", "found": "✓", "not found": "?"}
_STYLES = {"contradicted": "bold red", "incomplete": "yellow", "found": "green", "not found": "dim"}
_WORDS = {
    "zh": {"contradicted": "矛盾", "incomplete": "不完整", "found": "有依据", "not found": "未找到依据", "line": "行",
           "also": "另见", "no evidence": "记录与正文里都没有找到", "formulas": "{} 个公式既不在记录里，也不在正文的 LaTeX 里"},
    "en": {"contradicted": "contradicted", "incomplete": "incomplete", "found": "found", "not found": "not found",
           "line": "line", "also": "also", "no evidence": "neither in the record nor in the text",
           "formulas": "{} formulas that are neither in the record nor in the LaTeX of the text"},
}  # fmt: skip
_RECORD_WORDS = {
    "confirmed": "found",
    "incomplete": "incomplete",
    "contradicted": "contradicted",
    "unverified": "not found",
}


@app.callback()
def check(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print("claims   what a note says of papers, against records and texts: kb check claims NOTE")
        print("links    [[links]] that lead nowhere: kb check links")
        print("records  records that cannot be read, shared names, facts without evidence: kb check records")


@app.command()
def claims(
    note: Annotated[
        Path | None, typer.Argument(metavar="[NOTE]", help="A note or any text file; left out: what the records say.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="VERDICT", help="contradicted, incomplete, found or not-found; repeatable."),
    ] = None,
    lang: LangOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for the evidence of what a note says: numbers, names, needs, formulas. No language model is asked."""
    workspace = find_workspace()
    language = chosen_language(lang, workspace)
    wanted = _wanted(only)
    library = Library.load(workspace)
    if note is None:
        _recorded(library, wanted, language, as_json)
        return
    found = _check_note(library, note)
    shown = [verdict for verdict in found if verdict.verdict in wanted]
    if as_json:
        print_json([verdict.as_dict() for verdict in shown])
    else:
        _print(library, shown, language)
        say(_summary([verdict.verdict for verdict in found], language))
    if any(verdict.verdict == "contradicted" for verdict in found):
        sys.exit(PARTIAL)


@app.command()
def links(as_json: JsonOption = False) -> None:
    """List [[links]] of notes and records that name no paper and no note."""
    _library_check("links", as_json)


@app.command()
def records(as_json: JsonOption = False) -> None:
    """List records that cannot be read, names that two papers share, and facts without evidence."""
    _library_check("records", as_json)


def _library_check(name: str, as_json: bool) -> None:
    from kb.check.library_checks import LIBRARY_CHECKS

    found = LIBRARY_CHECKS[name](Library.load(find_workspace()))
    if as_json:
        print_json([finding.as_dict() for finding in found])
    else:
        for finding in found:
            place = f"{finding.path}:{finding.line}: " if finding.line else f"{finding.path}: " if finding.path else ""
            print(f"{place}{finding.what}")
    if found:
        sys.exit(PARTIAL)
    say(f"{name}: nothing to put right")


def _check_note(library: Library, note: Path) -> Sequence[ClaimVerdict]:
    from kb.check.claims import claims_of_note
    from kb.index.embedding.registry import embedder_of

    path = note if note.exists() else library.workspace.root / note
    index = _open_index(library)
    try:
        return claims_of_note(library, index, path, embedder_of(library.workspace) if index else None)
    finally:
        if index is not None:
            index.close()


def _open_index(library: Library) -> Index | None:
    """The index where there is one; without it the texts of papers are not looked at, and that is said."""
    from kb.index.reader import Index
    from kb.index.recipe import NoIndexError

    texts = sum(paper.text_path is not None for paper in library.papers.values())
    try:
        index = Index.open(library.workspace)
    except NoIndexError:
        if texts:
            say(f"note: no search index yet, so the texts of {texts} papers were not looked at; kb index makes it")
        return None
    for remark in index.remarks:
        say(f"note: {remark}")
    return index


def _recorded(library: Library, wanted: frozenset[str], language: str, as_json: bool) -> None:
    from kb.check.claims import recorded_claims

    found, problems = recorded_claims(library)
    rows = [row for row in found if _RECORD_WORDS[row.claim.verdict] in wanted]
    if as_json:
        print_json([row.as_dict() for row in rows])
    else:
        _print_recorded(library, rows, language)
        say(_summary([_RECORD_WORDS[row.claim.verdict] for row in rows], language))
    for problem in problems:
        say(f"not read: {problem.message}")
    if problems:
        raise typer.Exit(PARTIAL)


# ---------------------------------------------------------------- printing


def _print(library: Library, verdicts: Sequence[ClaimVerdict], language: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    for slug in dict.fromkeys(verdict.paper for verdict in verdicts):
        out.print(Text(_name(library, slug), style="bold"))
        own = [verdict for verdict in verdicts if verdict.paper == slug]
        strange = [v for v in own if v.kind == "formula" and v.verdict == "not found" and not _is_recorded(v)]
        for lines, verdict in _by_claim(verdict for verdict in own if verdict not in strange):
            out.print(_head(f"{_WORDS[language]['line']} {lines}", verdict.verdict, verdict.claim, language))
            for line in _evidence_lines(verdict, language):
                out.print(Padding(Text(line, style="dim"), (0, 0, 0, 4), expand=False))
        if strange:
            lines = ", ".join(str(verdict.line) for verdict in strange)
            count = _WORDS[language]["formulas"].format(len(strange))
            out.print(_head(f"{_WORDS[language]['line']} {lines}", "not found", count, language))
        out.print()


def _by_claim(verdicts: Iterable[ClaimVerdict]) -> list[tuple[str, ClaimVerdict]]:
    """The lines that say the same, and the verdict on it."""
    found: dict[tuple[str, str], tuple[list[int], ClaimVerdict]] = {}
    for verdict in verdicts:
        lines, _ = found.setdefault((verdict.claim, verdict.verdict), ([], verdict))
        lines.append(verdict.line)
    return [(", ".join(map(str, dict.fromkeys(lines))), verdict) for lines, verdict in found.values()]


def _is_recorded(verdict: ClaimVerdict) -> bool:
    from kb.check.values import RECORDED

    return bool(verdict.evidence and verdict.evidence.where.startswith(RECORDED))


def _head(place: str, verdict: str, claim: str, language: str) -> Text:
    from rich.text import Text

    word = f"{_SIGNS[verdict]} {_WORDS[language][verdict]}"
    return Text.assemble("  ", (place, "cyan"), "  ", (word, _STYLES[verdict]), "  ", _clip(claim, 160))


def _evidence_lines(verdict: ClaimVerdict, language: str) -> list[str]:
    words = _WORDS[language]
    if verdict.evidence is None:
        return [words["no evidence"]]
    lines = [_evidence_line(verdict.evidence, language)]
    return lines + [f"{words['also']}: {_evidence_line(other, language)}" for other in verdict.more]


def _evidence_line(evidence: Evidence, language: str) -> str:
    mark = {"paper": "P", "code": "C", "secondary": "S"}.get(evidence.level, "?")
    return f"[{mark}] {evidence.where}: {_clip(evidence.in_language(language), 240)}"


def _print_recorded(library: Library, rows: Sequence[RecordedClaim], language: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    for slug in dict.fromkeys(row.paper for row in rows):
        out.print(Text(_name(library, slug), style="bold"))
        for row in (other for other in rows if other.paper == slug):
            out.print(_head(row.claim.note, _RECORD_WORDS[row.claim.verdict], row.claim.claim, language))
            mark = {"paper": "P", "code": "C", "secondary": "S"}.get(row.claim.level, "?")
            text = row.claim.correction.get(language) or next(iter(row.claim.correction.values()), "")
            out.print(Padding(Text(f"[{mark}] {row.claim.evidence}: {text}", style="dim"), (0, 0, 0, 4), expand=False))
        out.print()


def _name(library: Library, slug: str) -> str:
    paper = library.papers[slug]
    name = paper.aliases[0] if paper.aliases else paper.title
    return f"{name}  {slug}" + (f"  arXiv:{paper.arxiv_id}" if paper.arxiv_id else "")


def _clip(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def _summary(verdicts: Sequence[str], language: str) -> str:
    counts = {verdict: verdicts.count(verdict) for verdict in _SIGNS if verdict in verdicts}
    if language == "zh":
        shown = "，".join(f"{_WORDS['zh'][verdict]} {count}" for verdict, count in counts.items())
        return f"共核对 {len(verdicts)}：{shown}" if counts else "没有可以核对的、关于本工作区论文的说法"
    shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(verdicts)} claims checked: {shown}" if counts else "no claim about a paper of this workspace"


def _wanted(only: list[str] | None) -> frozenset[str]:
    names = {verdict.replace(" ", "-"): verdict for verdict in _SIGNS}
    for name in only or ():
        if name.replace(" ", "-") not in names:
            raise UsageError(f"no verdict {name!r}", f"one of {', '.join(names)}")
    return frozenset(names[name.replace(" ", "-")] for name in only) if only else frozenset(_SIGNS)

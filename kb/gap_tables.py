"""Gaps as people read them: a list, a table of combinations, a matrix of papers by capabilities, and plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kb.capabilities import Matrix, Trait
from kb.facts import Record
from kb.gaps import Combination, Near, questions
from kb.proposals import Likeness
from kb.table_box import display_width
from kb.table_cells import WORDS, paper_name, translated
from kb.tables import CellState, FilledTable, TableCell, in_language, known_columns
from kb.workspace import Workspace

NEAREST = 4
_TEXT = {
    "en": {
        "gaps": "Gaps: what none of {papers} papers has ({traits} capabilities, combinations of up to {size})",
        "nobody": "nobody", "nearest": "nearest", "lacks": "lacks", "open": "not checked", "own": "your own",
        "rests": "looked for and not found in", "more": "{count} more: kb gaps -n {all}",
        "questions": "Questions that decide most (nobody looked them up; they are no gaps yet)",
        "hangs": "{count} gaps hang on it",
        "hardly": "{trait}: looked up in only {known} of {papers} papers", "near": "Close to {name}", "shares": "both",
        "few": "by these two alone", "differs": "differs", "combination": "Combination", "status": "Status",
        "gap": "gap", "question": "question", "covered": "covered", "papers": "Papers", "unknown": "not known of one",
        "matrix": "Capabilities", "paper": "Paper", "none": "no gap among these capabilities",
    },
    "zh": {
        "gaps": "缺口：{papers} 篇里没有一篇做到的（{traits} 项能力，最多 {size} 项组合）",
        "nobody": "无人做到", "nearest": "最近", "lacks": "缺", "open": "未查", "own": "你的提案",
        "rests": "找过而没有写明", "more": "另有 {count} 个：kb gaps -n {all}",
        "questions": "最值得先查的问题（没有人查过，还不能算缺口）",
        "hangs": "关系到 {count} 个缺口",
        "hardly": "{trait}：{papers} 篇里只查过 {known} 篇", "near": "与 {name} 最接近", "shares": "共同点",
        "few": "只有这两者", "differs": "不同", "combination": "组合", "status": "状态",
        "gap": "缺口", "question": "待查", "covered": "已有", "papers": "论文", "unknown": "有一方未查",
        "matrix": "能力矩阵", "paper": "论文", "none": "这些能力之间没有缺口",
    },
}  # fmt: skip


def name_of(record: Record) -> str:
    """What people call a paper, without its id."""
    return record.paper.name


def combined(traits: Iterable[Trait], language: str) -> str:
    """Capabilities in one line."""
    return " + ".join(trait.name(language) for trait in traits)


def gap_list(matrix: Matrix, found: Sequence[Combination], language: str, size: int, most: int) -> str:
    """The gaps and the questions, as text."""
    words = _TEXT[language]
    head = words["gaps"].format(papers=len(matrix.papers), traits=len(matrix.traits), size=size)
    shown = [one for one in found if one.status == "gap"]
    lines = [head, "" if shown else words["none"]]
    for number, one in enumerate(shown[:most], start=1):
        lines += [f"{number:>2}. {combined(one.traits, language)}", *_details(matrix, one, language), ""]
    if len(shown) > most:
        lines += [words["more"].format(count=len(shown) - most, all=len(shown)), ""]
    asked = list(questions(found))[:most]
    if asked or matrix.hardly_checked:
        lines.append(words["questions"])
    for trait in matrix.hardly_checked:
        known = sum(matrix.has(record.paper.slug, trait.key) != "not checked" for record in matrix.papers)
        lines.append(
            "  - " + words["hardly"].format(trait=trait.name(language), known=known, papers=len(matrix.papers))
        )
    for record, trait, count in asked:
        lines.append(f"  - {name_of(record)}: {trait.name(language)}?  ({words['hangs'].format(count=count)})")
    return "\n".join(lines).rstrip()


def _details(matrix: Matrix, one: Combination, language: str) -> list[str]:
    words = _TEXT[language]
    lines = _block(words["nearest"], [_near_text(matrix, near, language) for near in one.nearest[:NEAREST]])
    lines += _block(words["open"], [f"{name_of(n.record)}: {combined(n.unknown, language)}?" for n in one.questions])
    lines += _block(words["rests"], [", ".join(map(name_of, _resting(matrix, one)))])
    return lines + _block(words["own"], [", ".join(map(name_of, one.proposals))])


def _block(label: str, texts: Sequence[str]) -> list[str]:
    """Lines behind a label, which stands before the first of them."""
    indent = " " * (display_width(label) + 2)
    kept = [text for text in texts if text]
    return [f"    {label + ': ' if index == 0 else indent}{text}" for index, text in enumerate(kept)]


def _near_text(matrix: Matrix, near: Near, language: str) -> str:
    words = _TEXT[language]
    missing = [f"{words['lacks']} {trait.name(language)}{_why(matrix, near, trait, language)}" for trait in near.lacks]
    missing += [f"{words['open']} {trait.name(language)}" for trait in near.unknown]
    return f"{name_of(near.record)}: {'; '.join(missing)}"


def _why(matrix: Matrix, near: Near, trait: Trait, language: str) -> str:
    """The record's own words on what is lacking, where it has more than a no."""
    cell = matrix.cells[near.record.paper.slug, trait.key]
    why = WORDS[language][cell.has] if cell.has == "not stated" else cell.words(language)
    return f" ({why})" if why else ""


def _resting(matrix: Matrix, one: Combination) -> list[Record]:
    """Papers that are out only because something was looked for and not found."""
    found = []
    for near in one.nearest:
        answers = {matrix.has(near.record.paper.slug, trait.key) for trait in near.lacks}
        if answers == {"not stated"}:
            found.append(near.record)
    return found


# ---------------------------------------------------------------- proposals


def likeness_text(one: Likeness, language: str, workspace: Workspace | None) -> str:
    """Why another work stands close to a proposal, and what differs, in the records' own words."""
    words = _TEXT[language]
    lines = [f"{words['near'].format(name=name_of(one.proposal))}: {paper_name(one.other.paper, language)}"]
    lines.append(f"    {words['shares']}: {combined(one.shared, language)}")
    if one.few:
        lines.append(f"    {words['few']}: {combined(one.few, language)}")
    columns = dict.fromkeys((*(trait.column for trait in one.differs), *one.described))
    for column, title in _titles(one, columns, language, workspace).items():
        lines.append(f"    {words['differs']}: {_both(one, column, title, language)}")
    if one.unknown:
        lines.append(f"    {words['unknown']}: {combined(one.unknown, language)}")
    return "\n".join(lines)


def _titles(one: Likeness, columns: Iterable[str], language: str, workspace: Workspace | None) -> dict[str, str]:
    """Headings of columns: the capability's name, or the table's where the capability is to be without it."""
    known = known_columns(workspace)
    named = {t.column: t.name(language) for t in (*one.shared, *one.differs) if t.want == "yes"}
    tables = {key: in_language(column.title, language) for key, column in known.items()}
    return {column: named.get(column) or tables.get(column) or column.replace("_", " ") for column in columns}


def _both(one: Likeness, column: str, title: str, language: str) -> str:
    said = [
        f"{name_of(record)}: {translated(record.facts[column].value(language), language)}"
        for record in (one.proposal, one.other)
        if column in record.facts
    ]
    return f"{title}: {' | '.join(said)}"


# ---------------------------------------------------------------- tables


def matrix_table(matrix: Matrix, language: str) -> FilledTable:
    """Papers by capabilities; one's own proposals come last."""
    states: dict[str, CellState] = {
        "yes": "value",
        "no": "no",
        "not stated": "not stated",
        "not checked": "not checked",
    }
    rows = []
    for record in (*matrix.papers, *matrix.proposals):
        cells = [TableCell(paper_name(record.paper, language))]
        for trait in matrix.traits:
            cell = matrix.cells[record.paper.slug, trait.key]
            level, place = (cell.fact.level, cell.fact.evidence) if cell.fact else ("", "")
            evidence = ": ".join(part for part in (cell.words(language), place) if part)
            cells.append(TableCell(WORDS[language][cell.has], states[cell.has], level, evidence))
        rows.append(tuple(cells))
    heads = (_TEXT[language]["paper"], *(trait.name(language) for trait in matrix.traits))
    return FilledTable(_TEXT[language]["matrix"], heads, tuple(rows), language)


def gap_table(matrix: Matrix, found: Sequence[Combination], language: str) -> FilledTable:
    """Combinations, a row each: who covers them, else who is near, and what is open."""
    words = _TEXT[language]
    rows = []
    for one in found:
        covered = ", ".join(map(name_of, one.covered_by)) or words["nobody"]
        nearest = (
            "" if one.covered_by else "\n".join(_near_text(matrix, near, language) for near in one.nearest[:NEAREST])
        )
        asked = "\n".join(f"{name_of(n.record)}: {combined(n.unknown, language)}?" for n in one.questions)
        texts = (combined(one.traits, language), words[one.status], covered, nearest, asked)
        rows.append(tuple(map(TableCell, (*texts, ", ".join(map(name_of, one.proposals))))))
    heads = tuple(words[key] for key in ("combination", "status", "papers", "nearest", "open", "own"))
    title = words["gaps"].format(papers=len(matrix.papers), traits=len(matrix.traits), size=_size(found))
    return FilledTable(title, heads, tuple(rows), language)


def _size(found: Sequence[Combination]) -> int:
    return max((len(one.traits) for one in found), default=1)


def gap_data(matrix: Matrix, found: Sequence[Combination], near: Sequence[Likeness]) -> dict[str, Any]:
    """Everything as plain values, by slugs and keys."""
    return {
        "traits": [trait.key for trait in matrix.traits],
        "papers": [record.paper.slug for record in matrix.papers],
        "matrix": {
            record.paper.slug: {trait.key: matrix.has(record.paper.slug, trait.key) for trait in matrix.traits}
            for record in (*matrix.papers, *matrix.proposals)
        },
        "combinations": [_combination_data(one) for one in found],
        "questions": [
            {"paper": record.paper.slug, "trait": trait.key, "combinations": count}
            for record, trait, count in questions(found)
        ],
        "proposals": [_likeness_data(one) for one in near],
    }


def _combination_data(one: Combination) -> dict[str, Any]:
    return {
        "traits": list(one.keys),
        "status": one.status,
        "covered_by": [record.paper.slug for record in one.covered_by],
        "own_proposals": [record.paper.slug for record in one.proposals],
        "nearest": [_near_data(near) for near in (() if one.covered_by else one.nearest[:NEAREST])],
        "questions": [_near_data(near) for near in one.questions],
    }


def _near_data(near: Near) -> dict[str, Any]:
    keys = {"lacks": [trait.key for trait in near.lacks], "not_checked": [trait.key for trait in near.unknown]}
    return {"paper": near.record.paper.slug, **keys}


def _likeness_data(one: Likeness) -> dict[str, Any]:
    return {
        "proposal": one.proposal.paper.slug,
        "other": one.other.paper.slug,
        "weight": round(one.weight, 3),
        "shared": [trait.key for trait in one.shared],
        "shared_by_no_other": [trait.key for trait in one.few],
        "differs": [trait.key for trait in one.differs],
        "described_otherwise": list(one.described),
        "not_checked": [trait.key for trait in one.unknown],
    }

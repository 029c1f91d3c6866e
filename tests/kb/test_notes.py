"""Notes as values: what front matter says, what it leaves out, and who names whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from note_papers import fill_with_papers, library_of

from kb.errors import FileFormatError, UsageError
from kb.notes import Note, backlinks, find_note, parse_note, read_notes, title_of


def test_front_matter_is_read() -> None:
    raw = "---\ndate: 2026-04-19\nend: 2026-04-25\nkind: Project\npapers: [dapo, 'GRPO']\ntags: [a, '#b']\n---\n# 标题\n\n正文\n"
    note = parse_note("notes/x.md", raw)
    assert (note.date, note.end, note.kind, note.title) == ("2026-04-19", "2026-04-25", "project", "标题")
    assert (note.papers, note.tags, note.body, note.text) == (("dapo", "GRPO"), ("a", "b"), "# 标题\n\n正文\n", "正文")


@pytest.mark.parametrize(
    ("path", "raw", "expected"),
    [
        ("notes/2026-04-12.md", "A sentence.", ("2026-04-12", "study", "2026-04-12")),
        ("notes/a.md", "研究周报 · 2026.04.19–04.25\n\n正文", ("研究周报 · 2026.04.19–04.25", "study", "2026-04-19")),
        ("notes/a.md", "# 周报 2026年4月5日\n", ("周报 2026年4月5日", "study", "2026-04-05")),
        ("notes/reports/a.md", "一句话。\n", ("a", "report", "")),
        ("notes/decisions/a.md", "## 选择\n", ("选择", "decision", "")),
        ("notes/a.md", "---\nkind: 精读\n---\n", ("a", "reading", "")),
        ("notes/a.md", "---\npapers: [[dapo]]\n---\n", ("a", "reading", "")),
        (
            "notes/@k.md",
            '---\n"Title:": "The Hip: Actions"\nYear: 2010\n---\n***\ntext',
            ("The Hip: Actions", "study", ""),
        ),
        ("notes/2026-02-31.md", "", ("2026-02-31", "study", "")),
    ],
)
def test_what_front_matter_leaves_out_comes_from_place_name_and_first_lines(
    path: str, raw: str, expected: tuple[str, str, str]
) -> None:
    note = parse_note(path, raw)
    assert (note.title, note.kind, note.date) == expected


@pytest.mark.parametrize(
    ("field", "papers"),
    [
        ("papers: dapo, GRPO", ("dapo", "GRPO")),
        ("papers: ['[[dapo]]', [grpo]]", ("[[dapo]]", "grpo")),
        ("papers: ['A title, with a comma']", ("A title, with a comma",)),
        ("paper: dapo", ("dapo",)),
        ("papers:", ()),
    ],
)
def test_papers_may_be_written_in_many_ways(field: str, papers: tuple[str, ...]) -> None:
    assert parse_note("notes/a.md", f"---\n{field}\n---\n").papers == papers


def test_a_title_is_no_code_no_formula_and_no_sentence() -> None:
    assert title_of("```\n# comment\n```\n# Real\n") == "Real"
    assert title_of("$$\nx\n$$\n") == ""
    assert title_of("  \n***\nShort line\n") == "Short line"
    assert title_of("A whole sentence that ends.\n") == ""


def test_notes_come_with_slugs_links_and_problems(workspace: Path) -> None:
    fill_with_papers(workspace)
    notes = workspace / "notes"
    (notes / "a.md").write_text(
        "---\npapers: ['2503.14476', '[[GRPO]]', Unknown Work]\n---\n# A\n\nPPO。\n", encoding="utf-8"
    )
    (notes / "b.md").write_text("---\nbad: [\n---\n", encoding="utf-8")
    (notes / "c.md").write_bytes("优势".encode("gbk"))
    (notes / "queue.md").write_text("- [ ] PPO\n", encoding="utf-8")
    found, problems = read_notes(library_of(workspace))
    assert [(note.path, note.papers, [link.target for link in note.links]) for note in found] == [
        ("notes/a.md", ("dapo", "grpo", "Unknown Work"), ["ppo"])
    ]
    assert len(problems) == 2 and isinstance(problems[0], FileFormatError) and "not UTF-8" in problems[1].message


@pytest.fixture
def notes(workspace: Path) -> list[Note]:
    fill_with_papers(workspace)
    texts = {
        "one.md": "# 第一篇\n\nPPO 很稳。\n\nGRPO 与 PPO，见 [[two]]。\n",
        "two.md": "---\npapers: [ppo]\n---\n# 第二篇\n\n没有别的。\n",
        "sub/three.md": "# Third\n",
    }
    for name, text in texts.items():
        path = workspace / "notes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_notes(library_of(workspace))[0]


def test_backlinks_have_the_lines_that_name_a_paper(notes: list[Note]) -> None:
    found = [(back.note.path, back.lines) for back in backlinks(notes, "ppo")]
    assert found == [
        ("notes/one.md", ((3, "PPO 很稳。"), (5, "GRPO 与 PPO，见 [[two]]。"))),
        ("notes/two.md", ()),
    ]
    assert [back.note.path for back in backlinks(notes, "notes/two.md")] == ["notes/one.md"]
    assert backlinks(notes, "dapo") == []


def test_a_note_is_found_by_path_name_or_words(notes: list[Note]) -> None:
    for name in ("notes/sub/three.md", "sub/three", "three", "Third", "thir"):
        assert find_note(notes, name).path == "notes/sub/three.md"
    with pytest.raises(UsageError, match="fits 2 notes"):
        find_note(notes, "篇")
    with pytest.raises(UsageError, match="no note"):
        find_note(notes, "nowhere")

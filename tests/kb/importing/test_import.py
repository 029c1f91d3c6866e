"""Whole imports: nothing lost, nothing twice, nothing of a person's overwritten."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from note_papers import fill_with_papers, library_of

from kb.errors import UsageError
from kb.importing.run import Imported, import_notes
from kb.importing.tasks import put
from kb.importing.todo import mark_of
from kb.links import Names
from kb.notes import read_notes
from kb.queue import Queue, Task, read_queue
from kb.workspace import load_workspace

REPORT = """\
# 研究周报 2026.04.19–04.25

## 阅读

### DAPO: An Open-Source System

$$
L = \\frac{1}{N}
$$

启发：好。

## to-do

- GRPO：再读
- 写代码
"""
EARLIER = """\
# 研究周报 2026.04.12–04.18

## to-do

- DAPO：要读
- GRPO：第一次
"""


@pytest.fixture
def source(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    fill_with_papers(workspace)
    folder = tmp_path_factory.mktemp("old") / "notes"
    folder.mkdir()
    return folder


def run(workspace: Path, *paths: Path, dry_run: bool = False, year: int | None = None) -> Imported:
    return import_notes(load_workspace(workspace), paths, year=year, day="2026-05-01", dry_run=dry_run)


def written(workspace: Path) -> dict[str, bytes]:
    found = (path for path in workspace.rglob("*") if path.is_file() and ".kb" not in path.parts)
    return {path.relative_to(workspace).as_posix(): path.read_bytes() for path in found}


def states(done: Imported) -> list[tuple[str, str]]:
    return [(note.path, note.state) for note in done.plan.notes]


def test_a_report_becomes_notes_and_tasks(workspace: Path, source: Path) -> None:
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")
    run(workspace, source / "weekly.md")
    notes = {note.path: note for note in read_notes(library_of(workspace))[0]}
    dapo = notes["notes/2026-04-19-dapo.md"]
    assert (dapo.kind, dapo.papers, dapo.date, dapo.end) == ("reading", ("dapo",), "2026-04-19", "2026-04-25")
    assert dapo.title == "DAPO: An Open-Source System"
    assert dapo.text == "$$\nL = \\frac{1}{N}\n$$\n\n启发：好。"
    rest = notes["notes/reports/2026-04-19-imported.md"]
    assert rest.kind == "report" and "- 写代码" in rest.body
    assert any(link.target == dapo.path for link in rest.links)
    tasks = read_queue(library_of(workspace)).tasks
    assert [(task.text, task.added, task.papers) for task in tasks] == [
        ("GRPO：再读", "2026-04-19", ("grpo",)),
        ("写代码", "2026-04-19", ()),
    ]


def test_a_dry_run_says_the_same_and_writes_nothing(workspace: Path, source: Path) -> None:
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")
    before = written(workspace)
    planned = run(workspace, source, dry_run=True)
    assert written(workspace) == before and not (workspace / ".kb").exists()
    assert states(run(workspace, source)) == states(planned)


def test_importing_again_makes_nothing_twice_whatever_became_of_the_notes(workspace: Path, source: Path) -> None:
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")
    run(workspace, source / "weekly.md")
    note = workspace / "notes" / "2026-04-19-dapo.md"
    note.write_text(note.read_text(encoding="utf-8") + "\n我加的话。\n", encoding="utf-8")
    note.rename(workspace / "notes" / "moved.md")
    queue = workspace / "notes" / "queue.md"
    queue.write_text(queue.read_text(encoding="utf-8").replace("GRPO：再读", "GRPO：我改的话"), encoding="utf-8")
    before = written(workspace)
    for again in (source / "weekly.md", source):
        done = run(workspace, again)
        assert {state for _, state in states(done)} == {"known"} and {one.fate for one in done.queued} == {"known"}
    assert written(workspace) == before


def test_a_source_that_reads_differently_now_changes_no_note(workspace: Path, source: Path) -> None:
    path = source / "weekly.md"
    path.write_text(REPORT, encoding="utf-8")
    run(workspace, path)
    before = written(workspace)
    path.write_text(REPORT.replace("启发：好。", "启发：不好。"), encoding="utf-8")
    done = run(workspace, path)
    assert ("notes/2026-04-19-dapo.md", "kept") in states(done)
    assert any("reads differently now" in remark for remark in done.plan.remarks)
    assert written(workspace) == before


def test_a_name_that_is_taken_by_a_persons_note_is_not_used(workspace: Path, source: Path) -> None:
    mine = workspace / "notes" / "2026-04-19-dapo.md"
    mine.write_text("我的笔记\n", encoding="utf-8")
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")
    assert ("notes/2026-04-19-dapo-2.md", "new") in states(run(workspace, source / "weekly.md"))
    assert mine.read_text(encoding="utf-8") == "我的笔记\n"


@pytest.mark.parametrize("order", [("earlier.md", "weekly.md"), ("weekly.md", "earlier.md")])
def test_two_weeks_share_one_entry_a_paper_and_what_was_read_since_is_ticked(
    workspace: Path, source: Path, order: tuple[str, str]
) -> None:
    (source / "earlier.md").write_text(EARLIER, encoding="utf-8")
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")
    for name in order:
        run(workspace, source / name)
    tasks = {task.papers: task for task in read_queue(library_of(workspace)).tasks}
    assert len(tasks) == 3
    dapo, grpo = tasks["dapo",], tasks["grpo",]
    assert (dapo.state, dapo.added, dapo.closed) == ("done", "2026-04-12", "2026-04-19")
    assert (grpo.state, grpo.added) == ("open", "2026-04-12")
    both = {grpo.text, *(line.strip()[2:].partition("：")[2] for line in grpo.below)}
    assert both == {"GRPO：第一次", "GRPO：再读"}


def test_a_line_that_a_person_wrote_is_joined_but_never_ticked(workspace: Path) -> None:
    fill_with_papers(workspace)
    queue = Queue("- [ ] DAPO：重跑实验  <!-- added 2026-04-05 -->\n", Names(library_of(workspace)))
    task = Task("DAPO：要读", "open", ("dapo",), "2026-04-12", marks=(mark_of("DAPO：要读"),))
    after, fates = put(queue, [task], {"dapo": {"2026-04-19"}})
    assert [one.fate for one in fates] == ["joined"]
    assert after.text == "- [ ] DAPO：重跑实验  <!-- added 2026-04-05 -->\n  - 2026-04-12：DAPO：要读\n"
    assert put(after, [task], {"dapo": {"2026-04-19"}})[0].text == after.text


def test_what_is_done_or_dropped_is_not_asked_for_again(workspace: Path) -> None:
    fill_with_papers(workspace)
    queue = Queue("- [x] DAPO\n- [-] GRPO <!-- dropped 2026-04-20 -->\n", Names(library_of(workspace)))
    tasks = [
        Task("DAPO 2", "open", ("dapo",), "2026-04-12", marks=("00000001",)),
        Task("GRPO 2", "open", ("grpo",), "2026-04-12", marks=("00000002",)),
        Task("GRPO 3", "open", ("grpo",), "2026-04-26", marks=("00000003",)),
    ]
    after, fates = put(queue, tasks, {})
    assert [one.fate for one in fates] == ["joined", "joined", "added"]
    assert after.text == (
        "- [x] DAPO\n  - 2026-04-12: DAPO 2\n- [-] GRPO  <!-- dropped 2026-04-20 -->\n  - 2026-04-12: GRPO 2\n"
        "- [ ] GRPO 3  <!-- added 2026-04-26, imported 00000003 -->\n"
    )
    assert put(after, tasks, {})[0].text == after.text


def test_what_people_did_with_the_queue_since_stays_when_a_source_is_imported_again(
    workspace: Path, source: Path
) -> None:
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")
    queue = workspace / "notes" / "queue.md"
    queue.write_text("- [ ] GRPO：手写的  <!-- added 2026-04-01 -->\n", encoding="utf-8")
    run(workspace, source / "weekly.md")
    joined = "- [ ] GRPO：手写的  <!-- added 2026-04-01 -->\n  - 2026-04-19：GRPO：再读\n"
    assert queue.read_text(encoding="utf-8").startswith(joined)
    for kept in ("- [ ] GRPO：手写的  <!-- added 2026-04-01 -->\n  - 改过的话\n", "别的话\n"):
        queue.write_text(kept, encoding="utf-8")
        assert {one.fate for one in run(workspace, source).queued} == {"known"}
        assert queue.read_text(encoding="utf-8") == kept


def test_an_import_that_was_cut_short_is_made_up_for(
    workspace: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "weekly.md").write_text(REPORT, encoding="utf-8")

    def fail(path: Path, text: str | bytes) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("kb.importing.run.write_atomic", fail)
        run(workspace, source / "weekly.md")
    queue = (workspace / "notes" / "queue.md").read_text(encoding="utf-8")
    run(workspace, source / "weekly.md")
    assert (workspace / "notes" / "reports" / "2026-04-19-imported.md").exists()
    assert (workspace / "notes" / "queue.md").read_text(encoding="utf-8") == queue and queue.count("- [ ]") == 2


def test_unknown_papers_are_queued_with_their_names(workspace: Path, source: Path) -> None:
    (source / "one.md").write_text(
        "# 《FooBar: A Way to Share》精读\n\n**arXiv**: [2506.11902](https://arxiv.org/abs/2506.11902)\n\n"
        "对比 TreeRL（2506.11903）和 [Other Work](https://arxiv.org/abs/2506.11904)、DAPO (2503.14476)。\n",
        encoding="utf-8",
    )
    (source / "@hip.md").write_text(
        "---\nTitle: Kinesiology of the Hip\nAuthors: D. Neumann\nkind: reading\n---\ntext\n", encoding="utf-8"
    )
    done = run(workspace, source)
    assert sorted((task.text, task.papers) for task in done.plan.tasks) == [
        ("FooBar: A Way to Share (2506.11902)", ("2506.11902",)),
        ("Kinesiology of the Hip", ()),
        ("Other Work (2506.11904)", ("2506.11904",)),
        ("TreeRL (2506.11903)", ("2506.11903",)),
    ]
    assert {task.added for task in done.plan.tasks} == {"2026-05-01"}
    hip = (workspace / "notes" / "notes" / "@hip.md").read_text(encoding="utf-8")
    assert hip.startswith(
        "---\nTitle: Kinesiology of the Hip\nAuthors: D. Neumann\nkind: reading\npapers:\n- Kinesiology"
    )
    assert hip.endswith("\n---\ntext\n")


def test_pictures_are_copied_and_their_links_follow(workspace: Path, source: Path) -> None:
    (source / "img").mkdir()
    (source / "img" / "a b.png").write_bytes(b"one")
    (source / "img" / "c.png").write_bytes(b"two")
    (source / "n.md").write_text(
        "# N\n\n![x](img/a%20b.png) ![y](<img/a b.png>) ![[c.png|300]] <img src='./img/c.png'>\n"
        "![web](https://a.b/c.png) ![gone](img/gone.png) `![code](img/c.png)`\n",
        encoding="utf-8",
    )
    done = run(workspace, source)
    assert done.plan.images.missing == ["img/gone.png"]
    assets = {path.name: path.read_bytes() for path in (workspace / "notes" / "assets").iterdir()}
    assert sorted(assets.values()) == [b"one", b"two"]
    one, two = (next(name for name, data in assets.items() if data == content) for content in (b"one", b"two"))
    text = (workspace / "notes" / "notes" / "n.md").read_text(encoding="utf-8")
    assert f"![x](../assets/{one}) ![y](<../assets/{one}>) ![[{two}|300]] <img src='../assets/{two}'>" in text
    assert "![web](https://a.b/c.png) ![gone](img/gone.png) `![code](img/c.png)`" in text


def test_other_encodings_line_ends_and_broken_front_matter(workspace: Path, source: Path) -> None:
    (source / "gbk.md").write_bytes(REPORT.replace("\n", "\r\n").encode("gb18030"))
    (source / "bad.md").write_text("---\ntitle: a: b\n---\n正文 $x$\n", encoding="utf-8")
    (source / "noise.txt").write_bytes(bytes(range(128, 256)))
    done = run(workspace, source)
    assert [problem.message.partition(":")[0] for problem in done.plan.problems] == ["noise.txt"]
    data = (workspace / "notes" / "notes" / "2026-04-19-dapo.md").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") and "启发：好。".encode() in data
    assert (
        (workspace / "notes" / "notes" / "bad.md")
        .read_text(encoding="utf-8")
        .endswith("\n---\n\n---\ntitle: a: b\n---\n正文 $x$\n")
    )
    before = written(workspace)
    run(workspace, source)
    assert written(workspace) == before


def test_the_front_matter_of_a_report_stays_with_what_is_left_of_it(workspace: Path, source: Path) -> None:
    (source / "w.md").write_text(f"---\ntags: [周报]\nauthor: me\n---\n{REPORT}", encoding="utf-8")
    run(workspace, source)
    rest = (workspace / "notes" / "reports" / "2026-04-19-imported.md").read_text(encoding="utf-8")
    assert rest.startswith(
        "---\ntags: [周报]\nauthor: me\ndate: 2026-04-19\nend: 2026-04-25\nimported_from: notes/w.md\n"
    )


def test_the_workspace_s_own_files_are_not_imported_with_the_folder_above(workspace: Path, source: Path) -> None:
    (workspace / "notes" / "mine.md").write_text("mine\n", encoding="utf-8")
    (workspace / "old.md").write_text("# 旧笔记\n", encoding="utf-8")
    assert [note.title for note in run(workspace, workspace).plan.notes] == ["旧笔记"]


def test_days_without_a_year_need_one(workspace: Path, source: Path) -> None:
    (source / "w.md").write_text("# 04.05-04.11 回顾\n\n# EM\n\n文\n\n# Plan of next week\n\n- x\n", encoding="utf-8")
    done = run(workspace, source, dry_run=True)
    assert [note.date for note in done.plan.notes] == ["", ""] and done.plan.tasks[0].added == ""
    assert "no year" in done.plan.remarks[0]
    dated = run(workspace, source, year=2020)
    assert states(dated)[0] == ("notes/notes/2020-04-05-em.md", "new") and dated.plan.tasks[0].added == "2020-04-05"


def test_what_cannot_be_imported_is_said(workspace: Path, source: Path) -> None:
    for path, words in (
        (source / "gone", "there is no"),
        (source, "nothing to import"),
        (workspace / "notes", "already"),
    ):
        with pytest.raises(UsageError, match=words):
            run(workspace, path)


FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.DOTALL | re.MULTILINE)


def formulas(text: str) -> Counter[str]:
    """Counted apart from kb's own reader: display formulas, then what single dollars hold in the rest."""
    text = FENCE.sub("", text)
    display = re.findall(r"\$\$.+?\$\$", text, re.DOTALL)
    return Counter(display) + Counter(
        re.findall(r"(?<!\\)\$[^$\n]+\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL))
    )


def kept_whole(text: str) -> Counter[str]:
    """Code blocks, and the rows of tables, typed or drawn."""
    rows = [line for line in text.splitlines() if line.startswith(("|", "│", "┌", "├", "└"))]
    return Counter(match[0] for match in FENCE.finditer(text)) + Counter(rows)


def test_real_notes_lose_no_formula_code_or_table_and_come_once(workspace: Path, corpus: Path) -> None:
    sources = [corpus / "notes-zh", corpus / "bib" / "obsidian-reading-notes"]
    files = [path for folder in sources for path in folder.rglob("*.md")]
    domain = corpus.parent / "domain"
    sources += sorted(domain.glob("*.md"))
    files += sorted(domain.glob("*.md"))
    done = run(workspace, *sources)
    assert not done.plan.problems and len(files) >= 34
    notes = [path.read_text(encoding="utf-8") for path in (workspace / "notes").rglob("*.md")]
    for count in (formulas, kept_whole):
        given = sum((count(path.read_text(encoding="utf-8")) for path in files), Counter())
        found = sum((count(text) for text in notes), Counter())
        assert sum(given.values()) > 100
        assert given - found == Counter()
    before = written(workspace)
    assert {state for _, state in states(run(workspace, *sources))} == {"known"}
    assert written(workspace) == before

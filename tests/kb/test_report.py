"""What a week's report is gathered from: the days that are written down, the words as they were written, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from report_workspace import (
    BEFORE,
    THOUGHTS,
    WEEK,
    add_metadata,
    add_runs,
    add_text,
    cites,
    fill,
    gathered,
    record,
)

from kb.library import Library
from kb.report import gather
from kb.report.sources import place_line, source_line
from kb.workspace import load_workspace


@pytest.fixture
def week(workspace: Path) -> Path:
    fill(workspace)
    return workspace


# ---------------------------------------------------------------- papers and notes


def test_papers_read_come_first_then_those_of_the_same_note_then_those_done_and_added(week: Path) -> None:
    report = gathered(week)
    assert [(paper.slug, paper.read, paper.added, paper.see) for paper in report.papers] == [
        ("drmas", True, False, ""),
        ("ccpo", True, False, "Dr.MAS"),
        ("gigpo", True, True, ""),
    ]
    assert report.papers[0].title == "Dr. MAS: Stable Training" and report.papers[2].title == "GiGPO: Group in Group"
    assert report.papers[0].idea == "逐智能体归一化" and gathered(week, "en").papers[0].idea == "normalise per agent"


def test_formulas_come_from_the_record_with_the_line_that_says_where_they_were_read(week: Path) -> None:
    (formula,) = gathered(week).papers[0].formulas
    assert formula.latex == r"A = \frac{R - \mu}{\sigma}" and formula.source == "v1 式 5（原文）"
    path = week / "papers" / "gigpo" / "paper.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n$$\nB\n$$\n\n$$C$$\n", encoding="utf-8")
    assert [(one.latex, one.source) for one in gathered(week).papers[2].formulas[1:]] == [("B", ""), ("C", "")]
    (formula,) = gathered(week, "en").papers[0].formulas
    assert formula.source == "v1 equation 5, read in the paper."


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("Outcome supervision, v3 section 4.1.2, read in the paper.", "v3 第 4.1.2 节（原文）"),
        (
            "v2 equations 11 and 12, as printed; the last exponent should read T-t-1.",
            "v2 式 11、12（原文、有出入，见记录）",
        ),
        ("Read in the code; the paper's own equations were not seen.", "代码、未见原文"),
        ("Provisional: from a third-party digest.", "未核实"),
        ("Lemma 4.2 of v1.", "v1 引理 4.2"),
        ("Somewhere else.", "Somewhere else."),
    ],
)
def test_in_chinese_the_place_and_how_it_was_read(sentence: str, line: str) -> None:
    assert source_line(sentence, "zh") == line and source_line(sentence, "en") == sentence


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("v2, section 3.4, equation 13", "v2，第 3.4 节，式 13"),
        ("v3, sections 4.1.2 and 4.1.3", "v3，第 4.1.2、4.1.3 节"),
        ("v5, equations 12 to 14 and section 8", "v5，式 12–14与第 8 节"),
        ("v1, abstract and repository title", "v1，摘要与仓库标题"),
        ("gigpo/core_gigpo.py at f56e190", "gigpo/core_gigpo.py at f56e190"),
        ("owner/code at 69fe174", "owner/code at 69fe174"),
    ],
)
def test_in_chinese_the_place_of_a_correction(place: str, line: str) -> None:
    assert place_line(place, "zh") == line and place_line(place, "en") == place


MARKDOWN = """\
开头的话。

## 本周清单

1. 读论文

## 一、阅读论文

这周读了一篇。

### 1.1 Dr. MAS

→ [[note]]

## 二、开发

→ [[other]]

## 三、待办

本周没读完：

- CCPO (2603.21563)：补上
"""
PLAIN = MARKDOWN.replace("#", "").replace("\n ", "\n")


@pytest.mark.parametrize("body", [MARKDOWN, MARKDOWN.replace("## ", "# ").replace("#1.1", "#"), PLAIN])
def test_the_authors_words_of_an_imported_report_are_in_the_draft(week: Path, body: str) -> None:
    path = week / "notes" / "reports" / "2026-04-19-imported.md"
    path.parent.mkdir()
    head = "---\ndate: 2026-04-19\nend: 2026-04-25\nimported_from: a.md\n---\n\n# 研究周报 · 我的题目\n\n"
    path.write_text(head + body, encoding="utf-8")
    own = gathered(week).own
    assert (own.title, own.lead) == ("研究周报 · 我的题目", "开头的话。")
    assert own.agenda.endswith("本周清单\n\n1. 读论文")
    assert own.leads == {"reading": "这周读了一篇。", "todo": "本周没读完：\n\n- CCPO (2603.21563)：补上"}
    assert own.titles["reading"] == "阅读论文" and own.titles["todo"] == "待办"
    assert [(task.text, task.told) for task in gathered(week).todo] == [
        ("写一个最小版：先理解架构", False),
        ("CCPO (2603.21563)", True),
    ]
    english = gathered(week, "en").own
    assert (english.title, english.titles, english.leads) == ("", {}, own.leads)
    assert gather(Library.load(load_workspace(week)), BEFORE, "zh").own.leads == {}


def test_a_note_is_quoted_whole_with_its_headings_below_and_its_pictures_found(week: Path) -> None:
    (quote,) = gathered(week).papers[0].notes
    wanted = (
        THOUGHTS.replace("图/a.png", "../图/a.png")
        .replace("../code.py", "../../code.py")
        .replace("## 小节", "#### 小节")
    )
    assert quote.text == wanted


def test_every_note_of_the_week_is_somewhere_and_no_other(week: Path) -> None:
    report = gathered(week)
    assert [note.title for note in report.projects] == ["开发一个服务"]
    assert [note.title for note in report.questions] == ["为什么是组内？"]
    assert [note.text for note in report.others] == ["别丢了这一段。"]
    assert report.note_count == 4 and report.studies == []


def test_file_times_say_nothing(week: Path) -> None:
    before = gathered(week)
    for path in week.rglob("*"):
        os.utime(path, (1_776_700_000, 1_776_700_000))
    assert gathered(week) == before


def test_a_note_without_front_matter_whose_title_names_a_paper_is_about_it(week: Path) -> None:
    (week / "notes" / "2026-04-20-x.md").write_text("# 再读 GiGPO\n\n值得。\n", encoding="utf-8")
    papers = {paper.slug: paper for paper in gathered(week).papers}
    assert [note.text for note in papers["gigpo"].notes] == ["值得。"]


def test_a_note_on_a_paper_that_is_not_here_keeps_its_own_section(week: Path) -> None:
    note = "---\ndate: 2026-04-20\nkind: reading\npapers: ['2510.99999']\n---\n# 没入库的一篇\n\n想法。\n"
    (week / "notes" / "new.md").write_text(note, encoding="utf-8")
    (paper,) = [paper for paper in gathered(week).papers if not paper.slug]
    assert paper.title == "没入库的一篇" and paper.notes[0].text == "想法。"


def test_a_span_of_days_touches_the_week(week: Path) -> None:
    note = "---\ndate: 2026-04-10\nend: 2026-04-19\nkind: study\n---\n# 跨周\n\n内容。\n"
    (week / "notes" / "span.md").write_text(note, encoding="utf-8")
    assert [note.title for note in gathered(week).studies] == ["跨周"]


def test_many_papers_added_at_once_are_listed_and_those_read_keep_their_sections(week: Path) -> None:
    for number in range(9):
        folder = week / "papers" / f"bulk{number}"
        folder.mkdir()
        (folder / "paper.md").write_text(
            record(f"2501.0000{number}", f"Bulk {number}", f"B{number}", "added: 2026-04-20\n"), encoding="utf-8"
        )
    report = gathered(week)
    assert len(report.papers) == 3 and len(report.added) == 9


def test_files_that_cannot_be_read_are_named_and_stop_nothing(week: Path) -> None:
    (week / "notes" / "bad.md").write_text("---\na: [\n---\nx\n", encoding="utf-8")
    (week / "papers" / "old" / "paper.md").write_text(
        "---\nid: '1'\nfacts: {idea: {level: paper}}\n---\n", encoding="utf-8"
    )
    report = gathered(week)
    assert len(report.problems) == 2 and any("bad.md" in problem for problem in report.problems)
    assert len(report.papers) == 3


def test_notes_out_of_one_report_keep_its_order(week: Path) -> None:
    for name, place in (("a", "r.md#10"), ("b", "r.md#2"), ("c", "r.md#1.1")):
        text = f"---\ndate: 2026-04-19\nkind: study\nimported_from: {place}\n---\n# {name}\n\nx\n"
        (week / "notes" / f"s-{name}.md").write_text(text, encoding="utf-8")
    assert [note.title for note in gathered(week).studies] == ["c", "b", "a"]


# ---------------------------------------------------------------- queue


def test_the_queue_is_as_the_week_left_it(week: Path) -> None:
    report = gathered(week)
    assert [task.text for task in report.done] == ["GiGPO (2505.10978)"]
    assert [task.text for task in report.dropped] == ["OLD (2401.00001)：太旧"]
    assert [(task.text, task.weeks, task.carried) for task in report.todo] == [
        ("写一个最小版：先理解架构", 2, True),
        ("CCPO (2603.21563)", 1, True),
    ]
    assert report.todo[0].below == ("  - 只要工具循环",) and not report.todo[0].reading
    assert report.todo[1].reading and report.todo[1].why == "谁的功劳"


def test_of_the_lines_below_a_task_those_of_the_week_are_told_else_the_last_ones(week: Path) -> None:
    queue = (
        "- [ ] 写代码  <!-- added 2026-03-01 -->\n  - 总说的话\n  - 2026-03-01：早的\n    - 早的细节\n"
        "  - 2026-04-12：前一周\n    - 细节\n  - 2026-04-26：后来\n"
    )
    path = week / "notes" / "queue.md"
    path.write_text(queue, encoding="utf-8")
    wanted = ("  - 总说的话", "  - 2026-04-12：前一周", "    - 细节")
    assert gathered(week).todo[0].below == wanted
    path.write_text(queue + "  - 2026-04-20：本周一\n  - 2026-04-22：本周三\n", encoding="utf-8")
    assert gathered(week).todo[0].below == ("  - 总说的话", "  - 2026-04-20：本周一", "  - 2026-04-22：本周三")
    path.write_text(queue.replace("[ ]", "[x]").replace("01 -->", "01, done 2026-04-21 -->"), encoding="utf-8")
    assert gathered(week).done[0].below == ("  - 总说的话",)


def test_the_week_before_knows_nothing_of_what_came_later(week: Path) -> None:
    report = gather(Library.load(load_workspace(week)), BEFORE, "zh")
    assert report.done == () and report.dropped == ()
    assert [task.text for task in report.todo] == [
        "写一个最小版：先理解架构",
        "CCPO (2603.21563)",
        "GiGPO (2505.10978)",
        "OLD (2401.00001)：太旧",
    ]
    assert [task.carried for task in report.todo] == [True, False, False, False]


def test_a_tick_without_a_day_counts_when_the_note_was_written_or_once(week: Path) -> None:
    queue = "- [x] Dr.MAS (2602.08847)  <!-- added 2026-04-12 -->\n- [x] 收拾桌子  <!-- added 2026-04-12 -->\n"
    (week / "notes" / "queue.md").write_text(queue, encoding="utf-8")
    assert [(task.text, task.undated) for task in gathered(week).done] == [
        ("Dr.MAS (2602.08847)", False),
        ("收拾桌子", True),
    ]
    before = gather(Library.load(load_workspace(week)), BEFORE, "zh")
    assert [task.text for task in before.todo] == ["Dr.MAS (2602.08847)"]
    earlier = week / "notes" / "reports" / "2026-04-12.md"
    earlier.parent.mkdir()
    earlier.write_text(
        "<!-- kb:begin queue:done 000000000000 -->\n- 收拾桌子\n<!-- kb:end queue:done -->\n", encoding="utf-8"
    )
    assert [task.text for task in gathered(week).done] == ["Dr.MAS (2602.08847)"]


# ---------------------------------------------------------------- suggestions, versions, claims, experiments


def test_suggestions_are_what_the_weeks_papers_cite_and_is_not_here(week: Path) -> None:
    both, once, here, queued = (
        cites(1, "Cited by both of them"),
        cites(2, "Cited once, but old too", 2015),
        cites(3, "An Old Paper", 2010),
        cites(4, "Queued already here", 2024, "2603.21563"),
    )
    add_text(week, "drmas", both, once, here, queued, cites(5, "Cited once and new", 2025))
    add_text(week, "gigpo", cites(1, "Cited by Both of them.", 2021, "2001.00001"))
    add_text(week, "old", once)
    report = gathered(week)
    assert [(one.title, one.cited_by, one.in_base) for one in report.suggestions] == [
        ("Cited by Both of them.", ("Dr.MAS", "GiGPO"), 2),
        ("Cited once, but old too", ("Dr.MAS",), 2),
        ("Cited once and new", ("Dr.MAS",), 1),
    ]
    assert report.suggestions[0].arxiv_id == "2001.00001"
    assert report.without_text == ("CCPO",)


def test_new_versions_and_withdrawals_of_the_week(week: Path) -> None:
    add_metadata(week, "drmas", 2, "2026-04-21T00:00:00")
    add_metadata(week, "gigpo", 1, "2026-04-21T00:00:00")
    add_metadata(week, "old", 3, "2026-04-22", withdrawn=True, comment="an error in lemma 2")
    add_metadata(week, "ccpo", 2, "2026-05-01")
    news = {one.slug: one for one in gathered(week).news}
    assert set(news) == {"drmas", "old"}
    assert news["drmas"].version == 2 and news["drmas"].rests_on == 1 and news["drmas"].stale >= 2
    assert news["old"].withdrawn and news["old"].comment == "an error in lemma 2"


def test_claims_of_the_notes_are_checked(week: Path) -> None:
    claims = "claims_in_notes:\n- {claim: 需要一个 critic 网络, note: x, verdict: contradicted, correction: {zh: 不需要 critic, en: no critic}, level: paper, evidence: 'v1, section 4'}\n"
    path = week / "papers" / "drmas" / "paper.md"
    path.write_text(path.read_text(encoding="utf-8").replace("facts:", f"{claims}facts:"), encoding="utf-8")
    (week / "notes" / "2026-04-20-c.md").write_text(
        "---\npapers: [Dr.MAS]\n---\n# 笔记\n\nDr.MAS 需要一个 critic 网络。\n", encoding="utf-8"
    )
    (claim,) = [claim for claim in gathered(week).claims if claim.verdict == "contradicted"]
    assert (claim.paper, claim.correction, claim.where) == ("Dr.MAS", "不需要 critic", "v1，第 4 节")
    assert [one.correction for one in gathered(week, "en").claims if one.verdict == "contradicted"] == ["no critic"]


def test_experiments_of_the_week_with_what_changed(week: Path) -> None:
    add_runs(week, "mine", "2026-04-14", "grpo", [0.2, 0.4])
    add_runs(week, "mine", "2026-04-20", "grpo", [0.6, 0.8], first_seed=2)
    add_runs(week, "mine", "2026-04-20", "coma", [0.9, 0.9])
    add_runs(week, "mine", "2026-04-27", "grpo", [0.0], first_seed=9)
    add_runs(week, "other", "2026-04-14", "grpo", [0.2])
    pictures = week / "notes" / "experiments" / "mine" / "pictures"
    pictures.mkdir()
    (pictures / "heat.png").write_bytes(b"x")
    text = "---\ntitle: 我的试验\n---\n\n## 预期\n\n<!-- ours -->\n\ncoma 会更好。\n\n## 结果\n\n无\n"
    (pictures.parent / "experiment.md").write_text(text, encoding="utf-8")
    (entry,) = gathered(week).experiments
    assert (entry.slug, entry.title, entry.new, entry.failed, entry.expectation) == (
        "mine",
        "我的试验",
        4,
        0,
        "coma 会更好。",
    )
    assert [(cell.method, round(cell.mean, 9), cell.n, cell.before) for cell in entry.measured] == [
        ("coma", 0.9, 2, None),
        ("grpo", 0.5, 4, pytest.approx(0.3)),
    ]
    assert entry.measured[1].change == pytest.approx(0.2)
    assert entry.pictures == (("heat", "../experiments/mine/pictures/heat.png"),)


def test_a_week_without_anything_is_gathered_too(workspace: Path) -> None:
    report = gathered(workspace)
    assert report.papers == () and report.note_count == 0 and report.problems == () and report.week == WEEK

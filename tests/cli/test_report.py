"""kb report through the real command line: drafts that people go on writing in, both languages, pages, the model's summary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llm_server import llm_serving, says
from report_workspace import THOUGHTS, add_metadata, add_runs, add_text, cites, fill

from kb.blocks import contents, refresh, without_marks
from kb.notes import headings as note_headings
from kb.report import fresh_draft
from kb.weeks import between
from kb.workspace import load_workspace

Run = Callable[..., Any]


@pytest.fixture
def week(workspace: Path) -> Path:
    fill(workspace)
    add_text(workspace, "drmas", cites(1, "Something worth reading"))
    add_metadata(workspace, "old", 3, "2026-04-22", withdrawn=True, comment="an error in lemma 2")
    add_runs(workspace, "mine", "2026-04-14", "grpo", [0.2, 0.4])
    add_runs(workspace, "mine", "2026-04-20", "grpo", [0.6, 0.8], first_seed=2)
    return workspace


def headings(text: str) -> list[str]:
    return [f"{'#' * depth} {words}" for depth, words, *_ in note_headings(text) if depth < 4]


# ---------------------------------------------------------------- what is drafted


def test_a_draft_has_every_section_in_chinese(kb: Run, week: Path) -> None:
    ran = kb("report", "2026-04-22", "--lang", "zh")
    path = week / "notes" / "reports" / "2026-04-19.md"
    assert ran.code == 0 and Path(ran.out.strip()) == path and ran.err == ""
    text = without_marks(path.read_text(encoding="utf-8"))
    assert headings(text) == [
        "# 研究周报 · 2026.04.19–04.25 · Dr.MAS/CCPO/GiGPO 精读、Q&A、开发一个服务",
        "## 一、阅读论文",
        "### 1.1 Dr. MAS: Stable Training (arXiv:2602.08847)",
        "### 1.2 CCPO: Counterfactual Credit (arXiv:2603.21563)",
        "### 1.3 GiGPO: Group in Group (arXiv:2505.10978)",
        "### 1.4 横向对比",
        "## 二、实验",
        "### 2.1 mine",
        "## 三、为什么是组内？",
        "## 四、开发一个服务",
        "## 五、随想",
        "## 六、论文的新版本与撤稿",
        "## 七、to-do",
    ]
    assert "**核心idea：** 逐智能体归一化" in text and "A = \\frac{R - \\mu}{\\sigma}" in text
    assert THOUGHTS.split("\n\n")[0] in text and "（见 Dr.MAS 的笔记）" in text
    assert (
        "- CCPO (2603.21563)：谁的功劳（已等 1 周）" in text
        and "- 写一个最小版：先理解架构（已等 2 周）\n  - 只要工具循环" in text
    )
    assert "Something worth reading（2020）：被 Dr.MAS 引用" in text
    assert "**已撤稿**，an error in lemma 2" in text
    assert "| grpo | 0.5 [" in text and "| 4 | 0.3 | 0.2 |" in text
    assert "\n\n\n" not in text


def test_the_english_twin_stands_beside_it_and_says_the_same(kb: Run, week: Path) -> None:
    kb("report", "2026-04-22", "--lang", "zh")
    kb("report", "2026-04-22", "--lang", "en")
    chinese = contents((week / "notes/reports/2026-04-19.md").read_text(encoding="utf-8"))
    english = contents((week / "notes/reports/2026-04-19.en.md").read_text(encoding="utf-8"))
    assert list(chinese) == list(english)
    ours = "".join(
        words
        for name, words in english.items()
        if not name.startswith(("note:", "queue:", "title", "list", "section:"))
    )
    assert not re.search(r"[\u4e00-\u9fff]", ours)


def test_an_empty_week_says_so(kb: Run, workspace: Path) -> None:
    kb("report", "2026-04-22", "--lang", "zh")
    text = without_marks((workspace / "notes/reports/2026-04-20.md").read_text(encoding="utf-8"))
    assert "本周没有新读的论文" in text and "队列里没有未完成的事项" in text
    assert headings(text) == ["# 研究周报 · 2026.04.20–04.26", "## 一、阅读论文", "## 二、to-do"]


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["2026-W17"], "2026-04-19.md"),
        (["--from", "2026-04-01", "--to", "2026-04-30"], "2026-04-01.md"),
    ],
)
def test_weeks_by_number_and_other_spans(kb: Run, week: Path, arguments: list[str], file: str) -> None:
    assert kb("report", *arguments).out.strip().endswith(file)


@pytest.mark.parametrize(
    "arguments",
    [
        ["2026-W54"],
        ["2026-02-30"],
        ["--from", "2026-04-01"],
        ["2026-W17", "--from", "2026-04-01", "--to", "2026-04-02"],
        ["--format", "doc"],
        ["--lang", "fr"],
    ],
)
def test_what_makes_no_sense_is_a_usage_error_and_writes_nothing(kb: Run, week: Path, arguments: list[str]) -> None:
    ran = kb("report", *arguments)
    assert ran.code == 2 and ran.err.startswith("error:") and not (week / "notes" / "reports").exists()


def test_a_template_of_ones_own(kb: Run, week: Path) -> None:
    (week / "templates" / "mine.md.j2").write_text(
        "# {{ report.week.label }}\n{{ block('names', report.papers | map(attribute='name') | join(' ')) }}\n",
        encoding="utf-8",
    )
    ran = kb("report", "2026-04-22", "--template", "mine.md.j2", "-o", str(week / "x.md"))
    assert "Dr.MAS CCPO GiGPO" in Path(ran.out.strip()).read_text(encoding="utf-8")
    broken = kb("report", "2026-04-22", "--template", "none.md.j2")
    assert broken.code == 1 and "none.md.j2" in broken.err


def test_to_standard_output_without_marks_and_without_a_file(kb: Run, week: Path) -> None:
    ran = kb("report", "2026-04-22", "-o", "-")
    assert ran.out.startswith("# 研究周报") and "kb:" not in ran.out
    assert not (week / "notes" / "reports").exists()


# ---------------------------------------------------------------- drafts and hands


def test_edits_stay_deletions_stay_and_the_rest_follows_the_sources(kb: Run, week: Path) -> None:
    path = Path(kb("report", "2026-04-22").out.strip())
    text = path.read_text(encoding="utf-8")
    text = text.replace("**核心idea：** 逐智能体归一化", "**核心idea：** 我的说法").replace(
        "## 七、to-do", "我写在中间的一段\n\n## 七、to-do"
    )
    text = re.sub(r"<!-- kb:begin comparison .*?kb:end comparison -->\n", "", text, flags=re.DOTALL)
    path.write_text(text, encoding="utf-8")
    (week / "notes" / "2026-04-22 服务.md").write_text(
        "---\nkind: project\n---\n# 开发一个服务\n\n改过的内容。\n", encoding="utf-8"
    )
    (week / "notes" / "2026-04-25-study.md").write_text("# 新学的\n\n一段。\n", encoding="utf-8")
    ran = kb("report", "2026-04-22")
    after = path.read_text(encoding="utf-8")
    assert "我的说法" in after and "我写在中间的一段" in after and "改过的内容。" in after and "横向对比" not in after
    assert (
        without_marks(after).index("改过的内容。")
        < without_marks(after).index("## 五、新学的")
        < without_marks(after).index("## 六、随想")
    )
    assert "kept as you edited it: paper:drmas, section:todo" in ran.err
    assert "left deleted" in ran.err and "comparison" in ran.err
    assert (
        "nothing changed" in kb("report", "2026-04-22").err or "kept as you edited it" in kb("report", "2026-04-22").err
    )
    assert path.read_text(encoding="utf-8") == after


def test_a_placeholder_goes_when_the_note_comes(kb: Run, week: Path) -> None:
    path = Path(kb("report", "2026-04-22").out.strip())
    assert "（本周还没有关于它的笔记）" in path.read_text(encoding="utf-8")
    (week / "notes" / "2026-04-23-gigpo.md").write_text(
        "---\npapers: [GiGPO]\n---\n# 笔记\n\n终于写了。\n", encoding="utf-8"
    )
    ran = kb("report", "2026-04-22")
    text = path.read_text(encoding="utf-8")
    assert "（本周还没有关于它的笔记）" not in text and "终于写了。" in text
    assert "taken out, no longer part of the draft: thoughts:gigpo" in ran.err


def test_a_quotation_stays_when_its_note_is_gone(kb: Run, week: Path) -> None:
    path = Path(kb("report", "2026-04-22").out.strip())
    (week / "notes" / "2026-04-24-随笔.md").unlink()
    assert "no longer part of the draft, left as it is: note:notes/2026-04-24-随笔.md" in kb("report", "2026-04-22").err
    assert "别丢了这一段。" in path.read_text(encoding="utf-8")


def test_a_report_written_by_hand_is_never_touched(kb: Run, week: Path) -> None:
    path = week / "notes" / "reports" / "2026-04-19.md"
    path.parent.mkdir()
    path.write_text("# 我自己的周报\n", encoding="utf-8")
    ran = kb("report", "2026-04-22")
    assert ran.code == 1 and "was not drafted by kb" in ran.err
    assert path.read_text(encoding="utf-8") == "# 我自己的周报\n"


def test_json_names_what_became_of_the_parts(kb: Run, week: Path) -> None:
    path = Path(kb("report", "2026-04-22").out.strip())
    path.write_text(path.read_text(encoding="utf-8").replace("本周清单", "清单"), encoding="utf-8")
    found = json.loads(kb("report", "2026-04-22", "--json").out)
    assert found["kept"] == ["list"] and found["path"] == str(path) and found["problems"] == []


def test_a_broken_note_makes_a_draft_in_part(kb: Run, week: Path) -> None:
    (week / "notes" / "bad.md").write_text("---\na: [\n---\nx\n", encoding="utf-8")
    ran = kb("report", "2026-04-22")
    assert ran.code == 3 and "not read:" in ran.err and "bad.md" in ran.err
    assert "Dr.MAS" in Path(ran.out.strip()).read_text(encoding="utf-8")


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "replace", "delete"]), st.integers(0, 10_000), st.text("研究ab 。#|$-", max_size=12)
    ),
    max_size=6,
)


@pytest.fixture
def drafts(week: Path) -> tuple[str, str]:
    """The week's draft, and the one of the day after: a note rewritten, another new, a third gone."""
    home = load_workspace(week)
    days = between("2026-04-19", "2026-04-25")
    first, _ = fresh_draft(home, days, "zh", None, home.reports)
    (week / "notes" / "2026-04-22 服务.md").write_text(
        "---\nkind: project\n---\n# 服务\n\n改成那样。\n", encoding="utf-8"
    )
    (week / "notes" / "2026-04-23-gigpo.md").write_text(
        "---\npapers: [GiGPO]\n---\n# 笔记\n\n写了。\n", encoding="utf-8"
    )
    (week / "notes" / "2026-04-24-随笔.md").unlink()
    second, _ = fresh_draft(home, days, "zh", None, home.reports)
    return first, second


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EDITS, st.booleans())
def test_random_edits_of_a_real_draft_survive(
    drafts: tuple[str, str], edits: list[tuple[str, int, str]], backwards: bool
) -> None:
    before, after = reversed(drafts) if backwards else drafts
    lines = before.split("\n")
    for number, (what, place, words) in enumerate(edits):
        at = place % len(lines)
        if what == "delete":
            del lines[at]
        else:
            lines[at : at + (what == "replace")] = [f"我 {number} {words}"]
    result = refresh("\n".join(lines), after)
    mine = re.compile(r"我 \d ")
    assert list(filter(mine.match, result.text.split("\n"))) == list(filter(mine.match, lines))
    assert refresh(result.text, after).text == result.text


# ---------------------------------------------------------------- pages


def test_a_page_shows_the_draft_as_it_was_left(kb: Run, week: Path) -> None:
    path = Path(kb("report", "2026-04-22").out.strip())
    path.write_text(path.read_text(encoding="utf-8").replace("本周清单", "我的清单"), encoding="utf-8")
    ran = kb("report", "2026-04-22", "--format", "html")
    page = Path(ran.out.strip())
    found = page.read_text(encoding="utf-8")
    assert page == path.with_suffix(".html") and "我的清单" in found and "<math" in found and "data:image/png" in found
    assert "<title>研究周报 · 2026.04.19–04.25" in found and 'lang="zh-CN"' in found
    other = kb("report", "2026-04-22", "--format", "html", "-o", str(week / "x.html"))
    assert other.out.strip() == str(week / "x.html") and (week / "x.html").read_text(encoding="utf-8") == found


def test_pdf_without_a_browser_keeps_the_draft_and_says_what_to_do(
    kb: Run, week: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb.page.chromium.shutil.which", lambda _: None)
    ran = kb("report", "2026-04-22", "--format", "pdf")
    assert ran.code == 1 and "hint: install chromium" in ran.err
    assert (week / "notes/reports/2026-04-19.md").exists() and not list(week.rglob("*.pdf"))


# ---------------------------------------------------------------- the model's summary


def with_model(root: Path, url: str) -> None:
    with (root / "kb.toml").open("a", encoding="utf-8") as stream:
        stream.write(f'\n[llm]\nbase_url = "{url}"\nmodel = "small"\n')


def answer(summary: str, sources: list[int]) -> str:
    return json.dumps({"summary": summary, "sources": sources}, ensure_ascii=False)


def test_a_summary_is_marked_with_its_sources_and_stays_without_the_option(
    kb: Run, week: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KB_OFFLINE", raising=False)
    with llm_serving(says(answer("本周读了 Dr.MAS，认为“归一化和分解是两码事”。", [1]))) as server:
        with_model(week, server.url)
        path = Path(kb("report", "2026-04-22", "--llm").out.strip())
    text = path.read_text(encoding="utf-8")
    assert (
        "> **机器写的摘要**（small；请核对。依据：Dr.MAS）\n>\n> 本周读了 Dr.MAS，认为“归一化和分解是两码事”。" in text
    )
    assert kb("report", "2026-04-22").err == "nothing changed since the last draft\n"
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answer("本周读了 37 篇论文。", [1]), "37"),
        (answer("作者说“信用即正义”。", [1]), "信用即正义"),
        (answer("读了 Dr.MAS。", []), "source"),
        (answer("读了 Dr.MAS。", [99]), "source"),
        ("就不给 JSON", "JSON"),
    ],
)
def test_a_summary_that_the_notes_do_not_hold_is_not_taken(
    kb: Run, week: Path, monkeypatch: pytest.MonkeyPatch, reply: str, why: str
) -> None:
    monkeypatch.delenv("KB_OFFLINE", raising=False)
    with llm_serving(says(reply)) as server:
        with_model(week, server.url)
        ran = kb("report", "2026-04-22", "--llm")
    assert ran.code == 3 and "no summary" in ran.err and why in ran.err
    assert "机器写的摘要" not in Path(ran.out.strip()).read_text(encoding="utf-8")


def test_offline_asks_no_model(kb: Run, week: Path) -> None:
    with_model(week, "http://127.0.0.1:9/v1")
    ran = kb("report", "2026-04-22", "--llm")
    assert ran.code == 4 and "offline" in ran.err and not (week / "notes" / "reports").exists()


# ---------------------------------------------------------------- the two real weeks


@pytest.mark.parametrize(
    ("day", "papers", "sections"),
    [
        ("2026-04-19", ["DAPO", "GiGPO", "MAPPA", "Dr. MAS"], ["开发 sub2api 软件", "学习经典框架开发实践", "to-do"]),
        ("2026-04-12", ["Pignatelli", "SHARP", "LangMARL"], ["上周的 Q&A", "概念理解（部分 AI 辅助整理）", "To-do"]),
    ],
)
def test_the_real_weeks_come_out_with_all_their_sections_and_words(
    kb: Run,
    root: Path,
    corpus: Path,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    day: str,
    papers: list[str],
    sections: list[str],
) -> None:
    import shutil

    domain = corpus.parent / "domain"
    if not domain.is_dir():
        pytest.skip("the two real reports are not here")
    shutil.copytree(
        root / "papers", workspace / "papers", dirs_exist_ok=True, ignore=shutil.ignore_patterns("files", "text*.md")
    )
    shutil.copy(root / "kb.toml", workspace / "kb.toml")
    assert kb("import", *map(str, sorted(domain.glob("*.md")))).code == 0
    path = Path(kb("report", day, "--lang", "zh").out.strip())
    text = without_marks(path.read_text(encoding="utf-8"))
    found = headings(text)
    assert [name for name in papers if any(name in line for line in found if line.startswith("### 1."))] == papers
    assert [
        name for name in sections if any(line.endswith(name) for line in found if line.startswith("## "))
    ] == sections
    # Every line of the report stands in the draft as its author wrote it; headings may have another number or title.
    body = (domain / f"weekly-{day}.md").read_text(encoding="utf-8")
    missing = [line for line in body.splitlines() if line.strip() and line.strip() not in text]
    assert [line for line in missing if not re.match(r"(?:\d\.|\d\.\d|[一二三四]、) ?\S.{0,150}$", line)] == []
    edited = path.read_text(encoding="utf-8").replace("本周清单", "本周我做了")
    path.write_text(edited, encoding="utf-8")
    assert "kept as you edited it: list" in kb("report", day, "--lang", "zh").err
    assert path.read_text(encoding="utf-8") == edited

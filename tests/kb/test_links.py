"""What a text names, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from note_papers import fill_with_papers, library_of

from kb.links import Names
from kb.markup import markup_of


@pytest.fixture
def names(workspace: Path) -> Names:
    fill_with_papers(workspace)
    (workspace / "notes" / "2026-04-12-idea.md").write_text("# 想法\n", encoding="utf-8")
    return Names(library_of(workspace))


def targets(names: Names, text: str) -> list[str]:
    return [link.target for link in names.links(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GRPO归一化会放大噪声，PPO则不会", ["grpo", "ppo"]),
        ("PPO/GRPO里的clip", ["ppo", "grpo"]),
        ("CAD-GRPO is another method, and so is AT-GRPO", []),
        ("GRPO-based training", ["grpo"]),
        ("Dr.GRPO and Dr. GRPO are one paper", ["dr_grpo", "dr_grpo"]),
        ("a sharp drop; we reinforce it", []),
        ("SHARP does", ["sharp"]),
        ("REINFORCE++ is not REINFORCE.", ["reinforce_pp", "reinforce"]),
        ("Difference rewards, or difference  rewards", ["rewards", "rewards"]),
        ("who deserves the reward? shapley credit", ["sharp"]),
        ("GRPOs", []),
        ("TWIN fits two papers", []),
        (r"$A^{GRPO}$ and $$PPO$$ and `GRPO` <!-- PPO -->", []),
        ("```\nGRPO\n```\nthen DAPO", ["dapo"]),
        ("[[dapo]], [[dapo|the paper]], [[papers/dapo/paper|DAPO]], [[DAPO]]", ["dapo"] * 4),
        ("[[2026-04-12-idea]] and [[notes/2026-04-12-idea#part]]", ["notes/2026-04-12-idea.md"] * 2),
        ("![[dapo.png]]", []),
        ("arXiv:2503.14476v2 and https://arxiv.org/abs/2503.14476", ["dapo", "dapo"]),
        ("TreeRL（2506.11902）and arXiv:2506.11903", ["2506.11902", "2506.11903"]),
        ("it costs 2506.11902 in all", []),
        ("see 2503.14476 there", ["dapo"]),
        ("2513.00001 (2513.00001) has no month 13", []),
    ],
)
def test_a_text_links_to_the_papers_it_names(names: Names, text: str, found: list[str]) -> None:
    assert targets(names, text) == found


def test_a_link_says_where_it_is_and_whether_it_is_known(names: Names) -> None:
    text = "读了DAPO (arXiv:2506.11902) 和 [[没有的笔记]]"
    links = names.links(text)
    assert [(text[link.start : link.stop], link.how, link.known) for link in links] == [
        ("DAPO", "name", True),
        ("2506.11902", "arxiv", False),
        ("[[没有的笔记]]", "wikilink", False),
    ]
    assert links[-1].target == "没有的笔记"


def test_names_in_front_matter_are_resolved(names: Names) -> None:
    given = [
        "dapo",
        "DAPO",
        "2503.14476v3",
        "[[dapo]]",
        "papers/dapo/paper.md",
        "DAPO: An Open-Source System",
        "arXiv:2503.14476",
    ]
    assert {names.resolve(name).target for name in given} == {"dapo"}
    assert names.resolve("2506.11902").target == "2506.11902" and not names.resolve("2506.11902").known
    assert not names.resolve("TWIN").known


def test_markup_finds_code_maths_comments_and_addresses_and_nothing_else() -> None:
    text = "a $x$ costs \\$5 `c $y$` <!-- $z$ -->\n$$\nA &= B\n$$\n~~~\n$no$\n~~~\nhttps://a.b/$q$ end $m_1 = \\$3$\n"
    assert markup_of(text).formulas(text) == ["$x$", "$$\nA &= B\n$$", "$m_1 = \\$3$"]
    forms = [form for _, _, form in markup_of(text).stretches]
    assert forms == ["inline", "code", "comment", "display", "fence", "address", "inline"]


def test_an_open_fence_runs_to_the_end() -> None:
    text = "```python\nGRPO\n"
    assert markup_of(text).form_at(text.index("GRPO")) == "fence"
    assert markup_of("plain").form_at(2) == ""


def test_a_fence_ends_whatever_the_line_ends() -> None:
    text = "```\r\nGRPO\r\n```\r\nDAPO\r\n"
    assert markup_of(text).form_at(text.index("GRPO")) == "fence"
    assert markup_of(text).form_at(text.index("DAPO")) == ""


@pytest.mark.parametrize(
    ("text", "forms"), [("`" * 30000, []), ("<!--" * 30000, ["comment"]), ("[[a" * 20000, []), ("$$\nx", [])]
)
def test_marks_without_end(text: str, forms: list[str]) -> None:
    assert [form for _, _, form in markup_of(text).stretches] == forms

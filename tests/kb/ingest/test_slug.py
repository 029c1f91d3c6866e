"""Folder names: short, portable, never empty, never a path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import UsageError
from kb.ingest.slug import MAX_BYTES, check_slug, make_slug


@pytest.mark.parametrize(
    ("title", "authors", "wanted"),
    [
        ("DAPO: An Open-Source LLM Reinforcement Learning System", ("Qiying Yu",), "dapo"),
        ("Kimi k1.5: Scaling Reinforcement Learning", ("Kimi Team",), "kimi_k1_5"),
        ("Proximal Policy Optimization Algorithms", ("John Schulman",), "schulman_2017_proximal"),
        ("A Study of the Effects of Many Long Words Before a Colon: Really", ("Łukasz Kaiser",), "kaiser_2017_study"),
        ("Attention Is All You Need", (), "attention_all_you"),
        ("Mistral 7B", ("Albert Q. Jiang*1",), "jiang_2017_mistral"),
        ("Über die Öffnung", ("María José O'Neil-Peña",), "o_neil_pena_2017_uber"),
        ("多智能体强化学习综述", ("王小明",), "多智能体强化学习综述"),
        ("优势归一化：为什么不稳定", (), "优势归一化"),
        ("???", (), "2503_14476"),
        ("arXiv:1508.03176", (), "arxiv_1508_03176"),
        ("con: a console", (), "con_"),
    ],
)
def test_slugs(title: str, authors: tuple[str, ...], wanted: str) -> None:
    assert make_slug(title, authors, "2017", set(), "2503.14476") == wanted


def test_a_taken_slug_gets_a_number() -> None:
    assert make_slug("DAPO: x", (), "", {"dapo", "dapo_2"}, "x") == "dapo_3"


@given(st.text(max_size=200), st.lists(st.text(max_size=40), max_size=2))
def test_any_title_gives_a_portable_name(title: str, authors: list[str]) -> None:
    slug = make_slug(title, tuple(authors), "", set(), "")
    assert slug
    assert len(slug.encode("utf-8")) <= MAX_BYTES + 1
    assert not set(slug) & set('/\\:*?"<>|. \t\n\0')


@pytest.mark.parametrize("slug", ["../x", "a/b", "", "a b", ".", "a:b"])
def test_a_slug_that_is_no_name_is_refused(slug: str) -> None:
    with pytest.raises(UsageError):
        check_slug(slug)


def test_a_persons_slug_is_kept() -> None:
    assert check_slug("my_dapo") == "my_dapo"
    assert check_slug("优势") == "优势"

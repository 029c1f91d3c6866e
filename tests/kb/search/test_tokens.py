"""Tokens of the keyword index. Expectations are written by hand; findability is asked of a real FTS5 table."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.search.tokens import has_han, index_text, query_tokens, stem, word_stems


def finds(question: str, text: str, tokenizer: str = "ascii") -> bool:
    """Whether an FTS5 table that holds the text answers to every token of the question."""
    tokens = query_tokens(question)
    assert tokens, f"{question!r} has no tokens"
    table = sqlite3.connect(":memory:")
    table.execute(f"CREATE VIRTUAL TABLE passage USING fts5(body, tokenize='{tokenizer}')")
    table.execute("INSERT INTO passage VALUES (?)", (index_text(text),))
    match = " AND ".join(f'"{token}"' for token in tokens)
    found = table.execute("SELECT count(*) FROM passage WHERE passage MATCH ?", (match,)).fetchone()[0]
    table.close()
    return bool(found)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("GRPO", "把GRPO优势归一化拆开"),
        ("优势", "把GRPO优势归一化拆开"),
        ("熵", "策略熵坍缩"),
        ("梯度不稳定", "全局归一化使梯度不稳定。"),
        ("2402.03300", "DeepSeekMath (arXiv:2402.03300v2)"),
        ("arxiv 2402.03300", "see https://arxiv.org/abs/2402.03300."),
        ("cs/0703062", "An old paper, cs/0703062"),
        ("GPT-4", "scored by GPT-4o and GPT-4"),
        ("GPT4", "scored by GPT-4"),
        ("top k", "top-k sampling"),
        ("topk", "top-k sampling"),
        ("leave-one-out", "a leave-one-out baseline"),
        ("leave one out", "a leave-one-out baseline"),
        ("Dr.MAS", "Dr.MAS normalises per agent"),
        ("MAS", "Dr.MAS normalises per agent"),
        ("AT-GRPO", "as AT-GRPO does"),
        ("GRPO", "as AT-GRPO does"),
        ("multiagent", "multi-agent systems"),
        ("multi-agent", "multiagent multi agent systems"),
        ("LangGraph", "the LangGraph library"),
        ("graph", "the LangGraph library"),
        ("LLMs", "an LLM"),
        ("llm", "many LLMs"),
        ("normalization", "normalisation of advantages"),
        ("optimised policies", "we optimize the policy"),
        ("behavior", "behaviours differ"),
        (r"\sigma", r"divided by $\sigma_G$"),
        ("σ", r"divided by $\sigma$"),
        (r"\sigma", "divided by 𝜎 or σ"),
        ("clip", r"$\mathrm{clip}(\rho, 1-\epsilon, 1+\epsilon)$"),
        ("Poincare", "the Poincaré ball"),
        ("Poincare", r"the Poincar\'e ball"),
        ("fine-tuning", "ﬁne-tuning"),
        ("GRPO", "ＧＲＰＯ算法"),
        ("Qwen2.5", "Qwen2.5-32B"),
        ("10000", "10,000 passages"),
        ("shapley", "Shapley值"),
        ("優勢", "優勢歸一化"),
    ],
)
@pytest.mark.parametrize("tokenizer", ["ascii", "unicode61"])
def test_question_finds_text(question: str, text: str, tokenizer: str) -> None:
    assert finds(question, text, tokenizer)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("3.5", "35 of them, 3 by 5"),
        ("2402.03300", "2402.03301 and 03300"),
        ("策势", "策略优势"),
        ("优势", "優勢"),
        ("mathrm", r"$\mathrm{clip}$"),
        ("noise", "noisy"),
    ],
)
def test_question_does_not_find_text(question: str, text: str) -> None:
    assert not finds(question, text)


def test_index_text_of_a_sentence() -> None:
    assert index_text("GRPO优势 collapses") == "grpo 优势 优 势 collaps"


def test_query_drops_stop_words_unless_nothing_else_is_there() -> None:
    assert query_tokens("why does the policy collapse") == ["polici", "collaps"]
    assert query_tokens("is it") == ["is", "it"]
    assert query_tokens("") == []
    assert query_tokens("？！…") == []


def test_query_names_each_token_once() -> None:
    assert query_tokens("agent agents AGENT") == ["agent"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("supervised", "supervision"),
        ("normalised", "normalized"),
        ("generalisations", "generalizations"),
        ("colour", "color"),
        ("MDPs", "mdp"),
        ("credits", "credit"),
    ],
)
def test_stems_agree(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_word_stems_split_compounds_and_keep_repeats() -> None:
    assert word_stems("multi-agent multi agent") == ["multi", "agent", "multi", "agent"]


@pytest.mark.parametrize(("text", "expected"), [("GRPO优势", True), ("GRPO", False), ("かな", False), ("", False)])
def test_has_han(text: str, expected: bool) -> None:
    assert has_han(text) is expected


HAN_TEXT = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=12)
MIXED = st.lists(HAN_TEXT | st.sampled_from(["GRPO", " agent ", "，", "3.5", r"\sigma", "🙂", "é"]), max_size=6)


@given(before=MIXED, run=HAN_TEXT, after=MIXED, data=st.data())
def test_every_two_character_word_of_a_text_is_found(
    before: list[str], run: str, after: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(run) - 2))
    text = "".join([*before, run, *after])
    held = set(index_text(text).split())
    # Twice the same character is one token once; nothing else is asked for.
    assert set(query_tokens(run[at : at + 2])) <= held
    assert run[at] in held


@given(st.text(max_size=200))
def test_any_text_finds_itself_and_tokens_are_plain(text: str) -> None:
    held = index_text(text).split()
    assert set(query_tokens(text)) <= set(held)
    for token in held:
        assert not any(char.isspace() or char in "\"'*()-+:^.,/\\_" for char in token)
        assert token == token.lower()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_compatibility_forms_are_one(text: str) -> None:
    assert index_text(text) == index_text(unicodedata.normalize("NFKC", text))

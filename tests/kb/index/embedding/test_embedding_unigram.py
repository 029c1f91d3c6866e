"""The tokenizer over looked-up pieces gives the ids of the full one, and the pieces that a hand would choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.index.embedding.e5_folder import PIECES_FILE
from kb.index.embedding.tensor_file import write_tensors
from kb.index.embedding.unigram import SPECIAL, UnigramTokenizer, piece_table

MAX_TOKENS = 512
TEXTS = [
    "passage: Group relative policy optimization drops the critic.",
    "query: 优势归一化 为什么会让梯度不稳定",
    "GRPO算法与PPO的区别😀👩‍👩‍👧：σ(x)=1/(1+e⁻ˣ) ﬁne",
    "ﷺ" * 20,
    "nul\x00bell\x07tab\tline\nreturn\rzero\u200bwidth\ufeffbom\ufffdend",
    "specials in text </s> <mask> <s>x</s> <pad><unk> and wide ones ＜s＞ a＜/s＞b",
    "several   spaces  and a trailing one ",
    "▁ marks ▁▁ of the tokenizer's own",
    "e\u0301 and é, Å and A\u030a, 한국어 \u1112\u1161\u11ab, ガ カ\u3099, >\u0338",
    "\U0001f23b \U00020000 \ue000 \U0010ffff 𝔊𝔯𝔭𝔬 ½ ㎏ ～",
    "antidisestablishmentarianism" * 3,
    "",
    " ",
]


@pytest.fixture(scope="session")
def both(e5_unpacked: Path) -> tuple[UnigramTokenizer, Any]:
    """The tokenizer under test and the full one, which reads all 250,002 pieces."""
    from tokenizers import Tokenizer

    full = Tokenizer.from_file(str(e5_unpacked / "tokenizer.json"))
    full.enable_truncation(MAX_TOKENS)
    return UnigramTokenizer(e5_unpacked / PIECES_FILE, MAX_TOKENS), full


def same_ids(both: tuple[UnigramTokenizer, Any], texts: list[str]) -> None:
    ours, full = both
    expected = [encoding.ids for encoding in full.encode_batch(texts)]
    assert [ids.tolist() for ids in ours.encode(texts)] == expected


@pytest.mark.parametrize("text", TEXTS)
def test_one_text_has_the_ids_of_the_full_tokenizer(both: tuple[UnigramTokenizer, Any], text: str) -> None:
    same_ids(both, [text])


def test_texts_together_have_the_ids_of_the_full_tokenizer(both: tuple[UnigramTokenizer, Any]) -> None:
    same_ids(both, TEXTS)


@pytest.mark.parametrize("text", ["reward " * 2000, "中文文本没有空格" * 300, "x" * 5000, "ﷺ" * 500])
def test_long_texts_are_cut_where_the_full_tokenizer_cuts(both: tuple[UnigramTokenizer, Any], text: str) -> None:
    same_ids(both, [text, "short"])
    cut = both[0].encode([text])[0]
    assert len(cut) <= MAX_TOKENS
    assert (cut[0], cut[-1]) == (0, 2)  # <s> and </s> survive the cut


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
HAN_AND_LATIN = st.text(
    st.sampled_from("的强化学习奖励优势策略梯度多智能体GRPOppo ▁<s>/,.0123456789（）\n"), max_size=200
)


@settings(max_examples=300, deadline=None)
@given(text=ANY_TEXT | HAN_AND_LATIN)
def test_any_text_has_the_ids_of_the_full_tokenizer(both: tuple[UnigramTokenizer, Any], text: str) -> None:
    same_ids(both, [text])


def tiny(tmp_path: Path, scored: dict[str, float], max_tokens: int = 16) -> UnigramTokenizer:
    """A tokenizer whose pieces get the ids 5, 6, ... after the special ones."""
    pieces = [*SPECIAL, *scored]
    scores = np.array([0.0] * len(SPECIAL) + list(scored.values()), np.float32)
    with (tmp_path / "pieces").open("wb") as stream:
        write_tensors(stream, piece_table(pieces, scores))
    return UnigramTokenizer(tmp_path / "pieces", max_tokens)


def test_the_best_path_is_the_one_worked_out_by_hand(tmp_path: Path) -> None:
    # "▁ab": ▁ + ab = -1 - 2 = -3 beats ▁a + b = -3 - 1.5 = -4.5 and ▁ + a + b = -1 - 1 - 1.5 = -3.5.
    tokenizer = tiny(tmp_path, {"▁": -1.0, "a": -1.0, "b": -1.5, "▁a": -3.0, "ab": -2.0})
    assert tokenizer.encode(["ab"])[0].tolist() == [0, 5, 9, 2]
    # Unknown characters next to each other are one unknown token (id 3).
    assert tokenizer.encode(["a強化"])[0].tolist() == [0, 5, 6, 3, 2]


def test_unknown_characters_cost_the_same_whichever_pieces_occur(tmp_path: Path) -> None:
    # Unknown = lowest of all scores - 10 = -30. "▁xy" as ▁ + unknown x + y = -1 - 30 - 1 = -32 beats ▁ + xy = -1 - 35
    # only because the piece of score -20, which is not in the text, sets the penalty: with -35 it would be -45.
    low = tiny(tmp_path, {"▁": -1.0, "y": -1.0, "q": -20.0})
    assert low.encode(["xy"])[0].tolist() == [0, 5, 3, 6, 2]
    lower = tiny(tmp_path, {"▁": -1.0, "y": -1.0, "xy": -35.0})
    assert lower.encode(["xy"])[0].tolist() == [0, 5, 7, 2]


def test_pieces_that_the_look_up_cannot_find_are_refused() -> None:
    with pytest.raises(ValueError, match="space inside"):
        piece_table([*SPECIAL, "a▁b"], np.zeros(6, np.float32))

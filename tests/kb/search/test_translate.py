"""Translation of questions: with glossaries made here, so that each rule shows, and then with the real ones."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.search import cedict
from kb.search.cedict import Dictionary, clean_glosses, open_dictionary
from kb.search.glossary import Glossary, Term, load_glossary
from kb.search.translate import Translation, translate, translate_to_chinese


class Words:
    """A dictionary of a few words, with one traditional character."""

    def __init__(self, known: dict[str, tuple[str, ...]] | None = None) -> None:
        self.known = known or {"人工智能": ("artificial intelligence",), "体会": ("experience",), "水稻": ("rice",)}

    def glosses(self, word: str) -> tuple[str, ...]:
        return self.known.get(word, ())

    def simplify(self, text: str) -> str:
        return text.translate(str.maketrans("優勢勵獎", "优势励奖"))


GLOSSARY = Glossary(
    {
        term.chinese.lower(): term
        for term in (
            Term("优势", ("advantage",)),
            Term("归一化", ("normalization",)),
            Term("优势归一化", ("advantage normalization", "normalizing advantages")),
            Term("智能", ("intelligent",)),
            Term("智能体", ("agent",)),
            Term("多智能体", ("multi-agent",)),
            Term("奖励", ("reward",)),
            Term("图", ("graph",)),
            Term("KL散度", ("KL divergence",)),
            Term("大模型", ("LLM",), own=True),
        )
    }
)


def english(question: str) -> str:
    return translate(question, GLOSSARY, Words()).text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("优势归一化", "advantage normalization"),
        ("优势的归一化", "advantage normalization"),
        ("GRPO优势归一化为什么会让奖励坏", "GRPO advantage normalization reward"),
        ("優勢歸", "advantage"),
        ("多智能体会怎样", "multi-agent"),
        ("人工智能", "artificial intelligence"),
        ("水稻智能体", "rice agent"),
        ("KL 散度", "KL divergence"),
        ("ｋｌ散度", "KL divergence"),
        ("MyKL散度", "MyKL"),
        ("图", "graph"),
        ("优势 归一化", "advantage normalization"),
        ("Dr.MAS、AT-GRPO和奖励", "Dr.MAS AT-GRPO reward"),
        ("", ""),
        ("为什么", ""),
    ],
)
def test_question_in_english(question: str, expected: str) -> None:
    assert english(question) == expected


def test_terms_variants_and_what_is_not_known() -> None:
    found = translate("优势归一化 鸜鹆 GRPO", GLOSSARY, Words())
    assert found == Translation(
        terms=(("优势归一化", ("advantage normalization", "normalizing advantages")),),
        text="advantage normalization GRPO",
        untranslated=("鸜鹆",),
        has_han=True,
    )
    assert found.variants == "advantage normalization normalizing advantages"


def test_keyword_tokens_count_the_usual_form_twice() -> None:
    tokens = translate("水稻 GRPO", GLOSSARY, Words({"水稻": ("rice", "paddy")})).keyword_tokens()
    assert sorted(tokens) == ["grpo", "grpo", "paddi", "rice", "rice"]


def test_english_question_comes_back_and_asks_no_dictionary() -> None:
    assert translate(" leave-one-out baseline ", GLOSSARY) == Translation(text="leave-one-out baseline")


def test_own_term_wins_over_the_dictionary() -> None:
    assert translate("大模型", GLOSSARY, Words({"大模型": ("big model",)})).text == "LLM"


@given(st.text(st.sampled_from("优势归一化智能体多奖励图的为什么会鸜KL散度 GRPO，人工"), max_size=30))
def test_no_chinese_character_is_lost_but_stop_words(question: str) -> None:
    found = translate(question, GLOSSARY, Words())
    named = "".join(term for term, _ in found.terms) + "".join(found.untranslated)
    for char in "优势归奖励图鸜散":
        assert question.count(char) == named.count(char)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("advantage normalisation of agents", "优势归一化 智能体"),
        ("multi-agent rewards", "多智能体 奖励"),
        ("multiagent reward", "多智能体 奖励"),
        ("Why does the GRPO advantage explode?", "GRPO 优势 explode"),
        ("", ""),
    ],
)
def test_question_in_chinese(question: str, expected: str) -> None:
    assert translate_to_chinese(question, GLOSSARY).text == expected


def test_chinese_for_an_abbreviation_keeps_it_in_the_text() -> None:
    found = translate_to_chinese("LLM reward", GLOSSARY)
    assert found.text == "LLM 奖励"
    assert found.terms == (("LLM", ("大模型",)), ("reward", ("奖励",)))


def test_chinese_question_is_left_alone() -> None:
    assert translate_to_chinese("优势", GLOSSARY) == Translation(text="优势", has_han=True)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dictionary]:
    patch = pytest.MonkeyPatch()
    patch.setenv("KB_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    open_dictionary.cache_clear()
    yield open_dictionary()
    open_dictionary.cache_clear()
    patch.undo()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("优势归一化 为什么会让梯度不稳定", "advantage normalization gradient instability"),
        ("GRPO怎么去掉critic网络", "GRPO remove critic network"),
        ("團隊獎勵怎麼分配", "team reward allocation"),
        ("水稻 沙漠", "rice desert"),
    ],
)
def test_real_question(dictionary: Dictionary, question: str, expected: str) -> None:
    assert translate(question, load_glossary(), dictionary).text == expected


def test_dictionary_folds_only_characters_that_are_never_simplified(dictionary: Dictionary) -> None:
    assert dictionary.simplify("優勢 機器學習") == "优势 机器学习"
    assert dictionary.simplify("著作 乾坤 后面 里面") == "著作 乾坤 后面 里面"


def test_dictionary_is_built_once_and_again_when_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "small.txt.gz"
    source.write_bytes(gzip.compress("# head\n水稻 水稻 [shui3 dao4] /rice/paddy/CL:株[zhu1]/\n".encode()))
    monkeypatch.setattr(cedict, "_source", lambda: source)
    monkeypatch.setenv("KB_CACHE_DIR", str(tmp_path / "cache"))
    opened = []
    for damage in (False, False, True, False):
        open_dictionary.cache_clear()
        if damage:
            built = next((tmp_path / "cache").iterdir())
            built.write_bytes(b"not a database at all")
        opened.append(open_dictionary().glosses("水稻"))
    open_dictionary.cache_clear()
    assert opened == [("rice", "paddy")] * 4
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("to gather; to collect/CL:個|个[ge4]", ["gather", "collect"]),
        ("surname Li/plum", ["plum"]),
        ("variant of 裡|里[li3]", []),
        ("(computing) proxy/(old) to stand in for sb", ["proxy", "stand in for"]),
        ("a (very) long gloss that explains more than it says/short", ["short"]),
        ("one/two/three", ["one", "two"]),
        ("Beijing, capital of China", ["Beijing"]),
    ],
)
def test_glosses_are_cleaned(definition: str, expected: list[str]) -> None:
    assert clean_glosses(definition) == expected

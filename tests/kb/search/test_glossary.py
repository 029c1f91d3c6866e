"""The glossary: reading, adding, what the built-in one must hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.errors import FileFormatError, KbError, UsageError
from kb.search.glossary import BUILT_IN, Glossary, add_term, fold_term, load_glossary
from kb.search.tokens import has_han
from kb.workspace import Workspace, load_workspace


@pytest.fixture(scope="module")
def built_in() -> Glossary:
    return load_glossary()


@pytest.fixture
def place(workspace: Path) -> Workspace:
    return load_workspace(workspace)


def write(place: Workspace, text: str) -> None:
    place.glossary.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("信用分配", "credit assignment"),
        ("优势归一化", "advantage normalization"),
        ("懒惰智能体", "lazy agent"),
        ("岭回归", "ridge regression"),
        ("奖励黑客", "reward hacking"),
        ("熵坍缩", "entropy collapse"),
        ("消融实验", "ablation"),
        ("留一法", "leave-one-out"),
        ("边际贡献", "marginal contribution"),
        ("集中训练分散执行", "centralized training with decentralized execution"),
        ("显存", "GPU memory"),
        ("Shapley 值", "Shapley value"),
        ("ＫＬ散度", "KL divergence"),
    ],
)
def test_built_in_terms(built_in: Glossary, chinese: str, english: str) -> None:
    term = built_in.get(chinese)
    assert term is not None
    assert term.english[0] == english
    assert not term.own


def test_built_in_file_is_clean() -> None:
    rows = [line for line in BUILT_IN.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    chinese = [fold_term(row.split("\t")[0]) for row in rows]
    assert len(rows) > 900
    assert len(set(chinese)) == len(chinese), "a Chinese term has two rows"
    for row in rows:
        left, english = row.split("\t")
        assert left == left.strip() and has_han(left)
        forms = english.split("; ")
        assert len(set(forms)) == len(forms)
        assert all(form and form == form.strip() and not has_han(form) for form in forms), row
        assert "isation" not in english and "behaviour" not in english, f"American spelling, as most papers: {row}"


def test_unknown_term_is_none(built_in: Glossary) -> None:
    assert built_in.get("不在里面的词") is None


def test_english_finds_the_chinese_it_is_the_usual_form_of_first(place: Workspace) -> None:
    write(place, "甲词\tspeed test; zebra crossing\n乙词\tzebra crossing\n")
    assert load_glossary(place).by_stems[("zebra", "cross")] == ("乙词", "甲词")


def test_own_terms_come_first_and_rows_add_up(place: Workspace) -> None:
    write(place, "# mine\n信用分配\tcredit sharing\n信用分配\tblame sharing ; credit sharing\n")
    term = load_glossary(place).get("信用分配")
    assert term is not None
    assert term.english == ("credit sharing", "blame sharing", "credit assignment")
    assert term.own


def test_windows_file_is_read(place: Workspace) -> None:
    place.glossary.write_bytes("\ufeff虚词甲\tform one；form two\r\n\r\n".encode())
    term = load_glossary(place).get("虚词甲")
    assert term is not None
    assert term.english == ("form one", "form two")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# head\n信用分配 credit assignment\n", 2),
        ("信用分配\t \n", 1),
        ("信用\tcredit\n\nGRPO\tgroup relative policy optimization\n", 3),
    ],
)
def test_bad_row_names_path_and_line(place: Workspace, text: str, line: int) -> None:
    write(place, text)
    with pytest.raises(FileFormatError) as caught:
        load_glossary(place)
    assert caught.value.message.startswith(f"{place.glossary}:{line}: ")
    assert "tab" in caught.value.hint


def test_file_of_another_encoding(place: Workspace) -> None:
    place.glossary.write_bytes("信用\tcredit\n".encode("gbk"))
    with pytest.raises(KbError, match="not UTF-8"):
        load_glossary(place)


def test_add_makes_the_file_then_says_already_there(place: Workspace) -> None:
    assert add_term(place, "虚词乙", "made up term; another form")
    before = place.glossary.read_bytes()
    assert not add_term(place, "虚词乙", "Made up  term")
    assert place.glossary.read_bytes() == before
    assert load_glossary(place).terms["虚词乙"].english == ("made up term", "another form")


def test_add_knows_the_built_in_terms(place: Workspace) -> None:
    assert not add_term(place, "信用分配", "credit assignment")
    assert not place.glossary.exists()
    assert add_term(place, "信用分配", "credit sharing")


def test_add_leaves_what_people_wrote(place: Workspace) -> None:
    written = "# 我的词\r\n虚词甲\tform one".encode()
    place.glossary.write_bytes(written)
    assert add_term(place, "虚词乙", "form two")
    assert place.glossary.read_bytes() == written + "\n虚词乙\tform two\n".encode()


@pytest.mark.parametrize(("chinese", "english"), [("GRPO", "x"), ("信用", " ; "), ("", "x"), ("#信用", "credit")])
def test_add_refuses_what_is_no_term(place: Workspace, chinese: str, english: str) -> None:
    with pytest.raises(UsageError, match=r"not a Chinese term|no English"):
        add_term(place, chinese, english)
    assert not place.glossary.exists()


def test_matching_looks_in_both_languages(place: Workspace) -> None:
    write(place, "虚词甲\tform one\n虚词乙\tForm Two\n")
    glossary = load_glossary(place)
    assert [term.chinese for term in glossary.matching("form two")] == ["虚词乙"]
    assert [term.chinese for term in glossary.matching("虚词")] == ["虚词甲", "虚词乙"]

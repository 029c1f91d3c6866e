"""Gaps: the three of the landscape note out of the records, and on made-up matrices what counts as one."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.capabilities import Matrix, Trait, matrix_of, narrowed, read_traits
from kb.errors import UsageError
from kb.facts import Record, read_record
from kb.gap_tables import gap_data, gap_list, gap_table, likeness_text, matrix_table
from kb.gaps import combinations, gaps, questions
from kb.library import Library, Paper
from kb.proposals import closest
from kb.workspace import load_workspace

KEYS = ("a", "b", "c", "d")
TRAITS = tuple(Trait(key, key, "yes", "mechanism", {"en": key.upper(), "zh": f"能力{key}"}) for key in KEYS)


def record(slug: str, tags: tuple[str, ...] = (), **answers: Any) -> Record:
    facts = {
        column: answer if isinstance(answer, dict) else {"value": answer, "level": "paper", "evidence": "v1"}
        for column, answer in answers.items()
    }
    return read_record(Paper(slug, Path(slug), {"title": slug, "tags": list(tags), "facts": facts}, ""))


def found(matrix: Matrix, size: int = 2) -> dict[tuple[str, ...], str]:
    return {one.keys: one.status for one in gaps(matrix, size)}


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    workspace = load_workspace(Path(__file__).resolve().parents[2])
    records = [read_record(paper) for paper in Library.load(workspace).papers.values()]
    return matrix_of(records, read_traits(workspace))


# ---------------------------------------------------------------- the records of this repository


@pytest.mark.parametrize(
    ("keys", "near"),
    [
        (("multi_agent", "efficient_tree_sampling"), {"treerl": "multi_agent", "at_grpo": "efficient_tree_sampling"}),
        (
            ("multi_agent", "process_reward", "hierarchical_advantage"),
            {"treerl": "multi_agent", "masprm": "hierarchical_advantage", "mappa": "hierarchical_advantage"},
        ),
        (("adaptive_mixing",), {"at_grpo": "adaptive_mixing"}),
    ],
)
def test_the_three_gaps_of_the_landscape_note_are_among_the_first_four(
    matrix: Matrix, keys: tuple[str, ...], near: dict[str, str]
) -> None:
    first = gaps(matrix, 3)[:4]
    one = next(one for one in first if one.keys == keys)
    assert one.status == "gap" and not one.covered_by
    nearest = {n.record.paper.slug: [trait.key for trait in n.lacks] for n in one.nearest[:5]}
    for slug, lacking in near.items():
        assert nearest[slug] == [lacking]


def test_gigpo_and_masprm_each_have_half_of_the_second_gap(matrix: Matrix) -> None:
    assert matrix.has("gigpo", "hierarchical_advantage") == "yes" and matrix.has("gigpo", "multi_agent") == "no"
    assert matrix.has("masprm", "process_reward") == "yes" and matrix.has("masprm", "multi_agent") == "yes"


def test_cells_that_nobody_looked_up_are_asked_about(matrix: Matrix) -> None:
    second = next(
        one for one in gaps(matrix, 3) if "hierarchical_advantage" in one.keys and "process_reward" in one.keys
    )
    asked = {near.record.paper.slug: [trait.key for trait in near.unknown] for near in second.questions}
    assert asked["m_grpo"] == ["process_reward"]
    assert "asynchronous" in [trait.key for trait in matrix.hardly_checked]
    assert all(one.status == "question" for one in gaps(matrix, 3) if "asynchronous" in one.keys)


def test_cosac_stands_closest_to_the_own_proposal_and_what_differs_is_said(matrix: Matrix) -> None:
    (proposal,) = matrix.proposals
    assert proposal.paper.slug == "cad_grpo" and proposal not in matrix.papers
    nearest, second = closest(matrix, proposal, 2)
    assert nearest.other.paper.slug == "cosac" and nearest.weight > second.weight
    assert [trait.key for trait in nearest.few] == ["regression_credit"]
    assert "counterfactual" in [trait.key for trait in nearest.differs]
    english = likeness_text(nearest, "en", None)
    assert "COSAC (2604.17693)" in english
    assert "the features are quality indicators | COSAC: yes, ridge regression, the features are actions" in english
    assert "特征是质量指标 | COSAC: 是，岭回归，特征是动作" in likeness_text(nearest, "zh", None)
    assert "Extra LLM calls: CAD-GRPO: no, unless" in english


def test_lists_tables_and_data_agree(matrix: Matrix) -> None:
    every = gaps(matrix, 3)
    text = gap_list(matrix, every, "zh", 3, 4)
    assert "1. 自适应 team/local 权重" in text and "多智能体 + 高效树采样" in text
    assert "Stronger-MAS: 缺 高效树采样 (采样量随智能体数和轮数成倍增长)" in text
    assert len(gap_table(matrix, every, "en").rows) == len(every)
    data = gap_data(matrix, every, [closest(matrix, matrix.proposals[0], 1)[0]])
    assert data["combinations"][0]["traits"] == ["adaptive_mixing"]
    assert data["proposals"][0]["other"] == "cosac"
    table = matrix_table(matrix, "zh")
    assert len(table.rows) == len(matrix.papers) + 1 and table.rows[-1][0].text == "CAD-GRPO"
    assert {cell.text for row in table.rows for cell in row[1:]} == {"是", "否", "未说明", "未查"}


# ---------------------------------------------------------------- what counts


def test_a_combination_is_a_gap_when_every_paper_is_known_to_lack_part_of_it() -> None:
    matrix = matrix_of([record("x", a="yes", b="no"), record("y", a="no", b="yes, much")], TRAITS[:2])
    assert found(matrix) == {("a", "b"): "gap"}
    (one,) = gaps(matrix, 2)
    assert {(n.record.paper.slug, n.lacks[0].key) for n in one.nearest} == {("x", "b"), ("y", "a")}


def test_a_paper_that_nobody_looked_into_makes_a_question_of_it() -> None:
    records = [record("x", a="yes"), record("y", a="no", b="yes"), record("z", a="no", b="no")]
    (one,) = gaps(matrix_of(records, TRAITS[:2]), 2)
    assert one.status == "question"
    assert [(n.record.paper.slug, n.unknown[0].key) for n in one.questions] == [("x", "b")]
    # One open record among many does not hide the gap, but is still asked about.
    many = [*records, *(record(f"w{i}", a="no", b="no") for i in range(4))]
    (one,) = gaps(matrix_of(many, TRAITS[:2]), 2)
    assert one.status == "gap"
    assert [(r.paper.slug, t.key, n) for r, t, n in questions([one])] == [("x", "b", 1)]


def test_not_stated_is_no_cover_and_no_question() -> None:
    records = [record("x", a="yes", b="not stated"), record("y", a="no", b="yes")]
    (one,) = gaps(matrix_of(records, TRAITS[:2]), 2)
    assert one.status == "gap" and not one.questions
    assert "looked for and not found in: x" in gap_list(matrix_of(records, TRAITS[:2]), [one], "en", 2, 5)


def test_drafts_proposals_and_surveys_cover_nothing() -> None:
    draft = {"value": "yes", "level": "draft", "evidence": "p. 2"}
    both = {"a": "yes", "b": "yes"}
    filler = [record(f"w{i}", a="no", b="no") for i in range(9)]
    records = [
        record("draft", a="yes", b=draft), record("mine", ("own-proposal",), **both), record("s", ("survey",), **both),
        record("y", a="no", b="yes"), *filler,
    ]  # fmt: skip
    (one,) = gaps(matrix_of(records, TRAITS[:2]), 2)
    assert one.status == "gap"
    assert [p.paper.slug for p in one.proposals] == ["mine"]
    assert [n.record.paper.slug for n in one.questions] == ["draft"]


def test_what_a_capability_needs_decides_it_and_is_not_repeated() -> None:
    traits = (TRAITS[0], Trait("b", "b", "yes", "mechanism", {"en": "B"}, needs="a"), TRAITS[2])
    matrix = matrix_of([record("x", a="no", c="yes"), record("y", a="yes", b="yes", c="no")], traits)
    assert matrix.has("x", "b") == "no"
    assert ("a", "b") not in [one.keys for one in combinations(matrix, 2)]
    # a and c is open, and b needs a, so b and c says nothing more.
    assert found(matrix) == {("a", "c"): "gap"}


def test_a_wanted_no_counts_as_having_it() -> None:
    cheap = Trait("cheap", "calls", "no", "cost", {"en": "no calls"})
    matrix = matrix_of([record("x", calls="no, none"), record("y", calls="yes"), record("z")], (cheap,))
    assert [matrix.has(slug, "cheap") for slug in "xyz"] == ["yes", "no", "not checked"]


ANSWERS = st.sampled_from(["yes", "no", "not stated", None])


@settings(deadline=None)
@given(st.lists(st.tuples(ANSWERS, ANSWERS, ANSWERS, ANSWERS), min_size=1, max_size=7))
def test_listed_gaps_are_the_smallest_and_every_uncovered_combination_holds_one(
    rows: list[tuple[str | None, ...]],
) -> None:
    records = [
        record(f"p{i}", **{key: answer for key, answer in zip(KEYS, row, strict=True) if answer})
        for i, row in enumerate(rows)
    ]
    listed = gaps(matrix_of(records, TRAITS), 3)
    keys = [set(one.keys) for one in listed]
    closed = [set(one.keys) for one in listed if one.status == "gap"]
    for size in (1, 2, 3):
        for columns in itertools.combinations(range(4), size):
            wanted = {KEYS[column] for column in columns}
            covered = any(all(row[column] == "yes" for column in columns) for row in rows)
            assert covered == (not any(smaller <= wanted for smaller in keys))
    for one in closed:
        assert not any(other < one for other in closed)


def test_an_unknown_capability_is_refused_with_near_names() -> None:
    matrix = matrix_of([record("x", a="yes")], read_traits(None))
    with pytest.raises(UsageError) as caught:
        narrowed(matrix, ["tree_sampeling"])
    assert "tree_sampling" in caught.value.hint
    assert [trait.key for trait in narrowed(matrix, ["group_free", "multi_agent"]).traits] == [
        "multi_agent",
        "group_free",
    ]

"""Anchor states: exact ones against GiGPO's released grouping, likeness and clusters on small texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reproductions.anchors import clustered_anchors, exact_anchors, similar_anchors
from reproductions.core import Batch, from_rows

Cases = Callable[[str], dict[str, Any]]


def partition(labels: np.ndarray | list[Any]) -> set[frozenset[int]]:
    """The groups of positions with equal labels."""
    positions: dict[Any, set[int]] = {}
    for position, label in enumerate(labels):
        positions.setdefault(label, set()).add(position)
    return {frozenset(group) for group in positions.values()}


@pytest.mark.parametrize("coded", [False, True])
def test_exact_states_of_one_task(single_agent: Cases, coded: bool) -> None:
    given = single_agent("gigpo_advantages")["inputs"]
    state = [int(name[1:]) for name in given["anchor_obs"]] if coded else given["anchor_obs"]
    batch, at = from_rows(given["group"], given["traj"], state_pknt=state)
    if coded:
        batch = batch.replace(state_pknt=batch.need("state_pknt").astype(np.int64))
    assert partition(exact_anchors(batch)[at].tolist()) == partition(given["step_group_id"])


def test_agents_and_turns_can_be_kept_apart() -> None:
    batch = Batch.of(state_pknt=np.full((2, 2, 2, 2), "same", dtype=object))
    for within, keys in (("", 1), ("p", 2), ("pn", 4), ("pnt", 8)):
        assert len(np.unique(exact_anchors(batch, within))) == keys
        assert len(np.unique(similar_anchors(batch, within))) == keys


def test_likeness_joins_the_first_that_fits_and_depends_on_the_order() -> None:
    # difflib ratios: abcd-abce 0.75, abce-abfe 0.75, abcd-abfe 0.5
    def groups(texts: list[str]) -> set[frozenset[int]]:
        batch, at = from_rows([0] * 3, [0] * 3, state_pknt=texts)
        return partition(similar_anchors(batch, threshold=0.7)[at].tolist())

    assert groups(["abcd", "abce", "abfe"]) == {frozenset({0, 1}), frozenset({2})}
    assert groups(["abce", "abcd", "abfe"]) == {frozenset({0, 1, 2})}


def test_masked_actions_found_no_group() -> None:
    acted = np.array([True, False, True]).reshape(1, 1, 1, 3)
    batch = Batch.of(state_pknt=np.array(["x", "y", "y"], dtype=object).reshape(1, 1, 1, 3), acted_pknt=acted)
    assert batch.group_by(similar_anchors(batch)).members[0, 0, 0, [0, 2]].tolist() == [1.0, 1.0]


def test_clusters_of_vectors_within_a_task() -> None:
    near, far = [1.0, 0.0], [0.0, 1.0]
    vector = np.array([[near, [1.0, 0.05], far], [near, far, [0.05, 1.0]]]).reshape(2, 1, 1, 3, 2)
    key = clustered_anchors(Batch.of(state_vector_pkntf=vector)).reshape(-1)
    assert partition(key.tolist()) == {frozenset({0, 1}), frozenset({2}), frozenset({3}), frozenset({4, 5})}

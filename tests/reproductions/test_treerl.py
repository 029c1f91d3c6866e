"""TreeRL on one tree, by the printed formula and by the authors' code, which give different numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch, ParameterError
from reproductions.methods import treerl


def paths_of(nodes: list[dict[str, Any]]) -> tuple[Batch, dict[str, tuple[int, int]]]:
    """A batch with one rollout per leaf, and where each named node is: (rollout, turn)."""
    by_name, number = {node["name"]: node for node in nodes}, {node["name"]: u for u, node in enumerate(nodes)}
    paths = []
    for leaf in nodes:
        if leaf["reward"] is not None:
            path, name = [], leaf["name"]
            while by_name[name]["parent"] is not None:
                path.insert(0, name)
                name = by_name[name]["parent"]
            paths.append(path)
    at = {name: (k, t) for k, path in enumerate(paths) for t, name in enumerate(path)}
    batch = Batch.of(
        reward_pk=[[by_name[path[-1]]["reward"] for path in paths]],
        node_pknt=[[[[number[name] for name in path]] for path in paths]],
        length_pknt=[[[[by_name[name]["tokens"] for name in path]] for path in paths]],
    )
    return batch, at


@pytest.mark.parametrize(
    ("name", "preset", "key"), [("treerl_paper", "paper", "R"), ("treerl_code", "authors_code", "reward")]
)
def test_a_tree_of_six_leaves(single_agent: Any, name: str, preset: str, key: str) -> None:
    case = single_agent(name)
    batch, at = paths_of(case["inputs"]["nodes"])
    advantage = treerl.METHOD.run(batch, preset).advantage_pknt[0, :, 0]
    assert set(case["expected"]) == set(at)
    for node, expected in case["expected"].items():
        assert_allclose(advantage[at[node]], expected[key], atol=case["tolerance"], err_msg=node)


def test_in_the_code_a_segment_that_changes_nothing_takes_over_the_one_before() -> None:
    # A chain: segment 0 is continued by segment 1 alone, which is continued by segment 2 alone. Against it, segment 3.
    batch = Batch.of(
        reward_pk=[[1.0, 0.0]],
        node_pknt=[[[[0, 1, 2]], [[3, 0, 0]]]],
        acted_pknt=[[[[1, 1, 1]], [[1, 0, 0]]]],
        length_pknt=[[[[1, 1, 1]], [[3, 0, 0]]]],
    )
    found = treerl.METHOD.run(batch, "authors_code").advantage_pknt
    # Leave-one-out rewards 1 and -1, whose mean over six tokens is 0; the root is 0, so difference and value are both 1.
    assert_allclose(found[0, 0, 0], 2.0, atol=1e-12)
    assert_allclose(found[0, 1, 0], [-2.0, 0.0, 0.0], atol=1e-12)
    # By the formula a segment that changes nothing keeps its global part only.
    assert_allclose(treerl.METHOD.run(batch).advantage_pknt[0, 0, 0], [1.0, 0.5, 0.5], atol=1e-12)


def test_paths_that_share_nothing_are_rollouts_against_their_mean() -> None:
    batch = Batch.of(reward_pk=[[1.0, 0.0, 0.0]], node_pknt=np.arange(3).reshape(1, 3, 1, 1))
    assert_allclose(treerl.METHOD.run(batch).advantage_pknt.ravel(), 2 * np.array([2 / 3, -1 / 3, -1 / 3]), atol=1e-12)


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ParameterError, match="no variant 'both'"):
        treerl.METHOD.run(treerl.example().batch, variant="both")

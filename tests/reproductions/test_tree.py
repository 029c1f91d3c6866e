"""Trees read from paths: two reasoners with two actors each, a path visited twice, a gap in a path."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import ROOT, Batch, BatchError, Tree

# prompt 0, rollouts as paths over (agent 0, agent 1): r0-a0, r0-a1, r1-b0, r1-b0 again
NODES = np.array([[10, 20], [10, 21], [11, 30], [11, 30]]).reshape(1, 4, 2, 1)


def test_parents_leaves_visits_and_means() -> None:
    batch = Batch.of(reward_pk=[[1.0, 0.0, 1.0, 0.0]], node_pknt=NODES)
    tree = Tree.of(batch)  # nodes in the order of their ids: 10 11 20 21 30
    assert tree.parent_u.tolist() == [ROOT, ROOT, 0, 0, 1]
    assert tree.agent_u.tolist() == [0, 0, 1, 1, 1]
    assert tree.is_leaf_u.tolist() == [False, False, True, True, True]
    assert tree.visits_u.tolist() == [2, 2, 1, 1, 2]
    assert tree.mean_below_u(batch, batch.need("reward_pk")).tolist() == [0.5, 0.5, 1.0, 0.0, 0.5]
    key = tree.sibling_key_u()
    assert key[0] == key[1] and key[2] == key[3] and len({key[0], key[2], key[4]}) == 3
    assert tree.spread(np.arange(5.0))[0, :, :, 0].tolist() == [[0, 2], [0, 3], [1, 4], [1, 4]]


def test_a_gap_in_a_path_is_stepped_over() -> None:
    acted = np.array([[True, True], [False, True]]).reshape(1, 1, 2, 2)  # agent 1 is not asked in turn 0
    tree = Tree.of(Batch.of(node_pknt=np.array([[5, 6], [0, 7]]).reshape(1, 1, 2, 2), acted_pknt=acted))
    assert tree.parent_u.tolist() == [ROOT, 0, 1]
    assert tree.index_pknt[0, 0].tolist() == [[0, 1], [ROOT, 2]]


def test_a_node_with_two_parents_is_refused_by_its_id() -> None:
    with pytest.raises(BatchError, match="node 20 of node_pknt has several parents"):
        Tree.of(Batch.of(node_pknt=np.array([[10, 20], [11, 20]]).reshape(1, 2, 2, 1)))
    with pytest.raises(BatchError, match="node 3 of node_pknt has several prompts"):
        Tree.of(Batch.of(node_pknt=np.array([3, 3]).reshape(2, 1, 1, 1)))

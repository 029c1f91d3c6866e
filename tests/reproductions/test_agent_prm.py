"""Agent process values: by hand, the sum along a path, and how they relate to C3."""

from __future__ import annotations

import numpy as np

from reproductions.methods import agent_prm, c3


def test_value_added_by_hand() -> None:
    advantage = agent_prm.METHOD.run(agent_prm.example().batch).advantage_pknt[0, :, :, 0]
    np.testing.assert_allclose(advantage, [[0.25, 0], [0.25, 0], [-0.25, -0.5], [-0.25, 0.5]], atol=1e-12)


def test_along_a_path_the_credits_add_up_to_the_rollouts_surplus() -> None:
    rng = np.random.default_rng(0)
    batch = agent_prm.example().batch.replace(reward_pk=rng.normal(size=(1, 4)))
    reward = batch.need("reward_pk")
    total = agent_prm.METHOD.run(batch).advantage_pknt.sum(axis=(2, 3))
    np.testing.assert_allclose(total, reward - reward.mean(), atol=1e-12)


def test_with_equal_fanout_it_is_c3_with_the_full_mean() -> None:
    batch = c3.example().batch
    np.testing.assert_allclose(
        agent_prm.METHOD.run(batch).advantage_pknt, c3.METHOD.run(batch, "full_mean").advantage_pknt, atol=1e-12
    )


def test_per_agent_units() -> None:
    advantage = agent_prm.METHOD.run(agent_prm.example().batch, "per_agent").advantage_pknt[0, :, :, 0]
    root = np.sqrt(2)
    np.testing.assert_allclose(advantage, [[1, 0], [1, 0], [-1, -root], [-1, root]], atol=1e-12)

"""Difference rewards: by hand, and COMA as the aristocrat utility of a critic."""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch
from reproductions.methods import coma, difference_rewards


def test_carried_redundant_and_complementary_agents() -> None:
    advantage = difference_rewards.METHOD.run(difference_rewards.example().batch).advantage_pknt
    np.testing.assert_array_equal(advantage[0, :, :, 0], [[1, 0], [0, 0], [1, 1]])


def test_the_aristocrat_utility_with_an_exact_critic_is_coma() -> None:
    rng = np.random.default_rng(1)
    value, action = rng.normal(size=(2, 3, 2, 1, 4)), rng.integers(0, 4, (2, 3, 2, 1))
    reward = rng.normal(size=(2, 3))
    # An exact critic gives the joint action that was taken the reward it earned.
    np.put_along_axis(value, action[..., None], reward[:, :, None, None, None], axis=-1)
    batch = Batch.of(
        reward_pk=reward,
        masked_reward_pkn=np.zeros((2, 3, 2)),
        action_value_pknta=value,
        policy_pknta=rng.dirichlet(np.ones(4), size=(2, 3, 2, 1)),
        action_pknt=action,
    )
    found = difference_rewards.METHOD.run(batch, "aristocrat").advantage_pknt
    np.testing.assert_allclose(found, coma.METHOD.run(batch).advantage_pknt, atol=1e-12)

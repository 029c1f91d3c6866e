"""Difference rewards: by hand, and COMA as the aristocrat utility of a critic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.methods import coma, difference_rewards


def test_carried_redundant_and_complementary_agents() -> None:
    advantage = difference_rewards.METHOD.run(difference_rewards.example().batch).advantage_pknt
    np.testing.assert_array_equal(advantage[0, :, :, 0], [[1, 0], [0, 0], [1, 1]])


def test_three_agents_and_a_known_team_utility(single_agent: Any) -> None:
    case = single_agent("difference_rewards")
    given, expected = case["inputs"], case["expected"]

    def utility(z: list[int]) -> float:
        return min(z[0] + z[1], 2) * (1 + z[2])

    def replaced(agent: int, action: int) -> float:
        return utility([*given["joint_action"][:agent], action, *given["joint_action"][agent + 1 :]])

    agents = range(3)
    batch = Batch.of(
        reward_pk=[[utility(given["joint_action"])]],
        masked_reward_pkn=[[[replaced(n, given["default_action"][n]) for n in agents]]],
        action_value_pknta=[[[[[replaced(n, action) for action in given["action_set"]]] for n in agents]]],
        policy_pknta=[[[[policy] for policy in given["policies"]]]],
        action_pknt=[[[[action] for action in given["joint_action"]]]],
    )
    assert batch.need("reward_pk").item() == expected["G"]
    wonderful_life = difference_rewards.METHOD.run(batch).advantage_pknt.ravel()
    aristocrat = difference_rewards.METHOD.run(batch, "aristocrat").advantage_pknt.ravel()
    assert wonderful_life == pytest.approx(expected["wlu_default"], abs=case["tolerance"])
    assert aristocrat == pytest.approx(expected["aristocrat"], abs=case["tolerance"])


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

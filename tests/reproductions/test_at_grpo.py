"""AT-GRPO: values of the authors' code (pettingllms-ai/PettingLLMs at a054fb1), float32; the greedy tree."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.methods import at_grpo


def test_groups_are_environment_agent_and_turn() -> None:
    credit = at_grpo.METHOD.run(at_grpo.example().batch)
    expected_ntk = [
        [[-1.305576, 0.783345, -0.261115, 0.783345], [0.925818, 0, -1.388727, 0.462909]],
        [[-0.639602, 0.852802, -1.066002, 0.852802], [0.833332, 0.833332, -0.499999, -1.166665]],
    ]
    np.testing.assert_allclose(np.moveaxis(credit.advantage_pknt[0], 0, 2), expected_ntk, atol=1e-5)
    np.testing.assert_array_equal(credit.diagnostics["chosen_pnt"], [[[1, 0], [1, 0]]])


@pytest.mark.parametrize(
    ("preset", "expected"),
    [("population", [-0.738549, 0.984732, -1.230915, 0.984732]), ("mean_only", [-0.6, 0.8, -1, 0.8])],
)
def test_other_readings_of_the_equation(preset: str, expected: list[float]) -> None:
    advantage = at_grpo.METHOD.run(at_grpo.example().batch, preset).advantage_pknt
    np.testing.assert_allclose(advantage[0, :, 1, 0], expected, atol=1e-5)


def test_a_single_candidate_gets_nothing() -> None:
    acted = np.array([[1, 1], [1, 0]], dtype=bool)[:, :, None, None]
    local = np.array([[1, 0], [0.7, 0]])[:, :, None, None]
    batch = Batch.of(acted_pknt=acted, reward_pk=np.zeros((2, 2)), local_reward_pknt=local)
    advantage = at_grpo.METHOD.run(batch).advantage_pknt
    np.testing.assert_allclose(advantage.ravel(), [0.707106, -0.707106, 0, 0], atol=1e-5)


def test_team_and_local_reward_are_added_with_weight_alpha() -> None:
    batch = Batch.of(reward_pk=[[1, 0]], local_reward_pknt=[[[[0.0]], [[1.5]]]])
    np.testing.assert_allclose(at_grpo.mixed_reward(batch, 2.0).ravel(), [2.0, 1.5])


def test_independent_rollouts_are_compared_only_where_they_saw_the_same_state() -> None:
    state = np.array([["a", "x"], ["a", "y"]], dtype=object)[None, :, None, :]
    batch = Batch.of(reward_pk=[[0, 0]], local_reward_pknt=[[[[1, 1]], [[0, 0]]]], state_pknt=state)
    advantage = at_grpo.METHOD.run(batch, "same_state").advantage_pknt[0, :, 0]
    np.testing.assert_allclose(advantage, [[0.707106, 0], [-0.707106, 0]], atol=1e-5)


def test_the_greedy_tree_moves_on_with_the_best_candidate_of_each_agent() -> None:
    # The state is a sum; candidates add -1, 0 or 1 and pay what the sum then is.
    reward, chosen, last = at_grpo.greedy_rollout(
        0, lambda state, agent, turn: [-1, 0, 1], lambda state, agent, action: (state + action, state + action), 2, 2
    )
    np.testing.assert_array_equal(chosen, [[2, 2], [2, 2]])
    np.testing.assert_array_equal(reward[:, :, 0], [[-1, 0], [0, 1], [1, 2]])
    np.testing.assert_array_equal(reward[:, :, 1], [[1, 2], [2, 3], [3, 4]])
    assert last == 4

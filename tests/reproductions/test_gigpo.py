"""GiGPO against its author's code in both normalisations and both episode conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch, ParameterError, from_rows, leave_one_out
from reproductions.methods import dr_grpo, gigpo, reinforce

CONVENTIONS = {
    "paper": "mean_norm|cross_steps=False",
    "paper_std": "mean_std_norm|cross_steps=False",
    "authors_code": "mean_norm|cross_steps=True",
    "authors_code_std": "mean_std_norm|cross_steps=True",
}


@pytest.fixture
def two_tasks(single_agent: Any) -> tuple[Batch, Any]:
    """Five trajectories of two tasks, as rows, and where their rows are in the batch."""
    given = single_agent("gigpo_advantages")["inputs"]
    return from_rows(
        given["group"],
        given["traj"],
        reward_pk=given["episode_return_per_step"],
        state_pknt=given["anchor_obs"],
        step_reward_pknt=single_agent("gigpo_step_returns")["inputs"]["step_rewards"],
    )


def test_returns_to_go_as_the_author(single_agent: Any, two_tasks: tuple[Batch, Any]) -> None:
    batch, at = two_tasks
    assert_allclose(reinforce.returns_to_go(batch, 0.95)[at], single_agent("gigpo_step_returns")["expected"], atol=1e-6)


@pytest.mark.parametrize(("preset", "name"), CONVENTIONS.items())
def test_both_parts_and_their_sum_as_the_author(
    single_agent: Any, two_tasks: tuple[Batch, Any], preset: str, name: str
) -> None:
    batch, at = two_tasks
    credit, expected = gigpo.METHOD.run(batch, preset), single_agent("gigpo_advantages")["expected"][name]
    assert_allclose(credit.diagnostics["episode_pknt"][at], expected["episode"], atol=1e-5)
    assert_allclose(credit.diagnostics["step_pknt"][at], expected["step"], atol=1e-5)
    assert_allclose(credit.advantage_pknt[at], expected["combined_w1"], atol=1e-5)


def test_without_the_step_part_it_is_dr_grpo_and_a_share_of_leave_one_out(two_tasks: tuple[Batch, Any]) -> None:
    batch, _ = two_tasks
    episode = gigpo.METHOD.run(batch, omega=0.0).advantage_pknt
    assert_allclose(episode, dr_grpo.METHOD.run(batch).advantage_pknt, atol=1e-12)
    groups = batch.group("pk", same="p")
    share = (groups.members - 1) / groups.members
    assert_allclose(episode, batch.spread(share * leave_one_out(batch.need("reward_pk"), groups), "pk"), atol=1e-12)


def test_states_that_nobody_shares_add_nothing(two_tasks: tuple[Batch, Any]) -> None:
    batch, _ = two_tasks
    alone = batch.replace(state_pknt=np.arange(batch.acted_pknt.size).reshape(batch.shape))
    assert_allclose(gigpo.METHOD.run(alone).diagnostics["step_pknt"], 0.0)


def test_alike_states_join_where_equal_ones_are_asked_for_or_not() -> None:
    states = [[[["You see a red door. Step 1"]], [["You see a red door. Step 2"]]]]
    batch = Batch.of(reward_pk=[[1.0, 0.0]], state_pknt=states)
    assert_allclose(gigpo.METHOD.run(batch).diagnostics["step_pknt"], 0.0)
    joined = gigpo.METHOD.run(batch, anchor="similar", threshold=0.9).diagnostics["step_pknt"].ravel()
    assert_allclose(joined, [0.5, -0.5])
    # One letter of 26 differs: a ratio of 25/26.
    strict = gigpo.METHOD.run(batch, anchor="similar", threshold=0.97).diagnostics["step_pknt"]
    assert_allclose(strict, 0.0)
    with pytest.raises(ParameterError, match="no anchor 'close'"):
        gigpo.METHOD.run(batch, anchor="close")


def test_vectors_of_states_can_stand_for_them() -> None:
    vectors = [[[[[1.0, 0.0]]], [[[1.0, 0.01]]], [[[0.0, 1.0]]]]]
    batch = Batch.of(reward_pk=[[1.0, 0.0, 1.0]], state_pknt=[[[["a"]], [["b"]], [["c"]]]], state_vector_pkntf=vectors)
    step = gigpo.METHOD.run(batch, anchor="clustered", distance=0.1).diagnostics["step_pknt"].ravel()
    assert_allclose(step, [0.5, -0.5, 0.0])


def test_a_lone_episode_keeps_its_return_in_the_code_only() -> None:
    batch = Batch.of(reward_pk=[[0.7]], state_pknt=[[[["s"]]]])
    assert_allclose(gigpo.METHOD.run(batch).advantage_pknt, 0.0)
    assert_allclose(gigpo.METHOD.run(batch, "authors_code").advantage_pknt, 0.7)

"""MA-GiGPO: a small team by hand, and the GiGPO that it comes from."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from random_batches import make_batch

from reproductions.core import Batch
from reproductions.methods import dr_grpo, gigpo, ma_gigpo


def test_planner_and_worker_by_hand() -> None:
    # Mean reward 1/4, so A^E is 3/4, -1/4, -1/4, -1/4 for both. The planner's four actions share a state: A^S = A^E.
    # The worker saw plan a in rollouts 0 and 1 (mean 1/2: +1/2, -1/2) and plan b in 2 and 3 (mean 0: 0, 0).
    states = [[[["task"], ["a"]], [["task"], ["a"]], [["task"], ["b"]], [["task"], ["b"]]]]
    batch = Batch.of(reward_pk=[[1, 0, 0, 0]], state_pknt=states)
    advantage = ma_gigpo.METHOD.run(batch, gamma=1.0).advantage_pknt[0, :, :, 0]
    assert_allclose(advantage[:, 0], [1.5, -0.5, -0.5, -0.5], atol=1e-12)
    assert_allclose(advantage[:, 1], [1.25, -0.75, -0.25, -0.25], atol=1e-12)


def test_the_turn_parts_actions_that_the_state_joins() -> None:
    # One agent, state "s" at both turns of two rollouts, rewards 1 and 0, gamma 1/2: returns 0.5, 1 and 0, 0.
    # Within a turn: +-1/4 at turn 0, +-1/2 at turn 1. Over both turns the mean is 3/8: 1/8, 5/8, -3/8, -3/8.
    batch = Batch.of(reward_pk=[[1, 0]], state_pknt=np.full((1, 2, 1, 2), "s", dtype=object))
    by_turn = ma_gigpo.METHOD.run(batch, gamma=0.5).diagnostics["step_pknt"][0, :, 0]
    assert_allclose(by_turn, [[0.25, 0.5], [-0.25, -0.5]], atol=1e-12)
    over_turns = ma_gigpo.METHOD.run(batch, "any_turn", gamma=0.5).diagnostics["step_pknt"][0, :, 0]
    assert_allclose(over_turns, [[0.125, 0.625], [-0.375, -0.375]], atol=1e-12)


def test_with_one_agent_it_is_gigpo() -> None:
    rng = np.random.default_rng(0)
    batch = make_batch(rng, rng.random((3, 5, 1, 4)) < 0.8)
    for division in ({}, {"mean_only": False, "eps": 1e-6}):
        found = ma_gigpo.METHOD.run(batch, "any_turn", **division).advantage_pknt
        assert_allclose(found, gigpo.METHOD.run(batch, **division).advantage_pknt, atol=1e-12)
    # Where the state tells the turn, grouping by turn changes nothing.
    turn = np.broadcast_to(np.arange(4).astype(str).astype(object), batch.shape)
    timed = batch.replace(state_pknt=batch.need("state_pknt") + turn)
    assert_allclose(ma_gigpo.METHOD.run(timed).advantage_pknt, gigpo.METHOD.run(timed).advantage_pknt, atol=1e-12)


def test_agents_in_the_same_state_are_not_compared_with_each_other() -> None:
    # Step rewards 1 (agent 0) and 0 (agent 1) in one state: GiGPO compares the two, MA-GiGPO each with itself over rollouts.
    batch = Batch.of(
        reward_pk=[[1, 1]],
        step_reward_pknt=[[[[1], [0]], [[1], [0]]]],
        state_pknt=np.full((1, 2, 2, 1), "s", dtype=object),
    )
    for preset in ("paper", "any_turn"):
        assert_allclose(ma_gigpo.METHOD.run(batch, preset).advantage_pknt, 0.0, atol=1e-12)
    assert_allclose(gigpo.METHOD.run(batch).diagnostics["step_pknt"][0, :, :, 0], [[0.5, -0.5]] * 2, atol=1e-12)


def test_without_the_inner_part_it_is_the_team_s_centred_return() -> None:
    batch = make_batch(np.random.default_rng(1), np.ones((2, 4, 3, 2), bool))
    batch = batch.replace(step_reward_pknt=None)
    assert_allclose(
        ma_gigpo.METHOD.run(batch, omega=0.0).advantage_pknt, dr_grpo.METHOD.run(batch).advantage_pknt, atol=1e-12
    )

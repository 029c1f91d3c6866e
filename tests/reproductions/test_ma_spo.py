"""MA-SPO: trackers and advantages by hand, and the SPO that it comes from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_batches import make_batch

from reproductions.core import Batch, BatchError, ParameterError
from reproductions.methods import ma_spo, spo
from reproductions.methods.spo import Tracker


def two_agents(**changes: object) -> Batch:
    fields = {"reward_pk": [[1], [0]], "local_reward_pknt": [[[[1], [0]]], [[[0], [1]]]], "prompt_id_p": ["x", "y"]}
    return Batch.of(**{**fields, **changes})


def test_advantages_and_trackers_by_hand() -> None:
    # Half team, half local: agent 0 gets 1 and 0, agent 1 gets 1/2 and 1/2. New trackers are (1/2, 1/2) with value 1/2.
    # Agent 0 is surprised by 1/2 and -1/2: over the sample deviation sqrt(1/2) that is +-1/sqrt(2). Agent 1 is not surprised.
    credit = ma_spo.METHOD.run(two_agents(), eps=0.0)
    assert_allclose(credit.advantage_pknt[:, 0, 0, 0], [0.5**0.5, -(0.5**0.5)], atol=1e-12)
    assert_allclose(credit.advantage_pknt[:, 0, 1, 0], 0.0)
    # Without drift 0.96 of the old counts is kept: 0.48 each, and then the rewards and what lacks to 1.
    assert credit.memory["x", 0] == pytest.approx((1.48, 0.48))
    assert credit.memory["y", 0] == pytest.approx((0.48, 1.48))
    assert credit.memory["x", 1] == pytest.approx((0.98, 0.98))


def test_the_next_batch_starts_from_what_each_agent_has_shown() -> None:
    first = ma_spo.METHOD.run(two_agents())
    value = ma_spo.METHOD.run(two_agents(), memory=first.memory).diagnostics["value_pn"]
    assert_allclose(value, [[1.48 / 1.96, 0.5], [0.48 / 1.96, 0.5]], atol=1e-12)


def test_an_agent_that_did_not_act_keeps_its_tracker() -> None:
    before = {("x", 1): Tracker(3.0, 1.0)}
    batch = two_agents(acted_pknt=[[[[True], [False]]], [[[True], [True]]]])
    credit = ma_spo.METHOD.run(batch, memory=before)
    assert credit.memory["x", 1] == Tracker(3.0, 1.0) and before == {("x", 1): Tracker(3.0, 1.0)}
    assert credit.advantage_pknt[0, 0, 1, 0] == 0


def test_a_rollout_without_the_agent_is_neither_its_success_nor_its_failure() -> None:
    # Two rollouts with reward 1, the second without agent 1: 0.48 of the old counts, and one success; agent 0 has two.
    batch = Batch.of(
        reward_pk=[[1, 1]], local_reward_pknt=np.zeros((1, 2, 2, 1)), acted_pknt=[[[[1], [1]], [[1], [0]]]]
    )
    memory = ma_spo.METHOD.run(batch, "team_only").memory
    assert memory[0, 0] == pytest.approx((2.48, 0.48)) and memory[0, 1] == pytest.approx((1.48, 0.48))


def test_with_one_agent_and_the_team_reward_it_is_spo() -> None:
    rng = np.random.default_rng(2)
    batch = make_batch(rng, rng.random((4, 3, 1, 2)) < 0.8)
    trackers = {1: Tracker(2.0, 5.0)}
    single = spo.METHOD.run(batch, memory=trackers)
    team = ma_spo.METHOD.run(batch, "team_only", memory={(1, 0): Tracker(2.0, 5.0)})
    assert_allclose(team.advantage_pknt, single.advantage_pknt, atol=1e-12)
    assert {name: tuple(tracker) for (name, _), tracker in team.memory.items()} == {
        name: pytest.approx(tuple(tracker)) for name, tracker in single.memory.items()
    }


def test_rewards_and_shares_outside_0_to_1_are_refused() -> None:
    with pytest.raises(BatchError, match=r"reward is 1\.5 at prompt 0, rollout 0, agent 0"):
        ma_spo.METHOD.run(two_agents(reward_pk=[[2], [0]]))
    with pytest.raises(ParameterError, match="local_share is 2"):
        ma_spo.METHOD.run(two_agents(), local_share=2.0)

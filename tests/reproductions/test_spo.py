"""SPO's tracker on four visits of one prompt, and the whitening over the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch, BatchError
from reproductions.methods import spo


def test_four_visits(single_agent: Any) -> None:
    case = single_agent("spo_tracker")
    tracker = spo.offline_tracker(case["inputs"]["offline_wins"], case["inputs"]["offline_n"])
    assert_allclose(tracker, [case["expected"]["alpha0"], case["expected"]["beta0"]], atol=1e-12)
    memory: Any = {"x": tracker}
    for drift, reward, step in zip(
        case["inputs"]["D"], case["inputs"]["rewards"], case["expected"]["steps"], strict=True
    ):
        before = memory["x"].value
        credit = spo.METHOD.run(Batch.of(reward_pk=[[reward]], prompt_id_p=["x"], drift_p=[drift]), memory=memory)
        memory = credit.memory
        assert_allclose([before, reward - before], [step["v_before"], step["advantage_raw"]], atol=1e-12)
        assert_allclose([*memory["x"], memory["x"].value], [step["alpha"], step["beta"], step["v_after"]], atol=1e-12)
        assert_allclose(spo.sampling_weight(before), step["sampling_weight"], atol=1e-12)


def test_the_update_is_a_step_of_decreasing_size() -> None:
    tracker = spo.Tracker(3.0, 5.0)
    after = tracker.after(1.0, 0.0, 0.0, 0.06, 0.875, 0.96)
    size = 1 / (0.96 * 8 + 1)
    assert_allclose(after.value, tracker.value + size * (1 - tracker.value), atol=1e-12)


def test_the_batch_is_whitened_around_the_values_from_before() -> None:
    batch = Batch.of(reward_pk=[[1], [0], [1]], prompt_id_p=["easy", "new", "hard"])
    memory = {"easy": spo.Tracker(9.0, 1.0), "hard": spo.Tracker(1.0, 9.0)}
    surprise = np.array([0.1, -0.5, 0.9])
    expected = (surprise - surprise.mean()) / (surprise.std(ddof=1) + 1e-8)
    credit = spo.METHOD.run(batch, memory=memory)
    assert_allclose(credit.advantage_pknt.ravel(), expected, atol=1e-12)
    assert memory == {"easy": spo.Tracker(9.0, 1.0), "hard": spo.Tracker(1.0, 9.0)}


def test_prompts_that_were_not_sampled_keep_their_trackers() -> None:
    memory = {"away": spo.Tracker(2.0, 2.0)}
    credit = spo.METHOD.run(Batch.of(reward_pk=[[1.0, 0.0]], prompt_id_p=["here"]), memory=memory)
    assert credit.memory["away"] == spo.Tracker(2.0, 2.0)
    assert_allclose(credit.memory["here"], [0.96 * 0.5 + 1, 0.96 * 0.5 + 1], atol=1e-12)


def test_rewards_that_are_no_share_of_success_are_refused_by_place() -> None:
    with pytest.raises(BatchError, match=r"reward_pk is 1\.5 at prompt 1, rollout 0"):
        spo.METHOD.run(Batch.of(reward_pk=[[1.0], [1.5]]))


def test_without_samples_a_prompt_starts_even() -> None:
    assert spo.offline_tracker(0, 0) == spo.Tracker(0.5, 0.5)

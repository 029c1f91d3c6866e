"""MAPPO: the value loss of its authors' code, and its advantages by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.losses import value_loss
from reproductions.methods import mappo


def test_the_value_loss_of_the_authors(single_agent: Any) -> None:
    case = single_agent("mappo_value_loss")
    value, old, target, active = (
        np.array(case["inputs"][name]) for name in ("values", "old_values", "returns", "active_masks")
    )
    settings = case["parameters"]
    loss = value_loss(value, target, old, settings["clip_param"], settings["huber_delta"])
    tolerance = case["tolerance"]
    assert (loss * active).sum() / active.sum() == pytest.approx(case["expected"]["active_masked"], abs=tolerance)
    assert loss.mean() == pytest.approx(case["expected"]["unmasked"], abs=tolerance)


def test_a_reward_counts_for_an_agent_that_is_out_of_the_game() -> None:
    example = mappo.example()
    credit = mappo.METHOD.run(example.batch, example.preset, **example.parameters)
    np.testing.assert_allclose(credit.advantage_pknt[0, 0], [[0.5, 0.25], [0.75, 0]], atol=1e-12)
    np.testing.assert_allclose(credit.diagnostics["target_pknt"][0, 0], [[1, 1], [1, 0]], atol=1e-12)


def test_td_errors_with_the_teams_reward_for_both_agents() -> None:
    batch = Batch.of(
        reward_pk=[[3]],
        step_reward_pknt=[[[[1, 0], [0, 2]]]],
        value_pknt=[[[[0.5, 0.2], [0.1, 0.3]]]],
        final_value_pkn=[[[1.0, 0.0]]],
    )
    advantage = mappo.METHOD.run(batch, "raw", gamma=0.5, lam=0.0).advantage_pknt[0, 0]
    expected = [[1 + 0.5 * 0.2 - 0.5, 2 + 0.5 - 0.2], [1 + 0.5 * 0.3 - 0.1, 2 - 0.3]]
    np.testing.assert_allclose(advantage, expected, atol=1e-12)


def test_whitened_with_the_population_deviation_over_those_who_acted() -> None:
    # Raw advantages 1, 2 and 3: mean 2, population variance 2/3.
    batch = Batch.of(
        reward_pk=[[1, 2], [3, 9]],
        value_pknt=np.zeros((2, 2, 1, 1)),
        acted_pknt=np.array([[1, 1], [1, 0]])[:, :, None, None],
    )
    advantage = mappo.METHOD.run(batch).advantage_pknt[:, :, 0, 0]
    unit = 1 / (np.sqrt(2 / 3) + 1e-5)
    np.testing.assert_allclose(advantage, [[-unit, 0], [unit, 0]], atol=1e-12)


def test_the_policy_loss_is_a_mean_over_active_entries() -> None:
    ratio, advantage = np.array([1.5, 0.5, 7.0]), np.array([1.0, -1.0, 100.0])
    # -min(1.5, 1.2) and -min(-0.5, -0.8); the third is inactive.
    assert mappo.policy_loss(ratio, advantage, np.array([True, True, False])) == pytest.approx((-1.2 + 0.8) / 2)

"""CCPO: values of the authors' code (bhai114/ccpo at ea50d3a), float32."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.methods import ccpo

JOINT = [[1, 1, -1, -1], [1, -1, -1, 1]]


@pytest.mark.parametrize(
    ("preset", "thinker"),
    [
        ("paper", [[1.2, 1.2, -1, -1], [1, -1.2, -1.2, 1]]),
        ("graded", [[1.15, 1.15, -1.05, -1.05], [1.05, -1.15, -1.15, 1.05]]),
        ("paired", [[1.2, 1.2, -1, -1.2], [1, -1.2, -1.2, 1.2]]),
    ],
)
def test_role_rewards(preset: str, thinker: list[list[float]]) -> None:
    reward = ccpo.METHOD.run(ccpo.example().batch, preset).diagnostics["role_reward_pkn"]
    np.testing.assert_allclose(reward[..., 0], thinker, atol=1e-5)
    np.testing.assert_allclose(reward[..., 1], JOINT, atol=1e-5)


@pytest.mark.parametrize(("preset", "thinker", "solver"), [("paper", 1.1, 1.0), ("with_std", 0.866025, 0.866025)])
def test_advantages(preset: str, thinker: float, solver: float) -> None:
    advantage = ccpo.METHOD.run(ccpo.example().batch, preset).advantage_pknt[..., 0]
    np.testing.assert_allclose(advantage[..., 0], thinker * np.sign(JOINT), atol=1e-5)
    np.testing.assert_allclose(advantage[..., 1], solver * np.sign(JOINT), atol=1e-5)


def test_a_solver_that_is_right_half_the_time_fires_no_event() -> None:
    batch = ccpo.example().batch.replace(solo_reward_pk=[[1, -1, 1, -1]] * 2)
    reward = ccpo.METHOD.run(batch).diagnostics["role_reward_pkn"]
    np.testing.assert_array_equal(reward[..., 0], JOINT)


def test_outcomes_of_zero_and_one_are_read_as_signs() -> None:
    batch = ccpo.example().batch
    zero_one = batch.replace(
        reward_pk=(batch.need("reward_pk") + 1) / 2, solo_reward_pk=(batch.need("solo_reward_pk") + 1) / 2
    )
    np.testing.assert_array_equal(
        ccpo.METHOD.run(zero_one, "zero_one").advantage_pknt, ccpo.METHOD.run(batch).advantage_pknt
    )

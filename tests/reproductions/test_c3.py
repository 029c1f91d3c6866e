"""C3: values of the authors' code (EIT-EAST-Lab/C3 at 628185b), and how leave-one-out relates to the full mean."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.methods import c3

THIRD = 1 / 3
CASES = {
    "paper": ([0.5, -0.5], [THIRD, THIRD, -1, THIRD, -THIRD, -THIRD, 1, -THIRD]),
    "full_mean": ([0.25, -0.25], [0.25, 0.25, -0.75, 0.25, -0.25, -0.25, 0.75, -0.25]),
    "value_assisted": (
        [0.35, -0.35],
        [0.433333, 0.4, -0.633333, 0.4, -0.366667, -0.366667, 0.666667, -0.333333],
    ),
}
NORMALISED = ([1, -1], [0.57735, 0.57735, -1.732051, 0.57735, -0.57735, -0.57735, 1.732051, -0.57735])
CASES |= {"reward_only_normalised": NORMALISED, "full_mean_normalised": NORMALISED}


@pytest.mark.parametrize("preset", CASES)
def test_values_of_the_authors_code(preset: str) -> None:
    advantage = c3.METHOD.run(c3.example().batch, preset).advantage_pknt[0, :, :, 0]
    reasoner, actors = CASES[preset]
    np.testing.assert_allclose(advantage[:, 0], np.repeat(reasoner, 4), atol=1e-5)
    np.testing.assert_allclose(advantage[:, 1], actors, atol=1e-5)


def test_leave_one_out_is_the_full_mean_times_n_over_n_minus_one_until_normalised() -> None:
    reward = np.random.default_rng(0).normal(size=(3, 5))
    batch = Batch.of(reward_pk=reward, node_pknt=np.arange(15).reshape(3, 5, 1, 1))
    run = c3.METHOD.run
    full = run(batch, "full_mean").advantage_pknt
    np.testing.assert_allclose(run(batch).advantage_pknt, 5 / 4 * full, atol=1e-12)
    left = run(batch, "reward_only_normalised", eps=0.0).advantage_pknt
    np.testing.assert_allclose(left, run(batch, "full_mean_normalised", eps=0.0).advantage_pknt, atol=1e-12)


@pytest.mark.parametrize("preset", ["paper", "value_assisted", "authors_code"])
def test_a_message_without_siblings_gets_nothing(preset: str) -> None:
    batch = Batch.of(reward_pk=[[1], [0]], node_pknt=[[[[0]]], [[[1]]]], utility_pknt=[[[[0.3]]], [[[0.9]]]])
    np.testing.assert_array_equal(c3.METHOD.run(batch, preset).advantage_pknt, np.zeros((2, 1, 1, 1)))

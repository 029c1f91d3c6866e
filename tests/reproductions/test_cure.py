"""CURE: values of the authors' code (Gen-Verse/CURE at 69fe174)."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.methods import cure


@pytest.mark.parametrize(
    ("preset", "tests"), [("paper", [0.980581, 0.392232, -1.372813]), ("post_stage", [1.224745, 0, -1.224745])]
)
def test_codes_and_tests(preset: str, tests: list[float]) -> None:
    credit = cure.METHOD.run(cure.example().batch, preset)
    advantage, reward = credit.advantage_pknt[0, ..., 0], credit.diagnostics["role_reward_pkn"][0]
    np.testing.assert_allclose(reward[:, 0], [1, 1, 1 / 3, 0], atol=1e-12)
    np.testing.assert_allclose(advantage[:, 0], [0.962250, 0.962250, -0.577350, -1.347151], atol=1e-5)
    np.testing.assert_allclose(advantage[:3, 1], tests, atol=1e-5)
    if preset == "paper":
        np.testing.assert_allclose(reward[:3, 1], [1, 0.5, -1], atol=1e-12)


def test_without_a_right_code_tests_earn_nothing_and_are_dropped() -> None:
    batch = cure.example().batch
    given = batch.need("passes_given_pkg").copy()
    given[0, :2, 2] = False
    credit = cure.METHOD.run(batch.replace(passes_given_pkg=given))
    assert not credit.advantage_pknt[:, :, 1].any()
    assert credit.kept_pknt is not None
    assert credit.kept_pknt[:, :, 0].all() and not credit.kept_pknt[:, :, 1].any()


def test_short_right_code_is_preferred_when_length_counts() -> None:
    advantage = cure.METHOD.run(cure.example().batch, "efficient").advantage_pknt[0, ..., 0]
    np.testing.assert_allclose(advantage[:, 0], [1.732051, -0.577350, -0.577350, -0.577350], atol=1e-5)
    # Tests are equally long, so that signs 1, 1, -1 are balanced to 0.5, 0.5, -1; their deviation is the root of 1/2.
    np.testing.assert_allclose(advantage[:3, 1], np.array([0.5, 0.5, -1]) * np.sqrt(2), atol=1e-12)


def test_tasks_that_everybody_solves_are_kept_for_their_lengths_only() -> None:
    batch = cure.example().batch.replace(passes_given_pkg=np.ones((1, 4, 3)))
    assert not cure.METHOD.run(batch).advantage_pknt[:, :, 0].any()
    # Lengths less their median 2500: 500, -500, 0, 0.
    advantage = cure.METHOD.run(batch, "efficient").advantage_pknt[0, :, 0, 0]
    np.testing.assert_allclose(advantage, np.array([1, -1, 0, 0]) * np.sqrt(2), atol=1e-12)

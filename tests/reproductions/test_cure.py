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

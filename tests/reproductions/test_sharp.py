"""SHARP (provisional): the digests' formula worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.methods import sharp


def test_three_part_reward() -> None:
    diagnostics = sharp.METHOD.run(sharp.example().batch).diagnostics
    np.testing.assert_allclose(
        diagnostics["credit_pkn"][0], [[0.5, 1, 0], [0.5, 0, 1], [0, 0, 0], [0, 0, -1]], atol=1e-12
    )
    np.testing.assert_allclose(
        diagnostics["agent_reward_pkn"][0],
        [[1.45, 1.9, 0.95], [1.45, 0.975, 1.9], [0.1, 0, 0.1], [0.1, 0.1, -0.85]],
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("preset", "planner", "first", "second"),
    [
        (
            "paper",
            0.999999,
            [1.505956, 0.301191, -0.968696, -0.838451],
            [0.417626, 1.351142, -0.417626, -1.351142],
        ),
        (
            "sample_std",
            0.866024,
            [1.304196, 0.260839, -0.838915, -0.726120],
            [0.361675, 1.170123, -0.361675, -1.170123],
        ),
    ],
)
def test_advantages(preset: str, planner: float, first: list[float], second: list[float]) -> None:
    advantage = sharp.METHOD.run(sharp.example().batch, preset).advantage_pknt[0, :, :, 0]
    np.testing.assert_allclose(advantage[:, 0], planner * np.array([1, 1, -1, -1]), atol=1e-5)
    np.testing.assert_allclose(advantage[:, 1], first, atol=1e-5)
    np.testing.assert_allclose(advantage[:, 2], second, atol=1e-5)


def test_workers_that_did_not_act_do_not_dilute_the_planner() -> None:
    acted = np.ones((1, 4, 3, 1), dtype=bool)
    acted[0, 0, 2] = False
    credit = sharp.METHOD.run(sharp.example().batch.replace(acted_pknt=acted)).diagnostics["credit_pkn"]
    np.testing.assert_allclose(credit[0, 0], [1.0, 1.0, 0.0], atol=1e-12)

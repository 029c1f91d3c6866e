"""MHGPO (provisional): the secondary formula worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.methods import dr_mas, mhgpo


@pytest.mark.parametrize(("agg", "rewrites"), [("mean", [0.6, 0.3]), ("max", [0.8, 0.6]), ("min", [0.4, 0.0])])
def test_an_output_earns_what_its_consumers_earned(agg: str, rewrites: list[float]) -> None:
    reward = mhgpo.METHOD.run(mhgpo.example().batch, agg=agg).diagnostics["node_reward_pknt"][0, :, :, 0]
    np.testing.assert_allclose(reward[:, 0], np.repeat(rewrites, 2), atol=1e-12)
    np.testing.assert_allclose(reward[:, 1], [0.8, 0.2, 0, 0.6], atol=1e-12)
    np.testing.assert_allclose(reward[:, 2], [0.8, 0.4, -0.5, 0.6], atol=1e-12)


@pytest.mark.parametrize(
    ("preset", "rewrite", "rerank"),
    [
        ("paper", 1.0, [1.264911, -0.632456, -1.264911, 0.632456]),
        ("sample_std", 0.707107, [1.095445, -0.547723, -1.095445, 0.547723]),
    ],
)
def test_groups_hold_all_outputs_of_an_agent(preset: str, rewrite: float, rerank: list[float]) -> None:
    advantage = mhgpo.METHOD.run(mhgpo.example().batch, preset).advantage_pknt[0, :, :, 0]
    np.testing.assert_allclose(advantage[:, 0], rewrite * np.array([1, 1, -1, -1]), atol=1e-5)
    np.testing.assert_allclose(advantage[:, 1], rerank, atol=1e-5)
    if preset == "paper":
        np.testing.assert_allclose(advantage[:, 2], [0.955994, 0.150946, -1.660410, 0.553470], atol=1e-5)


def test_a_penalty_reaches_producers_only_if_it_propagates() -> None:
    reward = mhgpo.METHOD.run(mhgpo.example().batch, "propagated_penalty").diagnostics["node_reward_pknt"]
    # Rewrites: (0.8 + 0.4 - 0.2) / 2 and (0 - 0.5 + 0.6) / 2.
    np.testing.assert_allclose(reward[0, [0, 2], 0, 0], [0.5, 0.05], atol=1e-12)


def test_separate_chains_are_dr_mas() -> None:
    rng = np.random.default_rng(0)
    batch = Batch.of(reward_pk=rng.normal(size=(2, 4)), node_pknt=np.arange(24).reshape(2, 4, 3, 1))
    np.testing.assert_allclose(
        mhgpo.METHOD.run(batch).advantage_pknt, dr_mas.METHOD.run(batch).advantage_pknt, atol=1e-12
    )

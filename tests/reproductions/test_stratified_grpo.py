"""Stratified GRPO (provisional): the secondary formula by hand, and the identity of variances."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.methods import grpo, stratified_grpo

HIGH, LOW = 1.732047, 0.577349
STRATIFIED = [LOW, -HIGH, LOW, LOW, -LOW, -LOW, -LOW, HIGH]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("stratified", STRATIFIED),
        ("global", 0.999998 * np.array([1, -1, 1, 1, -1, -1, -1, 1])),
        (
            "paper",
            [0.788673, -1.366022, 0.788673, 0.788673, -0.788673, -0.788673, -0.788673, 1.366022],
        ),
    ],
)
def test_blend(preset: str, expected: list[float]) -> None:
    advantage = stratified_grpo.METHOD.run(stratified_grpo.example().batch, preset).advantage_pknt
    np.testing.assert_allclose(advantage.ravel(), expected, atol=2e-6)


def test_variance_within_strata_is_less_by_the_variance_between_them() -> None:
    batch = stratified_grpo.example().batch
    reward = batch.need("reward_pk")
    within = reward - stratified_grpo.strata(batch).mean(reward)
    np.testing.assert_allclose(reward.var() - within.var(), 0.0625, atol=1e-12)


def test_one_stratum_is_grpo() -> None:
    reward = np.random.default_rng(0).normal(size=(3, 6))
    batch = Batch.of(reward_pk=reward, stratum_pk=np.full((3, 6), -4))
    expected = grpo.METHOD.run(batch, "population", eps=1e-6).advantage_pknt
    np.testing.assert_allclose(stratified_grpo.METHOD.run(batch).advantage_pknt, expected, atol=1e-12)

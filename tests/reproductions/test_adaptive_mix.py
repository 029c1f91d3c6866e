"""Adaptive mixing: by hand, and Dr.MAS where the local reward says nothing."""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch
from reproductions.methods import adaptive_mix, at_grpo, dr_mas


def test_weights_are_exchange_rates() -> None:
    example = adaptive_mix.example()
    credit = adaptive_mix.METHOD.run(example.batch, **example.parameters, eps=0.0)
    np.testing.assert_allclose(credit.diagnostics["alpha_n"], [2.0, 0.0], atol=1e-12)
    # Weight 0 leaves Dr.MAS for the second agent; the first's mixture is proportional to the team reward.
    np.testing.assert_allclose(credit.advantage_pknt, dr_mas.METHOD.run(example.batch).advantage_pknt, atol=1e-12)


def test_a_local_reward_against_the_team_gets_no_weight() -> None:
    batch = adaptive_mix.example().batch
    against = batch.replace(local_reward_pknt=-batch.need("local_reward_pknt"))
    np.testing.assert_array_equal(adaptive_mix.METHOD.run(against).diagnostics["alpha_n"], [0.0, 0.0])


def test_the_penalty_shrinks_the_weight() -> None:
    # The first agent's own rewards have a sum of squares of 1/4 around their mean: lam 1/4 halves its weight.
    batch = adaptive_mix.example().batch
    np.testing.assert_allclose(adaptive_mix.METHOD.run(batch, lam=0.25).diagnostics["alpha_n"], [1.0, 0.0], atol=1e-12)


def test_a_fixed_weight_is_the_plain_mixture_of_at_grpo() -> None:
    rng = np.random.default_rng(0)
    batch = Batch.of(reward_pk=rng.random((3, 5)), local_reward_pknt=rng.random((3, 5, 1, 1)))
    np.testing.assert_allclose(
        adaptive_mix.METHOD.run(batch, "fixed", ddof=1).advantage_pknt,
        at_grpo.METHOD.run(batch).advantage_pknt,
        atol=1e-12,
    )

"""The Bradley-Terry loss against OpenRLHF, and its derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.methods import bradley_terry


def test_pairs_with_and_without_margin_as_openrlhf(single_agent: Any) -> None:
    case = single_agent("bradley_terry_loss")
    chosen, rejected, margin = (np.array(case["inputs"][name]) for name in ("chosen", "rejected", "margin"))
    expected = case["expected"]
    assert_allclose(bradley_terry.pairwise_loss(chosen, rejected), expected["loss"], atol=1e-12)
    assert_allclose(bradley_terry.pairwise_loss(chosen, rejected, margin), expected["loss_with_margin"], atol=1e-12)
    assert_allclose(bradley_terry.preference(chosen - rejected), expected["prob_chosen"], atol=1e-12)
    assert_allclose(bradley_terry.pairwise_gradient(chosen, rejected), expected["grad_chosen"], atol=1e-12)


def test_a_ranking_is_the_mean_of_its_pairs() -> None:
    score = np.array([2.0, 1.0, 0.0])
    by_hand = (2 * np.log(1 + np.exp(-1.0)) + np.log(1 + np.exp(-2.0))) / 3
    assert_allclose(bradley_terry.ranking_loss(score), by_hand, atol=1e-12)
    batch = Batch.of(reward_pk=[[9, 5, 1]], model_score_pk=[score])
    assert_allclose(bradley_terry.METHOD.run(batch).diagnostics["loss_p"], [by_hand], atol=1e-12)


def test_the_push_on_each_score_is_minus_the_derivative_of_the_loss() -> None:
    rng = np.random.default_rng(5)
    reward, score = rng.integers(0, 3, (2, 5)).astype(float), rng.normal(size=(2, 5))

    def losses(score_pk: np.ndarray) -> np.ndarray:
        batch = Batch.of(reward_pk=reward, model_score_pk=score_pk)
        return np.asarray(bradley_terry.METHOD.run(batch, margin=0.2).diagnostics["loss_p"])

    push = bradley_terry.METHOD.run(Batch.of(reward_pk=reward, model_score_pk=score), margin=0.2).advantage_pknt[
        :, :, 0, 0
    ]
    for k in range(5):
        moved = np.zeros_like(score)
        moved[:, k] = 1e-5
        assert_allclose(push[:, k], -(losses(score + moved) - losses(score - moved)) / 2e-5, atol=1e-8)


def test_scores_far_apart_do_not_overflow() -> None:
    assert bradley_terry.pairwise_loss(np.array([-1e4]), np.array([1e4])) == 2e4
    assert bradley_terry.preference(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]


def test_ties_are_no_preference() -> None:
    credit = bradley_terry.METHOD.run(Batch.of(reward_pk=[[1, 1]], model_score_pk=[[3.0, -3.0]]))
    assert_allclose(credit.advantage_pknt, 0.0)
    assert_allclose(credit.diagnostics["loss_p"], 0.0)

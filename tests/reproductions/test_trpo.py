from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.methods import gae, trpo


def test_conjugate_gradient_as_sb3(single_agent: Any) -> None:
    case = single_agent("trpo_conjugate_gradient")
    found = trpo.conjugate_gradient(np.array(case["inputs"]["H"]), np.array(case["inputs"]["b"]), 10, 1e-24)
    assert_allclose(found, case["expected"], atol=1e-12)


def test_a_step_of_a_softmax_policy(single_agent: Any) -> None:
    case = single_agent("trpo_step_softmax")
    logits, action, advantage = (np.array(case["inputs"][name]) for name in ("logits", "actions", "advantages"))
    step, expected = trpo.step(logits, action, advantage), case["expected"]
    assert_allclose(trpo.fisher(logits), expected["fisher"], atol=1e-12)
    assert_allclose(step.gradient_a, expected["gradient"], atol=1e-12)
    assert_allclose(step.direction_a, expected["cg_x"], atol=1e-7)
    assert_allclose(step.logits_a, expected["new_logits"], atol=1e-7)
    assert_allclose(
        [step.kl, step.loss_before, step.loss_after], [expected[k] for k in ("kl", "loss_old", "loss_new")], atol=1e-7
    )
    assert step.accepted == expected["accepted_step"]


def test_the_step_stays_within_the_radius_and_never_makes_the_loss_worse() -> None:
    rng = np.random.default_rng(3)
    tries = set()
    for _ in range(60):
        logits, action, advantage = rng.normal(size=4), rng.integers(0, 4, 12), rng.normal(size=12) * 5
        step = trpo.step(logits, action, advantage, delta=1.0, damping=0.01)
        logp, new_logp = trpo.log_softmax(logits), trpo.log_softmax(step.logits_a)
        assert np.exp(logp) @ (logp - new_logp) <= 1.0
        assert trpo.surrogate(step.logits_a, logits, action, advantage) <= -np.mean(advantage) + 1e-12
        tries.add(step.accepted)
    # So far from the old policy the quadratic model is wrong, and the search has to shorten some steps, more than once.
    assert 0 in tries and max(attempt for attempt in tries if attempt is not None) > 1


def test_without_a_gradient_the_policy_stays() -> None:
    step = trpo.step(np.zeros(3), np.array([0, 1, 2]), np.zeros(3))
    assert_allclose(step.logits_a, 0.0)


def test_a_step_that_cannot_be_accepted_keeps_the_old_policy() -> None:
    step = trpo.step(np.array([0.1, 0.0]), np.array([0, 1]), np.array([1.0, -1.0]), tries=0)
    assert step.accepted is None
    assert step.logits_a.tolist() == [0.1, 0.0]


def test_advantages_are_gae_in_units_of_the_batch() -> None:
    rng = np.random.default_rng(4)
    batch = Batch.of(reward_pk=rng.normal(size=(2, 3)), value_pknt=rng.normal(size=(2, 3, 1, 4)))
    raw = gae.METHOD.run(batch, lam=0.97).advantage_pknt
    assert_allclose(trpo.METHOD.run(batch).advantage_pknt, (raw - raw.mean()) / raw.std(), atol=1e-10)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.methods import reinforce


def test_returns_as_rlax(single_agent: Any) -> None:
    case = single_agent("returns_to_go")
    batch = Batch.of(reward_pk=[[2.5]], step_reward_pknt=[[[case["inputs"]["rewards"]]]])
    assert_allclose(reinforce.METHOD.run(batch, gamma=0.9).advantage_pknt[0, 0, 0], case["expected"], atol=1e-12)


def test_loss_and_gradient_as_rlax(single_agent: Any) -> None:
    case = single_agent("reinforce_loss")
    logits, action, advantage = (np.array(case["inputs"][name]) for name in ("logits", "actions", "advantages"))
    loss, gradient = reinforce.loss(logits, action, advantage)
    assert_allclose(loss, case["expected"]["loss"], atol=1e-12)
    assert_allclose(gradient, case["expected"]["grad_logits"], atol=1e-12)


def test_the_outcome_reaches_every_action_undiscounted() -> None:
    batch = Batch.of(reward_pk=[[1.0, -2.0]], value_pknt=np.full((1, 2, 2, 3), 0.25))
    found = reinforce.METHOD.run(batch).advantage_pknt
    assert_allclose(found[0, 0], 1.0)
    assert_allclose(found[0, 1], -2.0)
    assert_allclose(reinforce.METHOD.run(batch, "value_baseline").advantage_pknt[0, 0], 0.75)
    assert_allclose(reinforce.METHOD.run(batch, "batch_baseline").advantage_pknt[0, 0], 1.5)

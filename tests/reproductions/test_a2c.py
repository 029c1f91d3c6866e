from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch, ParameterError
from reproductions.methods import a2c, gae


def _batch(case: dict[str, Any], values: str, final: float) -> Batch:
    return Batch.of(
        reward_pk=[[2.5]],
        step_reward_pknt=[[[case["inputs"]["rewards"]]]],
        value_pknt=[[[case["inputs"][values]]]],
        final_value_pkn=[[[final]]],
    )


def test_two_steps_as_rlax(single_agent: Any) -> None:
    case = single_agent("a2c_nstep_returns_n2")
    batch = _batch(case, "values_at_t0_to_Tm1", case["inputs"]["values_at_t1_to_T"][-1])
    found = a2c.METHOD.run(batch, gamma=0.9, steps=2).advantage_pknt[0, 0, 0]
    assert_allclose(found, case["expected"]["advantages"], atol=1e-12)
    assert_allclose(found + case["inputs"]["values_at_t0_to_Tm1"], case["expected"]["returns"], atol=1e-12)


def test_to_the_end_of_the_segment_as_rlax(single_agent: Any) -> None:
    case = single_agent("a3c_tmax_advantage")
    batch = _batch(case, "values_t0_to_Tm1", case["inputs"]["bootstrap"])
    assert_allclose(
        a2c.METHOD.run(batch, gamma=0.9).advantage_pknt[0, 0, 0], case["expected"]["advantages"], atol=1e-12
    )


def test_one_step_is_the_td_error_and_many_are_the_whole_rollout() -> None:
    rng = np.random.default_rng(2)
    acted = rng.random((2, 3, 2, 4)) < 0.8
    batch = Batch.of(reward_pk=rng.normal(size=(2, 3)), value_pknt=rng.normal(size=acted.shape), acted_pknt=acted)
    assert_allclose(
        a2c.METHOD.run(batch, steps=1).advantage_pknt, gae.METHOD.run(batch, lam=0.0).advantage_pknt, atol=1e-12
    )
    assert_allclose(a2c.METHOD.run(batch, steps=99).advantage_pknt, a2c.METHOD.run(batch).advantage_pknt, atol=1e-12)


def test_loss_adds_its_three_terms() -> None:
    loss = a2c.loss(
        *np.array([[-1.0, -2.0], [1.0, 0.5], [0.0, 1.0], [1.0, 3.0], [0.2, 0.4]]), value_weight=0.5, entropy_weight=0.1
    )
    # (1 + 0.5 - 0.02 + 1 + 0.5 * 4 - 0.04) / 2
    assert_allclose(loss, 2.22, atol=1e-12)


def test_no_steps_are_refused() -> None:
    with pytest.raises(ParameterError, match="steps is 0"):
        a2c.n_step_return(np.ones(3), np.ones(3), 0.9, 0)

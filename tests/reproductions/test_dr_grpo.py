"""Dr. GRPO against verl and its authors' code; its relation to GRPO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reproductions.core import Batch, from_rows
from reproductions.methods import dr_grpo, grpo

Cases = Callable[[str], dict[str, Any]]


def test_verl_with_a_lone_rollout(single_agent: Cases) -> None:
    case = single_agent("drgrpo_adv")
    group = case["inputs"]["group"]
    batch, at = from_rows(group, range(len(group)), reward_pk=case["inputs"]["rewards"])
    np.testing.assert_allclose(
        dr_grpo.METHOD.run(batch, "verl").advantage_pknt[at], case["expected"], atol=case["tolerance"]
    )
    assert dr_grpo.METHOD.run(batch).advantage_pknt[at][-1] == 0


def test_the_authors_code(single_agent: Cases) -> None:
    case = single_agent("grpo_adv_understand_r1_zero")
    advantage = dr_grpo.METHOD.run(Batch.of(reward_pk=case["inputs"]["rewards"])).advantage_pknt[:, :, 0, 0]
    np.testing.assert_allclose(advantage, case["expected"]["drgrpo"], atol=1e-12)


def test_is_grpo_times_the_deviation() -> None:
    reward = np.random.default_rng(0).normal(size=(5, 7))
    batch = Batch.of(reward_pk=reward)
    scaled = grpo.METHOD.run(batch).advantage_pknt[:, :, 0, 0] * reward.std(axis=1, ddof=1, keepdims=True)
    np.testing.assert_allclose(dr_grpo.METHOD.run(batch).advantage_pknt[:, :, 0, 0], scaled, atol=1e-12)

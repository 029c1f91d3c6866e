"""RLOO against verl and trl; RLOO is G / (G - 1) times Dr. GRPO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reproductions.core import Batch, MissingField, from_rows
from reproductions.methods import dr_grpo, rloo

Cases = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize(("case", "preset"), [("rloo_adv", "verl"), ("rloo_adv_vectorized", "paper")])
def test_verl_twice_which_differ_for_a_lone_rollout(single_agent: Cases, case: str, preset: str) -> None:
    expected = single_agent(case)
    group = expected["inputs"]["group"]
    batch, at = from_rows(group, range(len(group)), reward_pk=expected["inputs"]["rewards"])
    np.testing.assert_allclose(
        rloo.METHOD.run(batch, preset).advantage_pknt[at], expected["expected"], atol=expected["tolerance"]
    )


def test_trl_plain_and_whitened(single_agent: Cases) -> None:
    case = single_agent("rloo_adv_trl")
    batch = Batch.of(reward_pk=case["inputs"]["rewards"])
    for whiten, key in ((False, "advantage"), (True, "normalized")):
        advantage = rloo.METHOD.run(batch, whiten=whiten).advantage_pknt[:, :, 0, 0]
        np.testing.assert_allclose(advantage, case["expected"][key], atol=1e-12)


def test_is_dr_grpo_by_a_constant() -> None:
    batch = Batch.of(reward_pk=np.random.default_rng(0).normal(size=(5, 8)))
    np.testing.assert_allclose(
        rloo.METHOD.run(batch).advantage_pknt, 8 / 7 * dr_grpo.METHOD.run(batch).advantage_pknt, atol=1e-12
    )


def test_the_kl_of_all_actions_is_taken_off_the_reward() -> None:
    # Rewards 1 and 0, KL 2 (over two turns) and 1: with beta 0.1 the rewards are 0.8 and -0.1.
    batch = Batch.of(reward_pk=[[1, 0]], kl_pknt=np.array([[0.5, 1.5], [1.0, 0.0]]).reshape(1, 2, 1, 2))
    advantage = rloo.METHOD.run(batch, beta=0.1).advantage_pknt
    np.testing.assert_allclose(advantage[0, :, 0, 0], [0.9, -0.9], atol=1e-15)
    with pytest.raises(MissingField, match="kl_pknt"):
        rloo.METHOD.run(batch.replace(kl_pknt=None), "trl")

"""REINFORCE++ against verl and OpenRLHF, tokens standing for turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.methods import reinforce_pp


def of_tokens(reward_bl: list[list[float]], mask_bl: list[list[float]]) -> tuple[Batch, np.ndarray]:
    mask = np.array(mask_bl) == 1
    reward = np.array(reward_bl)
    batch = Batch.of(
        reward_pk=reward.sum(axis=1)[None], step_reward_pknt=reward[None, :, None], acted_pknt=mask[None, :, None]
    )
    return batch, mask


@pytest.mark.parametrize(("gamma", "name"), [(1.0, "gamma1"), (0.9, "gamma0_9")])
def test_returns_and_whitening_as_verl(single_agent: Any, gamma: float, name: str) -> None:
    case = single_agent("reinforce_pp")
    batch, mask = of_tokens(case["inputs"]["token_level_rewards"], case["inputs"]["response_mask"])
    credit = reinforce_pp.METHOD.run(batch, "verl", gamma=gamma)
    assert_allclose(credit.advantage_pknt[0, :, 0], np.where(mask, case["expected"][f"adv_{name}"], 0.0), atol=1e-6)
    assert_allclose(
        credit.diagnostics["return_pknt"][0, :, 0][mask],
        np.array(case["expected"][f"returns_{name}"])[mask],
        atol=1e-12,
    )


def test_a_reward_reaches_what_was_written_before_a_masked_span_as_verl(single_agent: Any) -> None:
    case = single_agent("reinforce_pp_mask_version_trap")
    batch, mask = of_tokens(case["inputs"]["token_level_rewards"], case["inputs"]["response_mask"])
    credit = reinforce_pp.METHOD.run(batch, "verl", gamma=0.9)
    assert_allclose(credit.advantage_pknt[0, :, 0][mask], np.array(case["expected"]["adv_0_9_1"])[mask], atol=1e-6)
    returns = credit.diagnostics["return_pknt"][0, :, 0]
    assert_allclose(returns[mask], np.array(case["expected"]["returns_0_9_1"])[mask], atol=1e-12)
    assert not np.allclose(returns[mask], np.array(case["expected"]["returns_git_b178a3c"])[mask])


def test_whitening_as_openrlhf(single_agent: Any) -> None:
    case = single_agent("reinforce_pp_openrlhf_whitening")
    mask = np.array(case["inputs"]["action_mask"]) == 1
    outcome = np.array(case["inputs"]["returns"])[:, 0]
    batch = Batch.of(reward_pk=outcome[None], acted_pknt=mask[None, :, None])
    found = reinforce_pp.METHOD.run(batch).advantage_pknt[0, :, 0]
    assert_allclose(found[mask], np.array(case["expected"])[mask], atol=1e-9)


def test_tokens_are_the_weights() -> None:
    tokens, _ = of_tokens([[0, 0, 1], [0, 0.5, 0], [0, 0, -1]], [[1, 1, 1], [1, 1, 0], [1, 1, 1]])
    actions = Batch.of(reward_pk=[[1, 0.5, -1]], length_pknt=[[[[3]], [[2]], [[3]]]])
    for preset in ("paper", "verl"):
        one_by_one = reinforce_pp.METHOD.run(tokens, preset).advantage_pknt[0, :, 0, 0]
        assert_allclose(reinforce_pp.METHOD.run(actions, preset).advantage_pknt.ravel(), one_by_one, atol=1e-12)


def test_the_baseline_form_subtracts_the_prompts_mean_first() -> None:
    # Centred within prompts: 1/2 -1/2 | 1 -1, of mean 0 and population variance 5/8.
    found = reinforce_pp.METHOD.run(Batch.of(reward_pk=[[1, 0], [3, 1]]), "baseline").advantage_pknt[:, :, 0, 0]
    assert_allclose(found, np.array([[0.5, -0.5], [1, -1]]) / np.sqrt(5 / 8), atol=1e-12)


def test_kl_is_paid_by_the_action_and_by_all_before_it() -> None:
    batch = Batch.of(reward_pk=[[1.0]], kl_pknt=[[[[0.5, 2.0, 1.0]]]])
    found = reinforce_pp.METHOD.run(batch, beta=0.1).diagnostics["return_pknt"]
    assert_allclose(found.ravel(), [0.65, 0.7, 0.9], atol=1e-12)

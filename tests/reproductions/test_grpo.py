"""GRPO against the outputs of verl, trl and two other codebases, and the paper's two forms of supervision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reproductions.core import Batch, from_rows
from reproductions.methods import grpo

Cases = Callable[[str], dict[str, Any]]


def advantage_of_rows(case: dict[str, Any], preset: str) -> np.ndarray:
    """The advantages of rewards that are given as a list with a group label each."""
    reward, group = case["inputs"]["rewards"], case["inputs"]["group"]
    batch, at = from_rows(group, range(len(group)), reward_pk=reward)
    return grpo.METHOD.run(batch, preset).advantage_pknt[at]


@pytest.mark.parametrize("case", ["grpo_adv_std", "grpo_adv_vectorized"])
def test_verl_with_a_flat_group_and_a_lone_rollout(single_agent: Cases, case: str) -> None:
    expected = single_agent(case)
    np.testing.assert_allclose(advantage_of_rows(expected, "verl"), expected["expected"], atol=expected["tolerance"])


@pytest.mark.parametrize(
    ("case", "preset", "key"),
    [
        ("grpo_adv_trl_eps", "trl", None),
        ("grpo_adv_openrlhf_group_norm", "openrlhf", None),
        ("grpo_adv_understand_r1_zero", "understand_r1_zero", "grpo"),
    ],
)
def test_other_codebases_differ_by_epsilon(single_agent: Cases, case: str, preset: str, key: str | None) -> None:
    expected = single_agent(case)
    advantage = grpo.METHOD.run(Batch.of(reward_pk=expected["inputs"]["rewards"]), preset).advantage_pknt[:, :, 0, 0]
    np.testing.assert_allclose(advantage, expected["expected"][key] if key else expected["expected"], atol=1e-9)


def test_sample_and_population_deviation(single_agent: Cases) -> None:
    case = single_agent("grpo_ddof0_vs_ddof1")
    batch = Batch.of(reward_pk=[case["inputs"]["rewards"]])
    for preset, key in (("paper", "ddof1"), ("population", "ddof0")):
        np.testing.assert_allclose(
            grpo.METHOD.run(batch, preset).advantage_pknt.ravel(), case["expected"][key], atol=1e-12
        )


def test_process_supervision_adds_up_what_follows(single_agent: Cases) -> None:
    case = single_agent("grpo_process_supervision")
    rewards, ends = case["inputs"]["step_rewards"], case["inputs"]["step_end_token_index"]
    rollout = [k for k, row in enumerate(rewards) for _ in row]
    flat = [reward for row in rewards for reward in row]
    batch, _ = from_rows([0] * len(flat), rollout, reward_pk=[0.0] * len(flat), step_reward_pknt=flat)
    advantage = grpo.METHOD.run(batch, "process").advantage_pknt[0, :, 0]
    for k, (expected, end) in enumerate(zip(case["expected"]["advantages"], ends, strict=True)):
        # A token belongs to the first step that ends at it or later.
        step_of_token = np.searchsorted(end, np.arange(len(expected)))
        np.testing.assert_allclose(advantage[k][step_of_token], expected, atol=1e-12)


def test_dividing_by_the_deviation_of_the_batch() -> None:
    # Rewards 1 0 | 3 1: centred 1/2 -1/2 | 1 -1; all four have mean 5/4 and sample variance 19/12.
    advantage = grpo.METHOD.run(Batch.of(reward_pk=[[1, 0], [3, 1]]), "trl_batch_scale").advantage_pknt[:, :, 0, 0]
    scale = np.sqrt(19 / 12) + 1e-4
    np.testing.assert_allclose(advantage, np.array([[0.5, -0.5], [1.0, -1.0]]) / scale, atol=1e-12)


def test_the_loss_with_and_without_its_kl(single_agent: Cases) -> None:
    case = single_agent("trl_grpo_loss_types")
    given = {name: np.array(value) for name, value in case["inputs"].items()}
    advantage = np.repeat(given["advantages"][:, None], 4, axis=1)
    arguments = (given["logps"], given["old_logps"], advantage, given["completion_mask"])
    for name, extra in {
        "grpo": {},
        "grpo_beta0.04": {"ref_logp_bl": given["ref_logps"]},
        "dapo": {"mode": "token-mean"},
    }.items():
        assert grpo.loss(*arguments, **extra) == pytest.approx(case["expected"][name], abs=case["tolerance"])

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.methods import gae


@pytest.mark.parametrize("name", ["gae_rlax_lam0.0", "gae_rlax_lam1.0"])
def test_as_rlax(single_agent: Any, name: str) -> None:
    case = single_agent(name)
    reward, value = np.array(case["inputs"]["rewards"]), np.array(case["inputs"]["values"])
    found = gae.advantage(reward, value[:-1], 0.9, case["parameters"]["lam"], final=value[-1])
    assert_allclose(found, case["expected"], atol=1e-12)


def test_an_episode_that_ends_in_the_middle_as_rlax(single_agent: Any) -> None:
    case = single_agent("gae_rlax_terminal_mid")
    over = np.array(case["inputs"]["discounts"]) == 0
    reward, value = np.array(case["inputs"]["rewards"]), np.array(case["inputs"]["values"])
    found = gae.advantage(reward, value[:-1], 0.9, 0.95, final=value[-1], terminated=over, done=over)
    assert_allclose(found, case["expected"], atol=1e-12)


@pytest.mark.parametrize("kind", ["truncated", "terminated"])
def test_truncation_keeps_the_bootstrap_and_termination_does_not_as_torchrl(single_agent: Any, kind: str) -> None:
    case = single_agent("gae_torchrl_truncation_vs_termination")
    inputs = {name: np.array(value) for name, value in case["inputs"].items()}
    over = inputs["terminated_if_truncated" if kind == "truncated" else "terminated_if_terminal"] == 1
    found = gae.advantage(
        inputs["rewards"],
        inputs["values"],
        0.9,
        0.95,
        next_value=inputs["next_values"],
        terminated=over,
        done=inputs["done"] == 1,
    )
    assert_allclose(found, case["expected"][f"advantage_{kind}"], atol=1e-5)
    assert_allclose(found + inputs["values"], case["expected"][f"value_target_{kind}"], atol=1e-5)


def test_tool_output_is_passed_over_as_verl(single_agent: Any) -> None:
    case = single_agent("gae_verl_masked_tokens")
    mask = np.array(case["inputs"]["response_mask"]) == 1
    batch = Batch.of(
        step_reward_pknt=np.array(case["inputs"]["token_level_rewards"])[None, :, None],
        reward_pk=[[1.0, 2.0]],
        value_pknt=np.array(case["inputs"]["values"])[None, :, None],
        acted_pknt=mask[None, :, None],
    )
    credit = gae.METHOD.run(batch)
    expected = np.array(case["expected"]["advantages_unwhitened"])
    assert_allclose(credit.advantage_pknt[0, :, 0][mask], expected[mask], atol=1e-12)
    assert_allclose(
        credit.diagnostics["target_pknt"][0, :, 0][mask], np.array(case["expected"]["returns"])[mask], atol=1e-12
    )


def test_vtrace_as_rlax(single_agent: Any) -> None:
    case = single_agent("vtrace")
    reward, value, ratio = (np.array(case["inputs"][name]) for name in ("r_t", "v_tm1", "rho"))
    errors, advantage = gae.vtrace(reward, value, ratio, 0.9, final=case["inputs"]["v_t"][-1])
    assert_allclose(errors, case["expected"]["errors"], atol=1e-12)
    assert_allclose(advantage, case["expected"]["pg_advantage"], atol=1e-12)


def test_vtrace_on_policy_is_gae_with_lambda_one() -> None:
    reward, value = np.random.default_rng(0).normal(size=(2, 6))
    errors, _ = gae.vtrace(reward, value, np.ones(6), 0.9, final=0.4)
    assert_allclose(errors, gae.advantage(reward, value, 0.9, 1.0, final=0.4), atol=1e-12)


def test_lambda_one_is_monte_carlo_and_lambda_zero_the_td_error() -> None:
    reward, value = np.random.default_rng(1).normal(size=(2, 3, 5))
    powers = 0.9 ** np.arange(5)
    returns = np.stack([(reward[:, t:] * powers[: 5 - t]).sum(axis=1) + 0.9 ** (5 - t) * 0.3 for t in range(5)], axis=1)
    assert_allclose(gae.advantage(reward, value, 0.9, 1.0, final=0.3), returns - value, atol=1e-12)
    after = np.column_stack([value[:, 1:], np.full(3, 0.3)])
    assert_allclose(gae.advantage(reward, value, 0.9, 0.0, final=0.3), reward + 0.9 * after - value, atol=1e-12)


def test_the_last_value_is_that_of_the_agent_who_acted_last() -> None:
    acted = np.array([[[[1, 1], [1, 0]]]], dtype=bool)  # agent 1 does not act in the second turn
    batch = Batch.of(
        reward_pk=[[0.0]], value_pknt=np.zeros((1, 1, 2, 2)), final_value_pkn=[[[7.0, 9.0]]], acted_pknt=acted
    )
    assert gae.final_value(batch).tolist() == [[7.0]]


@pytest.mark.parametrize("time_major", [True, False])
def test_one_pass_is_the_general_way_whatever_the_memory_layout(time_major: bool) -> None:
    reward, value = np.random.default_rng(6).normal(size=(2, 2, 700, 5))
    if time_major:
        reward, value = (np.ascontiguousarray(array.transpose(2, 0, 1)).transpose(1, 2, 0) for array in (reward, value))
    final = np.random.default_rng(7).normal(size=(2, 700))
    never = np.zeros(reward.shape, dtype=bool)
    general = gae.advantage(reward, value, 0.9, 0.8, final=final, done=never)
    assert_allclose(gae.advantage(reward, value, 0.9, 0.8, final=final), general, atol=1e-12)


def test_one_number_per_step_needs_no_other_axis() -> None:
    assert_allclose(gae.advantage(np.array([1.0, 1.0]), np.zeros(2), 0.5, 1.0), [1.5, 1.0])

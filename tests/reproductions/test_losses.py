"""The loss side against verl, trl, rlax and MAPPO's code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

from reproductions import losses
from reproductions.core import ParameterError

Cases = Callable[[str], dict[str, Any]]
PROMPT_MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean")


def arrays(case: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(value) for name, value in case["inputs"].items()}


@pytest.mark.parametrize("variant", ["ppo", "ppo_dual_clip_c3", "clip_higher", "clip_higher_c10"])
def test_clipped_surrogates_in_three_aggregations(single_agent: Cases, variant: str) -> None:
    case = single_agent("ppo_clip_losses")
    given, setting = arrays(case), case["parameters"][variant]
    ratio = losses.importance_ratio(given["log_prob"], given["old_log_prob"])
    per_token = losses.clipped_surrogate(ratio, given["advantages"], **setting)
    mask = given["response_mask"].astype(bool)
    for mode in PROMPT_MODES:
        expected = case["expected"][f"{variant}|{mode}"]
        assert losses.aggregate(per_token, mask, mode) == pytest.approx(expected["loss"], abs=case["tolerance"])
    clipped = losses.clip_fraction(ratio, given["advantages"], mask, setting["clip_low"], setting["clip_high"])
    assert clipped == pytest.approx(expected["clipfrac"], abs=case["tolerance"])


def test_clip_of_rlax(single_agent: Cases) -> None:
    case = single_agent("ppo_clip_rlax")
    given = arrays(case)
    loss = losses.clipped_surrogate(given["prob_ratios"], given["advantages"])
    assert loss.mean() == pytest.approx(case["expected"], abs=case["tolerance"])


def test_the_ratio_does_not_overflow() -> None:
    assert losses.importance_ratio(np.array([1e4]), np.array([0.0]))[0] == pytest.approx(np.exp(20.0))


def test_aggregations(single_agent: Cases) -> None:
    case = single_agent("agg_loss_modes")
    given = arrays(case)
    for mode in get_args(losses.Aggregation):
        result = losses.aggregate(given["loss_mat"], given["loss_mask"], mode, budget=case["parameters"]["budget"])
        # verl adds 1e-8 to the lengths.
        assert result == pytest.approx(case["expected"][mode], abs=1e-6), mode


def test_weight_of_every_token(single_agent: Cases) -> None:
    case = single_agent("agg_loss_token_weights")
    for mode, expected in case["expected"].items():
        weights = losses.token_weights(np.array(case["inputs"]["loss_mask"]), mode, budget=4)
        np.testing.assert_allclose(weights, expected, atol=case["tolerance"], err_msg=mode)


def test_the_budgeted_sum_divides_by_the_sequences(single_agent: Cases) -> None:
    case = single_agent("agg_loss_sum_norm_version_trap")
    given = arrays(case)
    result = losses.aggregate(given["loss_mat"], given["loss_mask"], "seq-mean-token-sum-norm", budget=4)
    assert result == pytest.approx(case["expected"]["verl_0_9_1"])
    assert result != pytest.approx(case["expected"]["verl_git_b178a3c"])


def test_losses_of_trl(single_agent: Cases) -> None:
    case = single_agent("trl_grpo_loss_types")
    given, budget = arrays(case), case["parameters"]["max_completion_length"]
    ratio = losses.importance_ratio(given["logps"], given["old_logps"])
    for name, (mode, high) in {
        "grpo": ("seq-mean-token-mean", 0.2),
        "bnpo": ("token-mean", 0.2),
        "dapo": ("token-mean", 0.2),
        "dr_grpo": ("seq-mean-token-sum-norm", 0.2),
        "dapo_eps_high0.28": ("token-mean", 0.28),
    }.items():
        per_token = losses.clipped_surrogate(ratio, given["advantages"][:, None], 0.2, high)
        loss = losses.aggregate(per_token, given["completion_mask"], mode, budget)
        assert loss == pytest.approx(case["expected"][name], abs=case["tolerance"]), name


def test_empty_sequences_count_for_trl_and_not_for_verl() -> None:
    loss, mask = np.array([[4.0, 2.0], [9.0, 9.0]]), np.array([[True, True], [False, False]])
    assert losses.aggregate(loss, mask, "seq-mean-token-mean") == 3.0
    assert losses.aggregate(loss, mask, "seq-mean-token-mean", count_empty=True) == 1.5
    assert losses.aggregate(loss, np.zeros((2, 2), bool), "token-mean") == 0.0


def test_kl_estimators(single_agent: Cases) -> None:
    case = single_agent("kl_estimators")
    given = arrays(case)
    for name in get_args(losses.KlEstimator):
        estimate = losses.kl_estimate(given["logprob"], given["ref_logprob"], name)
        np.testing.assert_allclose(estimate, case["expected"][name], atol=case["tolerance"])


def test_value_loss_of_ppo(single_agent: Cases) -> None:
    case = single_agent("ppo_value_loss_clipped")
    given = arrays(case)
    loss = losses.value_loss(
        given["vpreds"], given["returns"], given["old_values"], case["parameters"]["cliprange_value"]
    )
    assert loss.mean() == pytest.approx(case["expected"]["vf_loss"], abs=case["tolerance"])


def test_value_loss_of_mappo(single_agent: Cases) -> None:
    case = single_agent("mappo_value_loss")
    given, setting = arrays(case), case["parameters"]
    loss = losses.value_loss(
        given["values"], given["returns"], given["old_values"], setting["clip_param"], setting["huber_delta"]
    )
    active = given["active_masks"].astype(bool)
    assert loss[active].mean() == pytest.approx(case["expected"]["active_masked"], abs=case["tolerance"])
    assert loss.mean() == pytest.approx(case["expected"]["unmasked"], abs=case["tolerance"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: losses.token_weights(np.ones((1, 1)), "mean"),  # type: ignore[arg-type]
        lambda: losses.token_weights(np.ones((1, 1)), "seq-mean-token-sum-norm"),
        lambda: losses.kl_estimate(np.ones(1), np.ones(1), "k4"),  # type: ignore[arg-type]
    ],
)
def test_unknown_names_and_missing_constants_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ParameterError):
        call()

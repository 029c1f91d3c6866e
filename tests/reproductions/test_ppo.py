from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.losses import clip_fraction, clipped_surrogate, importance_ratio
from reproductions.methods import ppo

VARIANTS: dict[str, dict[str, float]] = {
    "ppo": {},
    "ppo_dual_clip_c3": {"dual_clip": 3.0},
    "clip_higher": {"clip_high": 0.28},
    "clip_higher_c10": {"clip_high": 0.28, "dual_clip": 10.0},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("mode", ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean"])
def test_losses_as_verl(single_agent: Any, variant: str, mode: Any) -> None:
    case = single_agent("ppo_clip_losses")
    inputs = {name: np.array(value) for name, value in case["inputs"].items()}
    options: dict[str, Any] = VARIANTS[variant]
    loss = ppo.loss(
        inputs["log_prob"], inputs["old_log_prob"], inputs["advantages"], inputs["response_mask"], mode=mode, **options
    )
    expected = case["expected"][f"{variant}|{mode}"]
    assert_allclose(loss, expected["loss"], atol=1e-6)
    ratio = importance_ratio(inputs["log_prob"], inputs["old_log_prob"])
    share = clip_fraction(ratio, inputs["advantages"], inputs["response_mask"] == 1, 0.2, options.get("clip_high", 0.2))
    assert_allclose(share, expected["clipfrac"], atol=1e-6)


def test_surrogate_as_rlax(single_agent: Any) -> None:
    case = single_agent("ppo_clip_rlax")
    ratio, advantage = (np.array(case["inputs"][name]) for name in ("prob_ratios", "advantages"))
    assert_allclose(clipped_surrogate(ratio, advantage).mean(), case["expected"], atol=1e-12)


def test_whitened_advantages_as_verl(single_agent: Any) -> None:
    case = single_agent("gae_verl_masked_tokens")
    example = ppo.METHOD.example()
    found = ppo.METHOD.run(example.batch, "verl", **example.parameters).advantage_pknt
    mask = np.array(case["inputs"]["response_mask"]) == 1
    assert_allclose(found[0, :, 0][mask], np.array(case["expected"]["advantages_whitened"])[mask], atol=1e-6)


def test_long_actions_weigh_more_where_lengths_are_known() -> None:
    plain = Batch.of(reward_pk=[[1.0, 0.0]], value_pknt=np.zeros((1, 2, 1, 1)))
    by_tokens = plain.replace(length_pknt=[[[[3]], [[1]]]])
    # Three tokens at 1 and one at 0: mean 3/4, population deviation sqrt(3)/4.
    found = ppo.METHOD.run(by_tokens, "openrlhf").advantage_pknt.ravel()
    assert_allclose(found, [1 / np.sqrt(3), -np.sqrt(3)], atol=1e-12)
    assert_allclose(ppo.METHOD.run(plain, "openrlhf").advantage_pknt.ravel(), [1.0, -1.0], atol=1e-12)

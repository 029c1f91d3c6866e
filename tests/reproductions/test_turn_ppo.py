"""Turn-PPO against a third party's reading of it; its own authors published no code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch, ParameterError
from reproductions.methods import gae, turn_ppo


def turns_of(case: dict[str, Any], pooling: str) -> Batch:
    """Rewards added up and values pooled by turn; turn ids -1 are tokens that the agent did not write."""
    given = {name: np.array(value) for name, value in case["inputs"].items()}
    ids, turns = given["turn_ids"], int(given["turn_ids"].max()) + 1
    reward, value = np.zeros((2, len(ids), turns))
    for b, row in enumerate(ids):
        for turn in range(row.max() + 1):
            tokens = np.flatnonzero(row == turn)
            reward[b, turn] = given["turn_reward_at_last_token"][b, tokens].sum()
            of_turn = given["token_values"][b, tokens]
            value[b, turn] = of_turn[-1] if pooling == "final_value" else of_turn.mean()
    acted = np.arange(turns) <= ids.max(axis=1, keepdims=True)
    return Batch.of(
        reward_pk=reward.sum(axis=1)[None],
        step_reward_pknt=reward[None, :, None],
        value_pknt=value[None, :, None],
        acted_pknt=acted[None, :, None],
    )


@pytest.mark.parametrize("pooling", ["final_value", "mean"])
def test_advantages_of_turns_reach_their_tokens(single_agent: Any, pooling: str) -> None:
    case = single_agent("turn_ppo_gae")
    found = turn_ppo.METHOD.run(turns_of(case, pooling)).advantage_pknt[0, :, 0]
    ids = np.array(case["inputs"]["turn_ids"])
    of_tokens = np.where(ids >= 0, np.take_along_axis(found, np.maximum(ids, 0), axis=1), 0.0)
    assert_allclose(of_tokens, case["expected"][pooling]["token_advantages"], atol=1e-5)


@pytest.mark.parametrize(("pooling", "short"), [("product", "product"), ("geometric_mean", "geometric")])
def test_one_ratio_per_turn(single_agent: Any, pooling: Any, short: str) -> None:
    case = single_agent("turn_ppo_ratio")
    log_ratio, ids = np.array(case["inputs"]["token_log_ratio"][0]), np.array(case["inputs"]["turn_ids"][0])
    assert_allclose(
        np.exp(turn_ppo.turn_log_ratio(log_ratio, ids, pooling)), case["expected"][f"ratio_{pooling}"], atol=1e-12
    )
    loss = turn_ppo.loss(log_ratio, ids, np.array(case["inputs"]["turn_advantages"]), pooling=pooling)
    assert_allclose(loss, case["expected"][f"loss_{short}"], atol=1e-12)


def test_an_unknown_pooling_is_refused() -> None:
    with pytest.raises(ParameterError, match="no pooling 'sum'"):
        turn_ppo.turn_log_ratio(np.zeros(1), np.zeros(1, int), "sum")  # type: ignore[arg-type]


def test_is_gae_with_other_constants() -> None:
    batch = turn_ppo.example().batch
    assert_allclose(
        turn_ppo.METHOD.run(batch).advantage_pknt, gae.METHOD.run(batch, gamma=0.99, lam=0.9).advantage_pknt
    )
    whitened = turn_ppo.METHOD.run(batch, "whitened").advantage_pknt[batch.acted_pknt]
    assert_allclose([whitened.mean(), whitened.std(ddof=1)], [0.0, 1.0], atol=1e-6)

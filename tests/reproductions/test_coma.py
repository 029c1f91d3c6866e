"""COMA: by hand, and its baseline's expectation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reproductions.core import Batch, ParameterError
from reproductions.methods import coma


def test_by_hand() -> None:
    np.testing.assert_allclose(coma.METHOD.run(coma.example().batch).advantage_pknt.ravel(), [2.0, 0.0], atol=1e-12)


def test_as_pymarl(single_agent: Any) -> None:
    case = single_agent("coma_advantage")
    given, expected = case["inputs"], case["expected"]["advantages"]
    # Episode, step, agent, action there; prompt, rollout, agent, turn, action here.
    value, policy = (np.swapaxes(given[name], 1, 2)[None] for name in ("q_values_B_T_A_U", "policies"))
    batch = Batch.of(
        action_value_pknta=value, policy_pknta=policy, action_pknt=np.swapaxes(given["actions"], 1, 2)[None]
    )
    found = coma.METHOD.run(batch).advantage_pknt[0]
    np.testing.assert_allclose(found, np.swapaxes(expected, 1, 2), atol=case["tolerance"])


def test_the_advantage_is_zero_on_average_over_the_agents_policy() -> None:
    rng = np.random.default_rng(0)
    value, policy = rng.normal(size=(1, 1, 2, 3, 4)), rng.dirichlet(np.ones(4), size=(1, 1, 2, 3))
    mean = np.zeros((1, 1, 2, 3))
    for action in range(4):
        batch = Batch.of(action_value_pknta=value, policy_pknta=policy, action_pknt=np.full((1, 1, 2, 3), action))
        mean += policy[..., action] * coma.METHOD.run(batch).advantage_pknt
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)


def test_an_action_without_a_value_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"outside 0\.\.2"):
        coma.METHOD.run(coma.example().batch.replace(action_pknt=[[[[3], [0]]]]))

"""CCPO v1: values of the authors' code (bhai114/ccpo at ea50d3a), float32."""

from __future__ import annotations

import numpy as np

from reproductions.methods import ccpo_v1


def test_history_of_ten_rollouts() -> None:
    history = ccpo_v1.example().parameters["memory"]
    np.testing.assert_allclose(history.mean, [0.3, 0.7, 0.4], atol=1e-6)
    np.testing.assert_allclose(history.deviation, [0.458258, 0.458258, 0.489898], atol=1e-6)
    np.testing.assert_allclose(ccpo_v1.solver_gate(history, 1.0, 1e-6), 0.658058, atol=1e-6)


def test_batch_after_a_history() -> None:
    example = ccpo_v1.example()
    credit = ccpo_v1.METHOD.run(example.batch, **example.parameters)
    reward, advantage = credit.diagnostics["role_reward_pkn"][0], credit.advantage_pknt[0, ..., 0]
    np.testing.assert_allclose(reward[:, 0], [0.910000, -0.574794, -0.993153, -0.574794], atol=1e-5)
    np.testing.assert_allclose(reward[:, 1], [0.151605, 0.849590, -0.586407, -1.284392], atol=1e-5)
    np.testing.assert_allclose(advantage[:, 0], [1.457634, -0.319014, -0.819607, -0.319014], atol=1e-5)
    np.testing.assert_allclose(advantage[:, 1], [0.400300, 1.157478, -0.400300, -1.157478], atol=1e-5)
    np.testing.assert_allclose([credit.memory.mean[0], credit.memory.deviation[0]], [0.297, 0.461411], atol=1e-5)
    np.testing.assert_allclose(ccpo_v1.solver_gate(credit.memory, 1.0, 1e-6), 0.655584, atol=1e-5)


def test_the_first_batch_is_paid_raw_gains_and_outcomes() -> None:
    credit = ccpo_v1.METHOD.run(ccpo_v1.example().batch)
    np.testing.assert_array_equal(credit.diagnostics["role_reward_pkn"][0].T, [[1, 0, -1, 0], [1, 1, 0, 0]])
    assert credit.memory.count == 4

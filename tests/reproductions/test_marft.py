"""MARFT: values of the authors' code (SII-MARFT/MARFT at 4a734e3), float32."""

from __future__ import annotations

import numpy as np

from reproductions.methods import marft


def test_action_level() -> None:
    batch = marft.example().batch
    raw, whitened = marft.METHOD.run(batch, "raw"), marft.METHOD.run(batch)
    by_step = [[0.410881, 0.336929], [0.575150, 0.300000]]
    np.testing.assert_allclose(raw.advantage_pknt[0, 0].T, by_step, atol=1e-5)
    targets = [[0.910881, 0.936929], [0.975150, 1.0]]
    np.testing.assert_allclose(whitened.diagnostics["target_pknt"][0, 0].T, targets, atol=1e-5)
    by_step = [[0.048668, -0.651355], [1.603602, -1.000914]]
    np.testing.assert_allclose(whitened.advantage_pknt[0, 0].T, by_step, atol=1e-5)


def test_token_level_is_the_same_chain_over_tokens() -> None:
    value_tnl = np.array([[[0.5, 0.55], [0.6, 0.65]], [[0.4, 0.45], [0.7, 0.75]]])
    reward_nt = np.array([[0, 0], [0, 1.0]])
    batch = marft.token_batch(reward_nt[None, None], np.swapaxes(value_tnl, 0, 1)[None, None])
    advantage = batch.in_play_order(marft.METHOD.run(batch, "raw").advantage_pknt)[
        batch.in_play_order(batch.acted_pknt)
    ]
    expected = [0.319605, 0.292509, 0.264231, 0.234695, 0.519612, 0.504106, 0.277625, 0.25]
    np.testing.assert_allclose(advantage, expected, atol=1e-5)


def test_an_advantage_of_zero_is_left_out_of_the_statistics() -> None:
    batch = marft.example().batch
    # Values equal to what is still to come make every TD error 0 but the last one.
    exact = batch.replace(value_pknt=[[[[0.99**2 * 0.99, 0.99], [0.99**2, 0.5]]]])
    raw = marft.METHOD.run(exact, "raw", lam=0.0).advantage_pknt
    assert np.count_nonzero(raw) < 4

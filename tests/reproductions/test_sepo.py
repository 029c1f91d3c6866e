"""SEPO: values of the authors' code (bhai114/ccpo at ea50d3a), float32."""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch
from reproductions.methods import sepo


def test_role_rewards() -> None:
    reward = sepo.METHOD.run(sepo.example().batch).diagnostics["role_reward_pkn"][0]
    np.testing.assert_allclose(reward[:, 0], [1.021739, 0.978261, -0.960000, -1.040000], atol=1e-5)
    np.testing.assert_allclose(reward[:, 1], [0.978261, 1.021739, -1.040000, -0.960000], atol=1e-5)


def test_uncentred_shares_are_measured_from_an_even_split() -> None:
    batch = Batch.of(reward_pk=[[1]], peer_share_pknm=[[[[0.8, 0.2], [0.8, 0.2]]]])
    run = sepo.METHOD.run
    np.testing.assert_allclose(run(batch, "uncentred").diagnostics["role_reward_pkn"][0, 0], [1.06, 0.94], atol=1e-12)
    # A lone rollout is its own mean: whatever the raters say, nothing moves.
    np.testing.assert_allclose(run(batch).diagnostics["role_reward_pkn"][0, 0], [1.0, 1.0], atol=1e-12)

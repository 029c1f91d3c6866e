"""MAPPA: values of the authors' code (ltjed/multiagent-coaching at ed66921), float32."""

from __future__ import annotations

import numpy as np

from reproductions.methods import mappa

LENGTHS = [2, 4, 3, 1, 2]
SCORES = np.array([8, 6, 3, 9, 4]) / 10


def test_actions_weigh_as_many_tokens_as_they_have() -> None:
    found = mappa.METHOD.run(mappa.example().batch).advantage_pknt.ravel()
    np.testing.assert_allclose(found, [1.237179, 0.247436, -1.237179, 1.732051, -0.742307], atol=1e-5)
    unweighted = [0.877058, 0, -1.315587, 1.315587, -0.877058]
    assert np.abs(found - unweighted).max() > 0.1


def test_kl_is_paid_by_every_token() -> None:
    mask = np.arange(4) < np.array(LENGTHS)[:, None]
    found = mappa.token_advantage(SCORES, mask, np.zeros(5, dtype=np.int64), 0.5 * mask)
    np.testing.assert_allclose(found[0, :2], [1.230389, 1.255038], atol=1e-5)
    np.testing.assert_allclose(found[3, 0], 1.748016, atol=1e-5)
    batch = mappa.example().batch.replace(kl_pknt=0.5 * np.array(LENGTHS).reshape(1, 1, 1, 5))
    assigned = mappa.METHOD.run(batch).advantage_pknt.ravel()
    np.testing.assert_allclose(assigned[[0, 3]], [(1.230389 + 1.255038) / 2, 1.748016], atol=1e-5)


def test_agents_have_statistics_of_their_own() -> None:
    batch = mappa.example().batch
    both = {
        name: np.concatenate([array, scale * array], axis=2)
        for name, array, scale in (
            ("coach_score_pknt", batch.need("coach_score_pknt"), 0.5),
            ("length_pknt", batch.need("length_pknt"), 1),
        )
    }
    found = mappa.METHOD.run(batch.replace(acted_pknt=None, **both)).advantage_pknt
    np.testing.assert_allclose(found[0, 0, 1], found[0, 0, 0], atol=1e-12)

"""MASPRM: values of the authors' code (milad1378yz/MASPRM at 9480f74), and labels by hand."""

from __future__ import annotations

import numpy as np

from reproductions.methods import masprm


def test_search_over_two_agents_with_one_wrong_path() -> None:
    found = masprm.search(lambda path: path != (1, 0), agents=2, candidates=2, rollouts=12)
    q = {path: total / visits for path, (total, visits) in found.items()}
    # Two expansions score two siblings each: two visits more than rollouts, one of them wrong.
    assert found[()] == (12.0, 14)
    np.testing.assert_allclose(q[()], 0.857143, atol=1e-6)
    assert (q[(0,)], q[(1, 0)], q[(1, 1)]) == (1.0, -1.0, 1.0)
    np.testing.assert_allclose(q[(1,)], 0.6, atol=1e-12)


def test_values_of_leaves_do_not_depend_on_chance_and_every_return_is_counted_at_the_root() -> None:
    for seed in range(20):
        found = masprm.search(lambda path: path != (1, 0), agents=2, candidates=2, rollouts=12, seed=seed)
        leaves = {path: found[path] for path in ((0, 0), (0, 1), (1, 0), (1, 1))}
        assert [total / visits for total, visits in leaves.values()] == [1.0, 1.0, -1.0, 1.0]
        assert found[()] == (sum(total for total, _ in leaves.values()), sum(visits for _, visits in leaves.values()))
        assert found[()][1] == 14


def test_uct_and_targets() -> None:
    np.testing.assert_allclose(masprm.uct(0.5, 10, 4, 2.0), 2.017427, atol=1e-6)
    y = np.array([0.5, 1.0, -1.0])
    np.testing.assert_allclose(masprm.target(y), [0.549306, 1.831781, -1.831781], atol=1e-6)


def test_labels_are_mean_returns_below() -> None:
    credit = masprm.METHOD.run(masprm.example().batch)
    np.testing.assert_array_equal(credit.advantage_pknt[0, :, :, 0], [[1, 1], [1, 1], [0, -1], [0, 1]])
    assert credit.diagnostics["root_p"][0] == 0.5 and credit.kept_pknt is not None and credit.kept_pknt.all()


def test_trees_that_are_nearly_decided_are_not_kept() -> None:
    batch = masprm.example().batch.replace(reward_pk=[[1, 1, 1, 1]])
    kept = masprm.METHOD.run(batch).kept_pknt
    assert kept is not None and not kept.any()

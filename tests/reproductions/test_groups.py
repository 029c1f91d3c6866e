"""Statistics over groups, worked on paper and against numpy group by group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.core import AxisGroups, KeyGroups, leave_one_out, normalise

EVERYBODY = np.ones((2, 4), bool)
REWARD = np.array([[1.0, 0.0, 0.0, 1.0], [0.1, 0.1, 0.1, 0.1]])


def test_population_and_sample_deviation() -> None:
    groups = AxisGroups(EVERYBODY, (1,))
    assert normalise(REWARD, groups, ddof=0)[0].tolist() == [1.0, -1.0, -1.0, 1.0]
    np.testing.assert_allclose(
        normalise(REWARD, groups, ddof=1)[0], np.sqrt(0.75) * np.array([1, -1, -1, 1]), atol=1e-15
    )


def test_where_epsilon_goes() -> None:
    groups = AxisGroups(EVERYBODY, (1,))
    for rule, spread in (("std_plus", 0.5 + 0.11), ("var_plus", 0.6), ("var_floor", 0.5)):
        np.testing.assert_allclose(
            normalise(REWARD, groups, ddof=0, eps=0.11, eps_rule=rule)[0, 0], 0.5 / spread, atol=1e-15
        )
    np.testing.assert_allclose(normalise(REWARD, groups, ddof=0, eps=4.0, eps_rule="var_floor")[0, 0], 0.25)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1, -7.7e-9])
@pytest.mark.parametrize("size", [2, 3, 7, 1000])
def test_equal_members_get_exactly_zero_without_epsilon(value: float, size: int) -> None:
    assert not normalise(np.full((1, size), value), AxisGroups(np.ones((1, size), bool), (1,)), ddof=0).any()


def test_a_small_spread_is_still_a_spread() -> None:
    array = np.array([[1.0, 1.0 + 1e-9]])
    np.testing.assert_allclose(normalise(array, AxisGroups(np.ones((1, 2), bool), (1,)), ddof=0), [[-1, 1]], rtol=1e-6)


def test_the_rules_for_a_group_of_one() -> None:
    mask = np.array([[True, False, False]])
    groups, array = AxisGroups(mask, (1,)), np.array([[0.7, 9.0, 9.0]])
    assert normalise(array, groups).tolist() == [[0.0, 0.0, 0.0]]
    assert normalise(array, groups, mean_only=True, singleton="raw").tolist() == [[0.7, 0.0, 0.0]]
    np.testing.assert_allclose(
        normalise(array, groups, eps=1e-6, singleton="raw"), [[0.7 / (1 + 1e-6), 0, 0]], atol=1e-16
    )
    assert leave_one_out(array, groups).tolist() == [[0.0, 0.0, 0.0]]
    assert leave_one_out(array, groups, singleton="raw").tolist() == [[0.7, 0.0, 0.0]]


def test_leaving_one_out() -> None:
    result = leave_one_out(np.array([[1.0, 0.0, 0.5]]), AxisGroups(np.ones((1, 3), bool), (1,)))
    np.testing.assert_allclose(result, [[0.75, -0.75, 0.0]], atol=1e-15)


def test_a_weight_counts_an_entry_that_many_times() -> None:
    array, weight = np.array([[3.0, 5.0, 1.0]]), np.array([[2.0, 1.0, 3.0]])
    weighted = normalise(array, AxisGroups(np.ones((1, 3), bool), (1,)), ddof=1, weight=weight)
    repeated = normalise(np.array([[3.0, 3, 5, 1, 1, 1]]), AxisGroups(np.ones((1, 6), bool), (1,)), ddof=1)
    np.testing.assert_allclose(weighted[0], repeated[0, [0, 2, 3]], atol=1e-14)


@given(seed=st.integers(0, 9999), ddof=st.integers(0, 1), big=st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_keys_and_axes_agree_with_numpy_group_by_group(seed: int, ddof: int, big: bool) -> None:
    rng = np.random.default_rng(seed)
    array, mask = rng.normal(size=(3, 4, 2, 3)), rng.random((3, 4, 2, 3)) < 0.7
    key = np.broadcast_to(np.arange(3)[:, None, None, None] * 2 + np.arange(2)[:, None], array.shape)
    by_key = normalise(array, KeyGroups(key * 10**12 - 5 if big else key, mask), ddof=ddof)
    by_axis = normalise(array, AxisGroups(mask, (1, 3)), ddof=ddof)
    np.testing.assert_allclose(by_key, by_axis, atol=1e-12)
    for p, n in np.ndindex(3, 2):
        members = array[p, :, n][mask[p, :, n]]
        if len(members) > 1:
            expected = (members - members.mean()) / members.std(ddof=ddof)
            np.testing.assert_allclose(by_axis[p, :, n][mask[p, :, n]], expected, atol=1e-10)
    assert not by_axis[~mask].any()

"""Exact credit against shapiq, by hand, and two ways against itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions import oracle
from reproductions.core import ParameterError

Cases = Callable[[str], dict[str, Any]]


def table(values: dict[str, float]) -> np.ndarray:
    """A game written as ``{"110": 1.0}``, agent 0 first, as an array indexed by bit mask."""
    agents = len(next(iter(values)))
    value_s = np.zeros(1 << agents)
    for members, value in values.items():
        value_s[sum(1 << i for i, member in enumerate(members) if member == "1")] = value
    return value_s


@pytest.mark.parametrize("case", ["shapley_glove", "shapley_linear", "shapley_and3", "shapley_or3_redundant"])
def test_games_of_the_library(single_agent: Cases, case: str) -> None:
    expected = single_agent(case)
    value_s = table(expected["inputs"]["v"])
    for name, function in (
        ("shapley", oracle.shapley),
        ("banzhaf", oracle.banzhaf),
        ("leave_one_out", oracle.leave_one_out),
    ):
        np.testing.assert_allclose(function(value_s), expected["expected"][name], atol=expected["tolerance"])
    assert oracle.shapley(value_s).sum() == pytest.approx(expected["expected"]["efficiency_sum"], abs=1e-12)


def test_closed_form_of_pairs_and_triples(single_agent: Cases) -> None:
    case = single_agent("shapley_pairwise4_closed_form")
    given = case["inputs"]
    dividends = {frozenset({i}): weight for i, weight in enumerate(given["weights"])}
    dividends |= {frozenset({0, 1}): given["pair01"], frozenset({1, 2}): given["pair12"]}
    dividends[frozenset({0, 2, 3})] = given["triple023"]
    np.testing.assert_allclose(oracle.shapley_of_dividends(dividends, 4), case["expected"], atol=1e-12)
    full = single_agent("shapley_kernelshap_full_budget")
    assert np.array_equal(oracle.table_of_dividends(dividends, 4), table(full["inputs"]["v"]))
    np.testing.assert_allclose(oracle.shapley(table(full["inputs"]["v"])), full["expected"], atol=full["tolerance"])


def test_given_orders(single_agent: Cases) -> None:
    case = single_agent("shapley_permutation_estimate")
    value_s, orders = table(case["inputs"]["v"]), np.array(case["inputs"]["permutations"])
    np.testing.assert_allclose(oracle.shapley_of_orders(value_s, orders), case["expected"], atol=1e-12)
    for order in orders:
        assert oracle.shapley_of_orders(value_s, order[None]).sum() == pytest.approx(value_s[-1] - value_s[0])
    every = np.array(list(permutations(range(4))))
    np.testing.assert_allclose(oracle.shapley_of_orders(value_s, every), oracle.shapley(value_s), atol=1e-12)
    sampled = single_agent("shapley_permutation_shapiq")
    np.testing.assert_allclose(
        oracle.shapley(table(sampled["inputs"]["v"])), sampled["expected"], atol=sampled["tolerance"]
    )


@given(agents=st.integers(1, 7), seed=st.integers(0, 9999))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_closed_form_is_enumeration(agents: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    masks = rng.integers(1, 1 << agents, size=5)
    dividends = {frozenset(i for i in range(agents) if mask >> i & 1): float(rng.normal()) for mask in masks}
    value_s = oracle.table_of_dividends(dividends, agents)
    for closed, enumerated in (
        (oracle.shapley_of_dividends, oracle.shapley),
        (oracle.banzhaf_of_dividends, oracle.banzhaf),
        (oracle.leave_one_out_of_dividends, oracle.leave_one_out),
    ):
        np.testing.assert_allclose(closed(dividends, agents), enumerated(value_s), atol=1e-10)
    recovered = oracle.dividends_of_table(value_s)
    for members, amount in dividends.items():
        assert recovered[oracle.bitmask(members)] == pytest.approx(amount, abs=1e-10)


def test_many_games_at_once_and_many_agents() -> None:
    games = np.random.default_rng(0).normal(size=(3, 2, 8))
    for function in (oracle.shapley, oracle.banzhaf, oracle.leave_one_out, oracle.dividends_of_table):
        np.testing.assert_allclose(function(games)[2, 1], function(games[2, 1]), atol=1e-12)
    weights = np.arange(16.0)
    additive = oracle.table_of_dividends({frozenset({i}): float(w) for i, w in enumerate(weights)}, 16)
    np.testing.assert_allclose(oracle.shapley(additive), weights, atol=1e-9)


def test_a_table_of_another_size_is_refused() -> None:
    with pytest.raises(ParameterError, match="2\\*\\*n values, this table has 6"):
        oracle.shapley(np.zeros(6))

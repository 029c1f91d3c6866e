"""Games written out by hand, their credit over all orders of joining, and shapiq as a second opinion."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions import oracle
from reproductions.core import ParameterError
from reproductions.worlds.games import Game, Term, game_of

# Each game of four agents, as a person would write it down.
BY_HAND: dict[str, Callable[[np.ndarray], float]] = {
    "additive": lambda q: (q[0] + q[1] + q[2] + q[3]) / 4,
    "strong_weak": lambda q: (q[0] + 0.2 * q[1] + q[2] + 0.2 * q[3]) / 2.4,
    "lazy": lambda q: (q[0] + q[1] + q[2]) / 3,
    "bottleneck": lambda q: q[0] * q[1] * q[2] * q[3],
    "redundant": lambda q: 1 - (1 - q[0]) * (1 - q[1]) * (1 - q[2]) * (1 - q[3]),
    "synergy": lambda q: (q[0] + q[1] + q[2] + q[3]) / 8 + (q[0] * q[1] + q[2] * q[3]) / 4,
}


def over_all_orders(value: Callable[[np.ndarray], float], quality_n: np.ndarray, masked: float) -> np.ndarray:
    """Shapley values by their definition."""
    agents = len(quality_n)
    credit, orders = np.zeros(agents), list(permutations(range(agents)))
    for order in orders:
        now = np.full(agents, masked)
        for agent in order:
            before = value(now)
            now[agent] = quality_n[agent]
            credit[agent] += value(now) - before
    return credit / len(orders)


def table(value: Callable[[np.ndarray], float], quality_n: np.ndarray, masked: float) -> np.ndarray:
    agents = len(quality_n)
    inside = (np.arange(1 << agents)[:, None] >> np.arange(agents) & 1).astype(bool)
    return np.array([value(np.where(row, quality_n, masked)) for row in inside])


@pytest.mark.parametrize("name", sorted(BY_HAND))
@pytest.mark.parametrize("masked", [0.0, 0.4])
def test_named_games_are_what_their_names_say(name: str, masked: float) -> None:
    game, by_hand = game_of(name, 4), BY_HAND[name]
    quality = np.random.default_rng(1).random((5, 4))
    np.testing.assert_allclose(game.value(quality), [by_hand(q) for q in quality], atol=1e-14)
    for got, q in zip(game.shapley(quality, masked), quality, strict=True):
        np.testing.assert_allclose(got, over_all_orders(by_hand, q, masked), atol=1e-12)
    step = 1e-6 * np.eye(4)
    slope = [[(by_hand(q + h) - by_hand(q - h)) / 2e-6 for h in step] for q in quality]
    np.testing.assert_allclose(game.slope(quality), slope, atol=1e-9)
    assert by_hand(np.ones(4)) == pytest.approx(1) and game.extremes(np.zeros(4), np.ones(4)) == pytest.approx((0, 1))
    assert game.lazy_n.tolist() == [False, False, False, name == "lazy"]


def test_what_the_three_values_disagree_on() -> None:
    ones = np.ones(3)
    either, both = game_of("redundant", 3), game_of("bottleneck", 3)
    np.testing.assert_allclose(either.leave_one_out(ones), 0)
    np.testing.assert_allclose(either.shapley(ones), 1 / 3)
    np.testing.assert_allclose(either.banzhaf(ones), 1 / 4)
    np.testing.assert_allclose(both.leave_one_out(ones), 1)
    np.testing.assert_allclose(both.shapley(ones), 1 / 3)


games = st.builds(
    lambda agents, seed, size: Game(
        agents,
        tuple(
            Term(float(rng.normal()), tuple(rng.permutation(agents)[: rng.integers(1, agents + 1)].tolist()), kind)
            for rng in [np.random.default_rng(seed)]
            for kind in ["all", "any"] * size
        ),
    ),
    st.integers(1, 7),
    st.integers(0, 9999),
    st.integers(1, 3),
)


@given(game=games, seed=st.integers(0, 9999), masked=st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_closed_form_is_enumeration_is_dividends(game: Game, seed: int, masked: float) -> None:
    quality = np.random.default_rng(seed).normal(size=game.agents)
    value_s = table(lambda q: float(game.value(q)), quality, masked)
    dividends = game.dividends(quality, masked)
    np.testing.assert_allclose(oracle.table_of_dividends(dividends, game.agents), value_s, atol=1e-10)
    for closed, of_dividends, enumerated in (
        (game.shapley, oracle.shapley_of_dividends, oracle.shapley),
        (game.banzhaf, oracle.banzhaf_of_dividends, oracle.banzhaf),
        (game.leave_one_out, oracle.leave_one_out_of_dividends, oracle.leave_one_out),
    ):
        expected = enumerated(value_s)
        np.testing.assert_allclose(closed(quality, masked), expected, atol=1e-10)
        np.testing.assert_allclose(of_dividends(dividends, game.agents), expected, atol=1e-10)
    assert game.shapley(quality, masked).sum() == pytest.approx(value_s[-1] - value_s[0], abs=1e-10)


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_twelve_agents(name: str) -> None:
    game, quality = game_of(name, 12), np.random.default_rng(2).random(12)
    value_s = table(lambda q: float(game.value(q)), quality, 0.1)
    np.testing.assert_allclose(game.shapley(quality, 0.1), oracle.shapley(value_s), atol=1e-10)
    np.testing.assert_allclose(game.banzhaf(quality, 0.1), oracle.banzhaf(value_s), atol=1e-10)
    np.testing.assert_allclose(game.leave_one_out(quality, 0.1), oracle.leave_one_out(value_s), atol=1e-10)


@given(game=games, seed=st.integers(0, 9999))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_variance_is_that_of_all_outcomes(game: Game, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high, chance = rng.normal(size=(3, game.agents))
    chance = 1 / (1 + np.exp(-chance))
    mean, variance = chance * high + (1 - chance) * low, chance * (1 - chance) * (high - low) ** 2
    outcome = np.array(list(product([False, True], repeat=game.agents)))
    weight = np.where(outcome, chance, 1 - chance).prod(axis=1)
    value = game.value(np.where(outcome, high, low))
    expected = weight @ (value - weight @ value) ** 2
    assert weight @ value == pytest.approx(float(game.value(mean)), abs=1e-10)
    assert game.variance(mean, variance) == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_shapiq_agrees() -> None:
    shapiq = pytest.importorskip("shapiq")
    game, quality = game_of("synergy", 5), np.array([0.9, 0.2, 0.7, 0.4, 0.6])
    computer = shapiq.ExactComputer(
        game=lambda inside: np.array(
            [float(game.value(np.where(row, quality, 0.25))) for row in np.atleast_2d(inside)]
        ),
        n_players=5,
    )
    for index, ours in (("SV", game.shapley), ("BV", game.banzhaf)):
        theirs = computer(index=index, order=1).get_n_order_values(1)
        np.testing.assert_allclose(ours(quality, 0.25), theirs, atol=1e-10)


def test_games_that_do_not_exist() -> None:
    with pytest.raises(ParameterError, match="no game 'chess'"):
        game_of("chess", 2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="2 weights for 3 agents"):
        game_of("additive", 3, weights=(1.0, 2.0))
    with pytest.raises(ParameterError, match="has no weights"):
        game_of("redundant", 2, weights=(1.0, 2.0))

"""Metrics: numbers worked by hand, agreement with scipy, and for each that right credit beats wrong credit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from small_world import SmallWorld

from reproductions import metrics
from reproductions.metrics.correlation import inversions

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
ONES = np.ones((1, 4, 2, 1), dtype=bool)


# ---------------------------------------------------------------- agreement, worked by hand


def test_correlations_of_four_numbers_with_two_of_them_exchanged() -> None:
    x, y = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4])
    # Above the mean: -1.5 -0.5 0.5 1.5 and -1.5 0.5 -0.5 1.5; products 2.25 - 0.25 - 0.25 + 2.25 = 4, squares 5 and 5.
    assert metrics.pearson(x, y) == pytest.approx(0.8, abs=1e-15)
    assert metrics.spearman(x, np.exp(y)) == pytest.approx(0.8, abs=1e-15)
    # Of six pairs one is discordant.
    assert metrics.kendall(x, y) == pytest.approx(4 / 6, abs=1e-15)


def test_kendall_with_a_tie_on_either_side() -> None:
    # Pairs: tied in x; concordant; tied in y. One concordant over sqrt((3 - 1)(3 - 1)).
    assert metrics.kendall(np.array([1.0, 1, 2]), np.array([1.0, 2, 2])) == pytest.approx(0.5, abs=1e-15)


def test_equal_numbers_share_their_ranks() -> None:
    np.testing.assert_array_equal(metrics.Ranked.of(np.array([5.0, 1, 5, 7])).ranks, [2.5, 1, 2.5, 4])


def test_signs() -> None:
    # Right, wrong, silent; the last truth has no sign.
    assert metrics.sign_agreement(np.array([1.0, 1, 0, 5]), np.array([1.0, -1, 2, 0])) == 0.5
    assert metrics.sign_agreement(np.array([1.0, -1, 0, 5]), np.array([1.0, -1, 2, 0])) == pytest.approx(2.5 / 3)


@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2, 2]])
def test_what_does_not_vary_has_no_correlation(x: list[float]) -> None:
    for agreement in (metrics.pearson, metrics.spearman, metrics.kendall):
        assert np.isnan(agreement(np.array(x), np.arange(float(len(x)))))


def test_what_varies_by_rounding_alone_has_no_linear_correlation() -> None:
    assert np.isnan(metrics.pearson(np.array([0.1 + 0.2, 0.3, 0.3]), np.arange(3.0)))


def test_no_sign_to_agree_with() -> None:
    assert np.isnan(metrics.sign_agreement(np.ones(3), np.zeros(3)))


# ---------------------------------------------------------------- agreement, against scipy

tied = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=60)


@given(pairs=tied)
@QUICK
def test_against_scipy_with_many_ties(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(metrics.kendall(x, y)) and np.isnan(metrics.pearson(x, y))
        return
    assert metrics.pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert metrics.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert metrics.kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_against_scipy_on_more_numbers_than_a_short_integer_holds() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 70_000))
    y = y + 0.3 * x
    assert metrics.kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert metrics.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@given(code=st.lists(st.integers(0, 40), max_size=40))
@QUICK
def test_inversions_counted_pair_by_pair(code: list[int]) -> None:
    expected = sum(code[i] > code[j] for j in range(len(code)) for i in range(j))
    assert inversions(np.array(code, dtype=np.int64)) == expected


# ---------------------------------------------------------------- fairness, worked by hand


def test_the_lazy_agent_has_a_third_of_the_credit() -> None:
    credit = np.array([[[1.0], [0.5]], [[-1.0], [-0.5]]])[None]
    acted = np.ones(credit.shape, dtype=bool)
    assert metrics.lazy_share(credit, acted, np.array([False, True])) == pytest.approx(1 / 3)
    assert np.isnan(metrics.lazy_share(credit, acted, np.array([False, False])))
    assert np.isnan(metrics.lazy_share(np.zeros_like(credit), acted, np.array([False, True])))


def test_error_of_beta() -> None:
    # (1, 0) is (2, 4) away from (3, 4), whose length is 5.
    assert metrics.beta_error(np.array([1.0, 0]), np.array([3.0, 4])) == pytest.approx(np.sqrt(20) / 5)


def both_actions() -> tuple[metrics.OthersActions, np.ndarray]:
    """Two agents, two actions, each joint action once: (0,0), (0,1), (1,0), (1,1)."""
    action = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[None, :, :, None]
    return metrics.OthersActions.of(np.zeros_like(action), action, ONES), action


def test_leakage_of_the_sum_of_both_actions() -> None:
    others, action = both_actions()
    credit = np.zeros(action.shape)
    credit[:, :, 0] = action.sum(axis=2)
    credit[:, :, 1] = action[:, :, 1]
    # Agent 0 gets 0 1 1 2: squares above the mean 2 over 3 degrees of freedom; given its own action 1 over 2; given the
    # other's action too, nothing is left. (1/2 - 0) / (2/3) = 3/4. Agent 1 gets its own action: nothing leaks.
    np.testing.assert_allclose(others.leakage_n(credit), [0.75, 0.0], atol=1e-12)
    assert others.leakage(credit) == pytest.approx(0.375)
    np.testing.assert_allclose(others.leakage_n(5.0 - 3.0 * credit), [0.75, 0.0], atol=1e-12)


def test_leakage_knows_no_answer_for_constant_credit_or_a_lone_action() -> None:
    others, action = both_actions()
    assert np.isnan(others.leakage(np.full(action.shape, 0.3)))
    alone = metrics.OthersActions.of(action[:, :1], action[:, :1], ONES[:, :1])
    assert np.isnan(alone.leakage(np.ones((1, 1, 2, 1))))


def test_leakage_of_noise_is_nothing_on_average() -> None:
    rng = np.random.default_rng(1)
    action = rng.integers(0, 3, (4, 6, 4, 2))
    acted = rng.random(action.shape) < 0.8
    others = metrics.OthersActions.of(np.zeros_like(action), action, acted)
    found = np.array([others.leakage(rng.normal(size=action.shape)) for _ in range(500)])
    assert abs(found.mean()) < 4.0 * found.std() / np.sqrt(len(found))


def test_credit_above_the_mean_of_the_prompt_and_agent() -> None:
    credit = np.array([[1.0, 10], [3, 10], [5, 40], [7, 0]]).reshape(1, 4, 2, 1)
    acted = ONES.copy()
    acted[0, 3] = False
    found = metrics.above_prompt_mean(credit, acted)[0, :, :, 0]
    np.testing.assert_allclose(found, [[-2, -10], [0, -10], [2, 20], [0, 0]])


# ---------------------------------------------------------------- gradients, worked by hand


def test_a_direction_without_bias_and_its_noise() -> None:
    estimates, exact = np.array([[2.0, 1], [2, -1]]), np.array([3.0, 0])
    assert metrics.cosine(estimates[0], exact) == pytest.approx(2 / np.sqrt(5))
    assert metrics.mean_cosine(estimates, exact) == pytest.approx(2 / np.sqrt(5))
    # Their product, 4 - 1, estimates the squared length of the expectation; along the exact direction it is 4: 1 - 4 / 3.
    assert metrics.relative_bias(estimates, exact) == pytest.approx(-1 / 3)
    # Mean 2 along the exact direction, variance 2 across it.
    assert metrics.signal_to_noise(estimates, exact) == pytest.approx(2 / np.sqrt(2))
    assert metrics.relative_variance(estimates) == pytest.approx(2 / 3)


def test_bias_is_the_squared_sine_of_the_angle() -> None:
    exact = np.array([1.0, 0])
    for angle in (0.0, 0.3, np.pi / 4, 1.2):
        estimates = 7.0 * np.tile([np.cos(angle), np.sin(angle)], (3, 1))
        assert metrics.relative_bias(estimates, exact) == pytest.approx(np.sin(angle) ** 2, abs=1e-12)
    assert metrics.relative_bias(-estimates, exact) == 1.0
    assert np.isnan(metrics.signal_to_noise(estimates, exact)), "without noise there is no ratio"


def test_noise_does_not_count_as_bias() -> None:
    rng, exact = np.random.default_rng(0), np.array([1.0, 0, 0, 0])
    biases = [metrics.relative_bias(exact + rng.normal(0.0, 0.5, (8, 4)), exact) for _ in range(400)]
    assert abs(np.mean(biases)) < 4.0 * np.std(biases) / np.sqrt(400)
    estimates = exact + rng.normal(0.0, 2.0, (4000, 4))
    assert metrics.signal_to_noise(estimates, exact) == pytest.approx(1 / 4, abs=4 / np.sqrt(4000))


def test_cosine_of_each_agent_alone() -> None:
    exact = np.array([[1.0, 0], [0, 1], [0, 0]])
    # A hundred times the first agent's gradient and a right angle for the second; the third has nothing to learn.
    estimates = np.array([[[100.0, 0], [1, 0], [5, 5]]])
    assert metrics.cosine_by_agent(estimates, exact) == 0.5


def test_a_batch_without_credit_counts_as_no_direction() -> None:
    exact = np.array([1.0, 0])
    assert metrics.mean_cosine(np.array([[2.0, 0], [0, 0]]), exact) == 0.5
    assert np.isnan(metrics.mean_cosine(np.zeros((2, 2)), exact))
    assert np.isnan(metrics.cosine(np.zeros(2), exact))
    assert np.isnan(metrics.relative_bias(np.zeros((3, 2)), exact))


def test_what_equal_cost_buys() -> None:
    assert metrics.prompts_at_equal_cost(64.0, 8.0) == 8
    assert metrics.prompts_at_equal_cost(64.0, 24.0) == 2
    assert metrics.prompts_at_equal_cost(64.0, 500.0) == 1
    assert metrics.prompts_at_equal_cost(0.3, 0.1) == 3, "rounding takes no prompt away"


# ---------------------------------------------------------------- tokens and training, worked by hand


def test_weights_of_tokens() -> None:
    acted = np.ones((1, 1, 2, 1), dtype=bool)
    weight, right = np.array([1.0, np.e]).reshape(1, 1, 2, 1), np.ones((1, 1, 2, 1))
    assert metrics.token_weight_error(weight, right, acted) == pytest.approx(0.5)
    assert metrics.token_weight_error(7.0 * right, right, acted) == 0.0
    found = metrics.relative_token_weight_n(np.array([1.0, 3]).reshape(1, 1, 2, 1), right, acted)
    np.testing.assert_allclose(found, [0.5, 1.5])


def test_regret_is_the_area_above_the_curve() -> None:
    # The gap is 1, 0, 0: half a square over the first step out of two.
    assert metrics.regret(np.array([0.0, 1, 1]), np.array([0.0, 1, 2]), 1.0) == pytest.approx(0.25)
    # Worth the same at any scale of value and cost.
    assert metrics.regret(np.array([5.0, 9, 9]), np.array([0.0, 10, 20]), 9.0) == pytest.approx(0.25)
    assert metrics.regret(np.array([0.0, 0, 0]), np.array([0.0, 3, 7]), 1.0) == pytest.approx(1.0)
    assert np.isnan(metrics.regret(np.array([1.0, 1]), np.array([0.0, 1]), 1.0))


# ---------------------------------------------------------------- right credit beats wrong credit

WORLD = SmallWorld()
PLAYED = WORLD.play(np.random.default_rng(5), 40, 8)
RIGHT = PLAYED.truth.advantage_pknt
TEAM = PLAYED.batch.spread(PLAYED.batch.reward_pk - PLAYED.batch.reward_pk.mean(axis=1, keepdims=True), "pk")
EXACT = WORLD.gradient(PLAYED.policy).ravel()
ACTED = PLAYED.batch.acted_pknt


def estimates(credit: np.ndarray) -> np.ndarray:
    """One gradient estimate from every five prompts."""
    found = []
    for start in range(0, 40, 5):
        inside = np.zeros_like(credit)
        inside[start : start + 5] = credit[start : start + 5]
        found.append(PLAYED.gradient(inside).ravel())
    return np.array(found)


SIGNED = {
    "pearson": lambda credit: metrics.pearson(credit[ACTED], RIGHT[ACTED]),
    "spearman": lambda credit: metrics.spearman(credit[ACTED], RIGHT[ACTED]),
    "kendall": lambda credit: metrics.kendall(credit[ACTED], RIGHT[ACTED]),
    "sign_agreement": lambda credit: metrics.sign_agreement(credit[ACTED], RIGHT[ACTED]),
    "mean_cosine": lambda credit: metrics.mean_cosine(estimates(credit), EXACT),
    "cosine_by_agent": lambda credit: metrics.cosine_by_agent(estimates(credit).reshape(8, 3, 3), EXACT.reshape(3, 3)),
    "signal_to_noise": lambda credit: metrics.signal_to_noise(estimates(credit), EXACT),
}
OTHERS = metrics.OthersActions.of(PLAYED.context_pknt, PLAYED.action_pknt, ACTED)
# These ask how much, not which way: the sign of the credit must not matter to them.
SIGNLESS = {
    "lazy_share": lambda credit: -metrics.lazy_share(credit, ACTED, PLAYED.truth.lazy_n),
    "leakage": lambda credit: -OTHERS.leakage(credit),
}


@pytest.mark.parametrize("name", SIGNED)
def test_right_credit_beats_the_teams_and_its_negative_is_worst(name: str) -> None:
    score = SIGNED[name]
    wrong = np.roll(RIGHT, 1, axis=2)
    assert score(RIGHT) > score(TEAM) > score(-RIGHT)
    # The credit of the neighbour, who acts independently, says nothing.
    assert score(RIGHT) > score(wrong) > score(-RIGHT)


def test_bias_of_right_credit_is_nothing_and_of_its_negative_everything() -> None:
    shared_out_wrongly = RIGHT * np.array([1.0, 0.0, 1.0])[:, None]
    errors = [metrics.relative_bias(estimates(credit), EXACT) for credit in (RIGHT, shared_out_wrongly, -RIGHT)]
    # The second agent has the larger part of the gradient: without it, that part is missing.
    sizes = np.linalg.norm(EXACT.reshape(3, 3), axis=1)
    np.testing.assert_allclose(errors, [0.0, sizes[1] ** 2 / (sizes @ sizes), 1.0], atol=0.1)


@pytest.mark.parametrize("name", SIGNLESS)
def test_right_credit_beats_the_teams_whatever_the_sign(name: str) -> None:
    score = SIGNLESS[name]
    assert score(RIGHT) > score(TEAM)
    assert score(-RIGHT) == pytest.approx(score(RIGHT))


def test_right_coefficients_beat_wrong_ones_and_their_negative_is_worst() -> None:
    right = np.array([2.0, 0.5])
    errors = [metrics.beta_error(beta, right) for beta in (right, np.array([1.0, 1]), -right)]
    assert errors == sorted(errors) and errors[0] == 0.0 and errors[2] == 2.0


def test_right_weights_beat_equal_weights() -> None:
    right = np.array([1.0, 5]).reshape(1, 1, 2, 1)
    acted = np.ones(right.shape, dtype=bool)
    ordered = [metrics.token_weight_error(weight, right, acted) for weight in (right, np.ones_like(right), 1 / right)]
    assert ordered == sorted(ordered) and ordered[0] == 0.0

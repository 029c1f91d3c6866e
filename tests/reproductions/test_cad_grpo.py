"""CAD-GRPO: identities of regression, since there is no source to compare with."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from reproductions.core import Batch, Floats, ParameterError
from reproductions.methods import cad_grpo, dr_mas


def noisy_team(seed: int, prompts: int = 60, noise: float = 0.0) -> tuple[Batch, Floats]:
    """Reward = difficulty + 1.5 q_0 - 0.5 q_1 + disturbance, q seen with an error of variance ``noise``."""
    rng = np.random.default_rng(seed)
    true_pkn = rng.normal(size=(prompts, 8, 2))
    beta = np.array([1.5, -0.5])
    reward = rng.normal(size=(prompts, 1)) * 4 + true_pkn @ beta + 0.1 * rng.normal(size=(prompts, 8))
    return Batch.of(reward_pk=reward, quality_pkn=true_pkn + np.sqrt(noise) * rng.normal(size=true_pkn.shape)), beta


def test_orthogonal_quality_gives_simple_slopes() -> None:
    credit = cad_grpo.METHOD.run(cad_grpo.example().batch, lam=0.0)
    np.testing.assert_allclose(credit.diagnostics["beta_n"], [2.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(
        credit.advantage_pknt[0, :, :, 0], [[-1, -0.25], [-1, 0.25], [1, -0.25], [1, 0.25]], atol=1e-12
    )
    np.testing.assert_allclose(credit.diagnostics["r2"], 1.0, atol=1e-12)


def test_with_orthogonal_quality_ridge_shrinks_each_slope_by_its_own_spread() -> None:
    # Every column of the example has a sum of squares of 2 (eight rollouts at +-1/2), so lam 2 halves it.
    credit = cad_grpo.METHOD.run(cad_grpo.example().batch, lam=2.0)
    np.testing.assert_allclose(credit.diagnostics["beta_n"], [1.0, 0.25], atol=1e-12)


@pytest.mark.parametrize("lam", [0.01, 1.0, 30.0])
def test_is_the_ridge_regression_of_scikit_learn_with_a_column_per_prompt_left_free(lam: float) -> None:
    batch, _ = noisy_team(0, prompts=5)
    reward, quality = batch.need("reward_pk"), batch.need("quality_pkn")
    y = (reward - reward.mean(axis=1, keepdims=True)).ravel()
    X = (quality - quality.mean(axis=1, keepdims=True)).reshape(-1, 2)
    expected = Ridge(alpha=lam, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(cad_grpo.METHOD.run(batch, lam=lam).diagnostics["beta_n"], expected, rtol=1e-9)


def test_standard_errors_are_those_of_least_squares_without_a_penalty() -> None:
    batch, _ = noisy_team(1, prompts=4)
    reward, quality = batch.need("reward_pk"), batch.need("quality_pkn")
    dummies = np.kron(np.eye(4), np.ones((8, 1)))
    design = np.hstack([quality.reshape(-1, 2), dummies])
    solution, rss, _, _ = np.linalg.lstsq(design, reward.ravel(), rcond=None)
    covariance = rss[0] / (32 - 6) * np.linalg.inv(design.T @ design)
    diagnostics = cad_grpo.METHOD.run(batch, lam=0.0).diagnostics
    np.testing.assert_allclose(diagnostics["beta_n"], solution[:2], rtol=1e-9)
    np.testing.assert_allclose(diagnostics["standard_error_n"], np.sqrt(np.diag(covariance))[:2], rtol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_constant_quality_gets_nothing_and_says_that_it_is_unknown(lam: float) -> None:
    batch, _ = noisy_team(2)
    quality = batch.need("quality_pkn").copy()
    quality[..., 1] = 0.1
    credit = cad_grpo.METHOD.run(batch.replace(quality_pkn=quality), lam=lam)
    assert credit.diagnostics["beta_n"][1] == 0 and np.all(credit.advantage_pknt[:, :, 1] == 0)
    assert np.isinf(credit.diagnostics["standard_error_n"][1])


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_equal_qualities_share_their_coefficient(lam: float) -> None:
    batch, _ = noisy_team(3)
    quality = batch.need("quality_pkn")[..., [0, 0]]
    beta = cad_grpo.METHOD.run(batch.replace(quality_pkn=quality), lam=lam).diagnostics["beta_n"]
    np.testing.assert_allclose(beta[0], beta[1], rtol=1e-7)
    alone = cad_grpo.METHOD.run(batch.replace(quality_pkn=quality[..., :1], acted_pknt=None), lam=lam / 2)
    # Two equal columns with beta each act as one with 2 beta and half the penalty.
    np.testing.assert_allclose(2 * beta[0], alone.diagnostics["beta_n"][0], rtol=1e-7)


def test_known_noise_of_quality_is_taken_out_of_the_slope() -> None:
    batch, beta = noisy_team(4, prompts=4000, noise=0.5)
    shrunk = cad_grpo.METHOD.run(batch, lam=0.0).diagnostics["beta_n"]
    # Attenuation: var q / (var q + var noise) = 1 / 1.5 of the true slope.
    np.testing.assert_allclose(shrunk, beta / 1.5, atol=0.03)
    corrected = cad_grpo.METHOD.run(batch, lam=0.0, noise_variance=0.5).diagnostics["beta_n"]
    np.testing.assert_allclose(corrected, beta, atol=0.05)


def test_cross_validation_picks_little_penalty_for_a_clear_signal_and_much_for_none() -> None:
    clear, _ = noisy_team(5)
    rng = np.random.default_rng(6)
    none = clear.replace(reward_pk=rng.normal(size=clear.shape[:2]))
    run = cad_grpo.METHOD.run
    assert run(clear, "gcv").diagnostics["lam"] < 1.0 < run(none, "gcv").diagnostics["lam"]


def test_the_gate_falls_back_to_dr_mas_where_quality_explains_nothing() -> None:
    clear, _ = noisy_team(7)
    none = clear.replace(reward_pk=np.random.default_rng(8).normal(size=clear.shape[:2]))
    closed, opened = cad_grpo.METHOD.run(none, "gated"), cad_grpo.METHOD.run(clear, "gated")
    assert closed.diagnostics["r2"] < 0.2 and opened.diagnostics["r2"] > 0.4
    np.testing.assert_array_equal(closed.advantage_pknt, dr_mas.METHOD.run(none).advantage_pknt)
    plain = cad_grpo.METHOD.run(clear).advantage_pknt
    deviation = clear.need("reward_pk").std(axis=1)[:, None, None, None]
    np.testing.assert_allclose(opened.advantage_pknt, plain / deviation, rtol=1e-9)


@pytest.mark.parametrize(("r2", "weight"), [(0.1, 0.0), (0.2, 0.0), (0.3, 0.5), (0.4, 1.0), (0.9, 1.0)])
def test_the_gate_is_half_open_at_three_tenths(r2: float, weight: float) -> None:
    assert cad_grpo.gate_weight(r2, 0.2, 0.4) == pytest.approx(weight, abs=1e-12)


def test_impossible_settings_are_refused() -> None:
    batch = cad_grpo.example().batch
    with pytest.raises(ParameterError, match="lam"):
        cad_grpo.METHOD.run(batch, lam=-1.0)
    with pytest.raises(ParameterError, match="does not rise"):
        cad_grpo.METHOD.run(batch, gate=(0.4, 0.2))

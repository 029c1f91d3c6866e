"""QMIX: by hand, the gradient by differences, monotonicity, and VDN as a special case."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch, ParameterError
from reproductions.methods import qmix, vdn


def test_a_linear_mixer_prices_with_its_weights() -> None:
    example = qmix.example()
    credit = qmix.METHOD.run(example.batch, **example.parameters)
    np.testing.assert_allclose(credit.diagnostics["price_pknt"][0, 0, :, 0], [2, 1], atol=1e-12)
    np.testing.assert_allclose(credit.advantage_pknt[0, :, :, 0], [[0.5, 0.25], [-0.5, -0.25]], atol=1e-12)


def test_price_is_the_gradient_of_the_mixture_and_never_negative() -> None:
    rng = np.random.default_rng(0)
    mixer, utility, state = qmix.Mixer.initial(3, 4), rng.normal(size=(20, 3)) * 3, rng.normal(size=(20, 4))
    price = mixer.price(utility, state)
    assert (price >= 0).all() and price.any()
    for agent in range(3):
        step = np.eye(3)[agent] * 1e-6
        slope = (mixer.total(utility + step, state) - mixer.total(utility - step, state)) / 2e-6
        np.testing.assert_allclose(slope, price[:, agent], atol=1e-7)


def test_unit_weights_are_vdn() -> None:
    mixer = qmix.Mixer(
        first_fnh=np.array([np.zeros((2, 1)), np.ones((2, 1))]),
        first_bias_fh=np.array([[0.0], [50.0]]),
        second_fh=np.array([[0.0], [1.0]]),
        second_bias_f=np.array([0.0, -50.0]),
    )
    rng = np.random.default_rng(1)
    batch = Batch.of(utility_pknt=rng.normal(size=(2, 3, 2, 2)), team_state_pktf=rng.normal(size=(2, 3, 2, 1)))
    credit, plain = qmix.METHOD.run(batch, mixer=mixer), vdn.METHOD.run(batch)
    np.testing.assert_allclose(credit.advantage_pknt, plain.advantage_pknt, atol=1e-12)
    np.testing.assert_allclose(credit.diagnostics["total_pkt"], plain.diagnostics["total_pkt"], atol=1e-12)


def test_a_mixer_of_another_size_is_refused() -> None:
    with pytest.raises(ParameterError, match="mixer is for sizes"):
        qmix.METHOD.run(qmix.example().batch, mixer=qmix.Mixer.initial(5, 4))

"""QMIX: its authors' group's code, by hand, the gradient by differences, monotonicity, and VDN as a special case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reproductions.core import Batch, ParameterError
from reproductions.methods import qmix, vdn


def test_the_network_of_pymarl_and_its_gradient(single_agent: Any) -> None:
    case = single_agent("qmix_mixer")
    utility_btn, state_btf = np.array(case["inputs"]["agent_qs"]), np.array(case["inputs"]["states"])
    batch = Batch.of(utility_pknt=np.swapaxes(utility_btn, 1, 2)[None], team_state_pktf=state_btf[None])
    mixer = qmix.Mixer.from_pymarl(case["inputs"]["parameters"])
    found, expected = qmix.METHOD.run(batch, mixer=mixer).diagnostics, case["expected"]
    total_bt = np.array(expected["q_tot"])[..., 0]
    np.testing.assert_allclose(found["total_pkt"][0], total_bt, atol=case["tolerance"])
    price_btn = np.swapaxes(found["price_pknt"][0], 1, 2)
    np.testing.assert_allclose(price_btn, expected["dqtot_dqa"], atol=case["tolerance"])


def test_two_layer_hypernetworks_are_refused(single_agent: Any) -> None:
    parameters = {**single_agent("qmix_mixer")["inputs"]["parameters"]}
    parameters["hyper_w_1.0.weight"] = parameters.pop("hyper_w_1.weight")
    with pytest.raises(ParameterError, match=r"lack hyper_w_1\.weight"):
        qmix.Mixer.from_pymarl(parameters)


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
        value_fh=np.zeros((2, 1)),
        value_h=np.zeros(1),
        value=-50.0,
    )
    rng = np.random.default_rng(1)
    batch = Batch.of(utility_pknt=rng.normal(size=(2, 3, 2, 2)), team_state_pktf=rng.normal(size=(2, 3, 2, 1)))
    credit, plain = qmix.METHOD.run(batch, mixer=mixer), vdn.METHOD.run(batch)
    np.testing.assert_allclose(credit.advantage_pknt, plain.advantage_pknt, atol=1e-12)
    np.testing.assert_allclose(credit.diagnostics["total_pkt"], plain.diagnostics["total_pkt"], atol=1e-12)


def test_a_mixer_of_another_size_is_refused() -> None:
    with pytest.raises(ParameterError, match="mixer is for sizes"):
        qmix.METHOD.run(qmix.example().batch, mixer=qmix.Mixer.initial(5, 4))

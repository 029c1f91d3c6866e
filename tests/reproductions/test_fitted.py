"""QMIX's mixer as the benchmark trains it: right derivatives, and it finds a mixture that it can express."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from reproductions.adam import Adam
from reproductions.bench.fitted import in_units, mixer_of, samples, slopes
from reproductions.core import Batch
from reproductions.methods.qmix import Mixer


def made(seed: int, count: int = 40) -> tuple[Mixer, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return Mixer.initial(2, 3, 4, seed), rng.normal(size=(count, 2)), rng.normal(size=(count, 3))


def test_derivatives_against_finite_differences() -> None:
    mixer, utility, state = made(1)
    target = np.random.default_rng(2).normal(size=len(utility))

    def error(changed: Mixer) -> float:
        return float(np.mean((changed.total(utility, state) - target) ** 2))

    rng, step = np.random.default_rng(3), 1e-6
    for item, slope in zip(fields(Mixer), slopes(mixer, utility, state, target), strict=True):
        value = np.asarray(getattr(mixer, item.name))
        direction = rng.normal(size=value.shape)
        up, down = (replace(mixer, **{item.name: value + sign * step * direction}) for sign in (1, -1))
        np.testing.assert_allclose((error(up) - error(down)) / (2 * step), (slope * direction).sum(), atol=1e-6)


def test_units() -> None:
    mixer, utility, state = made(1)
    np.testing.assert_allclose(in_units(mixer, 3.0, 2.0).total(utility, state), 3.0 + 2.0 * mixer.total(utility, state))


def test_the_return_to_go_of_every_turn_with_the_utilities_of_those_who_acted() -> None:
    batch = Batch.of(
        acted_pknt=[[[[1, 1], [1, 0]]]],
        reward_pk=[[5.0]],
        step_reward_pknt=[[[[1.0, 3.0], [1.0, 7.0]]]],
        utility_pknt=[[[[0.1, 0.2], [0.3, 0.4]]]],
        team_state_pktf=[[[[0.5], [0.6]]]],
    )
    state, to_go, utility = samples(batch)
    np.testing.assert_array_equal(state[:, 0], [0.5, 0.6])
    np.testing.assert_array_equal(to_go, [5.0, 3.0])
    np.testing.assert_array_equal(utility, [[0.1, 0.3], [0.2, 0.0]])


def test_a_mixture_whose_prices_differ_by_agent_is_found() -> None:
    rng = np.random.default_rng(0)
    utility, state = rng.normal(size=(2, 300, 2, 1)), rng.normal(size=(2, 300, 1, 1))
    reward = utility[..., 0] @ [1.0, 4.0] + 2.0 * state[..., 0, 0]
    mixer = mixer_of(Batch.of(reward_pk=reward, utility_pknt=utility, team_state_pktf=state))
    price = mixer.price(utility[..., 0], state[..., 0, :]).mean(axis=(0, 1))
    assert 3.0 < price[1] / price[0] < 5.0, "the right ratio is 4"
    untrained = Mixer.initial(2, 1).price(utility[..., 0], state[..., 0, :]).mean(axis=(0, 1))
    assert untrained[1] / untrained[0] < 2.0
    left = reward - mixer.total(utility[..., 0], state[..., 0, :])
    assert left.var() < 0.1 * reward.var()


def test_two_steps_of_adam() -> None:
    adam = Adam(0.1)
    # The first step has the gradient's sign and the rate's size, whatever the gradient.
    np.testing.assert_allclose(adam.step(np.array([4.0, -0.001, 0.0])), [0.1, -0.1, 0.0], atol=1e-5)
    # Then means (0.9 * 0.4 + 0.1 * 1) / 0.19 and squares (0.999 * 0.016 + 0.001 * 1) / 0.001999 for gradients 4 and 1.
    second = adam.step(np.array([1.0, -0.001, 0.0]))
    np.testing.assert_allclose(second[0], 0.1 * (0.46 / 0.19) / np.sqrt(0.016984 / 0.001999), rtol=1e-6)

"""Lengths, log-ratios and the right weight of a token; how aggregations and clips part from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions import registry
from reproductions.core import Floats, ParameterError
from reproductions.losses import Aggregation, clip_fraction, token_weight_of_sequence
from reproductions.worlds.base import Episodes, Policy
from reproductions.worlds.tokens import Tokens, log_probability


def weights(played: Episodes, mode: Aggregation, budget: float | None = None) -> Floats:
    """``[p, k, n, t]``: the weight of a token of each output in the loss over the batch."""
    length = played.batch.need("length_pknt")
    flat = token_weight_of_sequence(length.ravel().astype(np.float64), mode, budget)
    return flat.reshape(length.shape)


def test_sample_mean_dilutes_the_long_agent_and_token_mean_does_not() -> None:
    played = Tokens(length_spread=0.0).play(np.random.default_rng(0), 20, 8)
    right = played.truth.token_weight_pknt
    assert right is not None
    np.testing.assert_allclose(right, 1.0 / 160)
    by_sample = (weights(played, "seq-mean-token-mean") / right).mean(axis=(0, 1, 3))
    by_token = (weights(played, "token-mean") / right).mean(axis=(0, 1, 3))
    # 320 outputs of 100 or 500 tokens: 160 / (320 * 100) and 160 / (320 * 500); 160 / (160 * 600) for every token.
    np.testing.assert_allclose(by_sample, [0.005, 0.001])
    np.testing.assert_allclose(by_token, [1.0 / 600, 1.0 / 600])


@pytest.mark.parametrize(
    ("mode", "right"),
    [
        ("token-mean", True),
        ("seq-mean-token-sum", True),
        ("seq-mean-token-sum-norm", True),
        ("seq-mean-token-mean", False),
    ],
)
def test_the_gradient_keeps_its_direction_where_weights_are_right(mode: Aggregation, right: bool) -> None:
    world = Tokens(lengths=(100.0, 2000.0))
    played = world.play(np.random.default_rng(1), 2000, 8)
    advantage = played.truth.advantage_pknt
    assert advantage is not None
    found = played.gradient(advantage * weights(played, mode, 4000.0)).ravel()
    exact = world.gradient(world.start()).ravel()
    cosine = found @ exact / np.sqrt(found @ found * (exact @ exact))
    # With the long agent's half of the gradient gone, 1 / sqrt 2 is left.
    assert cosine == pytest.approx(1.0 if right else np.sqrt(0.5), abs=0.05)


def test_a_rare_action_of_a_weak_agent_meets_the_clip_first() -> None:
    world = Tokens(game="strong_weak", weak=0.2, best_starts=(0.5, 0.02))
    start = world.start()
    best_nxa = world.table_nxa == 1.0
    np.testing.assert_allclose(start.probability_nxa[best_nxa], [0.5, 0.02])
    played = world.play(np.random.default_rng(2), 500, 8)
    # A learner that has given both best actions half a nat.
    learner = Policy(start.logits_nxa + 0.5 * best_nxa)
    ratio = np.exp(log_probability(learner, played) - log_probability(start, played))
    best = best_nxa[np.arange(2)[:, None], played.context_pknt, played.action_pknt]
    advantage = played.truth.advantage_pknt
    assert advantage is not None
    # By hand: 0.5 e^0.5 / (0.5 e^0.5 + 0.5) is 1.245 times 0.5; 0.02 e^0.5 / (0.02 e^0.5 + 0.98) is 1.628 times 0.02.
    np.testing.assert_allclose(ratio[:, :, 0][best[:, :, 0]], 1.2449, atol=1e-4)
    np.testing.assert_allclose(ratio[:, :, 1][best[:, :, 1]], 1.6276, atol=1e-4)
    for high, strong in ((0.2, 1.0), (0.28, 0.0)):
        clipped = [
            clip_fraction(ratio[:, :, n][best[:, :, n]], advantage[:, :, n][best[:, :, n]], np.True_, 0.2, high)
            for n in range(2)
        ]
        assert clipped == [pytest.approx(strong * best[:, :, 0].sum()), pytest.approx(best[:, :, 1].sum())]


def test_lengths_follow_the_spec() -> None:
    played = Tokens(length_spread=0.5).play(np.random.default_rng(0), 4000, 4)
    length = played.batch.need("length_pknt")
    np.testing.assert_allclose(length.mean(axis=(0, 1, 3)), [100.0, 500.0], rtol=0.02)
    np.testing.assert_allclose(np.log(length).std(axis=(0, 1, 3)), 0.5, rtol=0.02)
    stretched = Tokens(length_spread=0.0, stretch=-0.5).play(np.random.default_rng(0), 50, 4)
    quality = stretched.hidden["setting"].quality_pknt
    np.testing.assert_array_equal(
        stretched.batch.need("length_pknt")[:, :, 1], np.rint(500 * (1 - quality[:, :, 1] / 2))
    )


def test_log_ratios_to_the_start_and_to_the_learner() -> None:
    fields = frozenset({"kl_pknt", "log_ratio_pknt", "drift_p"})
    world = Tokens(token_kl=0.002, length_spread=0.0, moved=0.2)
    batch = world.play(np.random.default_rng(0), 4000, 8, fields=fields).batch
    kl = batch.need("kl_pknt")
    # From the starting policies all of it is the tokens': mean 0.2 and 1 nat, variances twice that.
    np.testing.assert_allclose(kl.mean(axis=(0, 1, 3)), [0.2, 1.0], rtol=0.05)
    np.testing.assert_allclose(kl.var(axis=(0, 1, 3)), [0.4, 2.0], rtol=0.05)
    assert np.exp(-kl[:, :, 0]).mean() == pytest.approx(1.0, abs=0.03)
    assert np.exp(batch.need("log_ratio_pknt")).mean() == pytest.approx(1.0, abs=0.01)
    assert 0.05 < batch.need("drift_p").mean() < 0.4
    still = Tokens(token_kl=0.0, moved=0.0)
    batch = still.play(np.random.default_rng(0), 5, 4, fields=fields).batch
    for name in fields:
        assert not getattr(batch, name).any(), name
    sharper = Policy(2.0 * Tokens(best_starts=(0.6, 0.6)).start().logits_nxa)
    batch = Tokens(token_kl=0.0).play(np.random.default_rng(0), 4000, 4, fields=fields, policy=sharper).batch
    chance = sharper.probability_nxa[0, 0]
    assert batch.need("kl_pknt").mean() == pytest.approx((chance * np.log(3 * chance)).sum(), rel=0.05)


@given(
    agents=st.integers(1, 4),
    length=st.floats(1.0, 3000.0),
    stretch=st.sampled_from([-0.5, 0.0, 2.0]),
    start=st.sampled_from([None, (0.1,)]),
    seed=st.integers(0, 99),
)
@settings(max_examples=20, deadline=None, derandomize=True)
def test_any_spec(agents: int, length: float, stretch: float, start: tuple[float, ...] | None, seed: int) -> None:
    world = Tokens(agents=agents, lengths=(length,), stretch=stretch, best_starts=start)
    plain = world.play(np.random.default_rng(seed), 3, 4)
    fields = frozenset({"kl_pknt", "drift_p", "log_ratio_pknt", "masked_reward_pkn"})
    every = world.play(np.random.default_rng(seed), 3, 4, fields=fields)
    assert plain.batch.need("length_pknt").min() >= 1
    for name in ("reward_pk", "action_pknt", "quality_pkn"):
        assert np.array_equal(getattr(plain.batch, name), getattr(every.batch, name)), name
    again = world.play(np.random.default_rng(seed), 3, 4, fields=fields)
    for name, array in every.batch.present_fields().items():
        assert np.array_equal(array, getattr(again.batch, name)), name
    right = plain.truth.token_weight_pknt
    assert right is not None
    assert right.sum() == pytest.approx(agents)


def test_methods_run_in_it() -> None:
    # Trackers of success rates take rewards from 0 to 1 only.
    world = Tokens(outcome="success", local_noise=0.0)
    methods = [method for method in registry.methods().values() if set(method.requires) <= world.supplies]
    assert {"dapo", "dr_grpo", "grpo", "reinforce_pp", "ppo"} <= {method.name for method in methods}
    for method in methods:
        played = world.play(np.random.default_rng(0), 6, 4, fields=frozenset(method.requires))
        assert np.isfinite(method.run(played.batch).advantage_pknt).all(), method.name


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"lengths": (0.5,)}, "lengths"),
        ({"lengths": (100.0, 200.0, 300.0)}, "3 numbers for 2 agents"),
        ({"stretch": -1.0}, "stretch"),
        ({"token_kl": -0.1}, "token_kl"),
        ({"best_starts": (0.5, 1.0)}, "best_starts"),
    ],
)
def test_specs_without_meaning_are_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Tokens(**spec)

"""Training: right credit reaches the best value, its negative the worst, and everything spent is counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from small_world import SmallWorld

from reproductions.bench.assigner import Assigner
from reproductions.core import Batch, Credit, ParameterError
from reproductions.registry import get
from reproductions.training import Curve, Training, clipped, train

WORLD = SmallWorld()
# Three agents: uniform policies earn 1 + 4/3 + 0, the best actions 2 + 3 + 0.
START, BEST = 7 / 3, 5.0


def scored(factor: float) -> Callable[[Batch], Credit]:
    """Quality times a number: in the small world the quality of an action is its worth."""

    def assign(batch: Batch) -> Credit:
        quality = np.asarray(batch.need("quality_pkn"))
        return Credit(factor * (quality - quality.mean(axis=1, keepdims=True))[..., None])

    return assign


def trained(
    assign: Callable[[Batch], Credit], seed: int = 0, fields: frozenset[str] = frozenset(), **values: object
) -> Curve:
    training = Training(**{"budget": 4096.0, "rate": 0.2, **values})  # type: ignore[arg-type]
    return train(WORLD, assign, training, np.random.default_rng(seed), fields)


def test_right_credit_reaches_the_best_value_its_negative_the_worst_and_none_nothing() -> None:
    right, wrong, none = (trained(scored(factor)) for factor in (1.0, -1.0, 0.0))
    assert right.value_i[0] == pytest.approx(START) and right.best == BEST
    assert right.value_i[-1] > 0.98 * BEST
    assert wrong.value_i[-1] < 0.1
    assert none.metrics() == pytest.approx(
        {"regret": 1.0, "regret_by_episodes": 1.0, "final_value": START, "gain": 0.0}
    )
    assert right.metrics()["regret"] < 0.4 < 1.0 < wrong.metrics()["regret"]
    assert right.metrics()["gain"] == pytest.approx((right.value_i[-1] - START) / (BEST - START))


def test_the_constant_of_a_method_decides_nothing() -> None:
    # Adam's epsilon is all that sees the scale.
    np.testing.assert_allclose(trained(scored(1.0)).value_i, trained(scored(100.0)).value_i, atol=1e-3)


def test_the_first_step_moves_every_logit_by_the_rate_in_the_direction_of_the_estimate() -> None:
    curve = trained(scored(1.0), budget=1.0)
    episodes = WORLD.play(np.random.default_rng(0), 8, 8)
    estimate = episodes.gradient(scored(1.0)(episodes.batch).advantage_pknt)
    np.testing.assert_allclose(curve.policy.logits_nxa, 0.2 * np.sign(estimate), atol=1e-5)
    assert len(curve.value_i) == 2 and curve.value_i[1] == pytest.approx(WORLD.value(curve.policy))


def test_steps_end_when_the_budget_is_spent_and_replays_count() -> None:
    free = trained(scored(1.0), budget=640.0)
    np.testing.assert_array_equal(free.cost_i, 64.0 * np.arange(11))
    np.testing.assert_array_equal(free.episodes_i, free.cost_i)
    # Three masked agents: four times the price.
    paid = trained(scored(1.0), budget=640.0, fields=frozenset({"masked_reward_pkn"}))
    np.testing.assert_array_equal(paid.cost_i, [0.0, 256.0, 512.0, 768.0])
    np.testing.assert_array_equal(paid.episodes_i, [0.0, 64.0, 128.0, 192.0])
    assert (paid.spent.episodes, paid.spent.replays) == (192.0, 576.0)
    assert paid.metrics()["regret"] == pytest.approx(paid.metrics()["regret_by_episodes"]), "both are relative"


def test_one_seed_one_curve() -> None:
    first, again, other = trained(scored(1.0), 3), trained(scored(1.0), 3), trained(scored(1.0), 4)
    np.testing.assert_array_equal(first.value_i, again.value_i)
    assert np.any(first.value_i != other.value_i)


def test_a_method_trains_with_its_memory() -> None:
    curve = trained(Assigner(get("dr_mas"), "paper", {}))
    assert curve.metrics()["gain"] > 0.9
    remembered: list[int] = []

    class Watched(Assigner):
        def __call__(self, batch: Batch) -> Credit:
            rescaled = batch.replace(reward_pk=np.clip(np.asarray(batch.need("reward_pk")) / 10.0 + 0.3, 0, 1))
            credit = super().__call__(rescaled)
            remembered.append(len(credit.memory))
            return credit

    trained(Watched(get("spo"), "paper", {}), budget=200.0)
    assert remembered == [8] * 4, "eight prompts that come again"


def test_drift_is_the_mean_absolute_log_ratio_on_the_previous_actions_of_the_prompt() -> None:
    seen: list[Batch] = []

    def assign(batch: Batch) -> Credit:
        seen.append(batch)
        return scored(1.0)(batch)

    curve = trained(assign, budget=128.0, fields=frozenset({"drift_p"}))
    np.testing.assert_array_equal(np.asarray(seen[0].need("drift_p")), np.zeros(8))
    # Between the batches every logit moved by the first step.
    episodes = WORLD.play(np.random.default_rng(0), 8, 8)
    moved = 0.2 * np.sign(episodes.gradient(scored(1.0)(episodes.batch).advantage_pknt))[:, 0]
    change_na = moved - np.log(np.exp(moved).mean(axis=1, keepdims=True))
    action = np.asarray(seen[0].need("action_pknt"))[..., 0]
    expected_p = np.abs(change_na[np.arange(3), action]).mean(axis=(1, 2))
    np.testing.assert_allclose(np.asarray(seen[1].need("drift_p")), expected_p, atol=1e-4)
    assert curve.spent.episodes == 128.0


def test_what_the_clip_stops() -> None:
    ratio = np.array([1.1, 1.25, 1.35, 0.85, 0.75, 1.35, 0.75])
    advantage = np.array([1.0, 1, 1, -1, -1, -1, 1])
    np.testing.assert_array_equal(clipped(ratio, advantage, (0.2, 0.2)), [False, True, True, False, True, False, False])
    np.testing.assert_array_equal(
        clipped(ratio, advantage, (0.2, 0.28)), [False, False, True, False, True, False, False]
    )
    assert not clipped(ratio, advantage, None).any()


def test_a_clip_keeps_many_epochs_on_one_batch_near_the_policy_that_played() -> None:
    free, bound = (trained(scored(1.0), budget=1.0, epochs=30, clip=clip) for clip in (None, (0.2, 0.2)))
    assert np.abs(bound.policy.logits_nxa).max() < 0.5 * np.abs(free.policy.logits_nxa).max()
    wider = trained(scored(1.0), budget=1.0, epochs=30, clip=(0.2, 0.6))
    assert bound.policy.probability_nxa[0, 0, 2] < wider.policy.probability_nxa[0, 0, 2]


def test_points_keep_both_ends() -> None:
    curve = trained(scored(1.0), budget=64.0 * 200)
    points = curve.points(most=11)
    assert len(points["value"]) == 11 and points["best"] == [BEST]
    assert (points["cost"][0], points["cost"][-1]) == (0.0, curve.cost_i[-1])
    assert (points["value"][0], points["value"][-1]) == (curve.value_i[0], curve.value_i[-1])


def test_impossible_settings() -> None:
    with pytest.raises(ParameterError, match="epochs 0"):
        Training(epochs=0)

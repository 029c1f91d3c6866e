"""The degenerate world: chances against counts, exact answers by enumeration, and what dynamic sampling and strata make of it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.core import ParameterError
from reproductions.registry import methods
from reproductions.worlds import WORLDS
from reproductions.worlds.base import Policy
from reproductions.worlds.degenerate import Degenerate


def some_policy(world: Degenerate, seed: int = 3) -> Policy:
    return Policy(np.random.default_rng(seed).normal(size=(world.agents, world.classes, world.actions)))


def chance_of_success(world: Degenerate, policy: Policy, x: int) -> float:
    """On a mixed prompt of a class, over all joint actions and strata."""
    effect = world.stratum_effect if world.stratum_by == "chance" and world.strata > 1 else 0.0
    strata = np.linspace(0, 1, world.strata) if effect else np.zeros(1)
    total = 0.0
    for actions in product(range(world.actions), repeat=world.agents):
        likely = np.prod([policy.probability_nxa[n, x, a] for n, a in enumerate(actions)])
        quality = np.array([world.table_nxa[n, x, a] for n, a in enumerate(actions)])
        total += likely * np.mean((1 - effect) * float(world.rules.value(quality)) + effect * strata)
    return float(total)


def by_enumeration(world: Degenerate, policy: Policy) -> float:
    mixed = np.mean([chance_of_success(world, policy, x) for x in range(world.classes)])
    return float(world.solved + (1 - world.solved - world.hopeless) * mixed)


specs = st.fixed_dictionaries(
    {
        "agents": st.integers(1, 3),
        "classes": st.integers(1, 2),
        "game": st.sampled_from(["additive", "bottleneck", "redundant"]),
        "solved": st.sampled_from([0.0, 0.25, 0.5]),
        "hopeless": st.sampled_from([0.0, 0.3, 0.5]),
        "strata": st.integers(1, 3),
        "stratum_by": st.sampled_from(["chance", "action"]),
    }
)


@given(spec=specs, seed=st.integers(0, 999))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_value_and_gradient_by_enumeration_and_differences(spec: dict[str, Any], seed: int) -> None:
    world = Degenerate(**spec)
    policy = some_policy(world, seed)
    assert world.value(policy) == pytest.approx(by_enumeration(world, policy), abs=1e-12)
    gradient, step = world.gradient(policy), 1e-5
    for place in np.ndindex(policy.logits_nxa.shape):
        nudge = np.zeros(policy.logits_nxa.shape)
        nudge[place] = step
        up, down = (by_enumeration(world, Policy(policy.logits_nxa + sign * nudge)) for sign in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / (2 * step), abs=1e-9)


def test_prompts_are_right_wrong_or_mixed_as_often_as_the_spec_says() -> None:
    world = Degenerate(solved=0.2, hopeless=0.5)
    reward = world.play(np.random.default_rng(0), 20_000, 16).batch.need("reward_pk")
    assert set(np.unique(reward)) == {0.0, 1.0}
    # Sixteen rollouts of a mixed prompt are all right or all wrong about once in 2^15.
    for value, share in ((1.0, 0.2), (0.0, 0.5)):
        found = (reward == value).all(axis=1).mean()
        assert found == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 20_000) + 1e-3)
    assert abs(reward.mean() - world.value(world.start())) < 5 * reward.mean(axis=1).std() / np.sqrt(20_000)


@pytest.mark.parametrize("rollouts", [2, 4, 8])
def test_equal_groups_are_counted_with_those_by_luck(rollouts: int) -> None:
    world = Degenerate(solved=0.1, hopeless=0.2, classes=2, agents=2)
    policy = some_policy(world)
    by_luck = [
        (p := chance_of_success(world, policy, x)) ** rollouts + (1 - p) ** rollouts for x in range(world.classes)
    ]
    exact = 0.3 + 0.7 * np.mean(by_luck)
    assert world.equal_groups(rollouts, policy) == pytest.approx(exact, abs=1e-12)
    batch = world.play(
        np.random.default_rng(1), 20_000, rollouts, fields=frozenset({"length_pknt"}), policy=policy
    ).batch
    dropped = 1 - methods()["dapo"].run(batch).kept_pknt[:, 0, 0, 0].mean()  # type: ignore[index]
    assert dropped == pytest.approx(exact, abs=5 * np.sqrt(0.25 / 20_000))


def test_only_mixed_prompts_owe_anything_to_the_agents() -> None:
    world = Degenerate(solved=0.4, hopeless=0.3)
    episodes = world.play(np.random.default_rng(0), 500, 4)
    reward, shapley = episodes.batch.need("reward_pk"), episodes.truth.shapley_pkn
    kind = episodes.hidden["setting"].case_pk[:, 0] // world.strata
    assert shapley is not None
    assert np.all(shapley[kind < 2] == 0) and np.all(reward[kind == 0] == 1) and np.all(reward[kind == 1] == 0)
    quality = episodes.hidden["setting"].quality_pkn[kind == 2]
    np.testing.assert_allclose(shapley[kind == 2], 0.7 * quality / 2, atol=1e-12)


def test_a_stratum_by_chance_tells_of_the_reward_and_one_by_action_of_the_agent() -> None:
    rng = np.random.default_rng(0)
    lucky = Degenerate(solved=0.0, hopeless=0.0, stratum_effect=0.5).play(rng, 20_000, 4)
    reward, stratum = lucky.batch.need("reward_pk"), lucky.batch.need("stratum_pk")
    # An even mixture of 0, 0.25 and 0.5 above half of the game, whose mean is 1/2.
    for level, chance in ((0, 0.25), (1, 0.5), (2, 0.75)):
        assert reward[stratum == level].mean() == pytest.approx(chance, abs=5 * 0.5 / np.sqrt(20_000 * 4 / 3))
    for n in range(2):
        assert abs(np.corrcoef(stratum.ravel(), lucky.action_pknt[:, :, n, 0].ravel())[0, 1]) < 5 / np.sqrt(80_000)
    chosen = Degenerate(stratum_by="action").play(rng, 50, 4)
    np.testing.assert_array_equal(chosen.batch.need("stratum_pk"), chosen.action_pknt[:, :, 0, 0])


def test_stratifying_by_an_action_hides_it() -> None:
    world = Degenerate(solved=0.0, hopeless=0.0, stratum_by="action")
    episodes = world.play(np.random.default_rng(0), 2000, 12)
    run = methods()["stratified_grpo"].run
    whole, within = (
        episodes.gradient(run(episodes.batch, preset).advantage_pknt) for preset in ("global", "stratified")
    )
    # The first agent's gradient vanishes within strata of its own action; the second's stays.
    assert np.abs(whole[0]).max() > 0.1 > 0.02 > np.abs(within[0]).max()
    assert np.abs(within[1]).max() > 0.1


def test_trackers_learn_the_prompts_of_a_pool() -> None:
    world = Degenerate(solved=0.25, hopeless=0.25, pool=8, strata=1)
    rng, memory, spo = np.random.default_rng(0), None, methods()["spo"]
    for _ in range(60):
        episodes = world.play(rng, 8, 1)
        credit = spo.run(episodes.batch, memory=memory)
        memory = credit.memory
    kind = episodes.hidden["setting"].case_pk[:, 0]
    value = credit.diagnostics["value_p"]
    assert np.bincount(kind).tolist() == [2, 2, 4]
    assert value[kind == 0].min() > 0.9 and value[kind == 1].max() < 0.1
    assert value[kind == 2].mean() == pytest.approx(0.5, abs=0.25)


def test_methods_run_here_and_specs_are_checked() -> None:
    world = Degenerate()
    assert WORLDS["degenerate"] is Degenerate
    batch = world.play(np.random.default_rng(0), 8, 4, fields=world.supplies).batch
    cannot = {name for name, method in methods().items() if not set(method.requires) <= world.supplies}
    assert cannot == {"bradley_terry", "cure", "mappa"}
    for name in methods().keys() - cannot:
        assert methods()[name].run(batch).advantage_pknt.shape == (8, 4, 2, 1)
    for spec, said in (
        ({"solved": 0.7, "hopeless": 0.5}, "at most 1 together"),
        ({"strata": 0}, "0 strata"),
        ({"pool": 7}, "no whole number"),
        ({"pool": 10, "classes": 2}, "one class of prompts"),
        ({"weights": (2.0, 1.0)}, "a game within 0 and 1"),
    ):
        with pytest.raises(ParameterError, match=said):
            Degenerate(**spec)  # type: ignore[arg-type]

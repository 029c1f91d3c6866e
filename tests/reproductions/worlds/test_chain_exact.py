"""The chain's exact answers against every trajectory written out, finite differences, by hand, and samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.core import Floats, ParameterError
from reproductions.worlds.base import Policy
from reproductions.worlds.chain import Chain
from reproductions.worlds.chain_graph import BACK, BAIT, FALL, FORWARD, STAY
from reproductions.worlds.dynamic_programming import evaluate, visits

SMALL = st.fixed_dictionaries(
    {
        "agents": st.integers(1, 2),
        "turns": st.integers(2, 3),
        "actions": st.integers(2, 4),
        "depth": st.integers(1, 2),
        "alley": st.integers(0, 2),
        "progress": st.sampled_from([0.0, 0.5]),
        "discount": st.sampled_from([1.0, 0.9]),
        "table_seed": st.integers(0, 99),
    }
)


def random_policy(world: Chain, seed: int) -> Policy:
    return Policy(np.random.default_rng(seed).normal(size=world.start().logits_nxa.shape))


def rules(world: Chain, agent: int, stage: int, action: int) -> tuple[int | str, float]:
    """Where an action leads and what it pays, written down a second time, as the docstring of the world says it."""
    if stage >= world.depth:
        room = stage - world.depth
        return (stage + 1 if room + 1 < world.alley else "end"), 0.0
    kind = world.effect_nxa[agent, stage, action]
    step = world.progress / world.depth
    if kind == FORWARD:
        last = stage == world.depth - 1
        return ("end" if last else stage + 1), step + (1.0 - world.progress if last else 0.0)
    if kind == BAIT:
        return (world.depth if world.alley else "end"), world.bait
    return {FALL: ("end", 0.0), STAY: (stage, 0.0), BACK: (stage - 1, -step)}[kind]


def enumerated(
    world: Chain, probability: Floats, stage: int, position: int = 0, silent: tuple[int, ...] = ()
) -> list[tuple[float, float, tuple[Any, ...]]]:
    """Every trajectory from a stage: its probability, its return, its ``(position, agent, stage, action)``."""
    if stage == "end" or position == world.agents * world.turns:
        return [(1.0, 0.0, ())]
    agent = position % world.agents
    if agent in silent:
        return enumerated(world, probability, stage, position + 1, silent)
    found = []
    for action in range(world.actions):
        after, paid = rules(world, agent, stage, action)
        for chance, later, path in enumerated(world, probability, after, position + 1, silent):
            earned = world.discount**position * paid + later
            found.append(
                (probability[agent, stage, action] * chance, earned, ((position, agent, stage, action), *path))
            )
    return found


@given(spec=SMALL, bait=st.booleans(), seed=st.integers(0, 999))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_dynamic_programming_is_enumeration(spec: dict[str, Any], bait: bool, seed: int) -> None:
    world = Chain(**spec, bait=0.2 if bait and spec["actions"] == 4 else 0.0)
    policy = random_policy(world, seed)
    probability = policy.probability_nxa
    every = enumerated(world, probability, 0)
    assert sum(chance for chance, _, _ in every) == pytest.approx(1.0)
    assert world.value(policy) == pytest.approx(sum(chance * earned for chance, earned, _ in every), abs=1e-12)

    value, action_value = evaluate(world.graph, probability)
    reached: dict[tuple[int, ...], Floats] = {}
    for chance, earned, path in every:
        before = 0.0
        for position, agent, stage, action in path:
            found = reached.setdefault((position, stage, action), np.zeros(2))
            found += chance, chance * (earned - before)
            before += world.discount**position * rules(world, agent, stage, action)[1]
    seen_qx = visits(world.graph, probability, world.start_x)
    for (position, stage, action), (chance, weighted) in reached.items():
        worth = world.discount**position
        assert worth * action_value[position, stage, action] == pytest.approx(weighted / chance, abs=1e-10)
        agent = position % world.agents
        assert seen_qx[position, stage] * probability[agent, stage, action] == pytest.approx(chance, abs=1e-12)
    np.testing.assert_allclose(value[-1], 0.0)


@given(spec=SMALL, seed=st.integers(0, 999))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_gradient_is_finite_difference(spec: dict[str, Any], seed: int) -> None:
    world = Chain(**spec)
    policy = random_policy(world, seed)
    exact, step = world.gradient(policy), 1e-5
    for index in np.ndindex(exact.shape):
        nudge = np.zeros(exact.shape)
        nudge[index] = step
        up, down = (world.value(Policy(policy.logits_nxa + sign * nudge)) for sign in (1, -1))
        assert exact[index] == pytest.approx((up - down) / (2 * step), abs=1e-8)


@given(spec=SMALL, seed=st.integers(0, 999))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_advantages_times_scores_average_to_the_gradient(spec: dict[str, Any], seed: int) -> None:
    world = Chain(**spec)
    policy = random_policy(world, seed)
    played = world.play(np.random.default_rng(seed), 8, 4, policy=policy)
    probability = policy.probability_nxa
    value, action_value = evaluate(world.graph, probability)
    expected = np.zeros(probability.shape)
    for chance, _, path in enumerated(world, probability, 0):
        for position, agent, stage, action in path:
            above = world.discount**position * (action_value[position, stage, action] - value[position, stage])
            score = -probability[agent, stage].copy()
            score[action] += 1.0
            expected[agent, stage] += chance * above * score
    np.testing.assert_allclose(expected, world.gradient(policy), atol=1e-12)
    truth = played.truth.advantage_pknt
    assert truth is not None
    for p, k, n, t in np.argwhere(played.batch.acted_pknt):
        position, stage, action = t * world.agents + n, played.context_pknt[p, k, n, t], played.action_pknt[p, k, n, t]
        above = world.discount**position * (action_value[position, stage, action] - value[position, stage])
        assert truth[p, k, n, t] == pytest.approx(above, abs=1e-12)
    assert not truth[~played.batch.acted_pknt].any()


@given(spec=SMALL)
@settings(max_examples=20, deadline=None, derandomize=True)
def test_the_best_value_is_that_of_some_policy_and_of_none_more(spec: dict[str, Any]) -> None:
    world = Chain(**spec)
    assert world.value(world.forward()) == pytest.approx(world.best_value(), abs=1e-12)
    best = max(earned for _, earned, _ in enumerated(world, np.ones(world.own_nxa.shape), 0))
    assert world.best_value() == pytest.approx(best, abs=1e-12)


def test_every_agent_has_one_way_forward_and_one_fall_at_every_stage() -> None:
    world = Chain(agents=3, depth=5, actions=6, starts=2, bait=0.2)
    for kind, stages in ((FORWARD, range(5)), (FALL, range(5)), (BAIT, range(2)), (BACK, range(2, 5))):
        assert ((world.effect_nxa[:, stages] == kind).sum(axis=2) == 1).all(), kind
    assert not np.isin(world.effect_nxa[:, :2], BACK).any()
    assert not np.isin(world.effect_nxa[:, 2:], BAIT).any()
    places = (world.effect_nxa == FORWARD).argmax(axis=2)
    assert len(np.unique(places)) > 2
    assert not np.array_equal(
        places, (Chain(agents=3, depth=5, actions=6, table_seed=1).effect_nxa == FORWARD).argmax(axis=2)
    )


def test_by_hand_two_stages_one_agent() -> None:
    # Forward with 1/2, fall with 1/2: the goal is reached with 1/4, worth the discount of one action before it.
    world = Chain(agents=1, turns=2, actions=2, depth=2, discount=0.8, skill=(0.5,))
    assert world.value(world.start()) == pytest.approx(0.2)
    assert world.best_value() == pytest.approx(0.8)
    # dJ/dlogit(forward) = pi (1 - pi) (Q_forward - Q_fall): 1/4 of 0.4 at the first stage, 1/2 * 0.8 * 1/4 at the second.
    found = world.gradient(world.start())
    forward = world.effect_nxa == FORWARD
    np.testing.assert_allclose(found[:, :2][forward], [0.1, 0.1])
    np.testing.assert_allclose(found[:, :2][~forward], [-0.1, -0.1])


def test_the_expected_game_by_hand() -> None:
    # Two agents take turns; one alone needs both of its turns for the two stages.
    world = Chain(agents=2, turns=2, actions=2, depth=2, skill=(0.5, 0.8))
    np.testing.assert_allclose(world.expected_game(world.start()), [0.0, 0.25, 0.64, 0.4])


@pytest.mark.parametrize(
    "spec",
    [{}, {"agents": 3, "starts": 2, "progress": 0.5, "discount": 0.95}, {"bait": 0.3, "skill": (0.4, 0.6)}],
    ids=["plain", "dense", "bait"],
)
def test_samples_agree_with_the_exact_answers(spec: dict[str, Any]) -> None:
    world = Chain(**spec)
    played = world.play(np.random.default_rng(5), 4000, 4)
    reward_pk = played.batch.need("reward_pk")
    # Prompts are independent, their rollouts share a start: five standard errors of the prompts' means.
    bound = 5.0 * reward_pk.mean(axis=1).std(ddof=1) / np.sqrt(len(reward_pk))
    assert abs(reward_pk.mean() - world.value(world.start())) < bound
    truth = played.truth.advantage_pknt
    assert truth is not None
    found, exact = played.gradient(truth), world.gradient(world.start())
    parts = np.stack([_gradient_of(played, truth, slice(i, i + 100)) for i in range(0, 4000, 100)])
    np.testing.assert_allclose(parts.mean(axis=0), found, atol=1e-12)
    assert (np.abs(found - exact) <= 5.0 * parts.std(axis=0, ddof=1) / np.sqrt(len(parts)) + 1e-12).all()


def _gradient_of(played: Any, advantage: Floats, prompts: slice) -> Floats:
    arrays = (played.context_pknt, played.action_pknt, advantage, played.batch.acted_pknt)
    total = played.policy.score_sum(*(array[prompts] for array in arrays))
    return np.asarray(total / (100 * played.batch.shape[1]))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"turns": 1, "depth": 4}, "cannot be reached in time"),
        ({"bait": 1.5}, "going forward is not the best"),
        ({"bait": 0.5, "discount": 0.5}, "going forward is not the best"),
        ({"bait": 0.2, "actions": 3}, "bait"),
        ({"skill": (0.5, 0.5, 0.5)}, "3 numbers for 2 agents"),
        ({"skill": (1.0,)}, "skill"),
        ({"starts": 5}, "starts"),
        ({"progress": 2.0}, "progress"),
        ({"agents": 0}, "agents"),
    ],
)
def test_specs_without_meaning_are_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Chain(**spec)

"""The roles world: its answers against sums over all routes and all calls, Dr.MAS's factor three ways, its cost by calls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.core import ParameterError
from reproductions.registry import methods
from reproductions.worlds import WORLDS
from reproductions.worlds.base import Cost, Policy
from reproductions.worlds.roles import Roles


def some_policy(world: Roles, seed: int = 3) -> Policy:
    return Policy(np.random.default_rng(seed).normal(size=(world.agents, world.classes, world.actions)))


Outcome = tuple[float, int, float, list[tuple[int, int]]]


def outcomes(world: Roles, policy: Policy, x: int) -> Iterator[Outcome]:
    """Every way an episode of a class can go: its chance, its route, its reward without noise, its calls as (agent, action)."""
    for route, chance in enumerate(world.routes):
        callers = [n for n, calls in enumerate(world.calls_of_routes[route]) for _ in range(calls)]
        for actions in product(range(world.actions), repeat=len(callers)):
            calls = list(zip(callers, actions, strict=True))
            likely = chance * np.prod([policy.probability_nxa[n, x, a] for n, a in calls])
            quality = np.full(world.agents, world.masked)
            for n in set(callers):
                quality[n] = np.mean([world.table_nxa[n, x, a] for m, a in calls if m == n])
            yield float(likely), route, world.level[route] + float(world.rules.value(quality)), calls


def by_enumeration(world: Roles, policy: Policy) -> float:
    return float(np.mean([sum(c * r for c, _, r, _ in outcomes(world, policy, x)) for x in range(world.classes)]))


def moments_by_enumeration(world: Roles, policy: Policy, x: int, agent: int | None) -> tuple[float, float]:
    """Mean and variance of the rewards of rollouts, or of an agent's calls."""
    rows = [
        (chance * (1 if agent is None else sum(n == agent for n, _ in calls)), reward, world.noise[route])
        for chance, route, reward, calls in outcomes(world, policy, x)
    ]
    weight, reward, noise = np.array(rows).T
    weight = weight / weight.sum()
    mean = weight @ reward
    return float(mean), float(weight @ ((reward - mean) ** 2 + noise**2))


def second_moment_by_enumeration(
    world: Roles, policy: Policy, x: int, agent: int, mean: float, variance: float
) -> float:
    """E |score|^2 ((R - mean)^2 / variance) over the calls of an agent."""
    total = counted = 0.0
    for chance, route, reward, calls in outcomes(world, policy, x):
        for n, a in calls:
            if n == agent:
                score = np.eye(world.actions)[a] - policy.probability_nxa[n, x]
                total += chance * score @ score * ((reward - mean) ** 2 + world.noise[route] ** 2) / variance
                counted += chance
    return total / counted


specs = st.fixed_dictionaries(
    {
        "agents": st.just(2),
        "actions": st.just(2),
        "classes": st.integers(1, 2),
        "game": st.sampled_from(["additive", "bottleneck", "redundant", "synergy"]),
        "calls": st.sampled_from([None, ((1, 2), (2, 0)), ((3, 1), (1, 1)), ((0, 2), (2, 1))]),
        "level": st.sampled_from([(0.5, 0.0), (0.0, 2.0)]),
        "noise": st.sampled_from([(0.1, 0.3), (0.5, 0.0)]),
        "table_seed": st.sampled_from([None, 5]),
        "masked": st.sampled_from([0.0, 0.4]),
    }
)


@given(spec=specs, seed=st.integers(0, 999))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_exact_answers_by_enumeration(spec: dict[str, Any], seed: int) -> None:
    world = Roles(**spec)
    policy = some_policy(world, seed)
    assert world.value(policy) == pytest.approx(by_enumeration(world, policy), abs=1e-12)
    gradient, step = world.gradient(policy), 1e-5
    for place in np.ndindex(policy.logits_nxa.shape):
        nudge = np.zeros(policy.logits_nxa.shape)
        nudge[place] = step
        up, down = (by_enumeration(world, Policy(policy.logits_nxa + sign * nudge)) for sign in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / (2 * step), abs=1e-9)
    rewards, inflation = world.rewards(policy), world.inflation_xn(policy)
    for x in range(world.classes):
        team = moments_by_enumeration(world, policy, x, None)
        assert (rewards.mean_x[x], rewards.variance_x[x]) == pytest.approx(team, abs=1e-12)
        for n in range(2):
            own = moments_by_enumeration(world, policy, x, n)
            assert (rewards.mean_xn[x, n], rewards.variance_xn[x, n]) == pytest.approx(own, abs=1e-12)
            assert inflation[x, n] == pytest.approx((own[1] + (own[0] - team[0]) ** 2) / team[1], rel=1e-10)
            for name, (mean, variance) in (("team", team), ("agent", own)):
                expected = second_moment_by_enumeration(world, policy, x, n, mean, variance)
                found = world.second_moment_xn(policy, statistics=name)[x, n]  # type: ignore[arg-type]
                assert found == pytest.approx(expected, rel=1e-10)


def test_the_factor_is_the_ratio_of_second_moments_where_the_score_has_one_size() -> None:
    world = Roles(level=(1.0, -1.0), noise=(0.1, 0.6))
    ratio = world.second_moment_xn(statistics="team") / world.second_moment_xn(statistics="agent")
    np.testing.assert_allclose(ratio, world.inflation_xn(), rtol=1e-10)
    # An agent that is called only where rewards are unlike the team's sees them far from the team's mean.
    assert world.inflation_xn()[0, 2] > 1.5 > world.inflation_xn()[0, 0]
    unlike = some_policy(world)
    residual = world.second_moment_xn(unlike, statistics="team") / world.second_moment_xn(unlike, statistics="agent")
    assert np.abs(residual / world.inflation_xn(unlike) - 1).max() > 0.01


def test_the_factor_of_a_case_worked_by_hand() -> None:
    # Two routes alike likely, rewards 1 and 0 without noise; the first agent is called once in each, the second in the second only.
    world = Roles(
        agents=2, routes=(0.5, 0.5), calls=((1, 0), (1, 1)), level=(1.0, 0.0), noise=(0.0, 0.0), weights=(0.0, 0.0),
    )  # fmt: skip
    # mu = 1/2, sigma^2 = 1/4; second agent: mean 0, variance 0, so (0 + 1/4) / (1/4) = 1.
    np.testing.assert_allclose(world.inflation_xn(), [[1.0, 1.0]])
    # Rewards 1, 0, 0, 0 in four equal routes, the second agent called three times where it is 1 and once elsewhere:
    # mu = 1/4, sigma^2 = 3/16; over its six calls mean 1/2, variance 1/4: (1/4 + 1/16) / (3/16) = 5/3.
    four = Roles(
        agents=2, routes=(0.25,) * 4, calls=((1, 3), (1, 1), (1, 1), (1, 1)), level=(1.0, 0.0, 0.0, 0.0), noise=(0.0,) * 4,
        weights=(0.0, 0.0),
    )  # fmt: skip
    np.testing.assert_allclose(four.inflation_xn(), [[1.0, 5 / 3]])


def test_the_method_prints_the_factor_of_large_groups() -> None:
    world = Roles(difficulty=0.5)
    batch = world.play(np.random.default_rng(0), 8, 20_000).batch
    printed = methods()["dr_mas"].run(batch).diagnostics["inflation_pn"]
    np.testing.assert_allclose(printed, np.broadcast_to(world.inflation_xn(), printed.shape), rtol=0.05)


def test_measured_second_moments_of_gradients() -> None:
    world = Roles()
    policy = some_policy(world)
    batch = (episodes := world.play(np.random.default_rng(1), 8, 20_000, policy=policy)).batch
    score = np.eye(3)[episodes.action_pknt] - batch.need("policy_pknta")
    size = np.where(batch.acted_pknt, (score**2).sum(axis=-1), 0.0)
    for preset, statistics in (("vanilla", "team"), ("paper", "agent")):
        advantage = methods()["dr_mas"].run(batch, preset).advantage_pknt
        found = (size * advantage**2).sum(axis=(0, 1, 3)) / batch.acted_pknt.sum(axis=(0, 1, 3))
        np.testing.assert_allclose(found, world.second_moment_xn(policy, statistics=statistics)[0], rtol=0.02)  # type: ignore[arg-type]


def test_rewards_and_gradient_estimates_have_the_exact_means() -> None:
    world = Roles(agents=3, classes=2, game="synergy")
    policy = some_policy(world)
    episodes = world.play(np.random.default_rng(7), 20_000, 4, policy=policy)
    mean_p = episodes.batch.need("reward_pk").mean(axis=1)
    assert abs(mean_p.mean() - world.value(policy)) < 5 * mean_p.std() / np.sqrt(len(mean_p))
    # At most three calls a rollout, each with a score of at most 1; rewards lie about 0.4 around their mean, two classes.
    bound = 5 * 3 * 0.4 * 0.5 / np.sqrt(80_000)
    centred = episodes.batch.spread(episodes.batch.need("reward_pk") - mean_p[:, None], "pk")
    # Less the mean of its four rollouts, a reward keeps three quarters of its covariance with the score.
    assert np.abs(episodes.gradient(centred) * 4 / 3 - world.gradient(policy)).max() < bound
    assert np.abs(episodes.gradient(episodes.truth.advantage_pknt) - world.gradient(policy)).max() < bound


def test_an_agent_that_is_not_called_counts_as_masked() -> None:
    world = Roles(masked=0.4, noise=(0.0, 0.0), game="bottleneck", difficulty=0.0)
    episodes = world.play(np.random.default_rng(0), 4000, 4)
    reward, quality = episodes.batch.need("reward_pk"), episodes.hidden["setting"].quality_pknt
    first = episodes.hidden["setting"].case_pk == 0
    np.testing.assert_allclose(reward[first], 0.5 + 0.4 * quality[first][:, 0, 0] * quality[first][:, 1, 0], atol=1e-12)
    mean_p = reward.mean(axis=1)
    assert abs(mean_p.mean() - world.value(world.start())) < 5 * mean_p.std() / np.sqrt(len(mean_p))


def test_agents_act_as_often_as_their_route_says() -> None:
    world = Roles()
    episodes = world.play(np.random.default_rng(0), 300, 4)
    calls, route = episodes.batch.acted_pknt.sum(axis=3), episodes.hidden["setting"].case_pk
    assert {tuple(row) for row in calls[route == 0].tolist()} == {(1, 1, 0)}
    assert {tuple(row) for row in calls[route == 1].tolist()} == {(1, 2, 3)}
    assert (route == 1).mean() == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / 1200))
    absent = ~episodes.batch.mask("pkn")
    for values in (episodes.truth.shapley_pkn, episodes.truth.leave_one_out_pkn):
        assert values is not None and np.all(values[absent] == 0)


def test_own_rewards_have_their_own_mean_and_scale() -> None:
    world = Roles(local_mean=(0.0, 5.0, -1.0), local_scale=(1.0, 10.0, -0.1), local_noise=0.0)
    batch = (episodes := world.play(np.random.default_rng(0), 50, 4)).batch
    quality = episodes.hidden["setting"].quality_pknt
    expected = np.array([0, 5, -1])[:, None] + np.array([1, 10, -0.1])[:, None] * quality
    np.testing.assert_allclose(batch.need("local_reward_pknt"), expected, atol=1e-12)
    assert [values.tolist() for values in Roles(agents=4).own_reward] == [[0, 5, -1, 0], [1, 10, 0.1, 1]]


def test_costs_are_shares_of_the_calls() -> None:
    world, rng = Roles(routes=(1.0,), calls=((1, 2, 3),), level=(0.0,), noise=(0.0,)), np.random.default_rng(0)
    episodes = world.play(rng, 2, 5)
    for agent, left in ((0, 5), (1, 4), (2, 3)):
        assert world.replay(rng, episodes, agent)[1].replays == pytest.approx(10 * left / 6)
    assert world.replay(rng, episodes, 2, turn=2, action=0)[1] == Cost(replays=10)
    # The eight coalitions hold four times six calls, the observed one six of them.
    assert world.coalitions(rng, episodes)[1].replays == pytest.approx(10 * 18 / 6)
    sometimes_absent = Roles()
    played = sometimes_absent.play(rng, 40, 5)
    called = int(played.batch.mask("pkn")[:, :, 2].sum())
    # Masking the third agent leaves three of six calls, and nothing is run where it was not called.
    assert sometimes_absent.replay(rng, played, 2)[1].replays == pytest.approx(called / 2)


def test_replays_replace_one_call_or_all_of_an_agent() -> None:
    world = Roles(noise=(0.0, 0.0), game="bottleneck", masked=0.5, table_seed=2)
    rng = np.random.default_rng(0)
    episodes = world.play(rng, 20, 5, fields=frozenset({"action_value_pknta", "masked_reward_pkn"}))
    value, acted = episodes.batch.need("action_value_pknta"), episodes.batch.acted_pknt
    for agent, turn, action in product(range(3), range(3), range(3)):
        reward, _ = world.replay(rng, episodes, agent, turn=turn, action=action)
        there = acted[:, :, agent, turn]
        np.testing.assert_allclose(reward[there], value[:, :, agent, turn, action][there], atol=1e-12)
        np.testing.assert_allclose(reward[~there], episodes.batch.need("reward_pk")[~there], atol=1e-12)
    lost = episodes.batch.need("reward_pk")[..., None] - episodes.batch.need("masked_reward_pkn")
    np.testing.assert_allclose(lost, episodes.truth.leave_one_out_pkn, atol=1e-12)


def test_values_tell_what_was_done_before() -> None:
    world = Roles(routes=(1.0,), calls=((1, 2, 1),), level=(0.0,), noise=(0.0,), difficulty=0.0, table_seed=3)
    policy = some_policy(world)
    episodes = world.play(np.random.default_rng(0), 50, 4, fields=frozenset({"value_pknt"}), policy=policy)
    value, reward = episodes.batch.need("value_pknt"), episodes.batch.need("reward_pk")
    quality, mean = (
        episodes.hidden["setting"].quality_pknt,
        (policy.probability_nxa * world.table_nxa).sum(axis=-1)[:, 0],
    )
    np.testing.assert_allclose(value[:, :, 0, 0], mean.sum() / 3, atol=1e-12)
    # Before the second agent's second call everybody else is done: two thirds of a quality known, half of its own.
    known = (quality[:, :, 0, 0] + quality[:, :, 1, 0] / 2 + mean[1] / 2 + quality[:, :, 2, 0]) / 3
    np.testing.assert_allclose(value[:, :, 1, 1], known, atol=1e-12)
    np.testing.assert_allclose(reward - known, (quality[:, :, 1, 1] - mean[1]) / 6, atol=1e-12)


def test_methods_run_here_and_specs_are_checked() -> None:
    world = Roles()
    assert WORLDS["roles"] is Roles
    assert not {"node_pknt", "continuation_pknacm"} & world.supplies
    batch = world.play(np.random.default_rng(0), 8, 4, fields=world.supplies).batch
    outside_zero_and_one = {"spo", "ma_spo"}
    able = {name for name, method in methods().items() if set(method.requires) <= world.supplies} - outside_zero_and_one
    assert {"dr_mas", "adaptive_mix", "at_grpo", "cad_grpo", "difference_rewards", "sharp", "mappo"} <= able
    for name in able:
        assert methods()[name].run(batch).advantage_pknt.shape == (8, 4, 3, 3)
    for spec, said in (
        ({"routes": (0.5, 0.4)}, "add up to 1"),
        ({"level": (1.0,)}, "level has 1 entries for 2 routes"),
        ({"calls": ((1, 1), (1, 1))}, "a number for each agent"),
        ({"calls": ((1, 1, 1), (1, 1))}, "a number for each agent"),
        ({"calls": ((1, 1, 0), (1, 1, 0))}, "never called"),
    ):
        with pytest.raises(ParameterError, match=said):
            Roles(**spec)  # type: ignore[arg-type]

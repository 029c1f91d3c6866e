"""What the worlds of one decision per agent promise together: reproducible draws, fields on request, replays and trees without bias."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.core import FIELDS, ParameterError
from reproductions.worlds.base import Episodes, Policy, spec_hash, spec_of
from reproductions.worlds.degenerate import Degenerate
from reproductions.worlds.one_turn import OneTurn
from reproductions.worlds.roles import Roles
from reproductions.worlds.team import Team

WORLDS = (
    Team(agents=3, classes=2, agent_correlation=0.4, difficulty_leak=0.5),
    Team(agents=4, game="redundant", outcome="success", pool=4),
    Roles(classes=2, game="synergy"),
    Degenerate(agents=3, stratum_by="action"),
)
by_name = pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world.name}-{world.game}")


def equal_fields(one: Episodes, two: Episodes) -> None:
    left, right = one.batch.present_fields(), two.batch.present_fields()
    for name in left.keys() & right.keys():
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


@by_name
def test_everything_follows_from_spec_and_seed(world: OneTurn) -> None:
    twin = type(world)(**{name: value for name, value in spec_of(world).items() if name != "world"})
    assert spec_hash(spec_of(twin)) == spec_hash(spec_of(world))
    one, two = (which.play(np.random.default_rng(9), 8, 5, fields=which.supplies) for which in (world, twin))
    equal_fields(one, two)
    assert one.cost == two.cost
    values = [which.coalitions(np.random.default_rng(1), played)[0] for which, played in ((world, one), (twin, two))]
    np.testing.assert_array_equal(*values)


@by_name
def test_what_is_asked_changes_nothing_else(world: OneTurn) -> None:
    everything = world.play(np.random.default_rng(9), 8, 5, fields=world.supplies - {"node_pknt"})
    for name in sorted(world.supplies - {"node_pknt"}):
        alone = world.play(np.random.default_rng(9), 8, 5, fields=frozenset({name}))
        assert name in alone.batch.present_fields()
        equal_fields(everything, alone)


@by_name
def test_all_supplied_fields_exist_and_are_finite(world: OneTurn) -> None:
    assert world.supplies <= FIELDS.keys()
    batch = world.play(np.random.default_rng(0), 6, 4, fields=world.supplies).batch
    assert batch.present_fields().keys() == world.supplies | {"acted_pknt"}
    for name, array in batch.present_fields().items():
        assert array.dtype.kind in "ib" or np.isfinite(array).all(), name


@by_name
def test_worlds_play_with_other_policies_and_any_sizes(world: OneTurn) -> None:
    always_first = np.full((world.agents, world.classes, world.actions), -np.inf)
    always_first[..., 0] = 0.0
    for prompts, rollouts in ((1, 1), (3, 1), (1, 7)):
        episodes = world.play(np.random.default_rng(0), prompts, rollouts, policy=Policy(always_first))
        assert episodes.batch.shape[:2] == (prompts, rollouts)
        assert not episodes.action_pknt.any()
        assert episodes.truth.gradient_nxa is not None and not episodes.truth.gradient_nxa.any()


@by_name
def test_credit_adds_up_to_what_the_team_made(world: OneTurn) -> None:
    episodes = world.play(np.random.default_rng(0), 30, 4)
    setting, truth = episodes.hidden["setting"], episodes.truth
    nobody = np.full_like(setting.quality_pkn, world.masked)
    made = world.mean_reward(setting, setting.quality_pkn) - world.mean_reward(setting, nobody)
    assert truth.shapley_pkn is not None
    np.testing.assert_allclose(truth.shapley_pkn.sum(axis=2), made, atol=1e-12)


@by_name
def test_values_of_coalitions_have_the_right_means(world: OneTurn) -> None:
    rng = np.random.default_rng(4)
    episodes = world.play(rng, 4, 3)
    setting = episodes.hidden["setting"]
    drawn = np.stack([world.coalitions(rng, episodes)[0] for _ in range(400)])
    for s in range((1 << world.agents) - 1):
        inside = (s >> np.arange(world.agents) & 1).astype(bool)
        exact = world.mean_reward(setting, np.where(inside, setting.quality_pkn, world.masked))
        # Rewards lie within 0.5 around their mean, or have noise of at most 0.3.
        assert np.abs(drawn[..., s].mean(axis=0) - exact).max() < 5 * 0.5 / np.sqrt(400)


@given(
    shape=st.tuples(st.integers(2, 3), st.integers(2, 3), st.integers(1, 2)),
    game=st.sampled_from(["additive", "strong_weak", "bottleneck", "redundant", "synergy"]),
    noise=st.tuples(st.floats(0, 1), st.floats(0, 0.5)),
    rho=st.floats(0, 1),
    success=st.booleans(),
    seed=st.integers(0, 999),
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_explained_variance_by_enumeration(
    shape: tuple[int, int, int],
    game: Any,
    noise: tuple[float, float],
    rho: float,
    success: bool,
    seed: int,
) -> None:
    agents, actions, classes = shape
    world = Team(
        agents=agents, actions=actions, classes=classes, game=game, quality_noise=noise[0], reward_noise=noise[1],
        agent_correlation=rho, table_seed=seed, outcome="success" if success else "graded", difficulty=0.2,
    )  # fmt: skip
    policy = Policy(np.random.default_rng(seed).normal(size=(agents, classes, actions)))
    shared, own, variance = np.zeros(agents), np.zeros((agents, agents)), 0.0
    for x in range(classes):
        joint = list(product(range(actions), repeat=agents))
        weight = np.array([np.prod([policy.probability_nxa[n, x, a] for n, a in enumerate(row)]) for row in joint])
        quality = np.array([[world.table_nxa[n, x, a] for n, a in enumerate(row)] for row in joint])
        value = world.rules.value(quality) * (0.6 if success else 1.0)
        apart, above = quality - weight @ quality, value - weight @ value
        shared += (weight * above) @ apart / classes
        own += (apart * weight[:, None]).T @ apart / classes
        if success:
            # The prompt adds u, uniform within 0.2 of the base 0.2: the mean of p (1 - p) has E[u^2] = 0.04 / 3 less.
            mean = 0.2 + weight @ value
            variance += (mean * (1 - mean) - 0.04 / 3) / classes
        else:
            variance += (weight @ above**2 + noise[1] ** 2) / classes
    observed = own + noise[0] ** 2 * ((1 - rho) * np.eye(agents) + rho)
    explained = shared @ np.linalg.pinv(observed, rcond=1e-12, hermitian=True) @ shared
    assert world.r_squared(policy) == pytest.approx(explained / variance, abs=1e-8)


def test_replays_anew_draw_those_behind_again_and_nobody_before() -> None:
    kept, anew = (
        Team(agents=3, reward_noise=0.0, difficulty=0.0, weights=(1.0, 10.0, 100.0), replays=how)
        for how in ("kept", "anew")
    )
    episodes = anew.play(np.random.default_rng(0), 4000, 2)
    quality = episodes.hidden["setting"].quality_pkn
    reward, cost = anew.replay(np.random.default_rng(1), episodes, 1)
    # The first agent's digit stays, the second's is masked, the third's is drawn again.
    np.testing.assert_allclose(reward % 50 - quality[..., 0], 0, atol=1e-9)
    last = (reward - quality[..., 0]) / 100
    assert abs(np.corrcoef(last.ravel(), quality[..., 2].ravel())[0, 1]) < 5 / np.sqrt(8000)
    assert last.mean() == pytest.approx(0.5, abs=5 * 0.41 / np.sqrt(8000))
    assert cost.replays == pytest.approx(8000 / 3)
    same, _ = kept.replay(np.random.default_rng(1), episodes, 1)
    np.testing.assert_allclose(same, quality[..., 0] + 100 * quality[..., 2], atol=1e-9)


def test_replays_have_noise_of_their_own() -> None:
    world = Team(agents=2, reward_noise=0.3)
    episodes = world.play(np.random.default_rng(0), 2000, 4)
    setting = episodes.hidden["setting"]
    reward, _ = world.replay(np.random.default_rng(1), episodes, 1, action=0)
    first = episodes.batch.need("reward_pk") - world.mean_reward(setting, setting.quality_pkn)
    replaced = setting.quality_pkn.copy()
    replaced[..., 1] = world.table_nxa[1, 0, 0]
    second = reward - world.mean_reward(setting, replaced)
    assert second.std() == pytest.approx(0.3, rel=5 / np.sqrt(2 * second.size))
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 5 / np.sqrt(second.size)


@pytest.mark.parametrize(("agents", "branching", "rollouts"), [(2, 2, 8), (3, 3, 10), (4, 2, 5), (2, 4, 1), (1, 2, 6)])
def test_trees_are_trees_whatever_their_sizes(agents: int, branching: int, rollouts: int) -> None:
    from reproductions.core import Tree

    world = Team(agents=agents, branching=branching)
    episodes = world.play(np.random.default_rng(0), 3, rollouts, fields=frozenset({"node_pknt"}))
    tree = Tree.of(episodes.batch)
    assert tree.is_leaf_u.sum() == 3 * rollouts
    assert episodes.cost.episodes == pytest.approx(len(tree.parent_u) / agents)


def test_a_tree_leaves_every_agents_distribution_as_it_is() -> None:
    world = Team(agents=3)
    policy = Policy(np.random.default_rng(0).normal(size=(3, 1, 3)))
    episodes = world.play(np.random.default_rng(1), 6000, 8, fields=frozenset({"node_pknt"}), policy=policy)
    for n, nodes in enumerate((2, 4, 8)):
        share = np.bincount(episodes.action_pknt[:, :, n, 0].ravel(), minlength=3) / 48_000
        # Only the nodes are independent.
        assert np.abs(share - policy.probability_nxa[n, 0]).max() < 5 * 0.5 / np.sqrt(6000 * nodes)


def test_continuations_keep_what_was_said_and_draw_what_follows() -> None:
    world = Team(agents=3, classes=2, continuations=50)
    policy = Policy(np.random.default_rng(0).normal(size=(3, 2, 3)))
    episodes = world.play(np.random.default_rng(1), 40, 4, fields=frozenset({"continuation_pknacm"}), policy=policy)
    joint, action = episodes.batch.need("continuation_pknacm"), episodes.action_pknt[..., 0]
    assert joint.shape == (40, 4, 3, 3, 50, 3)
    for n in range(3):
        for before in range(n):
            assert (joint[:, :, n, ..., before] == action[:, :, before, None, None]).all()
        assert (joint[:, :, n, ..., n] == np.arange(3)[:, None]).all()
    for x in range(2):
        of_class = joint[episodes.hidden["setting"].class_p == x]
        share = np.bincount(of_class[:, :, 0, :, :, 2].ravel(), minlength=3) / of_class[:, :, 0, :, :, 2].size
        assert np.abs(share - policy.probability_nxa[2, x]).max() < 5 * 0.5 / np.sqrt(of_class[:, :, 0, :, :, 2].size)


def test_fields_on_request_are_what_they_say() -> None:
    world = Team(
        agents=3, tool_calls=4, penalty=0.5, penalty_rate=0.2, verifier_noise=0.0, peer_noise=0.0, tokens=7, classes=2
    )
    asked = frozenset({"tool_valid_pkn", "penalty_pknt", "verifier_score_pknt", "correct_pknt", "peer_share_pknm",
                       "length_pknt", "state_pknt", "team_state_pktf"})  # fmt: skip
    batch = (episodes := world.play(np.random.default_rng(0), 3000, 2, fields=asked)).batch
    setting, truth = episodes.hidden["setting"], episodes.truth
    valid = batch.need("tool_valid_pkn")
    assert set(np.unique(valid)) <= {0, 0.25, 0.5, 0.75, 1}
    for quality in (0.0, 0.5, 1.0):
        of_quality = valid[setting.quality_pkn == quality]
        assert of_quality.mean() == pytest.approx(quality, abs=5 * 0.25 / np.sqrt(of_quality.size))
    penalty = batch.need("penalty_pknt")
    assert set(np.unique(penalty)) == {0.0, 0.5}
    assert (penalty > 0).mean() == pytest.approx(0.2, abs=5 * 0.4 / np.sqrt(penalty.size))
    np.testing.assert_array_equal(batch.need("verifier_score_pknt"), setting.quality_pknt)
    np.testing.assert_array_equal(batch.need("correct_pknt"), setting.quality_pknt >= 0.5)
    share, shapley = batch.need("peer_share_pknm"), truth.shapley_pkn
    assert shapley is not None
    np.testing.assert_allclose(share.sum(axis=-1), 1.0, atol=1e-12)
    some = shapley.sum(axis=2) > 1e-9
    np.testing.assert_allclose(share[some][:, 0] * shapley[some].sum(axis=1, keepdims=True), shapley[some], atol=1e-12)
    np.testing.assert_array_equal(share[~some], np.full_like(share[~some], 1 / 3))
    assert (batch.need("length_pknt") == 7).all()
    np.testing.assert_array_equal(
        batch.need("state_pknt"), np.broadcast_to(setting.class_p[:, None, None, None], batch.shape)
    )
    state = batch.need("team_state_pktf")
    np.testing.assert_array_equal(
        state[..., 0, :2].argmax(axis=-1), np.broadcast_to(setting.class_p[:, None], (3000, 2))
    )
    np.testing.assert_array_equal(state[..., 0, 2], np.broadcast_to(setting.shift_p[:, None], (3000, 2)))


@by_name
def test_a_critic_without_error_is_the_conditional_mean(world: OneTurn) -> None:
    fields = frozenset({"value_pknt", "utility_pknt"})
    policy = Policy(np.random.default_rng(0).normal(size=(world.agents, world.classes, world.actions)))
    episodes = world.play(np.random.default_rng(2), 20_000, 4, fields=fields, policy=policy)
    reward, acted = episodes.batch.need("reward_pk")[:, :, None, None], episodes.batch.acted_pknt
    for name in sorted(fields):
        value = episodes.batch.need(name)
        error = np.where(acted, reward - value, 0.0)
        # Unbiased, and unbiased at high and at low values alike; four rollouts of a prompt count once.
        for weight in (np.ones(value.shape), value):
            for place in zip(*np.nonzero(acted.any(axis=(0, 1))), strict=True):
                each = (error * weight)[:, :, *place].mean(axis=1)
                assert abs(each.mean()) < 5 * each.std() / np.sqrt(len(each)) + 1e-12, (name, place)


def test_wrong_places_are_refused() -> None:
    world, rng = Roles(), np.random.default_rng(0)
    episodes = world.play(rng, 2, 2)
    for place in ({"agent": 3}, {"agent": -1}, {"agent": 0, "turn": 3}, {"agent": 0, "action": 3}):
        with pytest.raises(ParameterError, match="no agent"):
            world.replay(rng, episodes, **place)


@pytest.mark.parametrize("game", ["additive", "redundant", "bottleneck"])
def test_few_games_solved_once_are_the_games_of_all_episodes(game: Any) -> None:
    world = Team(agents=3, classes=2, game=game, masked=0.2, table_seed=1)
    episodes = world.play(np.random.default_rng(0), 200, 8)
    quality = episodes.hidden["setting"].quality_pkn
    for found, rule in (
        (episodes.truth.shapley_pkn, world.rules.shapley),
        (episodes.truth.banzhaf_pkn, world.rules.banzhaf),
        (episodes.truth.leave_one_out_pkn, world.rules.leave_one_out),
    ):
        assert quality[..., 0].size // 4 > 2 * 3**3 and found is not None
        np.testing.assert_allclose(found, rule(quality, 0.2), atol=1e-12)

"""The team world: its answers against sums over all joint actions, its dial against measurement, its costs by hand."""

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
from reproductions.worlds.base import Cost, Episodes, Policy, spec_of
from reproductions.worlds.team import Team

GAMES = ("additive", "strong_weak", "lazy", "bottleneck", "redundant", "synergy")


def some_policy(world: Team, seed: int = 3) -> Policy:
    return Policy(np.random.default_rng(seed).normal(size=(world.agents, world.classes, world.actions)))


def by_enumeration(world: Team, policy: Policy) -> float:
    """The expected reward, class by class and joint action by joint action."""
    total = 0.0
    scale, base = (1 - 2 * world.difficulty, world.difficulty) if world.outcome == "success" else (1.0, 0.0)
    for x, actions in product(range(world.classes), product(range(world.actions), repeat=world.agents)):
        chance = np.prod([policy.probability_nxa[n, x, a] for n, a in enumerate(actions)])
        quality = np.array([world.table_nxa[n, x, a] for n, a in enumerate(actions)])
        total += chance * (base + scale * float(world.rules.value(quality))) / world.classes
    return total


specs = st.fixed_dictionaries(
    {
        "agents": st.integers(1, 3),
        "actions": st.integers(2, 3),
        "classes": st.integers(1, 2),
        "game": st.sampled_from(GAMES),
        "table_seed": st.sampled_from([None, 5]),
        "outcome": st.sampled_from(["graded", "success"]),
        "masked": st.sampled_from([0.0, 0.5]),
    }
)


def made(spec: dict[str, Any]) -> Team:
    least = {"lazy": 2, "synergy": 2}.get(spec["game"], 1)
    return Team(**{**spec, "agents": max(spec["agents"], least)})


@given(spec=specs, seed=st.integers(0, 999))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_value_and_gradient_by_enumeration_and_differences(spec: dict[str, Any], seed: int) -> None:
    world = made(spec)
    policy = some_policy(world, seed)
    assert world.value(policy) == pytest.approx(by_enumeration(world, policy), abs=1e-12)
    step = 1e-5
    gradient = world.gradient(policy)
    for place in np.ndindex(policy.logits_nxa.shape):
        nudge = np.zeros(policy.logits_nxa.shape)
        nudge[place] = step
        up, down = (by_enumeration(world, Policy(policy.logits_nxa + sign * nudge)) for sign in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / (2 * step), abs=1e-9)


@pytest.mark.parametrize("game", GAMES)
def test_advantage_is_the_difference_of_conditional_means(game: str) -> None:
    world = Team(agents=3, game=game, classes=2, table_seed=1)
    policy = some_policy(world)
    episodes = world.play(np.random.default_rng(0), 20, 3, policy=policy)
    context, action = episodes.context_pknt[..., 0], episodes.action_pknt[..., 0]
    for p, k, n in [(0, 0, 0), (3, 1, 1), (11, 2, 2), (19, 0, 1)]:
        x, expected = context[p, k, n], np.zeros(2)
        for actions in product(range(3), repeat=3):
            chance = np.prod([policy.probability_nxa[m, x, a] for m, a in enumerate(actions)])
            reward = float(world.rules.value(np.array([world.table_nxa[m, x, a] for m, a in enumerate(actions)])))
            given_own = chance / policy.probability_nxa[n, x, actions[n]] * (actions[n] == action[p, k, n])
            expected += [given_own * reward, chance * reward]
        assert episodes.truth.advantage_pknt is not None
        assert episodes.truth.advantage_pknt[p, k, n, 0] == pytest.approx(expected[0] - expected[1], abs=1e-12)


@pytest.mark.parametrize("game", GAMES)
def test_the_best_value_is_that_of_the_best_joint_action(game: str) -> None:
    world = Team(agents=3, game=game, classes=2, table_seed=2, weights=(1.0, -0.5, 0.2) if game == "additive" else None)
    best = [
        max(
            float(world.rules.value(np.array([world.table_nxa[n, x, a] for n, a in enumerate(actions)])))
            for actions in product(range(3), repeat=3)
        )
        for x in range(2)
    ]
    assert world.best_value() == pytest.approx(np.mean(best), abs=1e-12)


@pytest.mark.parametrize("outcome", ["graded", "success"])
@pytest.mark.parametrize("game", GAMES)
def test_rewards_and_gradient_estimates_have_the_exact_means(game: str, outcome: Any) -> None:
    world = Team(agents=3, game=game, classes=2, outcome=outcome)
    policy = some_policy(world)
    episodes = world.play(np.random.default_rng(7), 20_000, 4, policy=policy)
    mean_p = episodes.batch.need("reward_pk").mean(axis=1)
    # Five standard errors of prompts, which are independent.
    assert abs(mean_p.mean() - world.value(policy)) < 5 * mean_p.std() / np.sqrt(len(mean_p))
    with_reward = episodes.gradient(episodes.batch.spread(episodes.batch.need("reward_pk") - mean_p.mean(), "pk"))
    with_truth = episodes.gradient(episodes.truth.advantage_pknt)
    # A score is at most 1 in size and so is a reward's distance from its mean; halved for two classes.
    assert np.abs(with_reward - world.gradient(policy)).max() < 5 * 0.5 / np.sqrt(80_000)
    assert np.abs(with_truth - world.gradient(policy)).max() < 5 * 0.5 / np.sqrt(80_000)
    np.testing.assert_array_equal(episodes.truth.gradient_nxa, world.gradient(policy))


def test_observed_coefficients_are_the_regression_on_true_quality() -> None:
    for game in GAMES:
        world = Team(agents=3, game=game, classes=2, quality_noise=0.0, reward_noise=0.05)
        batch = (episodes := world.play(np.random.default_rng(1), 20_000, 8)).batch
        y, X = within(batch.need("reward_pk"), batch.need("quality_pkn"))
        slope, error = np.linalg.lstsq(X, y, rcond=None)[0], 5 * 0.4 / np.sqrt(len(y) * X.var(axis=0))
        assert np.all(np.abs(slope - episodes.truth.beta_n) < error), game


def within(reward_pk: np.ndarray, quality_pkn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reward and quality less the prompt's means."""
    y = reward_pk - reward_pk.mean(axis=1, keepdims=True)
    X = quality_pkn - quality_pkn.mean(axis=1, keepdims=True)
    return y.ravel(), X.reshape(-1, quality_pkn.shape[2])


@pytest.mark.parametrize("r2", [0.0, 0.1, 0.3, 0.7])
@pytest.mark.parametrize(
    "spec",
    [
        {"agents": 4, "game": "strong_weak", "reward_noise": 0.02},
        {"agents": 3, "game": "synergy", "classes": 2, "agent_correlation": 0.6},
        {"agents": 2, "game": "additive", "r2_by": "reward", "quality_noise": 0.1, "agent_correlation": 0.3},
        {"agents": 3, "game": "additive", "outcome": "success", "difficulty": 0.1},
    ],
)
def test_the_dial_sets_what_a_regression_finds(spec: dict[str, Any], r2: float) -> None:
    by_reward = spec.get("r2_by") == "reward"
    if by_reward and r2 == 0:
        pytest.skip("no finite noise of the reward hides everything")
    if spec.get("outcome") == "success" and r2 > 0.1:
        with pytest.raises(ParameterError, match="is what is reached"):
            Team(**spec, r2=r2)
        return
    world = Team(**spec, r2=r2)
    assert world.r_squared() == pytest.approx(r2, abs=1e-9)
    batch = world.play(np.random.default_rng(11), 25_000, 8).batch
    y, X = within(batch.need("reward_pk"), batch.need("quality_pkn"))
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    found, freedom = 1 - residual @ residual / (y @ y), 25_000 * 7
    # The sampling error of R^2 is at most 2 sqrt(R^2) (1 - R^2) / sqrt(freedom), plus its upward bias of agents / freedom.
    assert abs(found - r2) < 5 * 2 * np.sqrt(r2) * (1 - r2) / np.sqrt(freedom) + 20 * X.shape[1] / freedom


def test_both_dials_touch_only_their_own_noise() -> None:
    plain = Team(agents=3, reward_noise=0.05, quality_noise=0.1)
    by_quality = Team(agents=3, reward_noise=0.05, quality_noise=0.1, r2=0.4)
    by_reward = Team(agents=3, reward_noise=0.05, quality_noise=0.1, r2=0.4, r2_by="reward")
    assert [world.exact.cases[0].noise for world in (plain, by_quality)] == [0.05, 0.05]
    assert [world.observation[1] for world in (plain, by_reward)] == [0.1, 0.1]
    assert by_quality.observation[1] > 0.1 and by_reward.exact.cases[0].noise > 0.05
    # By hand: three agents with weight 1/3 and quality variance 1/6; 3/9 * (1/6) / (1 + 6 s^2) = 0.4 * (1/18 + 0.0025).
    s2 = ((1 / 18) / (0.4 * (1 / 18 + 0.0025)) - 1) / 6
    assert by_quality.observation[1] == pytest.approx(np.sqrt(s2), rel=1e-9)


def test_dials_out_of_reach_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"no quality noise makes r2 0.99"):
        Team(agents=3, game="bottleneck", r2=0.99)
    with pytest.raises(ParameterError, match=r"no reward noise makes r2 0.95"):
        Team(agents=3, quality_noise=0.5, r2=0.95, r2_by="reward")
    with pytest.raises(ParameterError, match="cancels between them: r2 stays above"):
        Team(agents=2, game="strong_weak", agent_correlation=1.0, r2=0.1)
    with pytest.raises(ParameterError, match=r"r2 is 1\.5"):
        Team(r2=1.5)
    with pytest.raises(ParameterError, match="endless noise"):
        Team(r2=0.0, r2_by="reward")


def same(one: Episodes, two: Episodes, *, but: frozenset[str] = frozenset()) -> None:
    left, right = one.batch.present_fields(), two.batch.present_fields()
    for name in left.keys() & right.keys() - but:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def test_draws_follow_from_spec_and_seed_and_not_from_what_is_asked() -> None:
    world = Team(agents=3, classes=2, agent_correlation=0.3)
    asked = world.supplies - {"node_pknt"}
    first, again, bare = (
        world.play(np.random.default_rng(5), 6, 4, fields=fields)
        for fields in (asked, asked, frozenset({"value_pknt"}))
    )
    same(first, again)
    same(first, bare)
    assert first.batch.present_fields().keys() == asked | {"acted_pknt"}
    other = world.play(np.random.default_rng(6), 6, 4)
    assert not np.array_equal(first.batch.reward_pk, other.batch.reward_pk)


def test_prompts_of_a_pool_come_back_as_they_were() -> None:
    world = Team(agents=2, classes=2, pool=6, reward_noise=0.0, difficulty=0.3)
    rng = np.random.default_rng(0)
    seen: dict[int, set[float]] = {}
    for _ in range(3):
        episodes = world.play(rng, 6, 2)
        names = episodes.batch.need("prompt_id_p")
        assert sorted(names.tolist()) == list(range(6))
        shift = episodes.batch.need("reward_pk") - world.rules.value(episodes.hidden["setting"].quality_pkn)
        for name, added in zip(names.tolist(), shift[:, 0], strict=True):
            seen.setdefault(name, set()).add(round(float(added), 12))
    assert all(len(added) == 1 for added in seen.values())
    # The even design: six equal steps of the interval, so that their mean is exactly 0.
    np.testing.assert_allclose(sorted(a for added in seen.values() for a in added), 0.3 * np.arange(-5, 6, 2) / 6)
    with pytest.raises(ParameterError, match="a pool of 5 for 2 classes"):
        Team(classes=2, pool=5)


def test_explained_variance_over_the_prompts_of_a_pool() -> None:
    world = Team(agents=1, actions=2, outcome="success", difficulty=0.3, pool=4, quality_noise=0.0)
    # A chance of 0.3 + 0.4 q plus the prompt's -0.225, -0.075, 0.075 or 0.225, with q 0 or 1 alike likely.
    half = 0.5 + 0.3 * np.array([-0.75, -0.25, 0.25, 0.75])
    assert world.r_squared() == pytest.approx(0.2**2 / np.mean(half * (1 - half)), abs=1e-12)


def test_costs_by_hand() -> None:
    world = Team(agents=4, actions=3, continuations=5)
    rng = np.random.default_rng(0)
    one = Cost(episodes=20)
    assert world.play(rng, 5, 4).cost == one
    # A replay without one of four agents is three quarters of a rollout; the last agent alone is one quarter.
    for name, spent in (
        ("masked_reward_pkn", Cost(replays=20 * 4 * 0.75)),
        ("solo_reward_pk", Cost(replays=20 * 0.25)),
        # Three, two, one and no agents behind the four: six quarters for each of 3 actions and 5 samples.
        ("continuation_pknacm", Cost(replays=20 * 3 * 5 * 6 / 4)),
        ("verifier_score_pknt", Cost(coach_calls=80)),
        ("peer_share_pknm", Cost(coach_calls=80)),
        ("value_pknt", Cost()),
        ("local_reward_pknt", Cost()),
    ):
        assert world.play(rng, 5, 4, fields=frozenset({name})).cost == one + spent, name
    episodes = world.play(rng, 5, 4)
    assert world.replay(rng, episodes, 2)[1] == Cost(replays=15)
    assert world.replay(rng, episodes, 2, action=1)[1] == Cost(replays=20)
    # Sixteen coalitions hold 32 seats, of which the observed one has four.
    assert world.coalitions(rng, episodes)[1].replays == pytest.approx(20 * 28 / 4)
    anew = Team(agents=4, replays="anew")
    assert anew.replay(rng, anew.play(rng, 5, 4), 1)[1] == Cost(replays=20 * 2 / 4)


def test_a_tree_shares_outputs_and_costs_its_nodes() -> None:
    world = Team(agents=3, branching=2)
    episodes = world.play(np.random.default_rng(0), 4, 8, fields=frozenset({"node_pknt"}))
    node = episodes.batch.need("node_pknt")[..., 0]
    assert [len(np.unique(node[0, :, n])) for n in range(3)] == [2, 4, 8]
    # Two, four and eight outputs of three agents in each of four trees.
    assert episodes.cost == Cost(episodes=4 * 14 / 3)
    for name in ("action_pknt", "quality_pkn"):
        array = episodes.batch.need(name).reshape(4, 8, 3)
        for code in np.unique(node):
            assert len(np.unique(array[node == code])) == 1
    for name in ("c3", "mhgpo", "masprm", "treerl", "agent_prm"):
        assert np.isfinite(methods()[name].run(episodes.batch).advantage_pknt).all()


def test_masking_is_the_game_of_the_episode() -> None:
    world = Team(agents=4, game="synergy", classes=2, masked=0.3, reward_noise=0.0)
    rng = np.random.default_rng(2)
    episodes = world.play(rng, 5, 3, fields=frozenset({"masked_reward_pkn", "solo_reward_pk"}))
    value_pks, _ = world.coalitions(rng, episodes)
    from reproductions import oracle

    truth = episodes.truth
    np.testing.assert_allclose(oracle.shapley(value_pks), truth.shapley_pkn, atol=1e-10)
    np.testing.assert_allclose(oracle.banzhaf(value_pks), truth.banzhaf_pkn, atol=1e-10)
    np.testing.assert_allclose(oracle.leave_one_out(value_pks), truth.leave_one_out_pkn, atol=1e-10)
    lost = episodes.batch.need("reward_pk")[..., None] - episodes.batch.need("masked_reward_pkn")
    np.testing.assert_allclose(lost, truth.leave_one_out_pkn, atol=1e-12)
    np.testing.assert_allclose(episodes.batch.need("solo_reward_pk"), value_pks[..., 0b1000], atol=1e-12)
    np.testing.assert_array_equal(value_pks[..., -1], episodes.batch.reward_pk)


def test_replaced_actions_are_what_a_critic_without_error_says() -> None:
    world = Team(agents=3, game="redundant", classes=2, table_seed=4, reward_noise=0.0)
    rng = np.random.default_rng(3)
    critic = frozenset({"action_value_pknta", "value_pknt", "utility_pknt"})
    episodes = world.play(rng, 6, 4, fields=critic)
    value = episodes.batch.need("action_value_pknta")[:, :, :, 0]
    for agent, action in product(range(3), range(3)):
        reward_pk, _ = world.replay(rng, episodes, agent, action=action)
        np.testing.assert_allclose(value[:, :, agent, action], reward_pk, atol=1e-12)
    wrong = Team(
        agents=3, game="redundant", classes=2, table_seed=4, reward_noise=0.0, critic_bias=1.0, critic_noise=0.5
    )
    biased = wrong.play(np.random.default_rng(3), 2000, 4, fields=critic).batch.need("value_pknt")
    exact = world.play(np.random.default_rng(3), 2000, 4, fields=critic).batch.need("value_pknt")
    assert (biased - exact).mean() == pytest.approx(1.0, abs=5 * 0.5 / np.sqrt(biased.size))
    assert (biased - exact).std() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(2 * biased.size))


def test_values_before_and_after_each_agent_differ_by_what_it_brought() -> None:
    world = Team(agents=3, game="bottleneck", table_seed=4, reward_noise=0.0, difficulty=0.0)
    policy = some_policy(world)
    episodes = world.play(
        np.random.default_rng(3), 4000, 1, fields=frozenset({"value_pknt", "utility_pknt"}), policy=policy
    )
    value, quality = episodes.batch.need("value_pknt")[:, 0, :, 0], episodes.hidden["setting"].quality_pkn[:, 0]
    mean = (policy.probability_nxa[:, 0] * world.table_nxa[:, 0]).sum(axis=1)
    np.testing.assert_allclose(value[:, 0], mean.prod(), atol=1e-12)
    np.testing.assert_allclose(value[:, 2], quality[:, 0] * quality[:, 1] * mean[2], atol=1e-12)
    utility = episodes.batch.need("utility_pknt")[:, 0, :, 0]
    np.testing.assert_allclose(utility[:, 1], mean[0] * quality[:, 1] * mean[2], atol=1e-12)


def test_what_can_be_correlated_with_quality() -> None:
    rng = np.random.default_rng(0)
    apart, alike = (Team(agents=2, agent_correlation=rho, quality_noise=1.0).play(rng, 5000, 8) for rho in (0.0, 0.8))
    for episodes, rho in ((apart, 0.0), (alike, 0.8)):
        error = episodes.batch.need("quality_pkn") - episodes.hidden["setting"].quality_pkn
        found = np.corrcoef(error.reshape(-1, 2).T)[0, 1]
        assert found == pytest.approx(rho, abs=5 * (1 - rho**2) / np.sqrt(40_000) + 1e-3)
    leaking = Team(agents=2, difficulty=0.5, difficulty_leak=2.0, quality_noise=0.0).play(rng, 50, 2)
    setting = leaking.hidden["setting"]
    above = leaking.batch.need("quality_pkn") - setting.quality_pkn
    np.testing.assert_allclose(above, np.broadcast_to(2 * setting.shift_p[:, None, None], above.shape), atol=1e-12)


def test_the_start_may_be_far_from_the_best_action() -> None:
    world = Team(agents=2, actions=4, classes=2, best_start=0.05)
    probability = world.start().probability_nxa
    best = world.table_nxa.argmax(axis=-1)
    np.testing.assert_allclose(np.take_along_axis(probability, best[..., None], axis=-1), 0.05)
    np.testing.assert_allclose(np.sort(probability, axis=-1)[..., 1:], 0.95 / 3)


def test_most_methods_run_here() -> None:
    world = Team(agents=3, outcome="success")
    assert WORLDS["team"] is Team
    batch = world.play(np.random.default_rng(0), 8, 4, fields=world.supplies).batch
    cannot = {name for name, method in methods().items() if not set(method.requires) <= world.supplies}
    assert cannot == {"bradley_terry", "cure", "mappa", "stratified_grpo"}
    for name in methods().keys() - cannot:
        assert methods()[name].run(batch).advantage_pknt.shape == (8, 4, 3, 1)


def test_wrong_specs_and_requests_are_named() -> None:
    world, rng = Team(), np.random.default_rng(0)
    with pytest.raises(ParameterError, match="cannot fill 'coach_score_pknt'"):
        world.play(rng, 2, 2, fields=frozenset({"coach_score_pknt"}))
    with pytest.raises(ParameterError, match="no agent 5"):
        world.replay(rng, world.play(rng, 2, 2), 5)
    for spec, said in (
        ({"agents": 13}, "agents is 13"),
        ({"quality_noise": -1.0}, "quality_noise is -1.0"),
        ({"local_mean": (1.0, 2.0, 3.0)}, "3 numbers for 2 agents"),
        ({"r2": 0.3, "r2_by": "luck"}, "r2_by is 'luck'"),
        ({"game": "chess"}, "game is 'chess'"),
        ({"replays": "later"}, "replays is 'later'"),
        ({"quality_noise": float("nan")}, "quality_noise is nan"),
        ({"weights": (1.0, float("inf"))}, "weights is"),
        ({"best_start": 1.0}, "best_start is 1.0"),
        ({"outcome": "success", "weights": (2.0, 1.0)}, "need a game within 0 and 1"),
    ):
        with pytest.raises(ParameterError, match=said):
            Team(**spec)
    assert spec_of(world)["world"] == "team" and spec_of(world)["r2"] is None

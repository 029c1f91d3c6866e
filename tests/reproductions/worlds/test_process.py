"""The process world's exact answers against every course of a discussion written out, and its judges against what the spec says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions import registry
from reproductions.core import Floats, ParameterError
from reproductions.worlds.base import Policy, spec_of
from reproductions.worlds.process import Process

SMALL = st.fixed_dictionaries(
    {
        "agents": st.integers(1, 3),
        "turns": st.integers(1, 2),
        "actions": st.just(2),
        "classes": st.integers(1, 2),
        "counts": st.sampled_from(["last", "every"]),
        "influence": st.sampled_from([0.0, 0.3]),
        "table_seed": st.integers(0, 99),
    }
)


def random_policy(world: Process, seed: int) -> Policy:
    return Policy(np.random.default_rng(seed).normal(size=world.merit_nxa.shape))


def courses(
    world: Process, probability: Floats, context: int, silent: tuple[int, ...] = (), said: tuple[Any, ...] = ()
) -> list[tuple[float, float, tuple[Any, ...]]]:
    """Every course of a discussion: probability, reward, ``(agent, turn, action, right)``; silent places have action None."""
    position = len(said)
    agents, turns = world.agents, world.turns
    if position == agents * turns:
        weight = np.broadcast_to(world.weights, agents) / np.broadcast_to(world.weights, agents).sum()
        counted = [(weight[n], right) for n, t, action, right in said if world.counts == "every" or t == turns - 1]
        share = 1.0 / turns if world.counts == "every" else 1.0
        return [(1.0, float(sum(share * w * right for w, right in counted)), said)]
    agent, turn = position % agents, position // agents
    if agent in silent:
        return courses(world, probability, context, silent, (*said, (agent, turn, None, False)))
    latest = {n: right for n, _, action, right in said if n != agent and action is not None}
    lift = world.influence * (np.mean(list(latest.values())) - 0.5) if latest else 0.0
    found = []
    for action in range(world.actions):
        right_chance = world.merit_nxa[agent, context, action] + lift
        for right, chance in ((True, right_chance), (False, 1.0 - right_chance)):
            here = probability[agent, context, action] * chance
            for later, reward, course in courses(
                world, probability, context, silent, (*said, (agent, turn, action, right))
            ):
                found.append((here * later, reward, course))
    return found


@given(spec=SMALL, seed=st.integers(0, 999))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_closed_forms_are_enumeration(spec: dict[str, Any], seed: int) -> None:
    world = Process(**spec, weights=tuple(1.0 + i for i in range(spec["agents"])))
    policy = random_policy(world, seed)
    probability = policy.probability_nxa
    by_class = [courses(world, probability, x) for x in range(world.classes)]
    values = [sum(chance * reward for chance, reward, _ in every) for every in by_class]
    assert [sum(chance for chance, _, _ in every) for every in by_class] == pytest.approx([1.0] * world.classes)
    assert world.value(policy) == pytest.approx(np.mean(values), abs=1e-12)

    played = world.play(np.random.default_rng(seed), 6, 3, policy=policy)
    truth = played.truth.advantage_pknt
    assert truth is not None
    for p, k, n, t in np.ndindex(truth.shape):
        context, action = played.context_pknt[p, k, n, t], played.action_pknt[p, k, n, t]
        taken = [(c, r) for c, r, course in by_class[context] if course[t * world.agents + n][2] == action]
        mean = sum(c * r for c, r in taken) / sum(c for c, _ in taken)
        assert truth[p, k, n, t] == pytest.approx(mean - values[context], abs=1e-12)


@given(spec=SMALL, seed=st.integers(0, 999))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_gradient_is_finite_difference(spec: dict[str, Any], seed: int) -> None:
    world = Process(**spec)
    policy = random_policy(world, seed)
    exact, step = world.gradient(policy), 1e-5
    for index in np.ndindex(exact.shape):
        nudge = np.zeros(exact.shape)
        nudge[index] = step
        up, down = (world.value(Policy(policy.logits_nxa + sign * nudge)) for sign in (1, -1))
        assert exact[index] == pytest.approx((up - down) / (2 * step), abs=1e-8)
    assert world.best_value() >= world.value(policy)
    best = Policy(np.where(world.merit_nxa == world.high, 0.0, -np.inf))
    assert world.value(best) == pytest.approx(world.best_value(), abs=1e-12)


@given(spec=SMALL, seed=st.integers(0, 99))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_the_expected_game_is_enumeration(spec: dict[str, Any], seed: int) -> None:
    world = Process(**spec)
    policy = random_policy(world, seed)
    for members, expected in enumerate(world.expected_game(policy)):
        silent = tuple(n for n in range(world.agents) if not members >> n & 1)
        every = [courses(world, policy.probability_nxa, x, silent) for x in range(world.classes)]
        assert expected == pytest.approx(np.mean([sum(c * r for c, r, _ in course) for course in every]), abs=1e-12)


def test_worth_by_hand() -> None:
    # Two agents, two turns, only the last answers count, half each. The last answer of all is worth 1/2; the one before it also lifts
    # it by the influence: 1/2 + 0.2 / 2. Those of the first turn pay nothing and lift: 0.2 * 0.6, and 0.2 * that beside 0.2 * 0.12.
    worth = Process(agents=2, turns=2, influence=0.2).discussion.worth_q
    np.testing.assert_allclose(worth, [0.2 * 0.12, 0.2 * 0.6, 0.6, 0.5])


def test_samples_agree_with_the_exact_answers() -> None:
    world = Process(agents=3, turns=2, classes=2, weights=(1.0, 2.0, 0.5), counts="every", influence=0.4)
    played = world.play(np.random.default_rng(3), 6000, 4)
    reward_p = played.batch.need("reward_pk").mean(axis=1)
    assert abs(reward_p.mean() - world.value(world.start())) < 5.0 * reward_p.std(ddof=1) / np.sqrt(len(reward_p))
    game, cost = world.coalitions(np.random.default_rng(4), played)
    game_ps = game.mean(axis=1)
    bound = 5.0 * game_ps.std(axis=0, ddof=1) / np.sqrt(len(game_ps)) + 1e-12
    assert (np.abs(game_ps.mean(axis=0) - world.expected_game(world.start())) < bound).all()
    # Coalitions of one and two agents out of three: 3 (1/3) + 3 (2/3) rollouts each.
    assert cost.replays == pytest.approx(3.0 * 6000 * 4)
    masked = game_ps[:, [0b110, 0b101, 0b011]]
    again_pkn = world.play(np.random.default_rng(3), 6000, 4, fields=frozenset({"masked_reward_pkn"})).batch
    difference = again_pkn.need("masked_reward_pkn").mean(axis=1) - masked
    # The first agent falls silent before anybody has answered; the replay is then a fresh discussion without it.
    assert abs(difference[:, 0].mean()) < 5.0 * difference[:, 0].std(ddof=1) / np.sqrt(len(difference))


def test_what_was_said_before_a_replay_is_kept() -> None:
    world = Process(agents=3, turns=2, counts="every", influence=0.0)
    played = world.play(np.random.default_rng(0), 40, 5)
    before = played.batch.need("correct_pknt")
    last, cost = world.replay(np.random.default_rng(1), played, agent=2, turn=1)
    # Without influence the last answer takes away its own pay, one of six, and nobody answers after it.
    np.testing.assert_allclose(last, played.batch.need("reward_pk") - before[:, :, 2, 1] / 6.0)
    assert cost.replays == 0.0
    _, cost = world.replay(np.random.default_rng(1), played, agent=0, turn=1)
    assert cost.replays == pytest.approx(40 * 5 * 2 / 6)
    _, cost = world.replay(np.random.default_rng(1), played, agent=0, turn=1, action=0)
    assert cost.replays == pytest.approx(40 * 5 * 3 / 6)
    credit = played.truth.leave_one_out_pkn
    assert credit is not None
    np.testing.assert_allclose(credit.sum(axis=2), played.batch.need("reward_pk"))
    assert Process(influence=0.2).play(np.random.default_rng(0), 2, 2).truth.shapley_pkn is None


def test_a_replaced_action_earns_its_advantage_on_average() -> None:
    world = Process(agents=2, turns=2, influence=0.3, low=0.15, high=0.85)
    played = world.play(np.random.default_rng(2), 20000, 2)
    best, worst = int(world.merit_nxa[0, 0].argmax()), int(world.merit_nxa[0, 0].argmin())
    good, _ = world.replay(np.random.default_rng(5), played, agent=0, turn=1, action=best)
    bad, _ = world.replay(np.random.default_rng(6), played, agent=0, turn=1, action=worst)
    difference = (good - bad).ravel()
    exact = 0.7 * world.discussion.worth_q[2]
    assert abs(difference.mean() - exact) < 5.0 * difference.std(ddof=1) / np.sqrt(difference.size)


def test_the_coach_is_paid_for_every_answer_and_only_once() -> None:
    cheap, asked = Process(), frozenset({"coach_score_pknt"})
    answers = 5 * 4 * 2 * 2
    assert cheap.play(np.random.default_rng(0), 5, 4).cost.coach_calls == 0
    assert cheap.play(np.random.default_rng(0), 5, 4, fields=asked).cost.coach_calls == answers
    coached = Process(quality_source="coach")
    unasked = coached.play(np.random.default_rng(0), 5, 4)
    assert unasked.cost.coach_calls == 0 and unasked.batch.quality_pkn is None
    quality = frozenset({"quality_pkn"})
    assert coached.play(np.random.default_rng(0), 5, 4, fields=quality).cost.coach_calls == answers
    both = coached.play(np.random.default_rng(0), 5, 4, fields=asked)
    assert both.cost.coach_calls == answers
    np.testing.assert_allclose(both.batch.need("quality_pkn"), both.batch.need("coach_score_pknt").mean(axis=3) / 10)
    judges = frozenset({"verifier_score_pknt", "peer_share_pknm"})
    assert cheap.play(np.random.default_rng(0), 5, 4, fields=judges).cost.coach_calls == answers + 5 * 4 * 2


def test_the_coach_has_the_noise_and_the_bias_of_the_spec() -> None:
    world = Process(coach_noise=0.2, coach_bias=3.0)
    batch = world.play(np.random.default_rng(0), 500, 8, fields=frozenset({"coach_score_pknt"})).batch
    action, score = batch.need("action_pknt")[:, :, 0], batch.need("coach_score_pknt")[:, :, 0]
    for choice, merit in enumerate(world.merit_nxa[0, 0]):
        seen = score[action == choice]
        expected = 10 * merit + (3.0 if merit == world.low else 0.0)
        assert seen.mean() == pytest.approx(expected, abs=5 * 0.2 / np.sqrt(len(seen)))
        assert seen.std() == pytest.approx(0.2, rel=0.2)
    loud = Process(coach_noise=50.0).play(np.random.default_rng(0), 50, 8, fields=frozenset({"coach_score_pknt"}))
    assert loud.batch.need("coach_score_pknt").min() == 0.0
    assert loud.batch.need("coach_score_pknt").max() == 10.0


def test_tests_tell_right_codes_from_wrong_as_the_spec_says() -> None:
    world = Process(turns=1, influence=0.0, given_tests=3, slip=0.3, catch=0.6)
    fields = frozenset({"passes_given_pkg", "passes_written_pkj"})
    batch = world.play(np.random.default_rng(0), 4000, 6, fields=fields).batch
    right, valid = (batch.need("correct_pknt")[:, :, n, 0] for n in (0, 1))
    given, written = batch.need("passes_given_pkg"), batch.need("passes_written_pkj")
    assert given[right].all()
    assert given[~right].mean() == pytest.approx(0.3, abs=0.02)
    of_code, of_test = np.broadcast_arrays(right[:, :, None], valid[:, None, :])
    assert written[of_code & of_test].all()
    assert not written[of_code & ~of_test].any()
    assert written[~of_code & of_test].mean() == pytest.approx(0.4, abs=0.02)
    assert written[~of_code & ~of_test].mean() == pytest.approx(0.5, abs=0.02)
    role = registry.get("cure").run(batch).diagnostics["role_reward_pkn"]
    assert role[:, :, 0][right].mean() > role[:, :, 0][~right].mean()
    assert role[:, :, 1][valid].mean() > role[:, :, 1][~valid].mean()
    with pytest.raises(ParameterError, match="cannot fill 'passes_given_pkg'"):
        Process(agents=1).play(np.random.default_rng(0), 1, 1, fields=fields)


def test_shares_add_up_and_are_vain() -> None:
    fields = frozenset({"peer_share_pknm"})
    share = Process(agents=3).play(np.random.default_rng(0), 200, 8, fields=fields).batch.need("peer_share_pknm")
    np.testing.assert_allclose(share.sum(axis=3), 1.0)
    own = np.einsum("pknn->pkn", share)
    assert own.mean() > (share.sum(axis=2) - own).mean() / 2 + 0.1


def test_the_critic_knows_the_history() -> None:
    world = Process(agents=2, turns=2, counts="every", influence=0.4, best_start=0.9)
    played = world.play(np.random.default_rng(0), 8000, 4, fields=frozenset({"value_pknt"}))
    value, reward_pk = played.batch.need("value_pknt"), played.batch.need("reward_pk")
    error = reward_pk[:, :, None, None] - value
    bound = 5.0 * error.std(axis=(0, 1)) / np.sqrt(reward_pk.size)
    assert (np.abs(error.mean(axis=(0, 1))) < bound).all()
    order = [error[:, :, n, t].var() for t in range(2) for n in range(2)]
    assert order == sorted(order, reverse=True)
    assert value[:, :, 0, 0] == pytest.approx(world.value(world.start()))


@given(spec=SMALL, seed=st.integers(0, 99))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_every_field_is_filled_and_leaves_the_others_alone(spec: dict[str, Any], seed: int) -> None:
    world = Process(**spec)
    plain = world.play(np.random.default_rng(seed), 3, 4)
    every = world.play(np.random.default_rng(seed), 3, 4, fields=world.supplies - {"acted_pknt"})
    assert set(every.batch.present_fields()) == set(world.supplies)
    for name, array in plain.batch.present_fields().items():
        assert np.array_equal(array, getattr(every.batch, name)), name
    one = world.play(np.random.default_rng(seed), 3, 4, fields=frozenset({"value_pknt"}))
    assert np.array_equal(one.batch.need("value_pknt"), every.batch.need("value_pknt"))
    assert spec_of(world)["world"] == "process"


def test_methods_run_in_it() -> None:
    world = Process()
    methods = [method for method in registry.methods().values() if set(method.requires) <= world.supplies]
    assert {"cure", "mappa", "maporl", "sharp", "sepo", "bradley_terry"} <= {method.name for method in methods}
    for method in methods:
        played = world.play(np.random.default_rng(0), 6, 4, fields=frozenset(method.requires))
        assert np.isfinite(method.run(played.batch).advantage_pknt).all(), method.name


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"influence": 0.9}, "no chances"),
        ({"weights": (0.0, 0.0)}, "weights"),
        ({"weights": (1.0, 1.0, 1.0)}, "3 numbers for 2 agents"),
        ({"best_start": 1.0}, "best_start"),
        ({"slip": 1.2}, "slip"),
        ({"counts": "first"}, "last or every"),
    ],
)
def test_specs_without_meaning_are_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Process(**spec)

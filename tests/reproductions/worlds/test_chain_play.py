"""Episodes of the chain: ragged, reproducible, as trees and greedy walks, replayed, observed, and what each costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions import registry
from reproductions.core import Batch, ParameterError, Tree
from reproductions.methods import gae
from reproductions.methods.at_grpo import greedy_rollout
from reproductions.worlds.base import Episodes, Policy
from reproductions.worlds.chain import Chain
from reproductions.worlds.chain_graph import BAIT, FALL, FORWARD
from reproductions.worlds.dynamic_programming import evaluate

SPEC = st.fixed_dictionaries(
    {
        "agents": st.integers(1, 4),
        "turns": st.integers(2, 5),
        "actions": st.integers(2, 5),
        "depth": st.integers(1, 2),
        "progress": st.sampled_from([0.0, 1.0]),
        "discount": st.sampled_from([1.0, 0.9]),
        "local_noise": st.sampled_from([0.0, 0.5]),
        "table_seed": st.integers(0, 9),
    }
)


def within_five_errors(sample: Any, exact: float) -> bool:
    """Whether the mean of independent numbers lies within five standard errors of its expectation."""
    flat = np.asarray(sample, dtype=np.float64).ravel()
    return bool(abs(flat.mean() - exact) <= 5.0 * flat.std(ddof=1) / np.sqrt(flat.size) + 1e-12)


@given(spec=SPEC, seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_episodes_follow_from_spec_and_seed(spec: dict[str, Any], seed: int) -> None:
    world = Chain(**spec)
    fields = world.supplies - {"node_pknt"}
    first, second = (world.play(np.random.default_rng(seed), 3, 4, fields=fields) for _ in range(2))
    assert set(first.batch.present_fields()) == set(fields)
    for name, array in first.batch.present_fields().items():
        assert np.array_equal(array, getattr(second.batch, name)), name
    assert first.cost == second.cost
    plain = world.play(np.random.default_rng(seed), 3, 4)
    for name, array in plain.batch.present_fields().items():
        assert np.array_equal(array, getattr(first.batch, name)), name
    one = world.play(np.random.default_rng(seed), 3, 4, fields=frozenset({"masked_reward_pkn"}))
    assert np.array_equal(one.batch.need("masked_reward_pkn"), first.batch.need("masked_reward_pkn"))
    other = world.play(np.random.default_rng(seed + 1), 50, 4)
    more = world.play(np.random.default_rng(seed), 50, 4)
    assert not np.array_equal(other.batch.action_pknt, more.batch.action_pknt)


@given(spec=SPEC, seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_an_episode_is_one_unbroken_run_of_actions_along_the_graph(spec: dict[str, Any], seed: int) -> None:
    world = Chain(**spec)
    played = world.play(np.random.default_rng(seed), 6, 4, fields=frozenset({"step_reward_pknt"}))
    batch, graph = played.batch, world.graph
    acted, state, action = (
        batch.in_play_order(a) for a in (batch.acted_pknt, batch.need("state_pknt"), batch.need("action_pknt"))
    )
    assert (acted[..., 1:] <= acted[..., :-1]).all()
    assert acted[..., 0].all()
    paid = batch.in_play_order(batch.need("step_reward_pknt"))
    np.testing.assert_allclose(paid.sum(axis=2), batch.need("reward_pk"))
    for p, k, q in np.argwhere(acted):
        agent, at = q % world.agents, (state[p, k, q], action[p, k, q])
        assert paid[p, k, q] == pytest.approx(world.discount**q * graph.paid_nxa[agent][at])
        if q + 1 < acted.shape[2]:
            follows = graph.following_nxa[agent][at]
            assert acted[p, k, q + 1] == (follows != graph.end)
            assert state[p, k, q + 1] == follows


def test_episodes_differ_in_length_and_states_recur() -> None:
    batch = Chain().play(np.random.default_rng(0), 20, 8).batch
    lengths = batch.acted_pknt.sum(axis=(2, 3))
    assert len(np.unique(lengths)) > 3
    in_time = batch.in_play_order(np.where(batch.acted_pknt, batch.need("state_pknt"), -1))
    again = [len(seen[seen >= 0]) > len(np.unique(seen[seen >= 0])) for seen in in_time.reshape(-1, in_time.shape[2])]
    assert 0.2 < np.mean(again) < 1.0
    step = registry.get("gigpo").run(batch).diagnostics["step_pknt"]
    assert (step != 0).mean() > 0.2


def test_a_tree_shares_its_beginnings_and_costs_less() -> None:
    world = Chain(branching=2)
    played = world.play(np.random.default_rng(0), 30, 8, fields=frozenset({"node_pknt"}))
    tree = Tree.of(played.batch)
    # Every position counts its nodes once; 2, 4 and then 8 ways of the first three.
    assert played.hidden["sampled_actions"] == len(tree.visits_u)
    first = played.batch.need("node_pknt")[:, :, 0, 0]
    assert [len(np.unique(row)) for row in first] == [2] * 30
    paths = played.batch.acted_pknt.sum()
    assert played.cost.episodes == pytest.approx(240 * len(tree.visits_u) / paths)
    assert played.cost.episodes < 240
    action, node = played.batch.need("action_pknt"), played.batch.need("node_pknt")
    acted = played.batch.acted_pknt
    assert len({(n, a) for n, a in zip(node[acted], action[acted], strict=True)}) == len(tree.visits_u)
    many = world.play(np.random.default_rng(1), 3000, 8, fields=frozenset({"node_pknt"})).batch.need("reward_pk")
    assert within_five_errors(many.mean(axis=1), world.value(world.start()))


def test_paths_share_what_was_drawn_for_a_node() -> None:
    world = Chain(local_noise=0.5, critic_noise=0.5)
    fields = frozenset({"node_pknt", "length_pknt", "value_pknt", "action_value_pknta", "utility_pknt"})
    batch = world.play(np.random.default_rng(0), 10, 8, fields=fields).batch
    acted, node = batch.acted_pknt, batch.need("node_pknt")[batch.acted_pknt]
    nodes = len(np.unique(node))
    for name in ("local_reward_pknt", "length_pknt", "value_pknt", "action_value_pknta", "utility_pknt"):
        seen = batch.need(name)[acted].reshape(len(node), -1)
        assert len(np.unique(np.column_stack([node, seen]), axis=0)) == nodes, name
        if name != "length_pknt":
            assert len(np.unique(seen, axis=0)) == nodes, name


def test_the_greedy_walk_is_that_of_at_grpo() -> None:
    world = Chain(sampling="greedy", bait=0.3, local=0.1, agents=2, turns=3, depth=3, alpha=0.5)
    played = world.play(np.random.default_rng(7), 40, 4)
    batch, graph = played.batch, world.graph
    action, local = batch.need("action_pknt"), batch.need("local_reward_pknt")
    credit = registry.get("at_grpo").run(batch, alpha=0.5)
    for p in range(40):
        # The method's own sampler on the same candidates.
        def sample(state: int, agent: int, turn: int, p: int = p) -> list[int]:
            return [int(a) for a in action[p, :, agent, turn]]

        def step(where: tuple[int, int], agent: int, chosen: int) -> tuple[tuple[int, int], float]:
            state, _ = where
            earned = 0.5 * graph.paid_nxa[agent, state, chosen] + world.own_nxa[agent, state, chosen]
            return (int(graph.following_nxa[agent, state, chosen]), 0), float(earned)

        reward_knt, chosen_nt, _ = greedy_rollout((0, 0), lambda s, n, t: sample(s[0], n, t), step, 2, 3)
        acted_nt = batch.acted_pknt[p, 0]
        mixed = 0.5 * batch.need("step_reward_pknt")[p] + local[p]
        np.testing.assert_allclose(mixed, np.where(acted_nt, reward_knt, 0.0))
        assert (credit.diagnostics["chosen_pnt"][p][acted_nt] == chosen_nt[acted_nt]).all()


def test_a_greedy_walk_samples_k_outputs_per_agent_turn_and_environment() -> None:
    # Nobody ever ends the episode: all actions stay, until time is over. K x N x T x E.
    world = Chain(sampling="greedy", agents=3, turns=4, actions=3, depth=2)
    stay = Policy(np.where(np.isin(world.effect_nxa, (FORWARD, FALL)), -np.inf, 0.0))
    padded = np.zeros((3, world.graph.end + 1, 3))
    padded[:, :2] = stay.logits_nxa
    played = world.play(np.random.default_rng(0), 5, 4, policy=Policy(padded))
    assert played.hidden["sampled_actions"] == 4 * 3 * 4 * 5
    assert played.cost.episodes == 4 * 5
    assert not played.batch.need("reward_pk").any()
    with pytest.raises(ParameterError, match="no episodes"):
        world.replay(np.random.default_rng(0), played, 0)
    for field in ("node_pknt", "value_pknt", "masked_reward_pkn"):
        with pytest.raises(ParameterError, match=f"cannot fill '{field}'"):
            world.play(np.random.default_rng(0), 5, 4, fields=frozenset({field}))


def test_greedy_sampling_takes_the_bait_and_independent_sampling_need_not() -> None:
    spec: dict[str, Any] = {"bait": 0.3, "local": 0.0, "skill": (0.5,)}
    greedy = Chain(sampling="greedy", **spec).play(np.random.default_rng(0), 500, 8).batch
    took = greedy.need("reward_pk")[:, 0] == 0.3
    # The bait is sampled by one of eight at the first state with 1 - (5/6)^8 = 0.77, and is then the best reward in sight.
    assert took.mean() > 0.7
    independent = Chain(**spec).play(np.random.default_rng(0), 500, 8).batch
    assert (independent.need("reward_pk") == 0.3).mean() < 0.4


def test_silent_agents_pass_and_the_rest_is_drawn_anew() -> None:
    world = Chain(agents=3, turns=4, depth=4, skill=(0.5, 0.6, 0.7), progress=0.5)
    played = world.play(np.random.default_rng(0), 5000, 2)
    exact = world.expected_game(world.start())
    value_pks, cost = world.coalitions(np.random.default_rng(1), played)
    for members in range(8):
        assert within_five_errors(value_pks[..., members], exact[members]), members
    assert not value_pks[..., 0].any()
    assert np.array_equal(value_pks[..., 7], played.batch.need("reward_pk"))
    assert cost.episodes == 0.0 < cost.replays < 6 * 5000 * 2 * 4
    # The first agent masked is the coalition of the others; the last agent alone is asked for as solo.
    fields = frozenset({"masked_reward_pkn", "solo_reward_pk"})
    asked = world.play(np.random.default_rng(0), 5000, 2, fields=fields)
    assert within_five_errors(asked.batch.need("masked_reward_pkn")[:, :, 0], exact[0b110])
    assert within_five_errors(asked.batch.need("solo_reward_pk"), exact[0b100])
    assert asked.cost.episodes == 10000.0 < asked.cost.episodes + asked.cost.replays


def test_what_came_before_a_replay_is_kept_and_what_it_costs() -> None:
    world = Chain(agents=2, turns=6, progress=1.0, discount=0.95)
    played = world.play(np.random.default_rng(0), 400, 4, fields=frozenset({"step_reward_pknt"}))
    acted = played.batch.acted_pknt
    before = played.batch.in_play_order(played.batch.need("step_reward_pknt"))[..., :5].sum(axis=2)
    over = ~acted[:, :, 1, 2]
    fallen, cost = world.replay(np.random.default_rng(1), played, agent=1, turn=2, action=0)
    np.testing.assert_allclose(fallen[over], played.batch.need("reward_pk")[over])
    assert (fallen >= before - 1e-12)[~over].mean() > 0.5
    # At most the seven positions after it are drawn, in units of the mean episode.
    unit = acted.sum() / acted[:, :, 0, 0].size
    assert 0.0 < cost.replays <= 7 * (~over).sum() / unit
    # Nothing comes after the last action, and a replaced one is not drawn.
    assert world.replay(np.random.default_rng(1), played, agent=1, turn=5, action=0)[1].replays == 0.0
    everything_over, cost = world.replay(np.random.default_rng(1), _all_over(world), agent=0, turn=3)
    assert not everything_over.any()
    assert cost.replays == 0.0
    with pytest.raises(ParameterError, match="no agent 2"):
        world.replay(np.random.default_rng(1), played, agent=2)


def _all_over(world: Chain) -> Episodes:
    fall = np.zeros((world.agents, world.graph.end + 1, world.actions))
    fall[:, : world.depth] = np.where(world.effect_nxa == FALL, 0.0, -np.inf)
    return world.play(np.random.default_rng(0), 10, 2, policy=Policy(fall))


def test_a_replaced_action_earns_its_exact_value() -> None:
    world = Chain(agents=2, depth=3, turns=4)
    played = world.play(np.random.default_rng(0), 20000, 1)
    _, action_value = evaluate(world.graph, world.start().probability_nxa)
    for action in range(world.actions):
        reward, _ = world.replay(np.random.default_rng(2), played, agent=0, action=action)
        assert within_five_errors(reward, action_value[0, 0, action]), action


def test_continuations_keep_earlier_agents_and_follow_the_policies() -> None:
    world = Chain(agents=3, turns=2, depth=2, continuations=50, skill=(0.5, 0.6, 0.7))
    played = world.play(np.random.default_rng(0), 40, 4, fields=frozenset({"continuation_pknacm"}))
    joint, taken = played.batch.need("continuation_pknacm"), played.action_pknt[..., 0]
    for n in range(3):
        assert (joint[:, :, n, :, :, n] == np.arange(4)[:, None]).all()
        for m in range(n):
            assert (joint[:, :, n, :, :, m] == taken[:, :, m][:, :, None, None]).all()
    forward = int(np.flatnonzero(world.effect_nxa[0, 0] == FORWARD)[0])
    ahead = int(np.flatnonzero(world.effect_nxa[1, 1] == FORWARD)[0])
    assert (joint[:, :, 0, forward, :, 1] == ahead).mean() == pytest.approx(0.6, abs=0.03)
    fall = int(np.flatnonzero(world.effect_nxa[0, 0] == FALL)[0])
    assert not joint[:, :, 0, fall, :, 1:].any()
    # Agents 1 and 2 after agent 0's four actions, agent 2 after agent 1's: never more than twelve draws a continuation.
    unit = played.hidden["actions_per_rollout"]
    assert 0 < played.cost.replays * unit <= 160 * 50 * (4 * 2 + 4)


def test_the_critic_is_exact_unless_told_to_err() -> None:
    fields = frozenset({"value_pknt", "final_value_pkn", "step_reward_pknt", "action_value_pknta", "utility_pknt"})
    world = Chain(progress=0.5, starts=2)
    played = world.play(np.random.default_rng(0), 50, 4, fields=fields)
    acted, batch = played.batch.acted_pknt, played.batch
    truth = played.truth.advantage_pknt
    assert truth is not None
    np.testing.assert_allclose((batch.need("utility_pknt") - batch.need("value_pknt"))[acted], truth[acted], atol=1e-12)
    mean = (batch.need("policy_pknta") * batch.need("action_value_pknta")).sum(axis=-1)
    np.testing.assert_allclose(mean[acted], batch.need("value_pknt")[acted], atol=1e-12)
    # With an exact critic a TD error is the reward's own noise: over the paths of one state and action it averages to the advantage.
    errors = gae.over_actions(batch, 1.0, 0.0)
    assert within_five_errors((errors - truth)[acted], 0.0)
    assert not batch.need("final_value_pkn").any()


def test_the_critic_values_what_the_batch_shows() -> None:
    # Without step rewards all is paid at the end, and the critic still expects what was earned on the way.
    world = Chain(progress=1.0, agents=1, turns=8, depth=3)
    for fields in (frozenset({"value_pknt"}), frozenset({"value_pknt", "step_reward_pknt"})):
        batch = world.play(np.random.default_rng(0), 4000, 2, fields=fields).batch
        stream = batch.reward_stream_pknt()[:, :, 0]
        to_go = np.cumsum(stream[..., ::-1], axis=-1)[..., ::-1]
        error = to_go - batch.need("value_pknt")[:, :, 0]
        for t in range(4):
            assert within_five_errors(error[..., t][batch.acted_pknt[:, :, 0, t]], 0.0), (fields, t)


def test_the_critic_errs_as_told() -> None:
    fields = frozenset({"value_pknt"})
    exact, biased, noisy = (
        Chain(critic_bias=bias, critic_noise=noise).play(np.random.default_rng(0), 200, 8, fields=fields).batch
        for bias, noise in ((0.0, 0.0), (0.3, 0.0), (0.0, 0.3))
    )
    acted, state = exact.acted_pknt, exact.need("state_pknt")
    fixed = (biased.need("value_pknt") - exact.need("value_pknt"))[acted]
    by_state = [fixed[state[acted] == s] for s in np.unique(state[acted])]
    assert all(np.ptp(errors) < 1e-12 for errors in by_state)
    assert np.std([errors[0] for errors in by_state]) > 0.05
    fresh = (noisy.need("value_pknt") - exact.need("value_pknt"))[acted]
    assert fresh.std() == pytest.approx(0.3, rel=0.1)
    assert within_five_errors(fresh, 0.0)


def test_own_rewards_help_or_mislead() -> None:
    for misleading, sign in ((0.0, 1), (1.0, -1)):
        world = Chain(misleading=misleading, local=0.5)
        batch = world.play(np.random.default_rng(0), 500, 8).batch
        acted = batch.acted_pknt
        reward, own = batch.spread(batch.need("reward_pk"), "pk")[acted], batch.need("local_reward_pknt")[acted]
        assert np.sign(np.corrcoef(reward, own)[0, 1]) == sign
        assert set(np.unique(own)) == {0.0, 0.5}
        alpha_n = registry.get("adaptive_mix").run(batch).diagnostics["alpha_n"]
        assert (alpha_n > 0).all() if sign > 0 else (alpha_n == 0).all()


def test_quality_and_vectors_say_what_they_promise() -> None:
    world = Chain(quality_noise=0.0, lengths=(100.0, 400.0))
    fields = frozenset({"state_vector_pkntf", "team_state_pktf", "length_pknt"})
    batch = world.play(np.random.default_rng(0), 300, 8, fields=fields).batch
    quality, acted_pkn = batch.need("quality_pkn"), batch.mask("pkn")
    won = batch.need("reward_pk") == 1.0
    assert quality[won].mean() > quality[~won & acted_pkn.all(axis=2)].mean() + 0.1
    assert 0.0 <= quality[acted_pkn].min() <= quality[acted_pkn].max() == 1.0
    vector = batch.need("state_vector_pkntf")
    assert np.array_equal(vector.argmax(axis=-1)[batch.acted_pknt], batch.need("state_pknt")[batch.acted_pknt])
    assert np.array_equal(vector.sum(axis=-1), batch.acted_pknt)
    assert np.array_equal(batch.need("team_state_pktf")[..., -1].max(axis=(0, 1)), np.arange(6) / 6)
    np.testing.assert_allclose(batch.need("length_pknt").mean(axis=(0, 1, 3)), [100.0, 400.0], rtol=0.02)
    exact, clustered = (
        registry.get("gigpo").run(_few(batch), anchor=anchor).advantage_pknt for anchor in ("exact", "clustered")
    )
    np.testing.assert_allclose(exact, clustered, atol=1e-12)


def _few(batch: Batch) -> Batch:
    return Batch.of(
        acted_pknt=batch.acted_pknt[:4],
        reward_pk=batch.need("reward_pk")[:4],
        state_pknt=batch.need("state_pknt")[:4],
        state_vector_pkntf=batch.need("state_vector_pkntf")[:4],
    )


def test_starts_are_the_prompts_and_bait_lies_at_them() -> None:
    world = Chain(starts=2, bait=0.2)
    assert [(world.effect_nxa[:, x] == BAIT).sum() for x in range(world.depth)] == [2, 2, 0, 0]
    batch = world.play(np.random.default_rng(0), 100, 4).batch
    assert np.array_equal(batch.need("state_pknt")[:, 0, 0, 0], batch.need("prompt_id_p"))
    assert set(batch.need("prompt_id_p")) == {0, 1}


def test_methods_run_in_it() -> None:
    world = Chain()
    methods = [method for method in registry.methods().values() if set(method.requires) <= world.supplies]
    assert {"gae", "gigpo", "ma_gigpo", "treerl", "agent_prm", "at_grpo", "credit_chain"} <= {m.name for m in methods}
    for method in methods:
        played = world.play(np.random.default_rng(0), 6, 4, fields=frozenset(method.requires))
        assert np.isfinite(method.run(played.batch).advantage_pknt).all(), method.name

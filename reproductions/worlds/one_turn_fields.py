"""Batch fields that worlds of one decision per agent fill on request, each with what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproductions.core import AnyArray, Floats, Ints
from reproductions.worlds import one_turn_draws as draws
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.on_request import Filler
from reproductions.worlds.one_turn_draws import setting_of

if TYPE_CHECKING:
    from reproductions.worlds.one_turn import OneTurn

FREE_OF_CHARGE = Cost()


def masked_reward(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """One replay without each agent."""
    rewards, cost = [], FREE_OF_CHARGE
    for agent in range(world.agents):
        reward_pk, spent = world.replay(rng, episodes, agent)
        rewards.append(reward_pk)
        cost = cost + spent
    return np.stack(rewards, axis=2), cost


def solo_reward(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """The last agent works alone: a fresh answer, the others masked."""
    setting = setting_of(episodes)
    alone_n = np.arange(world.agents) == world.agents - 1
    quality_pkn = draws.quality_again(world, rng, episodes) if world.replays == "anew" else setting.quality_pkn
    share_pk = setting.calls_pkn[:, :, -1] / np.maximum(setting.calls_pkn.sum(axis=2), 1)
    reward_pk = world.reward(rng, setting, np.where(alone_n, quality_pkn, world.masked))
    return reward_pk, Cost(replays=float(share_pk.sum()))


def continuations(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Ints, Cost]:
    """Agents before n as they were, n at each of its actions, those behind it drawn anew; a draw is a part of a rollout."""
    action_pkn = episodes.action_pknt[..., 0]
    prompts, rollouts, agents = action_pkn.shape
    actions, samples = world.actions, world.continuations
    wide = (prompts, rollouts, agents, actions, samples, agents)
    joint = np.broadcast_to(action_pkn[:, :, None, None, None, :], wide).copy()
    context = np.broadcast_to(setting_of(episodes).class_p[:, None, None, None, None], wide[:-1])
    for later in range(agents):
        before = slice(0, later)
        joint[:, :, before, :, :, later] = episodes.policy.draw(rng, later, context[:, :, before])
        joint[:, :, later, :, :, later] = np.arange(actions)[:, None]
    sampled = prompts * rollouts * actions * samples * (agents - 1) / 2
    return joint, Cost(replays=sampled)


def nodes(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Ints, Cost]:
    """The nodes that ``play`` sampled; the tree's cost is that of its episodes."""
    prompts, rollouts, agents, _ = episodes.batch.shape
    place_pnk = (np.arange(prompts)[:, None, None] * agents + np.arange(agents)[:, None]) * rollouts
    node_pnk = place_pnk + draws.first_of_nodes(world, rollouts)
    return np.moveaxis(node_pnk, 2, 1)[..., None], FREE_OF_CHARGE


def value(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """E[R | the prompt, the kind of episode, what was done so far], with the critic's error."""
    setting = setting_of(episodes)
    expected_pkn = _expected_quality(world, episodes)
    prompts, rollouts, agents, turns = episodes.batch.shape
    exact_pknt = np.empty((prompts, rollouts, agents, turns))
    known_pkn = expected_pkn.copy()
    for turn in range(turns):
        for agent in range(agents):
            exact_pknt[:, :, agent, turn] = world.mean_reward(setting, known_pkn)
            gained_pk = setting.quality_pknt[:, :, agent, turn] - expected_of_call(world, episodes)[:, agent, None]
            share_pk = gained_pk / np.maximum(setting.calls_pkn[:, :, agent], 1)
            known_pkn[:, :, agent] += np.where(setting.calls_pkn[:, :, agent] > turn, share_pk, 0.0)
    return _with_error(world, exact_pknt, rng), FREE_OF_CHARGE


def action_value(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """The reward's mean with each own action in place of the one taken, all other choices as they were, with the critic's error."""
    setting = setting_of(episodes)
    slope_pkn = setting.scale_pk[..., None] * world.rules.slope(setting.quality_pkn)
    per_call_pkn = slope_pkn / np.maximum(setting.calls_pkn, 1)
    table_pna = np.moveaxis(world.table_nxa[:, setting.class_p], 0, 1)
    gained_pknta = table_pna[:, None, :, None] - setting.quality_pknt[..., None]
    now_pk = world.mean_reward(setting, setting.quality_pkn)
    exact_pknta = now_pk[:, :, None, None, None] + per_call_pkn[..., None, None] * gained_pknta
    return _with_error(world, exact_pknta, rng), FREE_OF_CHARGE


def utility(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """E[R | the prompt, the kind of episode, the own action], with the critic's error."""
    setting = setting_of(episodes)
    expected_pkn = _expected_quality(world, episodes)
    slope_pkn = setting.scale_pk[..., None] * world.rules.slope(expected_pkn)
    per_call_pkn = slope_pkn / np.maximum(setting.calls_pkn, 1)
    gained_pknt = setting.quality_pknt - expected_of_call(world, episodes)[:, None, :, None]
    exact_pknt = world.mean_reward(setting, expected_pkn)[:, :, None, None] + per_call_pkn[..., None] * gained_pknt
    return _with_error(world, exact_pknt, rng), FREE_OF_CHARGE


def local_reward(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """Each agent's own reward of a call: its mean, its scale times the true quality, noise in units of that scale.

    Where team rewards are 0 and 1, quality with noise is kept within 0 and 1 before that.
    """
    setting = setting_of(episodes)
    mean_n, scale_n = world.own_reward
    seen_pknt = setting.quality_pknt + world.local_noise * rng.standard_normal(setting.quality_pknt.shape)
    if world.pays_success:
        seen_pknt = np.clip(seen_pknt, 0.0, 1.0)
    return mean_n[:, None] + scale_n[:, None] * seen_pknt, FREE_OF_CHARGE


def penalty(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """Some calls are misformed by chance, whatever their quality."""
    misformed = rng.random(episodes.action_pknt.shape) < world.penalty_rate
    return np.where(misformed, world.penalty, 0.0), FREE_OF_CHARGE


def tool_valid(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """Of a fixed number of tool calls each is valid with the agent's true quality as chance."""
    chance_pkn = np.clip(setting_of(episodes).quality_pkn, 0.0, 1.0)
    if world.tool_calls == 0:
        return np.zeros(chance_pkn.shape), FREE_OF_CHARGE
    return rng.binomial(world.tool_calls, chance_pkn) / world.tool_calls, FREE_OF_CHARGE


def verifier_score(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """True quality with noise, kept within 0 and 1; a call of a model for every answer."""
    quality_pknt = setting_of(episodes).quality_pknt
    noisy = quality_pknt + world.verifier_noise * rng.standard_normal(quality_pknt.shape)
    return np.clip(noisy, 0.0, 1.0), Cost(coach_calls=int(episodes.batch.acted_pknt.sum()))


def correct(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[AnyArray, Cost]:
    """An answer is right when its true quality is at least one half."""
    return setting_of(episodes).quality_pknt >= 0.5, FREE_OF_CHARGE


def peer_share(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """Shapley values with each judge's own noise, cut at 0 and made to add up to 1; even where nobody gets any. A call per judge."""
    shapley = episodes.truth.shapley_pkn
    assert shapley is not None
    prompts, rollouts, agents = shapley.shape
    seen = shapley[:, :, None] + world.peer_noise * rng.standard_normal((prompts, rollouts, agents, agents))
    positive = np.maximum(seen, 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    share = np.divide(positive, total, out=np.full_like(positive, 1.0 / agents), where=total > 0)
    return share, Cost(coach_calls=prompts * rollouts * agents)


def length(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Ints, Cost]:
    """All outputs are equally long."""
    return np.full(episodes.action_pknt.shape, world.tokens), FREE_OF_CHARGE


def state(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Ints, Cost]:
    """The class of the prompt, which is all that an agent sees."""
    return episodes.context_pknt, FREE_OF_CHARGE


def team_state(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
    """The class of the prompt, one column each, and what prompt and kind of episode add to the reward."""
    setting = setting_of(episodes)
    prompts, rollouts, _, turns = episodes.batch.shape
    class_pf = np.eye(world.classes)[setting.class_p]
    wide = np.broadcast_to(class_pf[:, None], (prompts, rollouts, world.classes))
    state_pkf = np.concatenate([wide, setting.offset_pk[..., None]], axis=-1)
    return np.repeat(state_pkf[:, :, None], turns, axis=2), FREE_OF_CHARGE


def expected_of_call(world: OneTurn, episodes: Episodes) -> Floats:
    """``[p, n]``: the expected quality of one call under the policies that played."""
    return world.exact.mean_quality_xn(episodes.policy)[setting_of(episodes).class_p]


def _expected_quality(world: OneTurn, episodes: Episodes) -> Floats:
    """``[p, k, n]``: masked where the agent is not called."""
    calls_pkn = setting_of(episodes).calls_pkn
    return np.where(calls_pkn > 0, expected_of_call(world, episodes)[:, None], world.masked)


def _with_error(world: OneTurn, exact: Floats, rng: np.random.Generator) -> Floats:
    return exact + world.critic_bias + world.critic_noise * rng.standard_normal(exact.shape)


FILL: dict[str, Filler[OneTurn]] = {
    "masked_reward_pkn": masked_reward,
    "solo_reward_pk": solo_reward,
    "continuation_pknacm": continuations,
    "node_pknt": nodes,
    "value_pknt": value,
    "action_value_pknta": action_value,
    "utility_pknt": utility,
    "local_reward_pknt": local_reward,
    "penalty_pknt": penalty,
    "tool_valid_pkn": tool_valid,
    "verifier_score_pknt": verifier_score,
    "correct_pknt": correct,
    "peer_share_pknm": peer_share,
    "length_pknt": length,
    "state_pknt": state,
    "team_state_pktf": team_state,
}
# What needs a tree or one joint action: no meaning where agents are called several times.
ONE_CALL_ONLY = frozenset({"continuation_pknacm", "node_pknt"})

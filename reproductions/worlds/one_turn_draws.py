"""Draws of the worlds of one decision per agent: prompts, kinds of episode, actions, qualities, and what is seen of them.

Arrays are made agent by agent, ``[n, t, p, k]``, and shown to the batch in its own order without a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproductions.core import AnyArray, Bools, Floats, Ints
from reproductions.worlds.base import Episodes, Policy

if TYPE_CHECKING:
    from reproductions.worlds.one_turn import OneTurn


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What is drawn before and behind the actions: the prompts, the kinds of episode, the true qualities."""

    prompt_id_p: Ints
    class_p: Ints
    shift_p: Floats
    case_pk: Ints
    offset_pk: Floats
    scale_pk: Floats
    noise_pk: Floats
    calls_pkn: Ints
    quality_pknt: Floats
    quality_pkn: Floats

    def called_pknt(self, turns: int) -> Bools:
        """Who acted when: an agent's calls are its first turns."""
        return np.arange(turns) < self.calls_pkn[..., None]


def setting_of(episodes: Episodes) -> Setting:
    """What was drawn behind these episodes."""
    found: Setting = episodes.hidden["setting"]
    return found


def setting_and_actions(
    world: OneTurn, rng: np.random.Generator, prompts: int, rollouts: int, policy: Policy, first_nk: Ints | None
) -> tuple[Setting, Ints]:
    """Everything but rewards; with ``first_nk`` rollouts share the actions of tree nodes."""
    name_p, uniform_pf = _prompts(world, rng, prompts)
    class_p = (uniform_pf[:, 0] * world.classes).astype(np.int64)
    shift_p = world.spread_of_prompts * (2.0 * uniform_pf[:, 1] - 1.0)
    case_pk = world.draw_kinds(rng, uniform_pf[:, 2], rollouts)
    cases = world.exact.cases
    calls_pkn = _of_case(np.array([case.calls for case in cases]), case_pk)
    action_ntpk = _actions(world, rng, class_p, rollouts, policy)
    if first_nk is not None:
        action_ntpk = np.stack([action_ntpk[n][..., first_nk[n]] for n in range(world.agents)])
    quality_pknt = as_pknt(look_up(world.table_nxa, class_p, action_ntpk))
    setting = Setting(
        prompt_id_p=name_p,
        class_p=class_p,
        shift_p=shift_p,
        case_pk=case_pk,
        offset_pk=_of_case(np.array([case.offset for case in cases]), case_pk) + shift_p[:, None],
        scale_pk=_of_case(np.array([case.scale for case in cases]), case_pk),
        noise_pk=_of_case(np.array([case.noise for case in cases]), case_pk),
        calls_pkn=calls_pkn,
        quality_pknt=quality_pknt,
        quality_pkn=_mean_quality(world, quality_pknt, calls_pkn),
    )
    return setting, action_ntpk


def quality_again(world: OneTurn, rng: np.random.Generator, episodes: Episodes) -> Floats:
    """``[p, k, n]``: mean qualities of a second draw of every call."""
    setting = setting_of(episodes)
    action_ntpk = _actions(world, rng, setting.class_p, setting.calls_pkn.shape[1], episodes.policy)
    return _mean_quality(world, as_pknt(look_up(world.table_nxa, setting.class_p, action_ntpk)), setting.calls_pkn)


def observed_quality(world: OneTurn, rng: np.random.Generator, setting: Setting, first_nk: Ints | None) -> Floats:
    """``[p, k, n]``: true quality with the error of observation; one error for a tree node, as it is one output."""
    gain, deviation = world.observation
    prompts, rollouts, agents = setting.quality_pkn.shape
    noise_npk = rng.standard_normal((agents, prompts, rollouts))
    if world.agent_correlation > 0:
        noise_npk *= np.sqrt(1.0 - world.agent_correlation)
        noise_npk += np.sqrt(world.agent_correlation) * rng.standard_normal((prompts, rollouts))
    if first_nk is not None:
        noise_npk = np.stack([noise_npk[n][:, first_nk[n]] for n in range(agents)])
    noise_npk *= deviation
    if world.difficulty_leak:
        noise_npk += world.difficulty_leak * setting.shift_p[:, None]
    return np.asarray(gain * setting.quality_pkn + np.moveaxis(noise_npk, 0, 2))


def first_of_nodes(world: OneTurn, rollouts: int) -> Ints:
    """``[n, k]``: the first rollout that shares each one's node.

    ``branching`` outputs under every node, the last agent's leaves as many as rollouts.
    """
    index_k, rows = np.arange(rollouts), []
    for agent in range(world.agents):
        count = rollouts if agent == world.agents - 1 else min(rollouts, world.branching ** (agent + 1))
        node_k = index_k * count // max(rollouts, 1)
        rows.append(np.searchsorted(node_k, node_k))
    return np.array(rows)


def nodes(first_nk: Ints) -> int:
    """The number of different nodes."""
    return sum(len(np.unique(first_k)) for first_k in first_nk)


def as_pknt(array_ntpk: AnyArray) -> AnyArray:
    """The axes in the batch's order; memory stays agent by agent."""
    return np.moveaxis(array_ntpk, (0, 1), (2, 3))


def look_up(table_nxa: Floats, class_p: Ints, action_ntpk: Ints) -> Floats:
    """``[n, t, p, k]``: the entry of every action."""
    cell_ntpk = action_ntpk if table_nxa.shape[1] == 1 else class_p[:, None] * table_nxa.shape[2] + action_ntpk
    found_ntpk = np.empty(action_ntpk.shape)
    for table_xa, cell_tpk, found_tpk in zip(table_nxa, cell_ntpk, found_ntpk, strict=True):
        np.take(table_xa.ravel(), cell_tpk, out=found_tpk, mode="clip")
    return found_ntpk


def of_games(
    world: OneTurn, setting: Setting, action_ntpk: Ints, values: Iterable[Callable[[Floats, float], Floats]]
) -> list[Floats]:
    """``[p, k, n]`` by each kind of value, of every episode's own game; each different game is solved once where they are few."""
    table_nxa, episodes = world.table_nxa, setting.calls_pkn[..., 0].size
    agents, classes, actions = table_nxa.shape
    if world.turns > 1 or classes * actions**agents > episodes // 4:
        return [value(setting.quality_pkn, world.masked) for value in values]
    game_pk = np.broadcast_to(setting.class_p[:, None], action_ntpk.shape[2:])
    for action_pk in action_ntpk[:, 0]:
        game_pk = game_pk * actions + action_pk
    class_g, *action_ng = np.unravel_index(np.arange(classes * actions**agents), (classes, *[actions] * agents))
    quality_gn = np.stack([table_nxa[n, class_g, action_g] for n, action_g in enumerate(action_ng)], axis=1)
    return [value(quality_gn, world.masked)[game_pk] for value in values]


def policy_at(policy: Policy, class_p: Ints, action_ntpk: Ints) -> Floats:
    """``[p, k, n, t, a]`` for these actions, without a copy for every rollout."""
    agents, turns, prompts, rollouts = action_ntpk.shape
    of_prompt_pna = np.moveaxis(policy.probability_nxa[:, class_p], 0, 1)
    wide = (prompts, rollouts, agents, turns, of_prompt_pna.shape[-1])
    return np.broadcast_to(of_prompt_pna[:, None, :, None], wide)


def _prompts(world: OneTurn, rng: np.random.Generator, prompts: int) -> tuple[Ints, Floats]:
    """Names, and three uniform numbers each that make their class, what they add, and whatever else a world wants."""
    if not world.pool:
        return rng.integers(2**62, size=prompts), rng.random((prompts, 3))
    rounds = -(-prompts // world.pool)
    name_p = np.concatenate([rng.permutation(world.pool) for _ in range(max(rounds, 1))])[:prompts]
    # An even design instead of draws, so that expectations over the pool are those over all prompts.
    order = np.random.default_rng(world.pool)
    of_pool = np.stack([order.permutation(world.pool) for _ in range(3)], axis=1)
    return name_p, (of_pool[name_p] + 0.5) / world.pool


def _actions(world: OneTurn, rng: np.random.Generator, class_p: Ints, rollouts: int, policy: Policy) -> Ints:
    """``[n, t, p, k]``."""
    context_pk = np.broadcast_to(class_p[:, None], (len(class_p), rollouts))
    action_ntpk = np.empty((world.agents, world.turns, *context_pk.shape), dtype=np.int64)
    for agent, turn in np.ndindex(world.agents, world.turns):
        action_ntpk[agent, turn] = policy.draw(rng, agent, context_pk)
    return action_ntpk


def _mean_quality(world: OneTurn, quality_pknt: Floats, calls_pkn: Ints) -> Floats:
    if world.turns == 1 and calls_pkn.all():
        return quality_pknt[..., 0]
    called_pknt = np.arange(world.turns) < calls_pkn[..., None]
    total_pkn = np.where(called_pknt, quality_pknt, 0.0).sum(axis=-1)
    return np.where(calls_pkn > 0, total_pkn / np.maximum(calls_pkn, 1), world.masked)


def _of_case(value_c: AnyArray, case_pk: Ints) -> AnyArray:
    """The values of each episode's case."""
    if len(value_c) == 1:
        return np.broadcast_to(value_c[0], (*case_pk.shape, *value_c.shape[1:]))
    return value_c[case_pk]

"""Counterfactuals of the chain: agents that pass, the last agent alone, first turns gone through again; and what they cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from reproductions.core import AnyArray, Floats, Ints
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.chain_walk import Walk, walk
from reproductions.worlds.dynamic_programming import Graph
from reproductions.worlds.on_request import Filler

if TYPE_CHECKING:
    from reproductions.worlds.chain import Chain


def again(
    graph: Graph,
    rng: np.random.Generator,
    played: Episodes,
    position: int,
    *,
    silent: Collection[int] = (),
    action: int | None = None,
) -> tuple[Floats, Cost]:
    """``reward_pk`` of episodes played again from a position on, and the actions drawn anew in units of the mean episode.

    Silent agents pass. ``action`` replaces the one at the position, and is not drawn.
    """
    before: Walk = played.hidden["walk"]
    anew = walk(rng, graph, played.policy, before.state_qpk[position], first=position, silent=silent, forced=action)
    drawn = anew.acted_qpk[position + (action is not None) :].sum()
    reward_pk = before.paid_qpk[:position].sum(axis=0) + anew.return_pk
    return reward_pk, _in_episodes(played, int(drawn))


def masked_reward(world: Chain, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """``[p, k, n]``: each agent passes in turn."""
    found = [world.replay(rng, played, agent) for agent in range(world.agents)]
    return np.stack([reward_pk for reward_pk, _ in found], axis=-1), sum((cost for _, cost in found), Cost())


def solo_reward(world: Chain, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """``[p, k]``: all but the last agent pass."""
    return again(world.graph, rng, played, 0, silent=range(world.agents - 1))


def continuation(world: Chain, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """``[p, k, n, a, c, m]``: actions of the first turn after agent n took action a there, later agents drawn anew.

    Earlier agents keep their actions. An agent whose turn never comes, since the episode is over, has action 0.
    """
    graph, taken_pkn, state_pkn = world.graph, played.action_pknt[..., 0], played.context_pknt[..., 0]
    prompts, rollouts, agents = taken_pkn.shape
    shape = (prompts, rollouts, agents, world.actions, world.continuations, agents)
    joint = np.zeros(shape, dtype=np.int64)
    drawn = 0
    for agent in range(agents):
        joint[:, :, agent, :, :, :agent] = taken_pkn[:, :, None, None, :agent]
        for action in range(world.actions):
            joint[:, :, agent, action, :, agent] = action
            here: Ints = np.repeat(state_pkn[:, :, agent, None], world.continuations, axis=2)
            here = graph.following_nxa[agent][here, action]
            for later in range(agent + 1, agents):
                chosen = played.policy.draw(rng, later, here)
                joint[:, :, agent, action, :, later] = np.where(here == graph.end, 0, chosen)
                drawn += int((here != graph.end).sum())
                here = graph.following_nxa[later][here, chosen]
    return joint, _in_episodes(played, drawn)


def _in_episodes(played: Episodes, actions: int) -> Cost:
    return Cost(replays=actions / played.hidden["actions_per_rollout"])


REPLAYED: Mapping[str, Filler[Chain]] = {
    "masked_reward_pkn": masked_reward,
    "solo_reward_pk": solo_reward,
    "continuation_pknacm": continuation,
}

"""The rooms of the chain: where every action leads, what it pays the team, and what it pays the agent itself.

States are the stages ``0 .. depth - 1``, then the rooms of the alley, then the end. At every stage an agent has one action that
goes forward, one that falls into a dead end, and, as far as there are more actions, one that stays, one that goes back (the bait
at the first stages), and further ones that stay. Which is which differs by agent and stage and follows from ``table_seed``.
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Floats, Ints
from reproductions.worlds.dynamic_programming import Graph

FORWARD, FALL, STAY, BACK, BAIT = range(5)


def effects(agents: int, stages: int, actions: int, starts: int, bait: bool, table_seed: int) -> Ints:
    """``[n, x, a]``: what each action does at each stage. No agent can go back at the first stages, where the bait may lie."""
    kinds_xa = np.full((stages, actions), STAY)
    kinds_xa[:, :2] = FORWARD, FALL
    if actions > 3:
        kinds_xa[:starts, 3] = BAIT if bait else STAY
        kinds_xa[starts:, 3] = BACK
    every = np.broadcast_to(kinds_xa, (agents, stages, actions))
    return np.random.default_rng(table_seed).permuted(every, axis=2)


def build(effect_nxa: Ints, *, alley: int, turns: int, bait: float, progress: float, discount: float) -> Graph:
    """The graph of the stages' effects. Reaching the goal pays 1 in all, ``progress`` of it in equal parts on the way."""
    agents, stages, actions = effect_nxa.shape
    end, first_room = stages + alley, stages
    here_x = np.arange(stages)[:, None]
    target = {FORWARD: np.where(here_x == stages - 1, end, here_x + 1), FALL: end, STAY: here_x, BACK: here_x - 1}
    target[BAIT] = first_room
    pay = {FORWARD: progress / stages + (1.0 - progress) * (here_x == stages - 1), BACK: -progress / stages, BAIT: bait}
    following = np.full((agents, end + 1, actions), end)
    # In the alley every action leads to the next room, and out of the last one to the end.
    following[:, first_room:end] = np.arange(first_room + 1, end + 1)[:, None]
    paid = np.zeros(following.shape)
    for effect in target:
        at = effect_nxa == effect
        following[:, :stages][at] = np.broadcast_to(target[effect], effect_nxa.shape)[at]
        paid[:, :stages][at] = np.broadcast_to(pay.get(effect, 0.0), effect_nxa.shape)[at]
    return Graph(following, paid, end, turns, discount)


def own_reward(effect_nxa: Ints, states: int, size: float, misleading: float) -> Floats:
    """``[n, x, a]``: ``size`` for going forward, moved over to falling as far as it misleads."""
    own = np.zeros((effect_nxa.shape[0], states, effect_nxa.shape[2]))
    own[:, : effect_nxa.shape[1]] = size * (
        (1.0 - misleading) * (effect_nxa == FORWARD) + misleading * (effect_nxa == FALL)
    )
    return own

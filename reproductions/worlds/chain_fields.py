"""What is observed of a walk through the chain: the free fields of the batch, and those that are filled when named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.core import AnyArray, Batch, Floats, Ints
from reproductions.worlds.base import Cost, Episodes, Policy
from reproductions.worlds.chain_graph import FORWARD
from reproductions.worlds.chain_replays import REPLAYED
from reproductions.worlds.chain_walk import Walk
from reproductions.worlds.checks import per_agent
from reproductions.worlds.dynamic_programming import evaluate
from reproductions.worlds.on_request import Filler, Observer, filled, for_nothing, stream
from reproductions.worlds.output_length import draw_lengths
from reproductions.worlds.play_order import by_agent

if TYPE_CHECKING:
    from reproductions.worlds.chain import Chain

FREE = frozenset(
    "acted_pknt reward_pk local_reward_pknt quality_pkn state_pknt action_pknt policy_pknta prompt_id_p".split()
)
# Spread of the logarithm of an action's tokens.
LENGTH_SPREAD = 0.3


# Candidates from one state are no paths: what follows one of them is not its own, and it cannot be played again.
PATHS_ONLY = frozenset({"node_pknt", "value_pknt", "final_value_pkn", *REPLAYED})


def supplied(world: Chain) -> frozenset[str]:
    """All fields that a chain can fill, as it samples."""
    return FREE | frozenset(FILL) - (PATHS_ONLY if world.sampling == "greedy" else frozenset())


def episodes(
    world: Chain, rng: np.random.Generator, policy: Policy, hidden: Mapping[str, Any], fields: frozenset[str]
) -> Episodes:
    """The walk as a batch with its truth and cost. Every asked field draws from a stream of its own."""
    walked: Walk = hidden["walk"]
    state, action, acted = (by_agent(a, world.agents) for a in (walked.state_qpk, walked.action_qpk, walked.acted_qpk))
    noise = _once_a_node(by_agent(hidden["own_noise_qpk"], world.agents), hidden)
    own = world.own_nxa[np.arange(world.agents)[:, None], state, action] + noise
    reward_pk = walked.return_pk
    if world.sampling == "greedy":
        chosen_qpk = np.arange(reward_pk.shape[1]) == hidden["chosen_qp"][..., None]
        reward_pk = np.repeat((walked.paid_qpk * chosen_qpk).sum(axis=(0, 2))[:, None], reward_pk.shape[1], axis=1)
    key = int(rng.integers(2**62))
    free = {
        "acted_pknt": acted,
        "reward_pk": reward_pk,
        "local_reward_pknt": np.where(acted, own, 0.0),
        "quality_pkn": _quality(world, stream(key, "quality_pkn"), state, action, acted),
        "state_pknt": state,
        "action_pknt": action,
        "policy_pknta": policy.at(state),
        "prompt_id_p": hidden["first_p"],
    }
    batch = Batch.of(**free)
    sampled = _sampled_actions(walked, hidden.get("owner_qk"))
    unit = float(walked.acted_qpk.sum()) / max(1, reward_pk.size)
    # A greedy walk is about the rewards of single actions.
    asked = fields | {"step_reward_pknt"} if world.sampling == "greedy" else fields
    hidden = {**hidden, "asked": asked, "sampled_actions": sampled, "actions_per_rollout": unit}
    played = Episodes(
        batch, state, action, policy, world.truth(policy, walked), Cost(sampled / unit if sampled else 0.0), hidden
    )
    return filled(world, FILL, played, hidden["asked"], key)


def _sampled_actions(walked: Walk, owner_qk: Ints | None) -> int:
    """The outputs that were sampled: a node of a tree once, however many paths share it."""
    if owner_qk is None:
        return int(walked.acted_qpk.sum())
    is_owner_qk = owner_qk == np.arange(owner_qk.shape[1])
    return int((walked.acted_qpk & is_owner_qk[:, None, :]).sum())


def _quality(world: Chain, rng: np.random.Generator, state: Ints, action: Ints, acted: AnyArray) -> Floats:
    # The rooms of the alley and the end have no way forward.
    forward_nxa = np.zeros(world.own_nxa.shape, dtype=bool)
    forward_nxa[:, : world.depth] = world.effect_nxa == FORWARD
    went = forward_nxa[np.arange(world.agents)[:, None], state, action] & acted
    share_pkn = went.sum(axis=3) / np.maximum(acted.sum(axis=3), 1)
    return np.asarray(share_pkn + world.quality_noise * rng.standard_normal(share_pkn.shape))


def _once_a_node(array: AnyArray, hidden: Mapping[str, Any]) -> AnyArray:
    """Paths that share a node of a tree share what was drawn for it, in arrays ``[p, k, n, t, ...]``."""
    owner_qk = hidden.get("owner_qk")
    if owner_qk is None:
        return array
    _, rollouts, agents, turns = array.shape[:4]
    owner_knt = np.moveaxis(owner_qk.reshape(turns, agents, rollouts), (0, 1), (2, 1))
    index = owner_knt.reshape(1, *owner_knt.shape, *[1] * (array.ndim - 4))
    return np.take_along_axis(array, index, axis=1)


def _fixed_error(world: Chain, which: int, *shape: int) -> Floats:
    """The errors that a critic always makes, by state or by state and action."""
    return np.asarray(world.critic_bias * np.random.default_rng([world.table_seed, which]).standard_normal(shape))


def _fresh_error(world: Chain, rng: np.random.Generator, played: Episodes, shape: tuple[int, ...]) -> Floats:
    """The errors of single evaluations; a node of a tree is evaluated once."""
    return world.critic_noise * _once_a_node(rng.standard_normal(shape), played.hidden)


def _exact(world: Chain, played: Episodes) -> tuple[Floats, Floats]:
    """``(V [p, k, n, t], Q [p, k, n, t, a])`` of the rewards that the batch shows from here on, in money of the start.

    Without step rewards all is paid at the end, so that what was earned before is still to come.
    """
    value_qx, action_value_qxa = evaluate(world.graph, played.policy.probability_nxa)
    q = np.arange(world.turns) * world.agents + np.arange(world.agents)[:, None]
    worth, state = world.graph.worth_q[q], played.context_pknt
    earned = np.zeros(state.shape)
    if "step_reward_pknt" not in played.hidden["asked"]:
        paid_qpk = played.hidden["walk"].paid_qpk
        earned = by_agent(np.cumsum(paid_qpk, axis=0) - paid_qpk, world.agents)
    value = earned + worth * value_qx[q, state]
    return value, earned[..., None] + worth[..., None] * action_value_qxa[q, state]


def _step_reward(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    return by_agent(played.hidden["walk"].paid_qpk, world.agents)


def _length(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    mean_n1 = per_agent(world.lengths, world.agents)[:, None]
    return _once_a_node(draw_lengths(rng, mean_n1, LENGTH_SPREAD, played.batch.shape), played.hidden)


def _value(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    fixed = _fixed_error(world, 1, world.graph.end + 1)[played.context_pknt]
    return np.asarray(_exact(world, played)[0] + fixed + _fresh_error(world, rng, played, fixed.shape))


def _final_value(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """Nothing is left after the last turn: 0 at an end, the critic's error where time ran out."""
    last_pk: Ints = played.hidden["walk"].last_pk
    error_pk = _fixed_error(world, 1, world.graph.end + 1)[last_pk]
    error_pk = error_pk + world.critic_noise * rng.standard_normal(last_pk.shape)
    return np.repeat(np.where(last_pk == world.graph.end, 0.0, error_pk)[:, :, None], world.agents, axis=2)


def _action_value(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    exact = _exact(world, played)[1]
    fixed = _fixed_error(world, 2, *world.own_nxa.shape[1:])[played.context_pknt]
    return np.asarray(exact + fixed + _fresh_error(world, rng, played, exact.shape))


def _utility(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    every = _action_value(world, rng, played)
    return np.take_along_axis(every, played.action_pknt[..., None], axis=-1)[..., 0]


def _state_vector(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """The state, one column each; the last column is that of the time, which agents do not see."""
    seen = np.eye(world.graph.end + 1, world.graph.end + 2)[played.context_pknt]
    return np.asarray(seen * played.batch.acted_pknt[..., None])


def _team_state(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """Where the team stands when a turn begins, and the share of the time that has passed."""
    here_pktx = np.eye(world.graph.end + 1)[played.context_pknt[:, :, 0]]
    passed_t1 = (np.arange(world.turns) / world.turns)[:, None]
    return np.concatenate([here_pktx, np.broadcast_to(passed_t1, (*here_pktx.shape[:3], 1))], axis=-1)


def _node(world: Chain, rng: np.random.Generator, played: Episodes) -> AnyArray:
    owner_q1k = played.hidden["owner_qk"][:, None, :]
    positions, _, rollouts = owner_q1k.shape
    prompts = played.batch.shape[0]
    level = np.arange(positions)[:, None, None] * prompts + np.arange(prompts)[:, None]
    return by_agent(level * rollouts + owner_q1k, world.agents)


OBSERVED: Mapping[str, Observer[Chain]] = {
    "step_reward_pknt": _step_reward,
    "length_pknt": _length,
    "value_pknt": _value,
    "final_value_pkn": _final_value,
    "action_value_pknta": _action_value,
    "utility_pknt": _utility,
    "state_vector_pkntf": _state_vector,
    "team_state_pktf": _team_state,
    "node_pknt": _node,
}
FILL: Mapping[str, Filler[Chain]] = {**for_nothing(OBSERVED), **REPLAYED}

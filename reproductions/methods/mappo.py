r"""MAPPO: PPO for every agent with the team's reward and a critic that sees the global state.

As printed
    The surprising effectiveness of PPO in cooperative multi-agent games (2103.01955). The body was not read; what follows is
    the authors' code.

As computed
    The authors' code (marlbenchmark/on-policy at de66d7a): GAE along each agent's own turns with the team's reward, gamma 0.99
    and lambda 0.95, then less the mean and divided by the population deviation plus 1e-5 over all actions that happened in the
    batch. ``losses.value_loss`` with ``huber_delta=10`` is its value loss, ``policy_loss`` its policy loss.

Differs
    The code steps all agents together and multiplies absent ones out of the loss. Here an absent agent has no value to bootstrap
    from, so that team rewards paid until it acts again count towards its latest action, and gamma counts its own actions. The
    running normalisation of the critic's targets belongs to the critic and is left out: values are in the units of the reward.

Evidence
    Code read; its value loss run. The normalisation is checked by hand.

Traps
    - All agents share the reward: without differences in V or in who acts when, they get the same number.
    - The ratio is one agent's own, never the product over the team.
    - The mean runs over all agents and prompts together: there are no groups.

Run
    python -m reproductions run mappo --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Bools, Credit, Example, Floats, Method, Traits, backward_sum, following, normalise
from reproductions.losses import clipped_surrogate
from reproductions.methods import gae


def reward_until_next_action(batch: Batch) -> Floats:
    """``[p, k, n, t]``: the team's reward from this turn until the agent acts again, 0 where it did not act."""
    reward_pkt = batch.reward_stream_pknt().sum(axis=2)
    to_go = np.broadcast_to(backward_sum(reward_pkt, 1.0)[:, :, None], batch.shape)
    return np.where(batch.acted_pknt, to_go - following(to_go, batch.acted_pknt), 0.0)


def own_gae(batch: Batch, gamma: float, lam: float) -> Floats:
    """``[p, k, n, t]``: GAE of every agent along its own turns."""
    final = 0.0 if batch.final_value_pkn is None else np.where(batch.mask("pkn"), batch.final_value_pkn, 0.0)
    reward, value = reward_until_next_action(batch), batch.need("value_pknt")
    return gae.advantage(reward, value, gamma, lam, final=final, mask=batch.acted_pknt)


def policy_loss(ratio: Floats, advantage: Floats, active: Bools, clip: float = 0.2) -> float:
    """The mean over active entries (agents, steps, episodes in any shape) of the clipped surrogate."""
    loss = np.where(active, clipped_surrogate(ratio, advantage, clip, clip), 0.0)
    return float(loss.sum() / max(int(np.sum(active)), 1))


def assign(
    batch: Batch, *, gamma: float = 0.99, lam: float = 0.95, whiten: bool = True, ddof: int = 0, eps: float = 1e-5
) -> Credit:
    """GAE per agent, whitened over the batch's actions; the critic's targets are the diagnostic ``target_pknt``."""
    found = own_gae(batch, gamma, lam)
    target = np.where(batch.acted_pknt, found + batch.need("value_pknt"), 0.0)
    if whiten:
        found = normalise(found, batch.group("pknt", same=""), ddof=ddof, eps=eps)
    return Credit(found, diagnostics={"target_pknt": target})


def example() -> Example:
    """Two agents over two turns; the second agent is out of the game in the second turn, the team is paid 1 at its end."""
    batch = Batch.of(
        reward_pk=[[1]],
        value_pknt=[[[[0.5, 0.75], [0.25, 0]]]],
        acted_pknt=[[[[1, 1], [1, 0]]]],
    )
    return Example(batch, preset="raw", parameters={"gamma": 1.0, "lam": 1.0}, source="by hand: 0.5 and 0.25, and 0.75")


METHOD = Method(
    name="mappo",
    title="MAPPO: PPO per agent with a central critic",
    assign=assign,
    paper="2103.01955",
    formula=(
        r"A_{n,t} = \sum_{l \ge 0} (\gamma \lambda)^l \delta_{n,t+l}, \quad "
        r"\delta_{n,t} = r_t + \gamma V(s_{n,t+1}) - V(s_{n,t}), \quad "
        r"\hat A = \frac{A - \mathrm{mean}(A)}{\mathrm{std}(A) + \epsilon}"
    ),
    evidence=("code", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(
        granularity="action", group="whole batch", critic=True, flags=frozenset({"multi_agent", "group_free"})
    ),
    claims=frozenset({"zero_sum_in_batch", "agent_equivariant"}),
    presets={"raw": {"whiten": False}},
    example=example,
)

r"""MA-SPO: an agent's reward less a tracked value of this agent on this prompt, whitened for each agent; no groups.

As printed
    Direction C of the landscape note on AT-GRPO, in words only: SPO's persistent value tracker for teams, one per agent, so that neither
    groups nor tree sampling are needed.

As computed
    SPO's rule (2509.13232; see ``spo``) with a Beta tracker for every pair of prompt and agent. The agent's reward in a rollout is
    r_n = (1 - w) R + w times the mean of its local rewards there, w = 1/2: AT-GRPO's sum with alpha 1, brought back to 0..1.
    A = r_n - v_n with v_n from before the update, whitened over the agent's rollouts in the batch (ddof 1, epsilon 1e-8). A
    rollout in which the agent did not act changes neither its tracker nor its whitening.

Differs
    ``team_only`` (w = 0) tracks the team reward alone: agents that always act then have equal trackers, and with one agent it *is*
    SPO. The trackers' constants are those of SPO's recipe; nobody has tuned them for teams.

Evidence
    Own proposal: there is no paper and no code to compare with. The identities are tested instead.

Traps
    - A tracker per agent parts the agents' *baselines*, not the credit: without local rewards all agents of a rollout are
      praised and blamed together, as in GRPO.
    - Teammates learn, too: an agent's value drifts for reasons that ``drift_p``, which is the prompt's, may not show.
    - Team and local rewards must lie between 0 and 1: they are counted as successes.
    - Agents are known by their index, and must keep it from batch to batch.

Run
    python -m reproductions run ma_spo --example
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from reproductions.core import Batch, BatchError, Credit, Example, Floats, Method, ParameterError, Traits, normalise
from reproductions.methods.spo import Tracker, offline_tracker

Memory = Mapping[tuple[Hashable, int], Tracker]


def agent_reward(batch: Batch, local_share: float) -> Floats:
    """``[p, k, n]``: team reward and the mean local reward of the agent's actions, the latter with weight ``local_share``.

    0 where the agent did not act. Raises BatchError for rewards outside 0..1, ParameterError for such a share.
    """
    if not 0.0 <= local_share <= 1.0:
        raise ParameterError(f"local_share is {local_share}", "a share is from 0 to 1")
    local_pkn = batch.group("pknt", same="pkn").mean(batch.need("local_reward_pknt"))[..., 0]
    reward_pkn = (1.0 - local_share) * batch.need("reward_pk")[:, :, None] + local_share * local_pkn
    reward_pkn = np.where(batch.mask("pkn"), reward_pkn, 0.0)
    outside = (reward_pkn < 0) | (reward_pkn > 1)
    if outside.any():
        p, k, n = np.argwhere(outside)[0]
        raise BatchError(
            f"ma_spo: the reward is {reward_pkn[p, k, n]} at prompt {p}, rollout {k}, agent {n}",
            "rescale reward_pk and local_reward_pknt to 0..1",
        )
    return reward_pkn


def assign(
    batch: Batch,
    *,
    memory: Memory | None = None,
    local_share: float = 0.5,
    half: float = 0.06,
    low: float = 0.875,
    high: float = 0.96,
    eps: float = 1e-8,
) -> Credit:
    """Advantages from the trackers in ``memory``, by (prompt, agent); the updated ones are ``Credit.memory``."""
    reward_pkn, acted_pkn = agent_reward(batch, local_share), batch.mask("pkn")
    prompts, _, agents, _ = batch.shape
    names = range(prompts) if batch.prompt_id_p is None else batch.prompt_id_p.tolist()
    known = dict(memory or {})
    trackers = [[known.get((name, n), Tracker()) for n in range(agents)] for name in names]
    value_pn = np.array([[tracker.value for tracker in row] for row in trackers]).reshape(prompts, agents)
    surprise_pkn = reward_pkn - value_pn[:, None, :]
    advantage_pkn = normalise(surprise_pkn, batch.group("pkn", same="n"), ddof=1, eps=eps)
    wins_pn = reward_pkn.sum(axis=1)
    losses_pn = acted_pkn.sum(axis=1) - wins_pn
    drift_p = np.zeros(prompts) if batch.drift_p is None else batch.drift_p
    for p, name in enumerate(names):
        for n in np.flatnonzero(acted_pkn[p].any(axis=0)).tolist():
            tracker = trackers[p][n]
            known[name, n] = tracker.after(wins_pn[p, n], losses_pn[p, n], drift_p[p], half, low, high)
    return Credit(batch.spread(advantage_pkn, "pkn"), diagnostics={"value_pn": value_pn}, memory=known)


def example() -> Example:
    """Two prompts, one rollout each, two agents; agent 0 has succeeded on the first prompt in three of eight earlier samples."""
    batch = Batch.of(reward_pk=[[1], [0]], local_reward_pknt=[[[[1], [0]]], [[[0], [1]]]], prompt_id_p=["known", "new"])
    return Example(
        batch,
        parameters={"memory": {("known", 0): offline_tracker(3, 8)}},
        source="by hand: values 0.38889 and 0.5; agent 0 gets +-0.70711, agent 1 twice 0",
    )


METHOD = Method(
    name="ma_spo",
    title="MA-SPO: a value tracker per agent and prompt",
    assign=assign,
    paper="own prototype, direction C of the landscape note on AT-GRPO",
    formula=(
        r"\delta_{p,k,n} = (1 - w) R_{p,k} + w \, \mathrm{mean}_t\, r^{loc}_{p,k,n,t} - v_{p,n}, \quad "
        r"A_{p,k,n} = \frac{\delta_{p,k,n} - \mathrm{mean}(\delta_n)}{\mathrm{std}(\delta_n)}, \quad "
        r"v_{p,n} = \frac{\alpha_{p,n}}{\alpha_{p,n} + \beta_{p,n}}"
    ),
    evidence=("own",),
    requires=("reward_pk", "local_reward_pknt"),
    optional=("prompt_id_p", "drift_p"),
    signal=("reward_pk", "local_reward_pknt"),
    traits=Traits(
        granularity="agent",
        group="the agent's rollouts in the whole batch",
        flags=frozenset({"multi_agent", "group_free", "stateful", "process_reward"}),
    ),
    claims=frozenset({"agent_equivariant"}),
    presets={"team_only": {"local_share": 0.0}},
    example=example,
)

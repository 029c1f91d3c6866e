r"""AT-GRPO: K candidates from one state, compared for each agent and turn; the best one moves the world on.

As printed
    Stronger-MAS (2510.11062), from a digest of the paper: at environment e, agent i and turn t, K candidates are sampled from the same state;
    r = alpha r_team + r_local with alpha 1, A = (r - mean_k r) / (std_k r + eps), and the candidate with the largest r is carried out before
    the next agent acts. Whether equation 1 has the deviation, and its ddof, was not seen.

As computed
    The authors' code (pettingllms-ai/PettingLLMs at a054fb1): groups by environment, turn and agent, sample deviation, eps 1e-6. Rollout k
    of the batch is candidate k, the team reward is the step reward (or the outcome at the last action). ``greedy_rollout`` is the
    sampler; its choice is the diagnostic ``chosen_pnt``, the first of equals, -1 where nobody acted.

Differs
    The code adds the two rewards with weight 1. Most of its configurations sample 8 candidates, the digest says K = 4. A group of one gets 0
    (in the vendored verl it keeps its raw reward only if *all* groups are of one). ``population`` and ``mean_only`` are other readings
    of the equation. ``same_state`` also demands that candidates saw the same state, for batches of independent rollouts.

Evidence
    Paper by digest only; code read and run.

Traps
    - In independent rollouts, turn t of two rollouts is no common state: grouping by turn then compares different situations.
    - The greedy step follows the largest reward of one agent, never a trade-off between agents or turns.
    - The cost is K samples for each agent, turn and environment.

Run
    python -m reproductions run at_grpo --example
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from reproductions.anchors import exact_anchors
from reproductions.core import Batch, Bools, Credit, Example, Floats, Ints, Method, Traits, normalise

State = TypeVar("State")
Action = TypeVar("Action")


def mixed_reward(batch: Batch, alpha: float) -> Floats:
    """``[p, k, n, t]``: alpha times the team reward after the action plus the agent's own."""
    local = np.where(batch.acted_pknt, batch.need("local_reward_pknt"), 0.0)
    return alpha * batch.reward_stream_pknt() + local


def greedy_choice(reward_pknt: Floats, acted_pknt: Bools) -> Ints:
    """``[p, n, t]``: the candidate with the largest reward, the first of equals; -1 where there is none."""
    if reward_pknt.shape[1] == 0:
        return np.full((reward_pknt.shape[0], *reward_pknt.shape[2:]), -1, dtype=np.int64)
    best = np.argmax(np.where(acted_pknt, reward_pknt, -np.inf), axis=1)
    return np.where(acted_pknt.any(axis=1), best, -1)


def greedy_rollout(
    state: State,
    sample: Callable[[State, int, int], Sequence[Action]],
    step: Callable[[State, int, Action], tuple[State, float]],
    agents: int,
    turns: int,
) -> tuple[Floats, Ints, State]:
    """Grow the greedy tree: ``(reward_knt, chosen_nt, last state)``.

    ``sample(state, agent, turn)`` gives K candidates, ``step(state, agent, action)`` the state after one and its (mixed) reward, without
    changing ``state``. Every candidate is tried from the same state, the best one is kept.
    """
    reward: list[list[list[float]]] = []
    chosen = np.zeros((agents, turns), dtype=np.int64)
    for turn in range(turns):
        reward.append([])
        for agent in range(agents):
            tried = [step(state, agent, action) for action in sample(state, agent, turn)]
            reward[turn].append([earned for _, earned in tried])
            best = int(np.argmax(reward[turn][agent]))
            chosen[agent, turn], state = best, tried[best][0]
    return np.transpose(np.array(reward, dtype=np.float64), (2, 1, 0)), chosen, state


def assign(
    batch: Batch,
    *,
    alpha: float = 1.0,
    ddof: int = 1,
    eps: float = 1e-6,
    mean_only: bool = False,
    same_state: bool = False,
) -> Credit:
    """Candidates of the same prompt, agent and turn (and state, with ``same_state``) against each other."""
    reward = mixed_reward(batch, alpha)
    groups = batch.group_by(exact_anchors(batch, within="pnt")) if same_state else batch.group("pknt", same="pnt")
    advantage = normalise(reward, groups, ddof=ddof, eps=eps, mean_only=mean_only)
    return Credit(advantage, diagnostics={"chosen_pnt": greedy_choice(reward, batch.acted_pknt)})


def example() -> Example:
    """One environment, four candidates, two agents, two turns; the rewards are already mixed."""
    reward_ntk = [[[0.2, 0.6, 0.4, 0.6], [1.6, 1.2, 0.6, 1.4]], [[0.5, 1.9, 0.1, 1.9], [2, 2, 1.2, 0.8]]]
    batch = Batch.of(reward_pk=[[0, 0, 0, 0]], local_reward_pknt=np.moveaxis(np.array(reward_ntk), 2, 0)[None])
    return Example(batch, source="pettingllms-ai/PettingLLMs a054fb1; chosen: 1, 0 (agent 0) and 1, 0 (agent 1)")


METHOD = Method(
    name="at_grpo",
    title="AT-GRPO: groups by agent and turn, a greedy tree",
    assign=assign,
    paper="2510.11062",
    formula=(
        r"r_{p,k,n,t} = \alpha r^{team}_{p,k,t} + r^{loc}_{p,k,n,t}, \quad "
        r"A_{p,k,n,t} = \frac{r_{p,k,n,t} - \mathrm{mean}_k\, r_{p,n,t}}{\mathrm{std}_k\, r_{p,n,t} + \epsilon}, \quad "
        r"k^\star = \operatorname{argmax}_k r_{p,k,n,t}"
    ),
    evidence=("secondary", "code", "run"),
    requires=("reward_pk", "local_reward_pknt"),
    optional=("step_reward_pknt", "state_pknt"),
    signal=("reward_pk", "step_reward_pknt", "local_reward_pknt"),
    traits=Traits(
        granularity="action",
        group="same state, agent and turn",
        extra_rollouts="K per agent and turn",
        flags=frozenset({"multi_agent", "process_reward", "tree_sampling"}),
    ),
    claims=frozenset({"zero_sum_over_actions", "shift_invariant", "zero_when_equal", "agent_equivariant"}),
    presets={"population": {"ddof": 0}, "mean_only": {"mean_only": True}, "same_state": {"same_state": True}},
    example=example,
)

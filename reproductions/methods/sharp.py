r"""SHARP: outcome, leave-one-out credit and tool validity, normalised for each agent on each prompt.

As printed
    SHARP (2602.08335). Only the abstract was reached: a broadcast accuracy part, a marginal credit part and a tool part per agent, normalised per
    agent across a group of trajectories. Two digests of v1 give: c_{i,m} = R_acc(tau_i) - R_acc(tau_i without m) for worker m; the planner's
    credit is lambda times the mean over workers of max(c, 0); R_{i,m} = alpha R^b_i + beta R^mc_{i,m} + gamma R^tool_{i,m} with 0.9, 0.9 and 0.1;
    A = (R - mean_i R) / (std_i R + eps).

As computed
    The digests' formula. Agent 0 is the planner, all others are workers; a worker that did not act takes no part. lambda 1, population
    deviation and eps 1e-6 are choices: none of the three was found. ``sample_std`` is the other reading.

Differs
    There is no official code. One digest names the weights lambda_s and lambda_p. Whether a masked worker's successors run again or only
    its output is replaced is unknown: here it is whatever made ``masked_reward_pkn``.

Evidence
    Abstract read, formula from secondary sources only.

Traps
    - The credit is a leave-one-out contrast of one agent, not a Shapley value: with two redundant workers both get 0.
    - The planner's credit ignores workers that did harm.
    - A claimed doubling of the time per batch was not found in any source.

Run
    python -m reproductions run sharp --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, Traits, normalise


def marginal_credit(batch: Batch, lam: float) -> Floats:
    """``[p, k, n]``: a worker's reward difference without it; lambda times the mean of the positive ones for agent 0."""
    acted_pkn = batch.mask("pkn")
    credit_pkn = np.where(acted_pkn, batch.need("reward_pk")[:, :, None] - batch.need("masked_reward_pkn"), 0.0)
    workers_pk = np.maximum(acted_pkn[:, :, 1:].sum(axis=2), 1)
    planner_pk = lam * np.maximum(credit_pkn[:, :, 1:], 0.0).sum(axis=2) / workers_pk
    credit_pkn[:, :, :1] = np.where(acted_pkn[:, :, :1], planner_pk[:, :, None], 0.0)
    return credit_pkn


def assign(
    batch: Batch,
    *,
    alpha: float = 0.9,
    beta: float = 0.9,
    gamma: float = 0.1,
    lam: float = 1.0,
    ddof: int = 0,
    eps: float = 1e-6,
) -> Credit:
    """The three-part reward of each agent against that of the same agent in the prompt's other rollouts."""
    credit_pkn = marginal_credit(batch, lam)
    reward_pkn = alpha * batch.need("reward_pk")[:, :, None] + beta * credit_pkn + gamma * batch.need("tool_valid_pkn")
    advantage_pkn = normalise(reward_pkn, batch.group("pkn", same="pn"), ddof=ddof, eps=eps)
    reward_pkn = np.where(batch.mask("pkn"), reward_pkn, 0.0)
    diagnostics = {"credit_pkn": credit_pkn, "agent_reward_pkn": reward_pkn}
    return Credit(batch.spread(advantage_pkn, "pkn"), diagnostics=diagnostics)


def example() -> Example:
    """One prompt, four rollouts, a planner and two workers."""
    batch = Batch.of(
        reward_pk=[[1, 1, 0, 0]],
        masked_reward_pkn=[[[0, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 1]]],
        tool_valid_pkn=[[[1, 1, 0.5], [1, 0.75, 1], [1, 0, 1], [1, 1, 0.5]]],
    )
    return Example(batch, source="the digests' formula by hand: planner +-0.999999")


METHOD = Method(
    name="sharp",
    title="SHARP: tripartite reward with leave-one-out credit",
    assign=assign,
    paper="2602.08335",
    formula=(
        r"c_{k,n} = R_k - R_k^{\setminus n}, \quad c_{k,0} = \lambda \, \mathrm{mean}_{n \ge 1} \max(c_{k,n}, 0), \quad "
        r"r_{k,n} = \alpha R_k + \beta c_{k,n} + \gamma R^{tool}_{k,n}, \quad "
        r"A_{k,n} = \frac{r_{k,n} - \mathrm{mean}_k r_n}{\mathrm{std}_k r_n + \epsilon}"
    ),
    evidence=("abstract", "secondary"),
    provisional="no equation seen in the paper: lambda, ddof and eps are choices, the rest is from two digests",
    requires=("reward_pk", "masked_reward_pkn", "tool_valid_pkn"),
    signal=("reward_pk", "masked_reward_pkn"),
    traits=Traits(
        granularity="agent",
        group="same prompt and agent",
        extra_rollouts="1 evaluation per worker and rollout",
        flags=frozenset({"multi_agent", "counterfactual", "process_reward"}),
    ),
    claims=frozenset({"shift_invariant"}),
    presets={"sample_std": {"ddof": 1}},
    example=example,
)

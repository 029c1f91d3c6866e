r"""Credit chain: agent (CAD-GRPO), then step (GiGPO), then token (DAPO's aggregation).

As printed
    Nothing: the weekly notes (2026-04-19, section 1.2) sketch agent level, step level and token level in a row.

As computed
    A = A_agent + omega A_step. A_agent is CAD-GRPO's credit of the agent in the rollout. A_step is the discounted return to go against actions of the
    same prompt, agent and state, without division, so that both are in units of reward. Every token of an action gets A, and the loss is the
    mean over all tokens of the batch: the weight of an action, the diagnostic ``weight_pknt``, is its share of the tokens.

Differs
    Without token counts every action weighs the same. ``agent_only`` leaves the steps out.

Evidence
    Own prototype: identities are tested, its worth is not shown.

Traps
    - The step part is not deconfounded: it holds what other agents do later, which the agent part has just taken out.
    - By tokens, an agent that writes five times as much has five times the say in a shared policy.
    - States that do not repeat leave CAD-GRPO with DAPO's weights.

Run
    python -m reproductions run credit_chain --example
"""

from __future__ import annotations

import numpy as np

from reproductions.anchors import exact_anchors
from reproductions.core import Batch, Credit, Example, Floats, Method, Traits
from reproductions.losses import token_weight_of_sequence
from reproductions.methods import cad_grpo, gigpo


def action_weight(batch: Batch) -> Floats:
    """``[p, k, n, t]``: each action's part of a token-mean loss; the parts add up to 1."""
    lengths = np.ones(batch.shape) if batch.length_pknt is None else batch.length_pknt.astype(np.float64)
    length_b = lengths[batch.acted_pknt]
    weight = np.zeros(batch.shape)
    weight[batch.acted_pknt] = length_b * token_weight_of_sequence(length_b, "token-mean")
    return weight


def assign(batch: Batch, *, lam: float = 1.0, omega: float = 1.0, gamma: float = 0.95) -> Credit:
    """The advantage of each action's tokens; the two parts and the weights in the loss are diagnostics."""
    agent = cad_grpo.assign(batch, lam=lam)
    step = gigpo.step_advantage(batch, exact_anchors(batch, within="pn"), gamma, mean_only=True, eps=0.0)
    diagnostics = {**agent.diagnostics, "agent_pknt": agent.advantage_pknt, "step_pknt": step}
    return Credit(agent.advantage_pknt + omega * step, diagnostics={**diagnostics, "weight_pknt": action_weight(batch)})


def example() -> Example:
    """CAD-GRPO's example with states: the first agent always starts alike, the second never sees the same twice."""
    batch = cad_grpo.example().batch
    state = np.array([[["start", f"seen in {k}"] for k in range(4)]] * 2, dtype=object)[..., None]
    return Example(
        batch.replace(state_pknt=state, length_pknt=np.broadcast_to([[1], [4]], batch.shape)),
        parameters={"lam": 0.0, "gamma": 1.0},
        source="by hand: first agent -2.25, -1.75, 1.75, 2.25; second -0.25, 0.25, -0.25, 0.25",
    )


METHOD = Method(
    name="credit_chain",
    title="Credit chain: agent, step, token",
    assign=assign,
    paper="own prototype, weekly notes of 2026-04-19",
    formula=(
        r"A_{p,k,n,t} = \hat\beta_n (q_{p,k,n} - \bar q_{p,n}) + \omega (G_{p,k,n,t} - \mathrm{mean}_{p,n,s} G), \quad "
        r"loss = \frac{1}{\sum L} \sum_{tokens} \ell(A)"
    ),
    evidence=("own",),
    requires=("reward_pk", "quality_pkn", "state_pknt"),
    optional=("step_reward_pknt", "length_pknt"),
    signal=("reward_pk", "step_reward_pknt"),
    traits=Traits(
        granularity="action",
        group="same prompt, fitted over the batch; same state and agent",
        flags=frozenset({"multi_agent", "regression", "process_reward", "loss_side"}),
    ),
    claims=frozenset({"scale_equivariant"}),
    presets={"agent_only": {"omega": 0.0}},
    example=example,
)

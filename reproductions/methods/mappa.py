r"""MAPPA: a coach scores every action, and an action's return is normalised over all tokens of its agent.

As printed
    MAPPA (2601.23228v1). The body's equations were not read; what follows is the authors' code.

As computed
    The authors' code (ltjed/multiagent-coaching at ed66921, branch ``reinforce_plus_plus``). A score of 0 to 10, divided by 10
    and clipped to +-10, is paid at the action's last token; every token costs beta times its k1 estimate of the KL, beta 0.01.
    G_t is the return to go inside the action, gamma 1. Mean and population variance (floor 1e-8) run over all tokens of the
    agent in the batch: a long action weighs more. An action's number here is the mean over its tokens, which all agree without KL.

Differs
    The batch has one KL per action: it is spread evenly over the action's tokens. The authors' replay buffer normalises a second
    time across data-parallel ranks, which changes nothing on one. ``dsbench`` pays the score itself, not a tenth.

Evidence
    Abstract read; code read and run.

Traps
    - No prompt groups: an easy prompt's actions all look good.
    - A z-score over actions instead of tokens is a different method.
    - No return crosses from one action to the next, and the team's outcome has weight 0.
    - The last agent's coach sees the label, so that the coach is not free of labels.

Run
    python -m reproductions run mappa --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import (
    Batch,
    Bools,
    Credit,
    Example,
    Floats,
    Ints,
    KeyGroups,
    Method,
    Traits,
    backward_sum,
    normalise,
)


def token_advantage(
    reward_b: Floats, mask_bl: Bools, agent_b: Ints, kl_bl: Floats | None = None, beta: float = 0.01, gamma: float = 1.0
) -> Floats:
    """Per token of the actions ``b``: return to go, less the agent's token mean, over its token deviation; 0 where masked."""
    paid_bl = np.zeros(mask_bl.shape) if kl_bl is None else -beta * kl_bl
    last_b = mask_bl.shape[1] - 1 - np.argmax(mask_bl[:, ::-1], axis=1)
    paid_bl[np.arange(len(reward_b)), last_b] += reward_b
    return_bl = backward_sum(paid_bl, gamma, mask_bl)
    agents = KeyGroups(np.broadcast_to(agent_b[:, None], mask_bl.shape), mask_bl)
    return normalise(return_bl, agents, ddof=0, eps=1e-8, eps_rule="var_floor")


def assign(
    batch: Batch, *, divisor: float = 10.0, clip: float = 10.0, beta: float = 0.01, gamma: float = 1.0
) -> Credit:
    """One number per action from coach scores and token counts; ``beta`` acts where the batch has ``kl_pknt``."""
    acted = batch.acted_pknt
    advantage = np.zeros(batch.shape)
    if not acted.any():
        return Credit(advantage)
    length_b = np.maximum(batch.need("length_pknt")[acted], 1)
    mask_bl = np.arange(int(length_b.max())) < length_b[:, None]
    reward_b = np.clip(batch.need("coach_score_pknt")[acted] / divisor, -clip, clip)
    kl_bl = None if batch.kl_pknt is None else mask_bl * (batch.kl_pknt[acted] / length_b)[:, None]
    found_bl = token_advantage(reward_b, mask_bl, np.nonzero(acted)[2], kl_bl, beta, gamma)
    advantage[acted] = found_bl.sum(axis=1) / length_b
    return Credit(advantage)


def example() -> Example:
    """One agent, five actions of one to four tokens."""
    batch = Batch.of(coach_score_pknt=[[[[8, 6, 3, 9, 4]]]], length_pknt=[[[[2, 4, 3, 1, 2]]]])
    return Example(
        batch, source="ltjed/multiagent-coaching ed66921: 1.237179, 0.247436, -1.237179, 1.732051, -0.742307"
    )


METHOD = Method(
    name="mappa",
    title="MAPPA: per-action process rewards from a coach",
    assign=assign,
    paper="2601.23228",
    formula=(
        r"G_{b,l} = \sum_{u \ge l} \gamma^{u-l} (\mathbb{1}[u = L_b] s_b / 10 - \beta \mathrm{KL}_{b,u}), \quad "
        r"A_{b,l} = \frac{G_{b,l} - \mu_n}{\sqrt{\max(\sigma_n^2, 10^{-8})}}"
    ),
    evidence=("abstract", "code", "run"),
    requires=("coach_score_pknt", "length_pknt"),
    optional=("kl_pknt",),
    signal=("coach_score_pknt",),
    traits=Traits(
        granularity="action",
        group="all tokens of the agent in the batch",
        extra_llm_calls="1 coach call per action",
        flags=frozenset({"multi_agent", "process_reward", "group_free"}),
    ),
    claims=frozenset({"agent_equivariant"}),
    presets={"dsbench": {"divisor": 1.0}},
    example=example,
)

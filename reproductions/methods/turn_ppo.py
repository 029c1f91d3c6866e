r"""Turn-PPO: PPO whose step is a turn: GAE over turns, every token of a turn gets its number, and the clip is per turn.

As printed
    Turn-PPO (2512.17008), from its abstract and from summaries: a state is the history up to the turn and its query, an action
    the whole response of the turn; delta_h = r_h + gamma V(s_{h+1}) - V(s_h), A_h = delta_h + gamma lambda A_{h+1}; gamma about
    0.99, lambda about 0.9. The importance ratio is one number per turn.

As computed
    GAE over the actions of a rollout in the order of play with these constants. ``turn_log_ratio`` pools tokens into a turn:
    their sum (the product of the ratios) by default, or their mean (the geometric mean).

Differs
    No code of the authors was found. agilerl 2.58.0 holds the product to be the paper's, one summary says geometric mean: which
    is right is not known. agilerl takes the mean of a turn's token rewards, which shrinks a final reward by the turn's length;
    here a turn's reward is a total.

Evidence
    Abstract read; the method from secondary texts; a third party's code run.

Traps
    - The value of a turn is that of the state it starts from; agilerl reads it at the turn's last token.
    - With the product, long turns leave the clip range at once: the log-ratio grows with the number of tokens.

Run
    python -m reproductions run turn_ppo --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import Batch, Credit, EpsRule, Example, Floats, Ints, Method, ParameterError, Traits
from reproductions.losses import clipped_surrogate
from reproductions.methods import ppo

Pooling = Literal["product", "geometric_mean"]


def turn_log_ratio(log_ratio_l: Floats, turn_l: Ints, pooling: Pooling = "product") -> Floats:
    """``[turn]``: the log-ratios of the tokens of each turn, added or averaged. Tokens of turn -1 belong to nobody."""
    if pooling not in ("product", "geometric_mean"):
        raise ParameterError(f"no pooling {pooling!r}", "product or geometric_mean")
    real = turn_l >= 0
    total = np.asarray(np.bincount(turn_l[real], log_ratio_l[real]), dtype=np.float64)
    return total if pooling == "product" else np.asarray(total / np.maximum(np.bincount(turn_l[real]), 1))


def loss(
    log_ratio_l: Floats, turn_l: Ints, advantage_h: Floats, clip: float = 0.2, pooling: Pooling = "product"
) -> float:
    """PPO's clipped loss per turn, averaged over turns."""
    ratio_h = np.exp(turn_log_ratio(log_ratio_l, turn_l, pooling))
    return float(np.mean(clipped_surrogate(ratio_h, advantage_h, clip, clip)))


def assign(
    batch: Batch,
    *,
    gamma: float = 0.99,
    lam: float = 0.9,
    whiten: bool = False,
    ddof: int = 1,
    eps: float = 1e-8,
    eps_rule: EpsRule = "std_plus",
) -> Credit:
    """GAE over turns, whitened over the batch if wanted."""
    # One action is one turn here, so it is PPO's own estimate with another lambda.
    return ppo.assign(batch, gamma=gamma, lam=lam, whiten=whiten, ddof=ddof, eps=eps, eps_rule=eps_rule)


def example() -> Example:
    """Two episodes of three and two turns."""
    batch = Batch.of(
        reward_pk=[[1.5, 1.2]],
        step_reward_pknt=[[[[0, 0.5, 1]], [[0.2, 1, 0]]]],
        value_pknt=[[[[0.2, 0.5, 0.6]], [[0.2, 0.7, 0]]]],
        acted_pknt=[[[[1, 1, 1]], [[1, 1, 0]]]],
    )
    return Example(
        batch, source="agilerl 2.58.0 (third party), _compute_gae_returns: 1.14181, 0.9504, 0.4 and 0.9603, 0.3"
    )


METHOD = Method(
    name="turn_ppo",
    title="Turn-PPO: GAE and clipping over turns",
    assign=assign,
    paper="2512.17008",
    formula=(
        r"A_h = \delta_h + \gamma \lambda A_{h+1}, \quad \delta_h = r_h + \gamma V(s_{h+1}) - V(s_h) "
        r"\text{ over turns } h"
    ),
    evidence=("abstract", "secondary", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn", "length_pknt"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(granularity="action", group="none", critic=True, flags=frozenset({"group_free", "trust_region"})),
    claims=frozenset({"scale_equivariant"}),
    presets={"whitened": {"whiten": True}},
    provisional="the method was seen in summaries only; how a turn's ratio is pooled is not known",
    example=example,
)

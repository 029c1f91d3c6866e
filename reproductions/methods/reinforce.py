r"""REINFORCE: every action gets the discounted reward that comes after it, less a baseline.

As printed
    Williams (1992), as textbooks and rlax give it: G_t = sum_{k >= t} gamma^{k-t} r_k; the loss is the mean over time of
    -(G_t - b_t) log pi(a_t | s_t), the bracket held constant, with any b_t that does not depend on the action.

As computed
    G_t over the rollout's actions in the order of play, undiscounted and without a baseline by default. ``baseline="batch"``
    takes the mean return of all actions, ``baseline="value"`` the batch's ``value_pknt``.

Differs
    rlax divides the loss by the number of steps, older texts add the steps up. The original text was not opened.

Evidence
    Textbook; rlax 0.1.9 run.

Traps
    - The mean return of the batch includes the action's own, a bias that shrinks with the batch.
    - Without a baseline an action that is merely less bad than usual is still pushed up when rewards are positive.

Run
    python -m reproductions run reinforce --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import (
    Batch,
    Credit,
    Example,
    Floats,
    Ints,
    Method,
    ParameterError,
    Traits,
    backward_sum,
    normalise,
)


def returns_to_go(batch: Batch, gamma: float) -> Floats:
    """``[p, k, n, t]``: discounted team reward from each action to the end of its rollout."""
    stream_pkq = batch.in_play_order(batch.reward_stream_pknt())
    return batch.from_play_order(backward_sum(stream_pkq, gamma, batch.in_play_order(batch.acted_pknt)))


def assign(batch: Batch, *, gamma: float = 1.0, baseline: Literal["none", "batch", "value"] = "none") -> Credit:
    """Returns-to-go less the baseline."""
    found = returns_to_go(batch, gamma)
    if baseline == "batch":
        found = normalise(found, batch.group("pknt", same=""), mean_only=True)
    elif baseline == "value":
        found = np.where(batch.acted_pknt, found - batch.need("value_pknt"), 0.0)
    elif baseline != "none":
        raise ParameterError(f"no baseline {baseline!r}", "none, batch or value")
    return Credit(found)


def loss(logits_ta: Floats, action_t: Ints, advantage_t: Floats) -> tuple[float, Floats]:
    """``(loss, gradient by the logits [t, a])`` of a softmax policy: the mean over time of -A log pi."""
    shifted_ta = logits_ta - logits_ta.max(axis=-1, keepdims=True)
    logp_ta = shifted_ta - np.log(np.exp(shifted_ta).sum(axis=-1, keepdims=True))
    steps = np.arange(len(action_t))
    chosen_ta = np.zeros_like(logp_ta)
    chosen_ta[steps, action_t] = 1.0
    value = -float(np.mean(advantage_t * logp_ta[steps, action_t]))
    return value, (np.exp(logp_ta) - chosen_ta) * advantage_t[:, None] / len(action_t)


def example() -> Example:
    """One rollout of four steps."""
    return Example(
        Batch.of(step_reward_pknt=[[[[1, 0, -0.5, 2]]]], reward_pk=[[2.5]]),
        parameters={"gamma": 0.9},
        source="rlax 0.1.9, discounted_returns: 2.053, 1.17, 1.3, 2.0",
    )


METHOD = Method(
    name="reinforce",
    title="REINFORCE with returns-to-go",
    assign=assign,
    paper="Williams 1992, Machine Learning 8",
    formula=r"A_t = \sum_{k \ge t} \gamma^{k-t} r_k - b_t",
    evidence=("textbook", "code", "run"),
    requires=("reward_pk",),
    optional=("step_reward_pknt", "value_pknt"),
    signal=("reward_pk", "step_reward_pknt"),
    traits=Traits(granularity="action", group="none", flags=frozenset({"group_free"})),
    claims=frozenset({"scale_equivariant"}),
    presets={"batch_baseline": {"baseline": "batch"}, "value_baseline": {"baseline": "value"}},
    example=example,
)

r"""GAE: TD errors of the actions that follow, discounted by gamma and lambda.

As printed
    High-dimensional continuous control using generalized advantage estimation (1506.02438), quoted from the code that follows it:
    delta_t = r_t + gamma V(s_{t+1}) - V(s_t) and A_t = delta_t + gamma lambda A_{t+1}. The critic's target is A_t + V(s_t).

As computed
    The same over the rollout's actions in the order of play. After the last action stands ``final_value_pkn`` of the agent that
    acted last, or 0 (the episode is over). Actions that did not happen are passed over: what follows is carried across them.

Differs
    Two flags that are often one: ``terminated`` removes the bootstrap, ``done`` cuts the recursion; on truncation only the
    second is set. verl passes over masked positions as here and then whitens (see ``ppo``); OpenRLHF sets reward and value to 0
    there and lets them count as steps.

Evidence
    rlax 0.1.9, torchrl 0.14.1 and verl 0.9.1 run, which agree; the paper's body was not read.

Traps
    - lambda 0 is the one-step TD error, lambda 1 the bootstrapped return less the value: the critic then is a baseline only.
    - Classic control uses lambda 0.95 to 0.97, stacks for language models default to 1 (preset ``llm``).
    - Values at masked positions mean nothing, also when a library returns some.

Run
    python -m reproductions run gae --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Bools, Credit, Example, Floats, Method, Traits, backward_sum, following

# Rows whose columns are brought together in memory, so that the walk through time reads neighbours.
ROWS_AT_ONCE = 256


def advantage(
    reward: Floats,
    value: Floats,
    gamma: float,
    lam: float,
    *,
    final: Floats | float = 0.0,
    next_value: Floats | None = None,
    terminated: Bools | None = None,
    done: Bools | None = None,
    mask: Bools | None = None,
) -> Floats:
    """GAE along the last axis, in the shape of ``reward``.

    ``final`` is the value after the last step; ``next_value`` replaces the values that follow (for segments cut in the middle).
    ``terminated`` and ``done`` are flags per step, ``mask`` is False where there is no step. Without flags and gaps everything is
    done in one pass over the data, fastest on arrays that lie time-major in memory.
    """
    if next_value is None and terminated is None and done is None and (mask is None or mask.all()):
        return _uninterrupted(reward, value, gamma, lam, final)
    bootstrap = gamma * (following(value, mask, final) if next_value is None else next_value)
    if terminated is not None:
        bootstrap = np.where(terminated, 0.0, bootstrap)
    decay = gamma * lam if done is None else np.where(done, 0.0, gamma * lam)
    return backward_sum(reward + bootstrap - value, decay, mask)


def _uninterrupted(reward: Floats, value: Floats, gamma: float, lam: float, final: Floats | float) -> Floats:
    """Blocks of rows are transposed, unless the whole array already has time as its slowest axis."""
    reward_t, value_t = np.moveaxis(reward, -1, 0), np.moveaxis(value, -1, 0)
    end = np.broadcast_to(np.asarray(final, dtype=np.float64), reward.shape[:-1])
    if reward_t.flags.c_contiguous:
        return np.moveaxis(_one_pass(reward_t, value_t, gamma, lam, end), 0, -1)
    length = reward.shape[-1]
    reward_bt, value_bt, end_b = reward.reshape(-1, length), value.reshape(-1, length), end.reshape(-1)
    out_bt = np.empty(reward_bt.shape)
    for start in range(0, len(out_bt), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        reward_tb, value_tb = (np.ascontiguousarray(array_bt[rows].T) for array_bt in (reward_bt, value_bt))
        out_bt[rows] = _one_pass(reward_tb, value_tb, gamma, lam, end_b[rows]).T
    return out_bt.reshape(reward.shape)


def _one_pass(reward_t: Floats, value_t: Floats, gamma: float, lam: float, end: Floats) -> Floats:
    """The recurrence with time first: every row of the result is written once and read once."""
    out_t = np.empty(reward_t.shape)
    after, later, bootstrap = end, np.zeros(end.shape), np.empty(end.shape)
    for t in range(len(out_t) - 1, -1, -1):
        here = out_t[t, ...]
        np.multiply(later, gamma * lam, out=here)
        np.multiply(after, gamma, out=bootstrap)
        here += bootstrap
        here += reward_t[t]
        here -= value_t[t]
        after, later = value_t[t], here
    return out_t


def vtrace(
    reward: Floats,
    value: Floats,
    ratio: Floats,
    gamma: float,
    lam: float = 1.0,
    *,
    final: Floats | float = 0.0,
    clip: float = 1.0,
) -> tuple[Floats, Floats]:
    """IMPALA's off-policy relative: ``(errors of the value, advantages)`` with importance ratios clipped at ``clip``."""
    clipped = np.minimum(clip, ratio)
    following_value = following(value, None, final)
    errors = backward_sum(clipped * (reward + gamma * following_value - value), gamma * lam * np.minimum(1.0, ratio))
    target = following(errors + value, None, final)
    return errors, clipped * (reward + gamma * target - value)


def final_value(batch: Batch) -> Floats:
    """``[p, k]``: the value after the rollout, of the agent that acted last; 0 where the batch has none."""
    if batch.final_value_pkn is None:
        return np.zeros(batch.shape[:2])
    acted_pkq = batch.in_play_order(batch.acted_pknt)
    if not acted_pkq.size:
        return np.zeros(batch.shape[:2])
    last_pk = acted_pkq.shape[-1] - 1 - np.argmax(acted_pkq[..., ::-1], axis=-1)
    value_pk = np.take_along_axis(batch.final_value_pkn, (last_pk % batch.shape[2])[..., None], axis=-1)[..., 0]
    return np.where(batch.present_pk, value_pk, 0.0)


def over_actions(batch: Batch, gamma: float, lam: float) -> Floats:
    """``[p, k, n, t]``: GAE over the actions of each rollout, in the order of play."""
    reward_pkq = batch.in_play_order(batch.reward_stream_pknt())
    value_pkq = batch.in_play_order(batch.need("value_pknt"))
    acted_pkq = batch.in_play_order(batch.acted_pknt)
    found = advantage(reward_pkq, value_pkq, gamma, lam, final=final_value(batch), mask=acted_pkq)
    return batch.from_play_order(found)


def assign(batch: Batch, *, gamma: float = 0.99, lam: float = 0.95) -> Credit:
    """Unwhitened advantages; the critic's targets are the diagnostic ``target_pknt``."""
    found = over_actions(batch, gamma, lam)
    target = np.where(batch.acted_pknt, found + batch.need("value_pknt"), 0.0)
    return Credit(found, diagnostics={"target_pknt": target})


def example() -> Example:
    """One rollout of four steps that is cut before its end, so that the last value stands for the rest."""
    batch = Batch.of(
        step_reward_pknt=[[[[1, 0, -0.5, 2]]]],
        reward_pk=[[2.5]],
        value_pknt=[[[[0.5, 0.4, 0.3, 0.2]]]],
        final_value_pkn=[[[0.1]]],
    )
    return Example(
        batch,
        parameters={"gamma": 0.9, "lam": 1.0},
        source="rlax 0.1.9, truncated_generalized_advantage_estimation: 1.61861, 0.8429, 1.081, 1.89",
    )


METHOD = Method(
    name="gae",
    title="Generalised advantage estimation",
    assign=assign,
    paper="1506.02438",
    formula=(r"\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t), \quad A_t = \delta_t + \gamma \lambda A_{t+1}"),
    evidence=("textbook", "code", "run"),
    requires=("reward_pk", "value_pknt"),
    optional=("step_reward_pknt", "final_value_pkn"),
    signal=("reward_pk", "step_reward_pknt", "value_pknt", "final_value_pkn"),
    traits=Traits(granularity="action", group="none", critic=True, flags=frozenset({"group_free"})),
    claims=frozenset({"scale_equivariant"}),
    presets={"td": {"lam": 0.0}, "monte_carlo": {"lam": 1.0}, "llm": {"gamma": 1.0, "lam": 1.0}},
    example=example,
)

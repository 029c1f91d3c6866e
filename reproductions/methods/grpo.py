r"""GRPO: the reward of a rollout against the other rollouts of its prompt, in units of their standard deviation.

As printed
    DeepSeekMath (2402.03300, section 4.1.2): A_{i,t} = (r_i - mean(r)) / std(r), for every token t of output i, over the G outputs
    of one question; the mean includes the output's own reward. Section 4.1.3, process supervision: all step rewards of the group
    are normalised together, and A_{i,t} is the sum of the normalised rewards of the steps that end at t or later.
    The loss is PPO's clip, averaged per output and then over outputs, plus beta times the k3 estimate of the KL.

As computed
    The same, with the sample standard deviation (ddof 1) and no epsilon. Prompts whose rewards are all equal get 0.

Differs
    The paper says only "std"; every implementation read uses ddof 1, and each its own epsilon: verl 1e-6, trl 1e-4,
    OpenRLHF 1e-9, understand-r1-zero 1e-8 (presets). trl can also divide by the deviation of the whole batch. ``population`` is ddof 0.

Evidence
    Paper sections 4.1-4.2 read; verl 0.9.1 and trl 1.16.0 run.

Traps
    - With two successes in four, ddof 1 gives 0.8660 and ddof 0 gives 1.
    - verl gives a lone rollout its raw reward as advantage (mean 0, deviation 1), which matters after filtering.
    - The baseline is the mean of all G rollouts; that of the other G - 1 is RLOO.
    - In a team every agent gets the same number: the credit does not tell who earned it.

Run
    python -m reproductions run grpo --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, SingletonRule, Traits, backward_sum, normalise
from reproductions.losses import Aggregation, aggregate, clipped_surrogate, importance_ratio, kl_estimate


def outcome_advantage(
    batch: Batch,
    ddof: int = 1,
    eps: float = 0.0,
    spread_over: Literal["group", "batch"] = "group",
    singleton: SingletonRule = "zero",
) -> Floats:
    """``[p, k]``: the reward less its prompt's mean, over the deviation of the prompt's (or the batch's) rewards."""
    reward_pk = batch.need("reward_pk")
    prompt = batch.group("pk", same="p")
    if spread_over == "group":
        return normalise(reward_pk, prompt, ddof=ddof, eps=eps, singleton=singleton)
    centred_pk = normalise(reward_pk, prompt, mean_only=True, singleton=singleton)
    present = reward_pk[batch.present_pk]
    spread = present.std(ddof=ddof) if present.size > ddof else 0.0
    return centred_pk / (spread + eps) if spread > 0 else np.zeros_like(centred_pk)


def process_advantage(batch: Batch, ddof: int = 1, eps: float = 0.0, singleton: SingletonRule = "zero") -> Floats:
    """``[p, k, n, t]``: the normalised step rewards of an action and of all later ones of its rollout, added up."""
    step_reward = batch.need("step_reward_pknt")
    scaled = normalise(step_reward, batch.group("pknt", same="p"), ddof=ddof, eps=eps, singleton=singleton)
    acted_pkq = batch.in_play_order(batch.acted_pknt)
    return batch.from_play_order(backward_sum(batch.in_play_order(scaled), 1.0, acted_pkq))


def assign(
    batch: Batch,
    *,
    supervision: Literal["outcome", "process"] = "outcome",
    ddof: int = 1,
    eps: float = 0.0,
    spread_over: Literal["group", "batch"] = "group",
    singleton: SingletonRule = "zero",
) -> Credit:
    """Outcome supervision gives every action of a rollout the same number, process supervision the sum of what follows."""
    if supervision == "process":
        return Credit(process_advantage(batch, ddof, eps, singleton))
    return Credit(batch.spread(outcome_advantage(batch, ddof, eps, spread_over, singleton), "pk"))


def loss(
    logp_bl: Floats,
    old_logp_bl: Floats,
    advantage_bl: Floats,
    mask_bl: Floats,
    ref_logp_bl: Floats | None = None,
    clip: float = 0.2,
    beta: float = 0.04,
    mode: Aggregation = "seq-mean-token-mean",
) -> float:
    """The paper's loss (its equation 3 with the sign turned) over sequences ``b`` and tokens ``l``; beta 0.04 as there.

    The paper prints no clip range in its method section; 0.2 is PPO's.
    """
    per_token = clipped_surrogate(importance_ratio(logp_bl, old_logp_bl), advantage_bl, clip, clip)
    if ref_logp_bl is not None:
        per_token = per_token + beta * kl_estimate(logp_bl, ref_logp_bl, "k3")
    return aggregate(per_token, mask_bl, mode)


def example() -> Example:
    """Four prompts: mixed rewards twice, all equal, and one that lost all rollouts but one."""
    reward_pk = [[1, 0, 0, 1], [0.2, 0.9, 0.4, 0.5], [1, 1, 0, 0], [0.7, 0, 0, 0]]
    acted_pk = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    batch = Batch.of(reward_pk=reward_pk, acted_pknt=acted_pk[:, :, None, None])
    return Example(batch, preset="verl", source="verl 0.9.1, compute_grpo_outcome_advantage")


METHOD = Method(
    name="grpo",
    title="Group relative policy optimisation",
    assign=assign,
    paper="2402.03300",
    formula=r"A_{p,k} = \frac{r_{p,k} - \mathrm{mean}_k\, r_p}{\mathrm{std}_k\, r_p}",
    evidence=("paper", "code", "run"),
    requires=("reward_pk",),
    optional=("step_reward_pknt",),
    traits=Traits(granularity="rollout", group="same prompt"),
    claims=frozenset(
        {"zero_sum_over_rollouts", "shift_invariant", "scale_invariant", "zero_when_equal", "same_for_the_whole_team"}
    ),
    presets={
        "process": {"supervision": "process"},
        "verl": {"eps": 1e-6, "singleton": "raw"},
        "trl": {"eps": 1e-4},
        "trl_batch_scale": {"eps": 1e-4, "spread_over": "batch"},
        "openrlhf": {"eps": 1e-9},
        "understand_r1_zero": {"eps": 1e-8},
        "population": {"ddof": 0},
    },
    example=example,
)

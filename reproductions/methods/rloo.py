r"""RLOO: the reward less the mean of the *other* rollouts of its prompt.

As printed
    Back to Basics (2402.14740), after Kool et al. (2019): (1/k) sum_i [R_i - (1/(k-1)) sum_{j != i} R_j] grad log pi(y_i | x). The whole
    response is one action, and R includes the penalty -beta KL, the log-ratio to the reference summed over tokens (k1).

As computed
    The bracket. With ``beta`` > 0 the batch's ``kl_pknt``, summed over the rollout, is taken off the reward first.

Differs
    trl takes beta 0.05 and can whiten the advantages over the batch (preset ``trl_normalised``: ddof 1, epsilon 1e-4).
    verl's loop gives a lone rollout its raw reward (preset ``verl``), its vectorised version gives it 0 as here.

Evidence
    The equation was seen quoted alike in several places, the paper's body was not read; verl 0.9.1 and trl 1.16.0 run.

Traps
    - Equals G / (G - 1) times Dr. GRPO. What separates it from GRPO is the missing division, not the baseline.

Run
    python -m reproductions run rloo --example
"""

from __future__ import annotations

from reproductions.core import Batch, Credit, Example, Floats, Method, SingletonRule, Traits, leave_one_out, normalise


def penalised_reward(batch: Batch, beta: float) -> Floats:
    """``[p, k]``: the reward less beta times the rollout's KL."""
    reward_pk = batch.need("reward_pk")
    if beta == 0:
        return reward_pk
    rollout = batch.group("pknt", same="pk")
    return reward_pk - beta * rollout.total(batch.need("kl_pknt"))[:, :, 0, 0]


def assign(
    batch: Batch, *, beta: float = 0.0, singleton: SingletonRule = "zero", whiten: bool = False, eps: float = 1e-4
) -> Credit:
    """Leave-one-out advantages; ``whiten`` brings the whole batch to mean 0 and deviation 1 afterwards (``eps`` is for that)."""
    advantage_pk = leave_one_out(penalised_reward(batch, beta), batch.group("pk", same="p"), singleton=singleton)
    if whiten:
        advantage_pk = normalise(advantage_pk, batch.group("pk", same=""), ddof=1, eps=eps)
    return Credit(batch.spread(advantage_pk, "pk"))


def example() -> Example:
    """Two prompts of four rollouts."""
    return Example(
        Batch.of(reward_pk=[[1, 0, 0, 1], [0.2, 0.9, 0.4, 0.5]]), source="verl 0.9.1, compute_rloo_outcome_advantage"
    )


METHOD = Method(
    name="rloo",
    title="REINFORCE with a leave-one-out baseline",
    assign=assign,
    paper="2402.14740",
    formula=r"A_{p,k} = R_{p,k} - \frac{1}{G - 1} \sum_{j \ne k} R_{p,j}",
    evidence=("secondary", "code", "run"),
    requires=("reward_pk",),
    optional=("kl_pknt",),
    traits=Traits(granularity="rollout", group="same prompt, the rollout itself left out"),
    claims=frozenset(
        {"zero_sum_over_rollouts", "shift_invariant", "scale_equivariant", "zero_when_equal", "same_for_the_whole_team"}
    ),
    presets={"verl": {"singleton": "raw"}, "trl": {"beta": 0.05}, "trl_normalised": {"beta": 0.05, "whiten": True}},
    example=example,
)

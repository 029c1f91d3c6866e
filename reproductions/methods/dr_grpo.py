r"""Dr. GRPO: GRPO without its two normalisers, the reward less the mean of its prompt.

As printed
    Dr. GRPO (2503.20783, section 3): A_i = r_i - mean(r), and each sequence's loss is a sum over tokens divided by a constant (the
    generation budget) instead of its own length. The division by |o_i| favours long wrong answers, that by std(r) prompts
    that are nearly solved or nearly hopeless.

As computed
    The same. The loss is ``losses.aggregate(..., mode="seq-mean-token-sum-norm", budget=...)``.

Differs
    The authors' code (sail-sg/understand-r1-zero at dfca49d) computes the paper's advantage. verl keeps the raw reward of a lone
    rollout (preset ``verl``); before 0.9 its aggregation also forgot to divide by the number of sequences.

Evidence
    Paper section 3 read; code read; verl 0.9.1 run.

Traps
    - G / (G - 1) times this is RLOO: the two differ by a constant that the learning rate absorbs.
    - A prompt with half its rollouts right weighs most; GRPO's division undoes that.

Run
    python -m reproductions run dr_grpo --example
"""

from __future__ import annotations

from reproductions.core import Batch, Credit, Example, Method, SingletonRule, Traits, normalise


def assign(batch: Batch, *, singleton: SingletonRule = "zero") -> Credit:
    """The reward less the mean over all rollouts of its prompt, its own included."""
    prompt = batch.group("pk", same="p")
    advantage_pk = normalise(batch.need("reward_pk"), prompt, mean_only=True, singleton=singleton)
    return Credit(batch.spread(advantage_pk, "pk"))


def example() -> Example:
    """Two prompts of four rollouts."""
    batch = Batch.of(reward_pk=[[1, 0, 0, 1], [0.2, 0.9, 0.4, 0.5]])
    return Example(batch, source="sail-sg/understand-r1-zero dfca49d, compute_monte_carlo_advantages")


METHOD = Method(
    name="dr_grpo",
    title="GRPO done right: no division by length or deviation",
    assign=assign,
    paper="2503.20783",
    formula=r"A_{p,k} = r_{p,k} - \mathrm{mean}_k\, r_p",
    evidence=("paper", "code", "run"),
    requires=("reward_pk",),
    traits=Traits(granularity="rollout", group="same prompt", flags=frozenset({"loss_side"})),
    claims=frozenset(
        {"zero_sum_over_rollouts", "shift_invariant", "scale_equivariant", "zero_when_equal", "same_for_the_whole_team"}
    ),
    presets={"verl": {"singleton": "raw"}},
    example=example,
)

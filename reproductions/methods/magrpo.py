r"""MAGRPO: the team reward less its mean on the prompt, the same for every agent.

As printed
    MAGRPO (2508.04652). The body was not read; the formula is that of the baseline in the code of C3: A = r - mean of r over the question.

As computed
    The same. ``normalised`` divides by sqrt(population variance + 1e-8), ``rloo`` leaves the rollout itself out of the mean.

Differs
    The code read is the re-implementation in EIT-EAST-Lab/C3 at 628185b (``c3/algorithms/magrpo.py``), not the authors' own.

Evidence
    Code of a re-implementation read and run.

Traps
    - Every agent gets the team's number: nothing tells who earned it. It is Dr. GRPO's advantage in a team.
    - One question's whole tree is one group here, also messages of different histories.

Run
    python -m reproductions run magrpo --example
"""

from __future__ import annotations

from typing import Literal

from reproductions.core import Batch, Credit, Example, Method, Traits, leave_one_out, normalise


def assign(
    batch: Batch,
    *,
    baseline: Literal["full_mean", "leave_one_out"] = "full_mean",
    divide: bool = False,
    eps: float = 1e-8,
) -> Credit:
    """The reward against the prompt's mean, or the mean of its other rollouts; ``divide`` by the deviation afterwards."""
    prompt = batch.group("pk", same="p")
    advantage_pk = batch.need("reward_pk")
    if baseline == "leave_one_out":
        advantage_pk = leave_one_out(advantage_pk, prompt)
    advantage_pk = normalise(advantage_pk, prompt, ddof=0, eps=eps, eps_rule="var_plus", mean_only=not divide)
    return Credit(batch.spread(advantage_pk, "pk"))


def example() -> Example:
    """Eight rollouts of one question."""
    batch = Batch.of(acted_pknt=[[[[True], [True]]] * 8], reward_pk=[[1, 1, 0, 1, 0, 0, 1, 0]])
    return Example(batch, source="EIT-EAST-Lab/C3 628185b, magrpo: +-0.5")


METHOD = Method(
    name="magrpo",
    title="MAGRPO: one group advantage for the whole team",
    assign=assign,
    paper="2508.04652",
    formula=r"A_{p,k,n} = R_{p,k} - \mathrm{mean}_k\, R_p",
    evidence=("code", "run"),
    requires=("reward_pk",),
    traits=Traits(granularity="rollout", group="same prompt"),
    claims=frozenset(
        {"zero_sum_over_rollouts", "shift_invariant", "scale_equivariant", "zero_when_equal", "same_for_the_whole_team"}
    ),
    presets={"normalised": {"divide": True}, "rloo": {"baseline": "leave_one_out"}},
    example=example,
)

r"""Stratified GRPO: rollouts against those of the same structure, blended with the whole prompt.

As printed
    Stratified GRPO (2510.06214), from secondary sources: within a prompt, rollouts fall into strata by a structural property (the number of
    searches). A_SAN = (R - mu_stratum) / (sigma_stratum + eps), A_GN the same over the prompt, A = alpha A_SAN + (1 - alpha) A_GN.

As computed
    The same, population deviation, eps 1e-6, alpha 0.5. A stratum of one contributes 0.

Differs
    There is no official code; alpha, ddof, eps and singletons are choices. ``stratified`` is alpha 1, ``global`` alpha 0, ``sample_std`` the
    other ddof.

Evidence
    Abstract read, formula from secondary sources.

Traps
    - Alone (alpha 1), the stratified form never says which structure is better: that difference is the part it removes,
      Var[A_G] - Var[A_S] = (1/N) sum_k n_k (mean_k - mean)^2 for the undivided advantages.
    - The stratum is chosen by the policy, so that this is a control for an effect of the action itself.

Run
    python -m reproductions run stratified_grpo --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Groups, KeyGroups, Method, Traits, normalise


def strata(batch: Batch) -> Groups:
    """Rollouts of one prompt and stratum, as groups over ``[p, k]``."""
    stratum_pk = np.where(batch.present_pk, batch.need("stratum_pk"), 0)
    low, high = int(stratum_pk.min(initial=0)), int(stratum_pk.max(initial=0))
    key_pk = np.arange(batch.shape[0])[:, None] * (high - low + 1) + stratum_pk - low
    return KeyGroups(key_pk, batch.present_pk)


def assign(batch: Batch, *, alpha: float = 0.5, ddof: int = 0, eps: float = 1e-6) -> Credit:
    """The blend, given to all actions of a rollout."""
    reward_pk = batch.need("reward_pk")
    within_pk = normalise(reward_pk, strata(batch), ddof=ddof, eps=eps)
    overall_pk = normalise(reward_pk, batch.group("pk", same="p"), ddof=ddof, eps=eps)
    return Credit(batch.spread(alpha * within_pk + (1.0 - alpha) * overall_pk, "pk"))


def example() -> Example:
    """Eight rollouts of one prompt in two strata, of which one mostly succeeds."""
    batch = Batch.of(reward_pk=[[1, 0, 1, 1, 0, 0, 0, 1]], stratum_pk=[[1, 1, 1, 1, 2, 2, 2, 2]])
    return Example(batch, source="the secondary formula by hand: 0.788673, -1.366022, ..., 1.366022")


METHOD = Method(
    name="stratified_grpo",
    title="Stratified GRPO: normalised within structural strata",
    assign=assign,
    paper="2510.06214",
    formula=(
        r"A_{p,k} = \alpha \frac{R_{p,k} - \mu_{p,s(k)}}{\sigma_{p,s(k)} + \epsilon} "
        r"+ (1 - \alpha) \frac{R_{p,k} - \mu_p}{\sigma_p + \epsilon}"
    ),
    evidence=("abstract", "secondary"),
    provisional="no equation seen in the paper: alpha, ddof, eps and singletons are choices",
    requires=("reward_pk", "stratum_pk"),
    traits=Traits(granularity="rollout", group="same prompt and stratum, and same prompt"),
    claims=frozenset({"zero_sum_over_rollouts", "shift_invariant", "zero_when_equal", "same_for_the_whole_team"}),
    presets={"stratified": {"alpha": 1.0}, "global": {"alpha": 0.0}, "sample_std": {"ddof": 1}},
    example=example,
)

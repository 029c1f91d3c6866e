r"""DAPO: GRPO with four changes: clip-higher, dynamic sampling, a loss per token, a soft penalty on overlong answers.

As printed
    DAPO (2503.14476). Equation 8: J = 1 / sum_i |o_i| times the sum over all tokens of min(rho A, clip(rho, 1 - eps_low,
    1 + eps_high) A), with GRPO's advantage, subject to 0 < number of correct answers < G; no KL term. Equation 13: a length
    reward, 0 up to L_max - L_cache, then falling linearly to -1 at L_max, -1 beyond, is added to the reward of +1 or -1.
    eps_low 0.2, eps_high 0.28, L_max 20480, L_cache 4096.

As computed
    ``assign``: a prompt whose rewards are all equal is dropped (advantage 0, and left out of ``kept_pknt``); this looks at the
    reward before the penalty. Then reward plus penalty, by GRPO's rule with ddof 1 and no epsilon. ``loss``: clip-higher,
    averaged over all tokens. In a team the length is that of all actions of the rollout together.

Differs
    The recipe (verl-recipe at 48ea0a7) keeps a prompt with a single rollout, uses epsilon 1e-6, a dual clip at 10, and a penalty
    that is not bounded below (preset ``authors_code``); generation is capped at L_max there, so that the bound is never
    passed. OpenRLHF bounds it at minus its factor, trl as the paper. ``refill`` of dropped prompts is sampling, not credit:
    the recipe samples three times the batch and tries ten times.

Evidence
    Paper sections 2-5 read; verl 0.9.1 and trl 1.16.0 run.

Traps
    - The ramp has reached -1 at L_max itself, not one token later.
    - Overlong *filtering* (masking the loss of cut answers) is another row of the ablation; the best run did not use it.
    - The token mean needs the tokens of the whole batch: averaging micro-batches weighs them wrongly.
    - Whether equation 8's normaliser is per prompt or per batch is a choice of the code: verl and trl take the batch.

Run
    python -m reproductions run dapo --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Bools, Credit, Example, Floats, Method, SingletonRule, Traits, normalise
from reproductions.losses import aggregate, clipped_surrogate, importance_ratio


def overlong_penalty(
    length: Floats, longest: int = 20480, ramp: int = 4096, factor: float = 1.0, bounded: bool = True
) -> Floats:
    """Equation 13 for lengths in tokens: 0 before the ramp, ``-factor`` at ``longest``, and there it stays if ``bounded``."""
    beyond = np.maximum(length - (longest - ramp), 0.0) / ramp
    return 0.0 - factor * (np.minimum(beyond, 1.0) if bounded else beyond)


def informative(batch: Batch, keep_lone: bool = False) -> Bools:
    """``[p, k]``: rollouts of prompts that dynamic sampling keeps, those whose rewards are not all equal."""
    prompt = batch.group("pk", same="p")
    spread_p = prompt.total(np.abs(normalise(batch.need("reward_pk"), prompt))) > 0
    kept_p = spread_p | (prompt.members == 1) if keep_lone else spread_p
    return np.asarray(batch.present_pk & kept_p)


def assign(
    batch: Batch,
    *,
    longest: int = 20480,
    ramp: int = 4096,
    factor: float = 1.0,
    bounded: bool = True,
    keep_lone: bool = False,
    ddof: int = 1,
    eps: float = 0.0,
    singleton: SingletonRule = "zero",
) -> Credit:
    """Dynamic sampling, the overlong penalty, and GRPO's advantage of what remains."""
    length_pk = batch.group("pknt", same="pk").total(batch.need("length_pknt").astype(np.float64))[:, :, 0, 0]
    penalty_pk = overlong_penalty(length_pk, longest, ramp, factor, bounded)
    kept_pk = informative(batch, keep_lone)
    shaped_pk = batch.need("reward_pk") + penalty_pk
    prompt = batch.group("pk", same="p")
    advantage_pk = normalise(shaped_pk, prompt, ddof=ddof, eps=eps, singleton=singleton)
    kept_pknt = batch.acted_pknt & kept_pk[:, :, None, None]
    return Credit(
        np.where(kept_pknt, advantage_pk[:, :, None, None], 0.0), kept_pknt, diagnostics={"penalty_pk": penalty_pk}
    )


def loss(
    logp_bl: Floats,
    old_logp_bl: Floats,
    advantage_bl: Floats,
    mask_bl: Floats,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
    dual_clip: float | None = None,
) -> float:
    """Equation 8 with the sign turned, over sequences ``b`` and tokens ``l``."""
    per_token = clipped_surrogate(importance_ratio(logp_bl, old_logp_bl), advantage_bl, clip_low, clip_high, dual_clip)
    return aggregate(per_token, mask_bl, "token-mean")


def example() -> Example:
    """Four prompts of four rollouts, rewards 1 and 0; the second and the third say nothing and are dropped."""
    batch = Batch.of(
        reward_pk=[[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]],
        length_pknt=np.full((4, 4, 1, 1), 16384),
    )
    return Example(batch, source="verl-recipe 48ea0a7, dapo_ray_trainer: kept are the first and the last prompt")


METHOD = Method(
    name="dapo",
    title="DAPO: clip-higher, dynamic sampling, token-level loss, soft overlong punishment",
    assign=assign,
    paper="2503.14476",
    formula=(
        r"A_{p,k} = \frac{R_{p,k} - \mathrm{mean}(R_p)}{\mathrm{std}(R_p)}, \quad R_{p,k} = r_{p,k} + c(|o_{p,k}|), \quad "
        r"c(l) = -\min(1, \max(0, \frac{l - L + C}{C})), \; L = L_{max}, \; C = L_{cache}"
    ),
    evidence=("paper", "code", "run"),
    requires=("reward_pk", "length_pknt"),
    traits=Traits(granularity="rollout", group="same prompt", flags=frozenset({"loss_side"})),
    claims=frozenset({"zero_sum_over_rollouts", "shift_invariant", "zero_when_equal", "same_for_the_whole_team"}),
    presets={"authors_code": {"bounded": False, "keep_lone": True, "eps": 1e-6, "singleton": "raw"}},
    example=example,
)

r"""CAD-GRPO: the team reward regressed on the agents' quality, and every agent credited with its own part of the fit.

As printed
    The proposal in the weekly notes (2026-04-12, section 2.1): R(tau) ~ mu + alpha_b + sum_i beta_i q_i(tau) + eps inside a batch, alpha_b the
    fixed effect of prompt b; beta by ridge regression; A_i(tau) = beta_i (q_i(tau) - mean q_i) - baseline_i. No value of the
    penalty and no definition of baseline_i is given there.

As computed
    Reward and quality are centred within the prompt, which removes mu and every alpha_b. beta minimises
    |y - X beta|^2 + lam |beta|^2 over all rollouts, by a singular value decomposition. mean q_i is the batch's, and baseline_i the
    prompt's mean of beta_i (q_i - mean q_i), so that what is left is beta_i times the quality above that of the same prompt;
    ``baseline="none"`` leaves it out. lam 1 is scikit-learn's default, and a choice. A rollout in which an agent did not act
    stands at that agent's mean and tells nothing about it.

Differs
    Variants, none of them in the notes' formula. ``gcv`` chooses lam by generalised cross-validation on a grid.
    ``errors_in_variables``: where q is measured with a noise of known variance, its expected share is taken out of X'X, which
    undoes the shrinkage of beta towards 0. ``gated``: the notes expect beta to fail where R^2 is below about 0.3 and Dr.MAS to be
    steadier there, so the weight of this credit rises from 0 at R^2 = 0.2 to 1 at 0.4 and Dr.MAS has the rest. For that mixture both are
    in units of the prompt's reward deviation; at weight 0 it is Dr.MAS exactly.

Evidence
    Own proposal: there is no paper and no code to compare with. The identities are tested instead.

Traps
    - COSAC (2604.17693) fits the same additive ridge model to the same rewards, on the agents' *actions* instead of quality
      indicators, and subtracts the policy's own expectation instead of a mean. It is the closest published work.
    - R^2 in the sample rises with every agent added, also for noise: compare ``r2_adjusted``.
    - Two agents with the same q share its coefficient equally, whoever earned it. A constant q gets beta 0 and advantage 0, and an
      infinite standard error: the batch says nothing of it.
    - Ridge biases beta towards 0, and the standard errors are of the biased estimate. They assume equal noise everywhere.
    - Prompts with one rollout contribute nothing.
    - The advantages sum over the agents to the *fitted* reward; the residual is credited to nobody.

Run
    python -m reproductions run cad_grpo --example
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reproductions.core import Batch, Bools, Credit, Example, Floats, Method, ParameterError, Traits, normalise
from reproductions.methods import dr_mas

LAMBDA_GRID = np.logspace(-4, 4, 33)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A ridge fit: coefficients and their standard errors ``[n]``, R^2 plain and adjusted, the penalty used."""

    beta_n: Floats
    standard_error_n: Floats
    r2: float
    r2_adjusted: float
    lam: float


def centred(batch: Batch) -> tuple[Floats, Floats]:
    """``(y [rows], X [rows, n])``: reward and quality less their prompt's means, one row per rollout that took place."""
    present, acted_pkn = batch.present_pk, batch.mask("pkn")
    reward_pk = normalise(batch.need("reward_pk"), batch.group("pk", same="p"), mean_only=True)
    quality_pkn = batch.need("quality_pkn")
    above_pkn = normalise(quality_pkn, batch.group("pkn", same="pn"), mean_only=True)
    # A constant column is exactly 0, not 0 up to rounding, so that no solver can make something of it.
    rounding = 1e-12 * np.abs(np.where(acted_pkn, quality_pkn, 0.0)).max(axis=(0, 1), initial=0.0)
    varied_n = np.abs(above_pkn).max(axis=(0, 1), initial=0.0) > rounding
    return reward_pk[present], np.where(varied_n, above_pkn, 0.0)[present]


def degrees_of_freedom(acted: Bools) -> Floats:
    """Rollouts less prompts with any, from a mask ``[p, k, ...]``: what centring within the prompt leaves."""
    return np.asarray(acted.sum(axis=(0, 1)) - acted.any(axis=1).sum(axis=0), dtype=np.float64)


def gcv_lambda(y: Floats, X: Floats, freedom: float, grid: Floats = LAMBDA_GRID) -> float:
    """The penalty of the grid with the least RSS / (freedom - trace of the hat matrix)^2; the largest of equals."""
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    kept_ls = grid[:, None] / (s**2 + grid[:, None])
    projected = U.T @ y
    rss_l = y @ y - projected @ projected + ((kept_ls * projected) ** 2).sum(axis=1)
    left_l = freedom - (1.0 - kept_ls).sum(axis=1)
    score_l = np.divide(np.maximum(rss_l, 0.0), left_l**2, out=np.full(len(grid), np.inf), where=left_l > 0)
    return float(grid[score_l <= score_l.min() * (1.0 + 1e-9)].max())


def fit(y: Floats, X: Floats, lam: float, freedom: float, noise_n: Floats | float = 0.0) -> Fit:
    """Ridge on centred data. ``noise_n`` is the expected squared noise of each column, taken out of the diagonal of X'X.

    Directions without spread get coefficient 0, also with lam 0 (the solution of least norm).
    """
    gram = X.T @ X
    spread, V = np.linalg.eigh(gram - np.diag(np.broadcast_to(noise_n, len(gram))))
    # What noise explains entirely may come out negative; it is no spread at all.
    spread = np.maximum(spread, 0.0)
    tiny = 1e-12 * max(float(spread.max(initial=0.0)), np.finfo(float).tiny)
    inverse = np.divide(1.0, spread + lam, out=np.zeros_like(spread), where=spread + lam > tiny)
    solve = (V * inverse) @ V.T
    beta = solve @ (X.T @ y)
    rss, tss = float(((y - X @ beta) ** 2).sum()), float(y @ y)
    left = freedom - float(np.trace(solve @ gram))
    r2 = 1.0 - rss / tss if tss > 0 else 0.0
    variance = rss / left if left > 1e-9 else np.inf
    scale = np.sqrt(np.maximum(np.diag(solve @ gram @ solve), 0.0))
    error = np.multiply(scale, np.sqrt(variance), out=np.full(len(beta), np.inf), where=scale > 0)
    adjusted = 1.0 - (variance / (tss / freedom)) if tss > 0 and np.isfinite(variance) else 0.0
    return Fit(beta, error, r2, adjusted, lam)


def gate_weight(r2: float, low: float, high: float) -> float:
    """0 up to ``low``, 1 from ``high``, linear between them."""
    if not low < high:
        raise ParameterError(f"gate ({low}, {high}) does not rise", "give (low, high) with low < high")
    return float(np.clip((r2 - low) / (high - low), 0.0, 1.0))


def additive_credit(batch: Batch, beta_n: Floats, baseline: Literal["prompt", "none"]) -> Floats:
    """``[p, k, n]``: beta_n times the quality above the prompt's mean, or above the batch's without a baseline."""
    groups = batch.group("pkn", same="pn" if baseline == "prompt" else "n")
    return beta_n * normalise(batch.need("quality_pkn"), groups, mean_only=True)


def assign(
    batch: Batch,
    *,
    lam: float = 1.0,
    choose_lam: Literal["fixed", "gcv"] = "fixed",
    noise_variance: float | Sequence[float] = 0.0,
    baseline: Literal["prompt", "none"] = "prompt",
    gate: tuple[float, float] | None = None,
) -> Credit:
    """Every action of an agent gets the agent's credit. ``noise_variance`` is that of q, for all agents or for each."""
    if lam < 0:
        raise ParameterError(f"lam is {lam}", "a penalty is 0 or more")
    y, X = centred(batch)
    freedom = float(degrees_of_freedom(batch.present_pk))
    chosen = gcv_lambda(y, X, freedom) if choose_lam == "gcv" else lam
    noise_n = np.asarray(noise_variance, dtype=np.float64) * degrees_of_freedom(batch.mask("pkn"))
    found = fit(y, X, chosen, freedom, noise_n)
    advantage = batch.spread(additive_credit(batch, found.beta_n, baseline), "pkn")
    diagnostics = {
        "beta_n": found.beta_n,
        "standard_error_n": found.standard_error_n,
        "r2": found.r2,
        "r2_adjusted": found.r2_adjusted,
        "lam": found.lam,
    }
    if gate is not None:
        weight = gate_weight(found.r2, *gate)
        advantage = (
            weight * in_reward_deviations(batch, advantage) + (1.0 - weight) * dr_mas.assign(batch).advantage_pknt
        )
        diagnostics["gate_weight"] = weight
    return Credit(advantage, diagnostics=diagnostics)


def in_reward_deviations(batch: Batch, advantage_pknt: Floats) -> Floats:
    """Credit in units of the (population) deviation of its prompt's rewards; 0 where they are all equal."""
    prompt = batch.group("pk", same="p")
    centred_pk = normalise(batch.need("reward_pk"), prompt, mean_only=True)
    spread_p11 = np.sqrt(prompt.mean(centred_pk**2))[:, :, None, None]
    size = 1e-12 * (1.0 + np.abs(prompt.mean(batch.need("reward_pk"))))[:, :, None, None]
    return np.divide(advantage_pknt, spread_p11, out=np.zeros_like(advantage_pknt), where=spread_p11 > size)


def example() -> Example:
    """Two prompts of unlike difficulty, two agents with orthogonal quality: R = difficulty + 2 q_0 + 0.5 q_1, without penalty."""
    quality_kn = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)
    reward_k = quality_kn @ [2.0, 0.5]
    return Example(
        Batch.of(reward_pk=[reward_k, reward_k + 5.0], quality_pkn=[quality_kn, quality_kn]),
        parameters={"lam": 0.0},
        source="by hand: beta is 2 and 0.5, R^2 is 1, advantages are +-1 and +-0.25",
    )


METHOD = Method(
    name="cad_grpo",
    title="CAD-GRPO: per-agent credit by ridge regression on quality",
    assign=assign,
    paper="own proposal, weekly notes of 2026-04-12",
    formula=(
        r"R_{p,k} \approx \mu + \alpha_p + \sum_n \beta_n q_{p,k,n}, \quad "
        r"A_{p,k,n} = \hat\beta_n (q_{p,k,n} - \bar q_{n}) - \text{baseline}_{p,n}"
    ),
    evidence=("own",),
    requires=("reward_pk", "quality_pkn"),
    traits=Traits(
        granularity="agent", group="same prompt; fitted over the batch", flags=frozenset({"multi_agent", "regression"})
    ),
    claims=frozenset({"shift_invariant", "scale_equivariant", "zero_when_equal", "agent_equivariant"}),
    presets={
        "gcv": {"choose_lam": "gcv"},
        "errors_in_variables": {"noise_variance": 0.01},
        "gated": {"gate": (0.2, 0.4)},
    },
    example=example,
)

"""The loss side: ratios, clipped surrogates, aggregation over tokens, KL estimators, value losses.

Token arrays are ``[sequence, token]`` (``_bl``) with a mask of the same shape. A loss is minimised. Everything here is per token;
``aggregate`` turns it into one number.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from reproductions.core import Bools, Floats, ParameterError

Aggregation = Literal["token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm", "token-sum"]
KlEstimator = Literal["k1", "k2", "k3"]
LOG_RATIO_LIMIT = 20.0
K3_LIMIT = 10.0


def importance_ratio(logp: Floats, old_logp: Floats, limit: float = LOG_RATIO_LIMIT) -> Floats:
    """``pi / pi_old`` per token, the log-ratio clamped to +-limit (20 in verl) so that it cannot overflow."""
    return np.exp(np.clip(logp - old_logp, -limit, limit))


def clipped_surrogate(
    ratio: Floats, advantage: Floats, clip_low: float = 0.2, clip_high: float = 0.2, dual_clip: float | None = None
) -> Floats:
    """PPO's loss per token, ``max(-rho A, -clip(rho, 1 - clip_low, 1 + clip_high) A)`` (1707.06347, equation 7).

    ``clip_high`` above ``clip_low`` is DAPO's clip-higher (0.28 over 0.2). ``dual_clip`` c > 1 bounds the loss by ``-c A`` where
    A < 0 (3 in verl, 10 in the DAPO recipe), since there the ratio alone is unbounded.
    """
    loss = np.maximum(-ratio * advantage, -np.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantage)
    return loss if dual_clip is None else np.where(advantage < 0, np.minimum(loss, -dual_clip * advantage), loss)


def clip_fraction(
    ratio: Floats, advantage: Floats, mask: Bools, clip_low: float = 0.2, clip_high: float = 0.2
) -> float:
    """The share of real tokens whose loss is the clipped one, and whose gradient is therefore 0."""
    clipped = -np.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantage > -ratio * advantage
    return float((clipped & mask).sum() / max(int(np.sum(mask)), 1))


def token_weight_of_sequence(
    length_b: Floats, mode: Aggregation, budget: float | None = None, count_empty: bool = False
) -> Floats:
    """The weight that one token of each sequence has in the aggregated loss ``[sequence]``; B sequences of lengths L_i.

    =========================  ======================  ===========================================
    mode                       weight of a token       names elsewhere
    =========================  ======================  ===========================================
    token-mean                 1 / sum_j L_j           DAPO; trl ``dapo`` (and ``bnpo`` per micro-batch)
    seq-mean-token-mean        1 / (B L_i)             GRPO as printed; trl ``grpo``
    seq-mean-token-sum         1 / B
    seq-mean-token-sum-norm    1 / (B budget)          Dr. GRPO; trl ``dr_grpo``
    token-sum                  1
    =========================  ======================  ===========================================

    ``budget`` is the constant of Dr. GRPO, the longest response allowed. Empty sequences do not count into B (verl) unless
    ``count_empty`` (trl). Raises ParameterError for an unknown mode or a missing budget.
    """
    length = np.asarray(length_b, dtype=np.float64)
    real = length > 0
    sequences = float(len(length) if count_empty else real.sum()) or 1.0
    if mode == "token-mean":
        return np.where(real, 1.0 / max(length.sum(), 1.0), 0.0)
    if mode == "seq-mean-token-mean":
        return np.where(real, 1.0 / (sequences * np.maximum(length, 1.0)), 0.0)
    if mode == "seq-mean-token-sum":
        return np.where(real, 1.0 / sequences, 0.0)
    if mode == "seq-mean-token-sum-norm":
        if budget is None:
            raise ParameterError(
                "seq-mean-token-sum-norm needs budget", "a constant such as the longest response allowed"
            )
        return np.where(real, 1.0 / (sequences * budget), 0.0)
    if mode == "token-sum":
        return np.where(real, 1.0, 0.0)
    raise ParameterError(f"no aggregation {mode!r}", ", ".join(get_args(Aggregation)))


def token_weights(
    mask_bl: Bools | Floats, mode: Aggregation, budget: float | None = None, count_empty: bool = False
) -> Floats:
    """The weight of every token, which is the derivative of ``aggregate`` by its loss; 0 where masked."""
    mask = np.asarray(mask_bl, dtype=np.float64)
    return mask * token_weight_of_sequence(mask.sum(axis=1), mode, budget, count_empty)[:, None]


def aggregate(
    loss_bl: Floats, mask_bl: Bools | Floats, mode: Aggregation, budget: float | None = None, count_empty: bool = False
) -> float:
    """One number from the losses of all tokens. Micro-batches must not be averaged: ``token-mean`` needs the whole batch."""
    return float(np.einsum("bl,bl->", loss_bl, token_weights(mask_bl, mode, budget, count_empty)))


def kl_estimate(logp: Floats, ref_logp: Floats, estimator: KlEstimator = "k3") -> Floats:
    """KL(policy || reference) per token, from tokens that the policy sampled.

    With d = ref_logp - logp: k1 = -d (unbiased, may be negative), k2 = d^2 / 2 (biased), k3 = exp(d) - d - 1 (unbiased and never
    negative; GRPO's). As in verl, k3 clamps d to +-20 and its own value to +-10.
    """
    d = ref_logp - logp
    if estimator == "k1":
        return -d
    if estimator == "k2":
        return 0.5 * d * d
    if estimator == "k3":
        d = np.clip(d, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
        return np.clip(np.exp(d) - d - 1.0, -K3_LIMIT, K3_LIMIT)
    raise ParameterError(f"no KL estimator {estimator!r}", ", ".join(get_args(KlEstimator)))


def value_loss(
    value: Floats, target: Floats, old_value: Floats, clip: float = 0.2, huber_delta: float | None = None
) -> Floats:
    """The larger of the losses of ``value`` and of ``value`` kept within ``clip`` of ``old_value``, per entry.

    Half the squared error (PPO as implemented), or Huber's with ``huber_delta`` (10 in MAPPO and MARFT).
    """
    kept = old_value + np.clip(value - old_value, -clip, clip)
    return np.maximum(huber(value - target, huber_delta), huber(kept - target, huber_delta))


def huber(error: Floats, delta: float | None) -> Floats:
    """``e^2 / 2`` up to ``delta``, linear beyond; None never turns linear."""
    if delta is None:
        return 0.5 * error * error
    size = np.abs(error)
    return np.where(size <= delta, 0.5 * error * error, delta * (size - 0.5 * delta))

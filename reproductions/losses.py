"""The loss side: clipped surrogates, aggregation over tokens, KL estimators, value losses.

Token arrays are ``[sequence, token]`` (``_bt``) with a mask of the same shape. A loss is minimised.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import BatchError, Floats

Aggregation = Literal["token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm", "token-sum"]
KlEstimator = Literal["k1", "k2", "k3"]
LOG_RATIO_BOUND = 20.0


def ratio(new_logp: Floats, old_logp: Floats) -> Floats:
    """Importance ratio; the log ratio is clamped to [-20, 20] as verl does."""
    return np.exp(np.clip(new_logp - old_logp, -LOG_RATIO_BOUND, LOG_RATIO_BOUND))


def clipped_loss(
    ratio_bt: Floats, advantage_bt: Floats, low: float = 0.2, high: float | None = None, dual: float | None = None
) -> Floats:
    """Per token ``max(-rho A, -clip(rho, 1 - low, 1 + high) A)``; ``high`` is ``low`` where left out (PPO).

    PPO (1707.06347, equation 7); ``high`` above ``low`` is DAPO's clip-higher; ``dual`` bounds the loss at ``-dual * A`` where
    the advantage is negative.
    """
    high = low if high is None else high
    loss = np.maximum(-ratio_bt * advantage_bt, -np.clip(ratio_bt, 1 - low, 1 + high) * advantage_bt)
    if dual is not None:
        loss = np.where(advantage_bt < 0, np.minimum(loss, -dual * advantage_bt), loss)
    return loss


def token_weights(mask_bt: Floats, mode: Aggregation, scale: float | None = None) -> Floats:
    """The weight of every token's loss in the aggregate: the derivative of ``aggregate`` by the token.

    ============================  ==========================================
    token-mean                    1 / all tokens
    seq-mean-token-mean           1 / (sequences * tokens of the sequence)
    seq-mean-token-sum            1 / sequences
    seq-mean-token-sum-norm       1 / (sequences * scale)
    token-sum                     1
    ============================  ==========================================

    Sequences that are masked whole do not count as sequences.
    """
    mask = np.asarray(mask_bt, dtype=np.float64)
    lengths = mask.sum(axis=1, keepdims=True)
    sequences = max(int((lengths > 0).sum()), 1)
    if mode == "token-mean":
        return mask / max(mask.sum(), 1.0)
    if mode == "seq-mean-token-mean":
        return np.divide(mask, lengths * sequences, out=np.zeros_like(mask), where=lengths > 0)
    if mode == "seq-mean-token-sum":
        return mask / sequences
    if mode == "seq-mean-token-sum-norm":
        if scale is None:
            raise BatchError("seq-mean-token-sum-norm needs scale, a constant such as the longest response allowed")
        return mask / (sequences * scale)
    if mode == "token-sum":
        return mask
    raise BatchError(f"no aggregation {mode!r}")


def aggregate(loss_bt: Floats, mask_bt: Floats, mode: Aggregation, scale: float | None = None) -> float:
    """One number of per-token losses."""
    return float((loss_bt * token_weights(mask_bt, mode, scale)).sum())


def kl(logp: Floats, reference_logp: Floats, estimator: KlEstimator = "k3") -> Floats:
    """Estimates of KL(policy, reference) per token from samples of the policy.

    k1 is the log ratio, k2 half its square, k3 ``exp(d) - d - 1`` with ``d = reference - policy`` (clamped as verl does).
    """
    difference = logp - reference_logp
    if estimator == "k1":
        return difference
    if estimator == "k2":
        return 0.5 * difference**2
    d = np.clip(-difference, -LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    return np.clip(np.exp(d) - d - 1, -10.0, 10.0)


def clipped_value_loss(value: Floats, return_: Floats, old_value: Floats, clip: float = 0.2) -> Floats:
    """Per entry half the larger square error of the value and of the value kept within ``clip`` of the old one."""
    kept = old_value + np.clip(value - old_value, -clip, clip)
    return 0.5 * np.maximum((value - return_) ** 2, (kept - return_) ** 2)


def huber(error: Floats, delta: float = 10.0) -> Floats:
    """Square inside ``delta``, linear outside."""
    size = np.abs(error)
    return np.where(size <= delta, 0.5 * error**2, delta * (size - 0.5 * delta))

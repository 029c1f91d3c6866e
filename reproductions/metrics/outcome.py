"""What comes of credit: the weight of a token in the loss, and regret while training."""

from __future__ import annotations

import numpy as np

from reproductions.core import Bools, Floats
from reproductions.metrics.correlation import UNDEFINED


def token_weight_error(weight_pknt: Floats, true_weight_pknt: Floats, acted_pknt: Bools) -> float:
    """How unevenly tokens are weighed against the truth: the root mean square of log(weight / true weight), less its mean.

    0 where the weights are proportional to the true ones; 1 where tokens are typically e times too heavy or too light.
    """
    weight, right = weight_pknt[acted_pknt], true_weight_pknt[acted_pknt]
    if not len(weight) or np.any(weight <= 0.0) or np.any(right <= 0.0):
        return UNDEFINED
    return float(np.std(np.log(weight) - np.log(right)))


def relative_token_weight_n(weight_pknt: Floats, true_weight_pknt: Floats, acted_pknt: Bools) -> Floats:
    """For each agent the mean weight of its actions' tokens over the true one; 1 on average over all actions of the batch."""
    ratio = np.divide(weight_pknt, true_weight_pknt, out=np.zeros_like(weight_pknt), where=true_weight_pknt > 0.0)
    ratio = np.where(acted_pknt, ratio, 0.0)
    mean = ratio.sum() / max(int(acted_pknt.sum()), 1)
    actions_n = acted_pknt.sum(axis=(0, 1, 3))
    of_agent_n = np.divide(
        ratio.sum(axis=(0, 1, 3)), actions_n, out=np.full(len(actions_n), np.nan), where=actions_n > 0
    )
    return np.asarray(of_agent_n / mean if mean > 0.0 else np.full(len(actions_n), np.nan))


def regret(value_i: Floats, spent_i: Floats, best: float) -> float:
    """The mean distance from the best value while ``spent_i`` was spent, relative to the distance at the start.

    1 if nothing is learnt, towards 0 the faster the best is reached, above 1 where training makes it worse.
    """
    gap_i = best - np.asarray(value_i)
    if len(gap_i) < 2 or not gap_i[0] > 0.0 or not spent_i[-1] > spent_i[0]:
        return UNDEFINED
    area = float(((gap_i[1:] + gap_i[:-1]) * np.diff(spent_i)).sum()) / 2.0
    return area / float((spent_i[-1] - spent_i[0]) * gap_i[0])

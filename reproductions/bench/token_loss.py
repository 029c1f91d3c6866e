"""How the losses of some methods weigh tokens, where the world knows how they should be weighed.

In such a world (``tokens``) the gradient estimate of these methods is that of their loss. All other methods leave the loss to
their user: their actions weigh the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reproductions.core import Floats
from reproductions.losses import Aggregation, token_weight_of_sequence
from reproductions.worlds.base import Episodes

# As each method's file says; for credit_chain it is the diagnostic weight_pknt over the tokens of the action.
LOSSES: Mapping[str, Aggregation] = {
    "grpo": "seq-mean-token-mean",
    "dapo": "token-mean",
    "dr_grpo": "seq-mean-token-sum-norm",
    "credit_chain": "token-mean",
}


def token_weight(method: str, episodes: Episodes) -> Floats | None:
    """``[p, k, n, t]``: the weight of one token of each action in the method's loss; None where there is nothing to say."""
    if method not in LOSSES or episodes.truth.token_weight_pknt is None:
        return None
    acted = episodes.batch.acted_pknt
    length_b = episodes.batch.need("length_pknt")[acted].astype(np.float64)
    weight = np.zeros(acted.shape)
    # The budget is a constant factor.
    weight[acted] = token_weight_of_sequence(length_b, LOSSES[method], budget=1.0)
    return weight

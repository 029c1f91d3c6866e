"""What is measured about credit: agreement with the truth, leakage, gradients, weights of tokens, regret.

Every function takes arrays and returns a float, NaN where the question has no answer (a credit that does not vary has no
correlation). The benchmark's names for them are in ``reproductions.bench.quality``.
"""

from reproductions.metrics.correlation import (
    UNDEFINED,
    Ranked,
    kendall,
    kendall_of,
    pearson,
    sign_agreement,
    spearman,
    spearman_of,
)
from reproductions.metrics.credit import OthersActions, above_prompt_mean, beta_error, lazy_share
from reproductions.metrics.gradient import (
    cosine,
    cosine_by_agent,
    mean_cosine,
    prompts_at_equal_cost,
    relative_bias,
    relative_variance,
    signal_to_noise,
)
from reproductions.metrics.outcome import regret, relative_token_weight_n, token_weight_error

__all__ = [
    "UNDEFINED",
    "OthersActions",
    "Ranked",
    "above_prompt_mean",
    "beta_error",
    "cosine",
    "cosine_by_agent",
    "kendall",
    "kendall_of",
    "lazy_share",
    "mean_cosine",
    "pearson",
    "prompts_at_equal_cost",
    "regret",
    "relative_bias",
    "relative_token_weight_n",
    "relative_variance",
    "sign_agreement",
    "signal_to_noise",
    "spearman",
    "spearman_of",
    "token_weight_error",
]

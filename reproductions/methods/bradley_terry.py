r"""Bradley-Terry: a reward model's loss on preferences, and the push it gives to the score of every rollout.

As printed
    InstructGPT (2203.02155, equation 1): P(w over l) = sigma(s_w - s_l), and the loss is -1 / C(K, 2) times the sum of
    log sigma(s_w - s_l) over all pairs of a ranking of K answers to one prompt.

As computed
    ``pairwise_loss`` (with an optional margin m: -log sigma(s_w - s_l - m)) and ``ranking_loss`` are the losses. ``assign`` takes the
    rewards of a prompt's rollouts as the ranking and ``model_score_pk`` as s: every pair that differs in reward is a
    preference, and the advantage is minus the derivative of the prompt's mean loss by each score. Ties are no preference.

Differs
    Nothing in the loss; equal to OpenRLHF's PairWiseLoss. ``assign`` is how this package lets a loss be compared with advantages.

Evidence
    Paper equation 1 read; OpenRLHF 0.11.2 run.

Traps
    - Only differences are identified: a constant added to all scores of a prompt changes nothing.
    - log(sigmoid(x)) overflows for x below -700; the softplus form used here does not.
    - All pairs of a prompt belong into one batch element: spread over batches they overfit.

Run
    python -m reproductions run bradley_terry --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, Traits


def preference(difference: Floats) -> Floats:
    """sigma: the probability that the first of two is preferred, from the difference of their scores."""
    return np.exp(-np.logaddexp(0.0, -difference))


def pairwise_loss(winner_b: Floats, loser_b: Floats, margin_b: Floats | float = 0.0) -> float:
    """The mean of -log sigma(s_w - s_l - m) over pairs ``b``."""
    return float(np.mean(np.logaddexp(0.0, -(winner_b - loser_b - margin_b))))


def pairwise_gradient(winner_b: Floats, loser_b: Floats, margin_b: Floats | float = 0.0) -> Floats:
    """The derivative of ``pairwise_loss`` by the winners' scores; by the losers' it is the opposite."""
    return -preference(loser_b - winner_b + margin_b) / len(winner_b)


def ranking_loss(score_k: Floats) -> float:
    """The loss of one prompt's answers, given from best to worst: the mean over all pairs."""
    better, worse = np.triu_indices(len(score_k), k=1)
    return pairwise_loss(score_k[better], score_k[worse])


def assign(batch: Batch, *, margin: float = 0.0) -> Credit:
    """Minus the derivative of each prompt's mean loss by its rollouts' scores; the losses are the diagnostic ``loss_p``."""
    reward_pk, score_pk, present_pk = batch.need("reward_pk"), batch.need("model_score_pk"), batch.present_pk
    pair_pkj = (reward_pk[:, :, None] > reward_pk[:, None, :]) & present_pk[:, :, None] & present_pk[:, None, :]
    difference_pkj = score_pk[:, :, None] - score_pk[:, None, :] - margin
    share_pkj = np.divide(pair_pkj, np.maximum(pair_pkj.sum(axis=(1, 2), keepdims=True), 1))
    push_pkj = share_pkj * preference(-difference_pkj)
    loss_p = (share_pkj * np.logaddexp(0.0, -difference_pkj)).sum(axis=(1, 2))
    advantage_pk = push_pkj.sum(axis=2) - push_pkj.sum(axis=1)
    return Credit(batch.spread(advantage_pk, "pk"), diagnostics={"loss_p": loss_p})


def example() -> Example:
    """Three prompts with a preferred and a rejected answer each."""
    batch = Batch.of(reward_pk=[[1, 0], [1, 0], [1, 0]], model_score_pk=[[1.2, 0.7], [0.3, 0.9], [-0.5, -2.0]])
    return Example(
        batch, source="openrlhf 0.11.2, PairWiseLoss: mean loss 0.57099; a winner's push is 3 times 0.12585, ..."
    )


METHOD = Method(
    name="bradley_terry",
    title="Bradley-Terry loss of a reward model",
    assign=assign,
    paper="2203.02155",
    formula=r"L = -\frac{2}{K (K - 1)} \sum_{w \succ l} \log \sigma(s_w - s_l)",
    evidence=("paper", "code", "run"),
    requires=("reward_pk", "model_score_pk"),
    traits=Traits(granularity="rollout", group="same prompt", flags=frozenset({"reward_model", "loss_side"})),
    claims=frozenset(
        {"zero_sum_over_rollouts", "shift_invariant", "scale_invariant", "zero_when_equal", "same_for_the_whole_team"}
    ),
    example=example,
)

r"""CCPO, first version: the gain of the team over the solver alone, in units of a running history, then GRPO on top.

As printed
    Counterfactual Credit Policy Optimization (2603.21563v1). The body was not read; what follows is the authors' code.

As computed
    The authors' code (bhai114/ccpo at ea50d3a, ``CCPO-v1/``). With Delta = joint - solo of the same rollout and running means and (population)
    variances of Delta, joint and solo, decay 0.99: the thinker is paid tanh(alpha (Delta - mu) / (sigma + eps)), the solver
    g z_joint + (1 - g) z_solo with g = sigmoid(eta mu_Delta / (sigma_Delta + eps)), its argument within +-20; alpha = eta = 1, eps 1e-6, sigma 1
    where the variance is at most 1e-6. The statistics are those *before* the batch. While they rest on fewer than 10 rollouts, the thinker gets
    Delta and the solver the joint outcome. GRPO (sample deviation, eps 1e-6) follows per prompt and role.

Differs
    Pass ``Credit.memory`` of one batch as ``memory`` of the next; without it every batch is the first. The code's version without a normaliser
    (half of Delta and of the joint outcome) is left out, as GRPO makes it equal to the first batch's. ``authors_code`` gives a lone
    rollout its raw reward. The last agent is the solver, all others are thinkers.

Evidence
    Code read and run.

Traps
    - Rewards are normalised twice.
    - Outcomes are 0 and 1 here, -1 and 1 in the later ``ccpo``.
    - Pairing by index makes the luck of one solo run part of the credit.

Run
    python -m reproductions run ccpo_v1 --example
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, SingletonRule, Traits, normalise
from reproductions.methods import ccpo

ENOUGH = 10
FLAT_VARIANCE = 1e-6
SIGMOID_LIMIT = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Running mean and variance of (Delta, joint, solo) ``[3]`` and the number of rollouts they rest on."""

    mean: Floats
    variance: Floats
    count: int

    @property
    def deviation(self) -> Floats:
        """Deviations, 1 where there is no variance to speak of."""
        return np.where(self.variance > FLAT_VARIANCE, np.sqrt(self.variance), 1.0)

    def after(self, outcomes: Floats, decay: float) -> History:
        """The history with a batch ``[3, rollouts]`` added; the first batch is copied."""
        if not outcomes.shape[1]:
            return self
        mean, variance = outcomes.mean(axis=1), outcomes.var(axis=1)
        if self.count:
            mean, variance = (
                decay * old + (1.0 - decay) * new for old, new in ((self.mean, mean), (self.variance, variance))
            )
        return History(mean, variance, self.count + outcomes.shape[1])


EMPTY = History(np.zeros(3), np.ones(3), 0)


def solver_gate(history: History, eta: float, eps: float) -> float:
    """g: how much the joint outcome counts for the solver, against its outcome alone."""
    argument = np.clip(eta * history.mean[0] / (history.deviation[0] + eps), -SIGMOID_LIMIT, SIGMOID_LIMIT)
    return float(1.0 / (1.0 + np.exp(-argument)))


def shaped_rewards(
    joint_pk: Floats, solo_pk: Floats, history: History, alpha: float, eta: float, eps: float
) -> tuple[Floats, Floats]:
    """``(thinker [p, k], solver [p, k])`` from outcomes of 0 and 1."""
    outcomes = np.stack([joint_pk - solo_pk, joint_pk, solo_pk], axis=-1)
    if history.count < ENOUGH:
        return outcomes[..., 0], joint_pk
    z = (outcomes - history.mean) / (history.deviation + eps)
    gate = solver_gate(history, eta, eps)
    return np.tanh(alpha * z[..., 0]), gate * z[..., 1] + (1.0 - gate) * z[..., 2]


def assign(
    batch: Batch,
    *,
    alpha: float = 1.0,
    eta: float = 1.0,
    decay: float = 0.99,
    eps: float = 1e-6,
    singleton: SingletonRule = "zero",
    memory: History | None = None,
) -> Credit:
    """GRPO per role over the shaped rewards, which are the diagnostic ``role_reward_pkn``; ``memory`` is the history."""
    history = memory or EMPTY
    joint_pk, solo_pk = batch.need("reward_pk"), batch.need("solo_reward_pk")
    thinker_pk, solver_pk = shaped_rewards(joint_pk, solo_pk, history, alpha, eta, eps)
    reward_pkn = ccpo.role_reward(batch, thinker_pk, solver_pk)
    groups = batch.group("pkn", same="pn")
    advantage_pkn = normalise(reward_pkn, groups, ddof=1, eps=eps, singleton=singleton)
    present = batch.present_pk
    seen = np.stack([(joint_pk - solo_pk)[present], joint_pk[present], solo_pk[present]])
    diagnostics = {"role_reward_pkn": reward_pkn, "solver_gate": solver_gate(history, eta, eps)}
    return Credit(batch.spread(advantage_pkn, "pkn"), diagnostics=diagnostics, memory=history.after(seen, decay))


def example() -> Example:
    """Ten rollouts of history, then a batch of four."""
    past = np.array([[1, 1, 0, 1, 0, 1, 1, 0, 1, 1], [0, 1, 0, 1, 0, 0, 1, 0, 1, 0]], dtype=np.float64)
    batch = Batch.of(
        acted_pknt=np.ones((1, 4, 2, 1), dtype=bool), reward_pk=[[1, 1, 0, 0]], solo_reward_pk=[[0, 1, 1, 0]]
    )
    history = EMPTY.after(np.stack([past[0] - past[1], past[0], past[1]]), 0.99)
    return Example(batch, parameters={"memory": history}, source="bhai114/ccpo ea50d3a, historical_normalizer")


METHOD = Method(
    name="ccpo_v1",
    title="CCPO v1: counterfactual gain against a running history",
    assign=assign,
    paper="2603.21563",
    formula=(
        r"r_{thinker} = \tanh(\alpha \frac{\Delta - \mu_\Delta}{\sigma_\Delta + \epsilon}), \quad "
        r"r_{solver} = g z^{joint} + (1 - g) z^{solo}, \quad "
        r"A = \frac{r - \mathrm{mean}_k r}{\mathrm{std}_k r + \epsilon}"
    ),
    evidence=("code", "run"),
    requires=("reward_pk", "solo_reward_pk"),
    traits=Traits(
        granularity="agent",
        group="running history, then same prompt and role",
        extra_rollouts="1 solo generation per rollout",
        flags=frozenset({"multi_agent", "counterfactual", "stateful"}),
    ),
    presets={"authors_code": {"singleton": "raw"}},
    example=example,
)

r"""COSAC: an additive reward model over the agents' actions, fitted by ridge, less the policy's own expectation of it.

As printed
    COSAC (2604.17693), from a third party's reproduction: R ~ a + sum_i w_{i, z_i}, ridge on w only; with agents acting in sequence,
    Q(x, z_{<=i}) = a + sum_{j<=i} w_{j, z_j} + E_{z_{>i} ~ pi} sum_{j>i} w_{j, z_j}, and A_i = Q(x, z_{<=i}) - sum_z' pi(z' | x, z_{<i}) Q(x, z_{<i}, z').
    lambda 0.01, 8 continuations.

As computed
    The same over all rollouts of the batch, one intercept. The expectation over later agents is the mean over ``continuation_pknacm``; what
    earlier agents did cancels. With several turns the model counts how often an agent took an action.

Differs
    No code was read. Whether the paper fits one model per context or one per batch is unknown; here it is one per batch, without effects of the
    prompt, so prompts should be of like difficulty.

Evidence
    Abstract read, formula from a secondary source.

Traps
    - It is CAD-GRPO's regression with actions as regressors (``cad_grpo``): same ridge, other columns, another baseline.
    - An additive model cannot see that two agents' actions only help together.
    - Action labels must mean the same in all rollouts; free text has to be clustered first.

Run
    python -m reproductions run cosac --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, ParameterError, Traits
from reproductions.methods import coma


def additive_model(batch: Batch, lam: float) -> tuple[float, Floats]:
    """``(a, w [n, a])``: intercept and weights of the agents' actions, by ridge with a free intercept."""
    if lam <= 0:
        raise ParameterError(f"lam is {lam}", "the columns of an agent add up to a constant: lam must be positive")
    actions = batch.need("policy_pknta").shape[-1]
    taken_pknta = (batch.need("action_pknt")[..., None] == np.arange(actions)) & batch.acted_pknt[..., None]
    count_pkna = taken_pknta.sum(axis=3).astype(np.float64)
    present = batch.present_pk
    X, y = count_pkna[present].reshape(int(present.sum()), batch.shape[2] * actions), batch.need("reward_pk")[present]
    if not len(y):
        return 0.0, np.zeros((batch.shape[2], actions))
    mean_x, mean_y = X.mean(axis=0), float(y.mean())
    above = X - mean_x
    w = np.linalg.solve(above.T @ above + lam * np.eye(X.shape[1]), above.T @ (y - mean_y))
    return mean_y - float(mean_x @ w), w.reshape(batch.shape[2], actions)


def assign(batch: Batch, *, lam: float = 0.01) -> Credit:
    """The model's value of the action taken, later agents averaged, less the policy's mean of it."""
    intercept, w_na = additive_model(batch, lam)
    # Later agents' weights, in every continuation of every own action.
    following_pknacm = w_na[np.arange(batch.shape[2]), batch.need("continuation_pknacm")]
    later_nm = np.triu(np.ones((batch.shape[2], batch.shape[2])), 1)
    acted_pkm = batch.mask("pkn").astype(np.float64)
    later_pknac = np.einsum("pknacm,nm,pkm->pknac", following_pknacm, later_nm, acted_pkm)
    sampled = max(later_pknac.shape[-1], 1)
    value_pkna = w_na[None, None] + later_pknac.sum(axis=-1) / sampled
    value = np.broadcast_to(value_pkna[:, :, :, None], (*batch.shape, value_pkna.shape[-1]))
    advantage = coma.taken(value, batch) - coma.expected(value, batch)
    return Credit(advantage, diagnostics={"intercept": intercept, "weight_na": w_na})


def example() -> Example:
    """Six samples of two agents with two actions; the second's policy depends on what the first did."""
    action_kn = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 0]])
    # Ten continuations stand for the exact policy: after 0 the second agent plays 1 in four of ten, after 1 in seven.
    second_ac = np.array([[1] * 4 + [0] * 6, [1] * 7 + [0] * 3])
    continuation = np.zeros((1, 6, 2, 2, 10, 2), dtype=np.int64)
    continuation[:, :, 0, :, :, 0] = [[0], [1]]
    continuation[:, :, 0, :, :, 1] = second_ac
    chance = np.where(action_kn[:, 0] == 0, 0.4, 0.7)
    policy = np.stack([np.full((6, 2), 0.5), np.stack([1 - chance, chance], axis=1)], axis=1)
    batch = Batch.of(
        reward_pk=[[0, 0.5, 0.4, 1, 1, 0.1]],
        action_pknt=action_kn[None, :, :, None],
        policy_pknta=policy[None, :, :, None],
        continuation_pknacm=continuation,
    )
    return Example(batch, source="the secondary formula by hand: first agent +-0.290567")


METHOD = Method(
    name="cosac",
    title="COSAC: additive ridge model of actions, aristocrat baseline",
    assign=assign,
    paper="2604.17693",
    formula=(
        r"R \approx a + \sum_n w_{n,z_n}, \quad \hat Q_n(z) = w_{n,z} + \mathbb{E}_{z_{>n} \sim \pi} \sum_{m > n} w_{m,z_m}, \quad "
        r"A_n = \hat Q_n(z_n) - \sum_{z'} \pi(z') \hat Q_n(z')"
    ),
    evidence=("abstract", "secondary"),
    provisional="formula from a third party's reproduction; the scope of the fit is a choice",
    requires=("reward_pk", "action_pknt", "policy_pknta", "continuation_pknacm"),
    traits=Traits(
        granularity="action",
        group="none; fitted over the batch",
        extra_llm_calls="continuations of later agents for every action",
        flags=frozenset({"multi_agent", "counterfactual", "regression"}),
    ),
    claims=frozenset({"scale_equivariant"}),
    example=example,
)

r"""C3: a message against the other messages sampled from the same history, by what their continuations earned.

As printed
    C3 (2603.06859v1): freeze the transcript before a decision, sample n alternatives there, value each by the mean terminal reward r_i of
    its continuations, and subtract the mean of the others: A_i = r_i - (1/(n-1)) sum_{j != i} r_j. The body was not read; the rule
    is as the project page and the code have it.

As computed
    ``reward_only``, that rule, over the nodes of a sampled tree: siblings are nodes with the same parent, a node's reward is the mean over
    the paths through it. A node without siblings gets 0.

Differs
    The authors' code (EIT-EAST-Lab/C3 at 628185b) runs ``value_assisted`` by default, A_i = r_i - [(1 - alpha) LOO(r)_i + alpha LOO(Q)_i]
    with a learned Q and alpha 1, and then divides what is left of its siblings' mean by sqrt(population variance + 1e-8): preset
    ``authors_code``. ``value_assisted`` is the same without the division, ``reward_only_normalised`` the division without Q.
    ``full_mean`` is the ablation without leave-one-out.

Evidence
    Abstract read; code read and run.

Traps
    - Left out is one *alternative* at one message, not one agent.
    - The division cancels n / (n - 1): with it, leave-one-out and the full mean are the same, and with two siblings all is +-1.
    - The released tree samples new continuations under every alternative; none is replayed.
    - Rollouts that share no history are no siblings, and every one of their messages gets 0.

Run
    python -m reproductions run c3 --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, KeyGroups, Method, Traits, Tree, leave_one_out, normalise

Baseline = Literal["leave_one_out", "full_mean"]


def node_value(batch: Batch, tree: Tree) -> Floats:
    """``[u]``: the critic's Q of each node, the mean of what the batch says of it on its paths."""
    acted = batch.acted_pknt
    total = np.bincount(tree.index_pknt[acted], batch.need("utility_pknt")[acted], minlength=len(tree.visits_u))
    return np.asarray(total / tree.visits_u)


def assign(
    batch: Batch,
    *,
    variant: Literal["reward_only", "value_assisted"] = "reward_only",
    alpha: float = 1.0,
    baseline: Baseline = "leave_one_out",
    divide: bool = False,
    eps: float = 1e-8,
) -> Credit:
    """Node advantages, given to every action that is the node; ``alpha`` is the weight of Q, ``divide`` the normalisation."""
    tree = Tree.of(batch)
    reward_u = tree.mean_below_u(batch, batch.need("reward_pk"))
    siblings = KeyGroups(tree.sibling_key_u(), np.ones(len(reward_u), dtype=bool))

    def above_others(array_u: Floats) -> Floats:
        if baseline == "leave_one_out":
            return leave_one_out(array_u, siblings)
        return normalise(array_u, siblings, mean_only=True)

    advantage_u = above_others(reward_u)
    if variant == "value_assisted":
        value_u = node_value(batch, tree)
        # r - LOO(Q) is r - Q + (Q - LOO(Q)), and a node without siblings has nothing to be compared with.
        against_value_u = np.where(siblings.members > 1, reward_u - value_u + above_others(value_u), 0.0)
        advantage_u = (1.0 - alpha) * advantage_u + alpha * against_value_u
    if divide:
        advantage_u = normalise(advantage_u, siblings, ddof=0, eps=eps, eps_rule="var_plus")
    return Credit(tree.spread(advantage_u), diagnostics={"node_reward_pknt": tree.spread(reward_u)})


def example() -> Example:
    """One question: two messages of a reasoner, four answers of an actor to each."""
    reasoner, actor = np.repeat([0, 1], 4), np.arange(2, 10)
    of_reasoner, of_actor = np.repeat([0.6, 0.4], 4), np.array([0.7, 0.6, 0.5, 0.6, 0.3, 0.3, 0.4, 0.4])
    batch = Batch.of(
        reward_pk=[[1, 1, 0, 1, 0, 0, 1, 0]],
        node_pknt=np.stack([reasoner, actor], axis=1)[None, :, :, None],
        utility_pknt=np.stack([of_reasoner, of_actor], axis=1)[None, :, :, None],
    )
    return Example(batch, source="EIT-EAST-Lab/C3 628185b, C3CreditProvider: reasoner +-0.5, actors +-1/3 and +-1")


METHOD = Method(
    name="c3",
    title="C3: contextual counterfactual credit among siblings",
    assign=assign,
    paper="2603.06859",
    formula=(
        r"r_u = \mathrm{mean}_{paths \ni u} R, \quad "
        r"A_u = r_u - \frac{1}{n_u - 1} \sum_{v \ne u, \, parent(v) = parent(u)} r_v"
    ),
    evidence=("abstract", "code", "run"),
    requires=("reward_pk", "node_pknt"),
    optional=("utility_pknt",),
    traits=Traits(
        granularity="node",
        group="same history",
        extra_rollouts="none beyond the tree",
        flags=frozenset({"multi_agent", "tree_sampling", "counterfactual"}),
    ),
    claims=frozenset({"shift_invariant", "scale_equivariant", "zero_when_equal"}),
    presets={
        "authors_code": {"variant": "value_assisted", "divide": True},
        "value_assisted": {"variant": "value_assisted"},
        "full_mean": {"baseline": "full_mean"},
        "reward_only_normalised": {"divide": True},
        "full_mean_normalised": {"baseline": "full_mean", "divide": True},
    },
    example=example,
)

r"""MHGPO: an output earns what its consumers earned, and is compared with all outputs of its agent under the same root query.

As printed
    MHGPO (2506.02718), from secondary sources: R_{k,i} = agg over succ(k, i) of R_j, plus a penalty p_{k,i}; A = (R - mean(G_k)) / std(G_k), where
    succ are the outputs that directly consumed output i of agent k, agg is the average by default, and G_k holds all outputs of agent
    k that descend from the same root query, even where their prompts differ.

As computed
    The same over the nodes of a sampled tree, one prompt being one root query: a path's reward belongs to its last node, and flows to parents
    by ``agg``. ``penalty_pknt`` is an amount taken off a node's own reward; it does not flow on unless ``propagate_penalty``. Population
    deviation, no epsilon.

Differs
    There is no official code. Whether penalties propagate, the ddof and the epsilon are unknown: ``sample_std`` and
    ``propagated_penalty`` are the other readings. ``max`` and ``min`` are the ablations of agg. The three sampling schemes (IS, FoF, RR) are
    shapes of the tree, not formulas.

Evidence
    Secondary sources only.

Traps
    - An agent's outputs compared here answered different prompts: a good rewrite lifts every reranking below it.
    - The average is over direct consumers, each once, and not over leaves: uneven trees differ.

Run
    python -m reproductions run mhgpo --example
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reproductions.core import (
    ROOT,
    Batch,
    Credit,
    Example,
    Floats,
    Ints,
    KeyGroups,
    Method,
    Traits,
    Tree,
    normalise,
)

Aggregation = Literal["mean", "max", "min"]
_UFUNC = {"mean": np.add, "max": np.maximum, "min": np.minimum}
_START = {"mean": 0.0, "max": -np.inf, "min": np.inf}


def depth_of_nodes(tree: Tree) -> Ints:
    """``[u]``: the number of nodes before each node on its path."""
    depth = np.zeros(len(tree.parent_u), dtype=np.int64)
    above = tree.parent_u
    while (above != ROOT).any():
        depth += above != ROOT
        above = np.where(above == ROOT, ROOT, tree.parent_u[above])
    return depth


def propagated(batch: Batch, tree: Tree, penalty_u: Floats, agg: Aggregation, propagate_penalty: bool) -> Floats:
    """``[u]``: the reward of every node, aggregated over its direct successors, less its own penalty.

    The end of a path counts as one successor of the node it ends in, worth the path's reward.
    """
    combine = _UFUNC[agg]
    gathered = np.full(len(penalty_u), _START[agg])
    successors = np.zeros(len(penalty_u))
    last_pkq = batch.in_play_order(tree.index_pknt)
    ended = np.where(last_pkq == ROOT, -1, np.arange(last_pkq.shape[-1]))
    present = batch.present_pk
    if present.any():
        end_pk = np.take_along_axis(last_pkq, np.maximum(ended.max(axis=-1), 0)[..., None], axis=-1)[..., 0]
        combine.at(gathered, end_pk[present], batch.need("reward_pk")[present])
        np.add.at(successors, end_pk[present], 1.0)
    depth = depth_of_nodes(tree)
    for level in range(int(depth.max(initial=0)), -1, -1):
        at = np.flatnonzero(depth == level)
        if agg == "mean":
            gathered[at] /= successors[at]
        handed = gathered[at] - penalty_u[at] if propagate_penalty else gathered[at]
        if level:
            combine.at(gathered, tree.parent_u[at], handed)
            np.add.at(successors, tree.parent_u[at], 1.0)
    return gathered - penalty_u


def node_penalty(batch: Batch, tree: Tree) -> Floats:
    """``[u]``: each node's penalty, 0 where the batch has none."""
    if batch.penalty_pknt is None:
        return np.zeros(len(tree.visits_u))
    acted = batch.acted_pknt
    total = np.bincount(tree.index_pknt[acted], batch.penalty_pknt[acted], minlength=len(tree.visits_u))
    return np.asarray(total / tree.visits_u)


def assign(
    batch: Batch, *, agg: Aggregation = "mean", propagate_penalty: bool = False, ddof: int = 0, eps: float = 0.0
) -> Credit:
    """Node advantages within prompt and agent, every node once, given to every action that is the node."""
    tree = Tree.of(batch)
    reward_u = propagated(batch, tree, node_penalty(batch, tree), agg, propagate_penalty)
    key_u = tree.prompt_u * max(batch.shape[2], 1) + tree.agent_u
    advantage_u = normalise(reward_u, KeyGroups(key_u, np.ones(len(key_u), dtype=bool)), ddof=ddof, eps=eps)
    return Credit(tree.spread(advantage_u), diagnostics={"node_reward_pknt": tree.spread(reward_u)})


def example() -> Example:
    """One query: two rewrites, each reranked and answered twice; one reranking and one answer are misformed."""
    rewrite, rerank, answer = np.repeat([0, 1], 2), np.arange(2, 6), np.arange(6, 10)
    penalty = np.zeros((1, 4, 3, 1))
    penalty[0, 1, 1], penalty[0, 2, 2] = 0.2, 0.5
    batch = Batch.of(
        reward_pk=[[0.8, 0.4, 0, 0.6]],
        node_pknt=np.stack([rewrite, rerank, answer], axis=1)[None, :, :, None],
        penalty_pknt=penalty,
    )
    return Example(batch, source="the secondary formula by hand: rewrites +-1")


METHOD = Method(
    name="mhgpo",
    title="MHGPO: heterogeneous groups and reward handed back to producers",
    assign=assign,
    paper="2506.02718",
    formula=(
        r"R_u = \mathrm{mean}_{v \in succ(u)} R_v - p_u, \quad "
        r"A_u = \frac{R_u - \mathrm{mean}(G)}{\mathrm{std}(G)}, \quad G \text{ all outputs of the agent on the prompt}"
    ),
    evidence=("abstract", "secondary"),
    provisional="no equation seen in the paper: ddof, eps and the way of penalties are choices",
    requires=("reward_pk", "node_pknt"),
    optional=("penalty_pknt",),
    traits=Traits(
        granularity="node",
        group="same root query and agent",
        extra_rollouts="none beyond the group",
        flags=frozenset({"multi_agent", "tree_sampling"}),
    ),
    claims=frozenset({"shift_invariant"}),
    presets={
        "sample_std": {"ddof": 1},
        "max": {"agg": "max"},
        "min": {"agg": "min"},
        "propagated_penalty": {"propagate_penalty": True},
    },
    example=example,
)

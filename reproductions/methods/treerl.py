r"""TreeRL: a segment of a sampled tree is worth its success rate less the root's, plus less the parent's.

As printed
    TreeRL (2506.11902), from two notes that agree: V(s) is the share of correct leaves below s, G_A = V(s) - V(root),
    L_A = V(s) - V(parent), R(s) = |L(s)|^(-1/2) (G_A + L_A), where |L(s)| is the number of leaves below.

As computed
    Rollouts are the tree's root-to-leaf paths (``node_pknt``), their rewards the leaves' ; all paths of a prompt hang from one root.
    R(s) goes to every action that is the segment s.

Differs
    The authors' code (THUDM/TreeRL at f0edbea; ``variant="code"``) does something else: leaf rewards are centred leave-one-out,
    then a mean weighted by tokens over all segments and the leaves below them is taken off; the mean below each node is divided
    by sqrt(number of leaves) *before* the difference to the parent, so that the two carry different scales; a node whose
    difference is below 1e-8 takes over that of the node before it; the result is difference plus value.

Evidence
    Abstract read; the formula from secondary notes; code read and run.

Traps
    - A segment that several paths share appears once per path in the loss: the square root is there to dampen this.
    - That R enters the policy gradient as the advantage is known from the code only.
    - Trees are grown at the most surprising sampled tokens, a stand-in for entropy; that is sampling and not done here.

Run
    python -m reproductions run treerl --example
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
    Method,
    ParameterError,
    Traits,
    Tree,
    leave_one_out,
)

INHERITED_BELOW = 1e-8


def parent_value(tree: Tree, value_u: Floats, root_p: Floats) -> Floats:
    """``[u]``: the value of the node before, the root's for first nodes."""
    first = tree.parent_u == ROOT
    return np.where(first, root_p[tree.prompt_u], value_u[np.where(first, 0, tree.parent_u)])


def as_printed(batch: Batch, tree: Tree) -> Floats:
    """``[u]``: R(s) of every node."""
    reward_pk = batch.need("reward_pk")
    value_u = tree.mean_below_u(batch, reward_pk)
    root_p = batch.group("pk", same="p").mean(reward_pk)[:, 0]
    gain = 2.0 * value_u - root_p[tree.prompt_u] - parent_value(tree, value_u, root_p)
    return np.asarray(gain / np.sqrt(tree.visits_u))


def as_in_code(batch: Batch, tree: Tree) -> Floats:
    """``[u]``: what the released code trains on."""
    prompt = batch.group("pk", same="p")
    centred_pk = leave_one_out(batch.need("reward_pk"), prompt)
    length_pknt = batch.need("length_pknt").astype(np.float64)
    mean_p = batch.group("pknt", same="p").mean(batch.spread(centred_pk, "pk"), length_pknt)[:, 0, 0, 0]
    leaf_pk = prompt.zeroed(centred_pk - mean_p[:, None])
    value_u = tree.mean_below_u(batch, leaf_pk) / np.sqrt(tree.visits_u)
    root_p = prompt.mean(leaf_pk)[:, 0] / np.sqrt(np.maximum(prompt.members[:, 0], 1.0))
    local_u = value_u - parent_value(tree, value_u, root_p)
    return local_u[_first_that_differs(tree.parent_u, local_u)] + value_u


def _first_that_differs(parent_u: Ints, local_u: Floats) -> Ints:
    """Each node, or the nearest one before it whose difference counts."""
    source_u = np.arange(len(local_u))
    while True:
        step = (np.abs(local_u[source_u]) < INHERITED_BELOW) & (parent_u[source_u] != ROOT)
        if not step.any():
            return source_u
        source_u = np.where(step, parent_u[source_u], source_u)


def assign(batch: Batch, *, variant: Literal["printed", "code"] = "printed") -> Credit:
    """R of the node that each action is. ``code`` also reads ``length_pknt``."""
    if variant not in ("printed", "code"):
        raise ParameterError(f"no variant {variant!r}", "printed or code")
    tree = Tree.of(batch)
    return Credit(tree.spread(as_printed(batch, tree) if variant == "printed" else as_in_code(batch, tree)))


def example() -> Example:
    """Two segments a and b under the prompt, each continued three times; two of a's ends are right, one of b's."""
    batch = Batch.of(
        reward_pk=[[1, 0, 1, 0, 1, 0]],
        node_pknt=[[[[0, 2]], [[0, 3]], [[0, 4]], [[1, 5]], [[1, 6]], [[1, 7]]]],
        length_pknt=[[[[4, 3]], [[4, 5]], [[4, 2]], [[6, 4]], [[6, 4]], [[6, 1]]]],
    )
    return Example(
        batch,
        preset="authors_code",
        source="THUDM/TreeRL f0edbea: segments 0.25836, -0.20352; ends 1.13679, -1.26321, 1.13679, -1.03227, 1.36773, -1.03227",
    )


METHOD = Method(
    name="treerl",
    title="TreeRL: process reward from a tree of sampled segments",
    assign=assign,
    paper="2506.11902",
    formula=r"R(s) = \frac{(V(s) - V(root)) + (V(s) - V(parent(s)))}{\sqrt{|L(s)|}}",
    evidence=("abstract", "secondary", "code", "run"),
    requires=("reward_pk", "node_pknt"),
    optional=("length_pknt",),
    traits=Traits(
        granularity="node",
        group="same prompt, and continuations of one history",
        extra_rollouts="branches of a tree, 30 per prompt in the script",
        flags=frozenset({"tree_sampling"}),
    ),
    claims=frozenset({"shift_invariant", "scale_equivariant", "zero_when_equal"}),
    presets={"authors_code": {"variant": "code"}},
    provisional="the paper's formula was seen in secondary notes only, and the code computes another",
    example=example,
)

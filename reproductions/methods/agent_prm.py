r"""Agent process values: what each agent's output added to the expected reward, read off a sampled tree.

As printed
    Nothing: direction B of the landscape notes, MASPRM's values from search carried over to cooperating agents on the tree that AT-GRPO or C3
    samples anyway.

As computed
    V(u) is the mean reward of the paths through node u, V(root) the prompt's mean. An output's credit is V(u) - V(parent(u)); along a path
    the credits add up to the value of its leaf less the prompt's mean, so the agents of a rollout share what it was above average. The
    V(u) are the labels that a process reward model of the agents would learn (diagnostic ``value_pknt``).

Differs
    ``per_agent`` divides by the agent's root mean square over the prompt's nodes, in the way of Dr.MAS, which gives up the sum.

Evidence
    Own prototype: identities are tested, its worth is not shown.

Traps
    - V of a node with few paths is noise, and its child's credit has the same noise with the opposite sign.
    - Rollouts that share no prefix put all credit on the first output.
    - C3 compares with siblings, this with the parent; with equal fanout they differ by n / (n - 1).

Run
    python -m reproductions run agent_prm --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import ROOT, Batch, Credit, Example, Floats, KeyGroups, Method, Traits, Tree


def process_value(batch: Batch, tree: Tree) -> tuple[Floats, Floats]:
    """``(V(u), V(parent(u)))`` of every node; the parent of a first node is its prompt's root."""
    reward_pk = batch.need("reward_pk")
    value_u = tree.mean_below_u(batch, reward_pk)
    root_p = np.broadcast_to(batch.group("pk", same="p").mean(reward_pk), reward_pk.shape).max(axis=1, initial=-np.inf)
    first = tree.parent_u == ROOT
    parent_u = np.where(first, root_p[tree.prompt_u], value_u[np.where(first, 0, tree.parent_u)])
    return value_u, parent_u


def assign(batch: Batch, *, per_agent: bool = False) -> Credit:
    """Value added by each output, given to every action that is the node."""
    tree = Tree.of(batch)
    value_u, before_u = process_value(batch, tree)
    added_u = value_u - before_u
    if per_agent:
        key_u = tree.prompt_u * max(batch.shape[2], 1) + tree.agent_u
        size_u = np.sqrt(KeyGroups(key_u, np.ones(len(key_u), dtype=bool)).mean(added_u**2))
        negligible = 1e-12 * (1.0 + np.abs(value_u))
        added_u = np.divide(added_u, size_u, out=np.zeros_like(added_u), where=size_u > negligible)
    return Credit(tree.spread(added_u), diagnostics={"value_pknt": tree.spread(value_u)})


def example() -> Example:
    """A first agent with two outputs, a second with two answers to each."""
    first, second = [0, 0, 1, 1], [2, 3, 4, 5]
    batch = Batch.of(reward_pk=[[1, 1, 0, 1]], node_pknt=np.stack([first, second], axis=1)[None, :, :, None])
    return Example(batch, source="by hand: +-0.25 for the first agent; 0, 0, -0.5 and 0.5 for the second")


METHOD = Method(
    name="agent_prm",
    title="Agent process values from a sampled tree",
    assign=assign,
    paper="own prototype, landscape notes, direction B",
    formula=r"V(u) = \mathrm{mean}_{paths \ni u} R, \quad A_u = V(u) - V(parent(u))",
    evidence=("own",),
    requires=("reward_pk", "node_pknt"),
    traits=Traits(
        granularity="node",
        group="same history",
        extra_rollouts="none beyond the tree",
        flags=frozenset({"multi_agent", "tree_sampling", "process_reward", "value_labels"}),
    ),
    claims=frozenset({"shift_invariant", "scale_equivariant", "zero_when_equal"}),
    presets={"per_agent": {"per_agent": True}},
    example=example,
)

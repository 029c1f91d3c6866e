r"""MASPRM: the value of every agent's step from search, as labels of a process reward model.

As printed
    MASPRM (2510.24803). The body was not read; what follows is the authors' code.

As computed
    The authors' code (milad1378yz/MASPRM at 9480f74): a terminal is worth +1 if right and -1 if not, a node the mean over the visits of its
    subtree, the label is y = clip(q, -1, 1), and the model's target z = atanh(clip(y, +-0.95)). In place of an advantage, each
    action gets y. Nodes and visits are those of the batch's tree; a reward above ``correct_above`` is right.

Differs
    ``search`` grows one tree as the authors do: UCT with c = 2, and all terminal siblings scored as soon as they appear, so that there are more
    visits than rollouts. Their early stop (24 rollouts without a change at the root) and the pairwise labels are left out. Trees whose root lies
    outside +-0.7 are not used for training: ``kept_pknt`` says so.

Evidence
    Abstract read; code read and run.

Traps
    - It is a value model for search at inference, not a training signal of the policy.
    - The labels are visit-weighted: search visits good branches more, so a root's value flatters the policy.
    - The code's default loss feeds targets beyond [0, 1] to a binary cross-entropy, which then has no minimum.

Run
    python -m reproductions run masprm --example
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np

from reproductions.core import Batch, Credit, Example, Floats, Method, Traits, Tree

Path = tuple[int, ...]


def uct(q: float, parent_visits: int, visits: int, c: float = 2.0) -> float:
    """The score by which search descends."""
    return q + c * sqrt(log(max(parent_visits, 1)) / max(visits, 1))


def search(
    correct: Callable[[Path], bool], agents: int, candidates: int = 4, rollouts: int = 32, c: float = 2.0, seed: int = 0
) -> dict[Path, tuple[float, int]]:
    """One tree, a level per agent: ``{path: (sum of returns, visits)}``, the root being ``()``.

    ``correct(path)`` judges a complete path of ``agents`` candidate numbers.
    """
    rng = np.random.default_rng(seed)
    found: dict[Path, tuple[float, int]] = {(): (0.0, 0)}

    def back_up(path: Path) -> None:
        value = 1.0 if correct(path) else -1.0
        for length in range(len(path) + 1):
            total, visits = found[path[:length]]
            found[path[:length]] = (total + value, visits + 1)

    def score(parent: Path, child: Path) -> float:
        total, visits = found[child]
        return uct(total / max(visits, 1), found[parent][1], visits, c)

    for _ in range(rollouts):
        path: Path = ()
        while len(path) < agents:
            children = [(*path, choice) for choice in range(candidates)]
            if children[0] in found:
                unvisited = [child for child in children if not found[child][1]]
                node = path
                path = (
                    unvisited[rng.integers(len(unvisited))]
                    if unvisited
                    else max(children, key=lambda child: score(node, child))
                )
                continue
            found |= dict.fromkeys(children, (0.0, 0))
            if len(path) == agents - 1:
                for child in children:
                    back_up(child)
                break
            path = children[rng.integers(len(children))]
        else:
            back_up(path)
    return found


def label(q: Floats) -> Floats:
    """y: a node's mean return, within +-1."""
    return np.clip(q, -1.0, 1.0)


def target(y: Floats, limit: float = 0.95) -> Floats:
    """z = atanh(y), y kept within +-limit; the trained model's value is tanh of its output."""
    return np.arctanh(np.clip(y, -limit, limit))


def assign(batch: Batch, *, correct_above: float = 0.5, limit: float = 0.95, root_limit: float = 0.7) -> Credit:
    """Labels y in place of advantages; the targets z are the diagnostic ``target_pknt``."""
    tree = Tree.of(batch)
    outcome_pk = np.where(batch.need("reward_pk") > correct_above, 1.0, -1.0)
    y = tree.spread(label(tree.mean_below_u(batch, outcome_pk)))
    root_p1 = batch.group("pk", same="p").mean(outcome_pk)
    kept_pknt = batch.acted_pknt & (np.abs(root_p1) <= root_limit)[:, :, None, None]
    return Credit(y, kept_pknt, diagnostics={"target_pknt": target(y, limit), "root_p": root_p1[:, 0]})


def example() -> Example:
    """Two agents, two candidates each; only the path through the first's second and the second's first candidate is wrong."""
    first, second = [0, 0, 1, 1], [2, 3, 4, 5]
    batch = Batch.of(reward_pk=[[1, 1, 0, 1]], node_pknt=np.stack([first, second], axis=1)[None, :, :, None])
    return Example(batch, source="by hand: 1 and 1, 0 and -1")


METHOD = Method(
    name="masprm",
    title="MASPRM: value labels of agent steps from search",
    assign=assign,
    paper="2510.24803",
    formula=(
        r"q_u = \frac{1}{N_u} \sum_{visits} \pm 1, \quad y_u = \mathrm{clip}(q_u, -1, 1), \quad "
        r"z_u = \operatorname{atanh}(\mathrm{clip}(y_u, \pm 0.95)), \quad "
        r"UCT = q + c \sqrt{\frac{\log N_{parent}}{N}}"
    ),
    evidence=("abstract", "code", "run"),
    requires=("reward_pk", "node_pknt"),
    traits=Traits(
        granularity="node",
        group="none",
        extra_rollouts="up to 32 search rollouts per question",
        flags=frozenset({"multi_agent", "tree_sampling", "value_labels"}),
    ),
    example=example,
)

r"""GiGPO: the trajectory against its task's trajectories, plus each step against steps taken from the same state.

As printed
    GiGPO (2505.10978, section 4): A = A^E + omega A^S. A^E is the trajectory's return R less the mean over the N trajectories of
    the task, over F_norm. A^S is the discounted return-to-go R_t of a step (gamma 0.95), less the mean over all steps that start
    from the same anchor state in that task, over F_norm. F_norm is the standard deviation or the constant 1.

As computed
    The same, with F_norm = 1 by default (``mean_only``) and omega 1. A state that recurs inside a trajectory is in the step
    group several times; a state seen once gives A^S = 0. The anchor is the state itself, or like texts (``anchor="similar"``),
    or clusters of state vectors (``anchor="clustered"``).

Differs
    The released code (up to f56e190) takes the mean and deviation of the episode part over *steps*, so that long trajectories
    count more, and gives a group of one its raw return: preset ``authors_code``. Deviations there are ddof 1 plus 1e-6.
    ``paper_std`` and ``authors_code_std`` are the two with the division. ALFWorld and Search scripts divide, WebShop and Sokoban
    do not.

Evidence
    Section 4 read in a transcription; the authors' code run. The appendix on bias was not read.

Traps
    - The two levels are trajectory and step. There is no token level: all tokens of a step get its number.
    - The step part compares returns-to-go, not immediate rewards.
    - With F_norm = 1 the paper speaks of leave-one-out; the number is (N - 1) / N of the leave-one-out advantage.
    - Similarity grouping is first fit against each group's founder, so that it depends on the order of steps.

Run
    python -m reproductions run gigpo --example
"""

from __future__ import annotations

from typing import Literal

from reproductions.anchors import clustered_anchors, exact_anchors, similar_anchors
from reproductions.core import (
    Batch,
    Credit,
    Example,
    Floats,
    Ints,
    Method,
    ParameterError,
    SingletonRule,
    Traits,
    normalise,
)
from reproductions.methods.reinforce import returns_to_go

Anchor = Literal["exact", "similar", "clustered"]


def anchors(batch: Batch, anchor: Anchor, threshold: float = 0.95, distance: float = 0.1, within: str = "p") -> Ints:
    """Keys ``[p, k, n, t]`` of the step groups; tasks never share one, nor do agents or turns if ``within`` names them."""
    if anchor == "exact":
        return exact_anchors(batch, within)
    if anchor == "similar":
        return similar_anchors(batch, within, threshold)
    if anchor == "clustered":
        return clustered_anchors(batch, within, distance)
    raise ParameterError(f"no anchor {anchor!r}", "exact, similar or clustered")


def episode_advantage(
    batch: Batch, mean_only: bool, eps: float, per_step: bool, singleton: SingletonRule, ddof: int = 1
) -> Floats:
    """``[p, k, n, t]``: the trajectory's part; its statistics count a trajectory once, or once ``per_step``."""
    stream = batch.reward_stream_pknt()
    return_pk = batch.group("pknt", same="pk").total(stream)[:, :, 0, 0]
    if per_step:
        groups, value = batch.group("pknt", same="p"), batch.spread(return_pk, "pk")
        return normalise(value, groups, mean_only=mean_only, ddof=ddof, eps=eps, singleton=singleton)
    groups = batch.group("pk", same="p")
    found = normalise(return_pk, groups, mean_only=mean_only, ddof=ddof, eps=eps, singleton=singleton)
    return batch.spread(found, "pk")


def step_advantage(batch: Batch, key_pknt: Ints, gamma: float, mean_only: bool, eps: float, ddof: int = 1) -> Floats:
    """``[p, k, n, t]``: each step's discounted return-to-go against those of its anchor."""
    groups = batch.group_by(key_pknt)
    return normalise(returns_to_go(batch, gamma), groups, mean_only=mean_only, ddof=ddof, eps=eps)


def assign(
    batch: Batch,
    *,
    omega: float = 1.0,
    gamma: float = 0.95,
    mean_only: bool = True,
    eps: float = 0.0,
    per_step: bool = False,
    singleton: SingletonRule = "zero",
    anchor: Anchor = "exact",
    threshold: float = 0.95,
    distance: float = 0.1,
) -> Credit:
    """Both parts added; ``threshold`` and ``distance`` are for the anchors that are not exact."""
    episode = episode_advantage(batch, mean_only, eps, per_step, singleton)
    step = step_advantage(batch, anchors(batch, anchor, threshold, distance), gamma, mean_only, eps)
    return Credit(episode + omega * step, diagnostics={"episode_pknt": episode, "step_pknt": step})


def example() -> Example:
    """One task with three trajectories of 3, 2 and 4 steps; the third comes back to its first state."""
    acted = [[[[1, 1, 1, 0]], [[1, 1, 0, 0]], [[1, 1, 1, 1]]]]
    batch = Batch.of(
        reward_pk=[[1, 0, 1]],
        acted_pknt=acted,
        state_pknt=[[[["s0", "s1", "s2", ""]], [["s0", "s1", "", ""]], [["s0", "s3", "s1", "s0"]]]],
    )
    return Example(
        batch,
        source="langfengQ/DrMAS f56e190, compute_gigpo_outcome_advantage without cross steps: 0.54586, 0.65, 0.33333, ...",
    )


METHOD = Method(
    name="gigpo",
    title="Group-in-group policy optimisation: trajectory and anchor-state groups",
    assign=assign,
    paper="2505.10978",
    formula=(
        r"A_{p,k,t} = \frac{R_{p,k} - \mathrm{mean}(R_p)}{F} + \omega \frac{R_t - \mathrm{mean}(R \text{ at } s_t)}{F}, "
        r"\quad R_t = \sum_{l \ge t} \gamma^{l-t} r_l"
    ),
    evidence=("paper", "code", "run"),
    requires=("reward_pk", "state_pknt"),
    optional=("step_reward_pknt", "state_vector_pkntf"),
    signal=("reward_pk", "step_reward_pknt"),
    traits=Traits(granularity="action", group="same prompt, and same anchor state"),
    claims=frozenset({"scale_equivariant"}),
    presets={
        "paper_std": {"mean_only": False, "eps": 1e-6},
        "authors_code": {"per_step": True, "singleton": "raw", "eps": 1e-6},
        "authors_code_std": {"mean_only": False, "per_step": True, "singleton": "raw", "eps": 1e-6},
    },
    example=example,
)

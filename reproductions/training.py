"""Policy-gradient training of the actual agents in a world, with exact values along the way.

Every step plays a batch with the current policies, lets a method assign credit, and moves the logits by Adam. Adam divides by
the size of the gradient, so that a method's normalisation constant decides nothing: what counts is direction and noise. Methods
are compared at an equal *total* cost, so that one that pays for replays takes fewer steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reproductions import metrics
from reproductions.adam import Adam
from reproductions.core import Batch, Bools, Credit, Floats, Ints, ParameterError
from reproductions.worlds.base import Cost, Episodes, Policy, World

Assign = Callable[[Batch], Credit]


@dataclass(frozen=True, slots=True)
class Training:
    """``budget`` is the cost at which training ends, in team rollouts; ``rate`` Adam's step size in logits.

    ``epochs`` updates are made from each batch; with more than one the ratio to the policy that played enters, and ``clip``
    (low, high) bounds it as in PPO (DAPO's clip-higher has high above low).
    """

    budget: float = 8192.0
    prompts: int = 8
    rollouts: int = 8
    rate: float = 0.05
    epochs: int = 1
    clip: tuple[float, float] | None = None
    call_price: float = 0.1

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.rate <= 0:
            raise ParameterError(f"epochs {self.epochs}, rate {self.rate}", "at least one epoch and a positive rate")


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Exact values of the policies before each step and at the end, what had been spent by then, and the best value there is."""

    value_i: Floats
    episodes_i: Floats
    cost_i: Floats
    best: float
    spent: Cost
    policy: Policy

    def metrics(self) -> dict[str, float]:
        """Relative regret over the cost spent, and as if replays and calls were free; the value at the end, and its part of the way."""
        start, end = float(self.value_i[0]), float(self.value_i[-1])
        return {
            "regret": metrics.regret(self.value_i, self.cost_i, self.best),
            "regret_by_episodes": metrics.regret(self.value_i, self.episodes_i, self.best),
            "final_value": end,
            "gain": (end - start) / (self.best - start) if self.best > start else metrics.UNDEFINED,
        }

    def points(self, most: int = 64) -> dict[str, list[float]]:
        """The curve for plots, thinned to about ``most`` points, first and last kept."""
        kept = np.unique(np.linspace(0, len(self.value_i) - 1, most).round().astype(int))
        columns = {"value": self.value_i, "episodes": self.episodes_i, "cost": self.cost_i}
        return {name: column[kept].tolist() for name, column in columns.items()} | {"best": [self.best]}


def train(
    world: World, assign: Assign, training: Training, rng: np.random.Generator, fields: frozenset[str] = frozenset()
) -> Curve:
    """Train from ``world.start()`` until the budget is spent.

    ``assign(batch)`` gives credit, and may remember earlier batches. ``fields`` are asked of the world in every play; ``drift_p`` among
    them is filled in here: how far the policy has moved since the prompt was last seen.
    """
    policy, drift = world.start(), _Drift()
    asked = fields - {"drift_p"}
    optimiser, spent = Adam(training.rate), Cost()
    points = [(world.value(policy), 0.0, 0.0)]
    while points[-1][2] < training.budget:
        episodes = world.play(rng, training.prompts, training.rollouts, fields=asked, policy=policy)
        credit = assign(episodes.batch if asked == fields else drift.told(episodes, policy))
        spent = spent + episodes.cost
        policy = _updated(policy, episodes, credit, optimiser, training)
        points.append((world.value(policy), spent.episodes, spent.in_episodes(training.call_price)))
    value_i, episodes_i, cost_i = np.array(points).T
    return Curve(value_i, episodes_i, cost_i, world.best_value(), spent, policy)


def _updated(policy: Policy, episodes: Episodes, credit: Credit, optimiser: Adam, training: Training) -> Policy:
    acted = episodes.batch.acted_pknt if credit.kept_pknt is None else credit.kept_pknt
    played = _log_probability(policy, episodes)
    for _ in range(training.epochs):
        ratio = np.exp(_log_probability(policy, episodes) - played)
        weight = ratio * credit.advantage_pknt * ~clipped(ratio, credit.advantage_pknt, training.clip)
        gradient = policy.score_sum(episodes.context_pknt, episodes.action_pknt, weight, acted)
        policy = Policy(policy.logits_nxa + optimiser.step(gradient / max(1, int(episodes.batch.present_pk.sum()))))
    return policy


def clipped(ratio: Floats, advantage: Floats, clip: tuple[float, float] | None) -> Bools:
    """Where the clipped surrogate is flat, so that the action teaches nothing more in this batch."""
    if clip is None:
        return np.zeros(ratio.shape, dtype=bool)
    low, high = clip
    return np.asarray(((advantage > 0) & (ratio > 1.0 + high)) | ((advantage < 0) & (ratio < 1.0 - low)))


def _log_probability(policy: Policy, episodes: Episodes) -> Floats:
    """``[p, k, n, t]``: of the actions taken; 0 where nobody acted."""
    return _log_probability_of(policy, episodes.context_pknt, episodes.action_pknt, episodes.batch.acted_pknt)


def _log_probability_of(policy: Policy, context: Ints, action: Ints, acted: Bools) -> Floats:
    agent = np.arange(context.shape[-2])[:, None]
    chance = policy.probability_nxa[agent, context, action]
    return np.log(np.where(acted, chance, 1.0))


@dataclass(slots=True)
class _Drift:
    """The last actions seen of every prompt that has a name, with their log-probabilities then."""

    seen: dict[Any, tuple[Ints, Ints, Bools, Floats]] = field(default_factory=dict)

    def told(self, episodes: Episodes, policy: Policy) -> Batch:
        """The batch with ``drift_p``: the mean |log-ratio| on the prompt's previous actions, 0 for a new prompt."""
        batch = episodes.batch
        if batch.prompt_id_p is None:
            return batch
        logp = _log_probability(policy, episodes)
        names = batch.prompt_id_p.tolist()
        drift_p = [self._of(name, policy) for name in names]
        for p, name in enumerate(names):
            self.seen[name] = (episodes.context_pknt[p], episodes.action_pknt[p], batch.acted_pknt[p], logp[p])
        return batch.replace(drift_p=drift_p)

    def _of(self, name: Any, policy: Policy) -> float:
        if name not in self.seen:
            return 0.0
        context, action, acted, before = self.seen[name]
        moved = np.abs(_log_probability_of(policy, context, action, acted) - before)
        return float(moved.sum() / max(1, int(acted.sum())))

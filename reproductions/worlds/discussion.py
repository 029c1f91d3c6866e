"""A discussion in which right answers make later answers right: linear, so that every expectation is exact.

Agents answer in order, turn by turn. An answer is right with the quality of the chosen action, plus ``influence`` times what the
others' latest answers are on average above one half. The reward is a weighted sum of right answers, so that the worth of a right answer
is what it pays itself plus what it adds to the answers that see it, and so on: one backward pass, whatever the policies are.

Axis ``q`` is the position in the order of play: agent ``q % n`` answers at turn ``q // n``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from reproductions.core import Bools, Floats, Ints
from reproductions.worlds.base import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Discussion:
    """``pay_q`` is what a right answer at each position pays by itself."""

    agents: int
    influence: float
    pay_q: Floats

    @property
    def positions(self) -> int:
        """The number of answers of an episode."""
        return len(self.pay_q)

    @property
    def worth_q(self) -> Floats:
        """What a right answer adds to the expected reward, by itself and through the answers that see it."""
        worth = self.pay_q.copy()
        for q in range(self.positions - 1, -1, -1):
            # An answer is seen until its agent answers again, beside the latest ones of all others who have spoken.
            for later in range(q + 1, min(q + self.agents, self.positions)):
                worth[q] += self.influence / min(later, self.agents - 1) * worth[later]
        return worth

    def lift(self, latest: Floats, spoken_n: Bools, agent: int) -> Floats:
        """What the others' latest answers ``[..., n]`` add to the quality of an agent's answer; 0 before anybody spoke."""
        others_n = spoken_n & (np.arange(self.agents) != agent)
        if not others_n.any():
            return np.zeros(latest.shape[:-1])
        return np.asarray(self.influence * (latest[..., others_n].mean(axis=-1) - 0.5))

    def expected_reward(
        self, quality_xn: Floats, silent: Collection[int] = (), first: int = 0, latest: Floats | None = None
    ) -> Floats:
        """``[...]``: what positions from ``first`` on pay, with these mean qualities ``[..., n]`` and the latest answers so far.

        Silent agents give no answer. ``latest`` are the answers of all agents, those that have not spoken yet being ignored.
        """
        mean = np.zeros(quality_xn.shape) if latest is None else latest.copy()
        spoken_n, total = np.arange(self.agents) < first, np.zeros(mean.shape[:-1])
        for q in range(first, self.positions):
            agent = q % self.agents
            if agent in silent:
                continue
            mean[..., agent] = quality_xn[..., agent] + self.lift(mean, spoken_n, agent)
            spoken_n[agent] = True
            total = total + self.pay_q[q] * mean[..., agent]
        return np.asarray(total)


@dataclass(frozen=True, slots=True, eq=False)
class Talk:
    """What was said, ``[q, p, k]``: actions, whether answers are right, whether anybody answered."""

    action_qpk: Ints
    correct_qpk: Bools
    answered_qpk: Bools

    def reward_pk(self, discussion: Discussion) -> Floats:
        """The team's reward."""
        return np.asarray(np.einsum("q,qpk->pk", discussion.pay_q, self.correct_qpk))


def talk(
    rng: np.random.Generator,
    discussion: Discussion,
    policy: Policy,
    table_nxa: Floats,
    class_pk: Ints,
    *,
    before: Talk | None = None,
    first: int = 0,
    silent: Collection[int] = (),
    forced: int | None = None,
) -> Talk:
    """An episode, or one that goes on differently after ``before`` from position ``first``; ``forced`` is the action there."""
    shape = (discussion.positions, *class_pk.shape)
    action, correct, answered = np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape, bool)
    latest, spoken_n = np.zeros((*class_pk.shape, discussion.agents)), np.zeros(discussion.agents, dtype=bool)
    if before is not None:
        for array, old in ((action, before.action_qpk), (correct, before.correct_qpk), (answered, before.answered_qpk)):
            array[:first] = old[:first]
        for q in range(first):
            latest[..., q % discussion.agents] = correct[q]
            spoken_n[q % discussion.agents] = True
    for q in range(first, discussion.positions):
        agent = q % discussion.agents
        if agent in silent:
            continue
        replaced = forced is not None and q == first
        action[q] = forced if replaced else policy.draw(rng, agent, class_pk)
        chance = table_nxa[agent][class_pk, action[q]] + discussion.lift(latest, spoken_n, agent)
        correct[q], answered[q], spoken_n[agent] = rng.random(class_pk.shape) < chance, True, True
        latest[..., agent] = correct[q]
    return Talk(action, correct, answered)

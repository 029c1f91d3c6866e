"""A world whose truth fits on one line, for tests of what measures and trains: the team reward is the sum of the agents' payoffs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reproductions.core import Batch, ParameterError
from reproductions.worlds.base import Cost, Episodes, Policy, Truth


@dataclass(frozen=True)
class SmallWorld:
    """One turn. Action a of agent n is worth ``payoff[n][a]``. An agent whose payoffs are all alike is lazy.

    Masked rewards cost a replay per agent. ``fault`` makes ``play`` raise, or end the process, when masked rewards are asked for.
    """

    name: ClassVar[str] = "small"
    supplies: ClassVar[frozenset[str]] = frozenset(
        "reward_pk quality_pkn action_pknt policy_pknta prompt_id_p masked_reward_pkn".split()
    )

    payoff: tuple[tuple[float, ...], ...] = ((0.0, 1.0, 2.0), (3.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    noise: float = 0.5
    fault: str = ""

    def start(self) -> Policy:
        return Policy(np.zeros((len(self.payoff), 1, len(self.payoff[0]))))

    def play(self, rng, prompts, rollouts, *, fields=frozenset(), policy=None) -> Episodes:  # type: ignore[no-untyped-def]
        chosen, payoff = policy or self.start(), np.array(self.payoff)
        agents = len(payoff)
        context = np.zeros((prompts, rollouts, agents, 1), dtype=np.int64)
        action = np.stack([chosen.draw(rng, n, context[:, :, n]) for n in range(agents)], axis=2)
        earned_pkn = payoff[np.arange(agents), action[..., 0]]
        reward = earned_pkn.sum(axis=2) + rng.normal(0.0, self.noise, (prompts, rollouts))
        arrays = {"reward_pk": reward, "quality_pkn": earned_pkn, "action_pknt": action}
        cost = Cost(episodes=float(prompts * rollouts))
        if "masked_reward_pkn" in fields:
            self._fail()
            arrays["masked_reward_pkn"] = reward[..., None] - earned_pkn
            cost += Cost(replays=float(prompts * rollouts * agents))
        batch = Batch.of(**arrays, policy_pknta=chosen.at(context), prompt_id_p=np.arange(prompts))
        above = (payoff - (chosen.probability_nxa[:, 0] * payoff).sum(axis=1, keepdims=True))[
            np.arange(agents), action[..., 0]
        ]
        truth = Truth(
            advantage_pknt=above[..., None],
            shapley_pkn=earned_pkn,
            beta_n=np.ones(agents),
            lazy_n=np.ptp(payoff, axis=1) == 0,
            gradient_nxa=self.gradient(chosen),
        )
        return Episodes(batch, context, action, chosen, truth, cost)

    def value(self, policy: Policy) -> float:
        return float((policy.probability_nxa[:, 0] * np.array(self.payoff)).sum())

    def gradient(self, policy: Policy) -> np.ndarray:
        chance, payoff = policy.probability_nxa[:, 0], np.array(self.payoff)
        return (chance * (payoff - (chance * payoff).sum(axis=1, keepdims=True)))[:, None]

    def best_value(self) -> float:
        return float(np.max(self.payoff, axis=1).sum())

    def _fail(self) -> None:
        if self.fault == "error":
            raise ParameterError("masks are out of stock", "order some")
        if self.fault == "death":
            os._exit(3)

"""Team: one turn, agents with unlike contributions. Does a method's credit tell who earned the reward, and at what price?

Isolates the credit between agents: no time, no order, no text. The team reward is a game of the agents' qualities (``game``: additive,
strong_weak, lazy, bottleneck, redundant, synergy), what the prompt adds (uniform within ``difficulty``, a fixed effect), and noise. With
``outcome`` success the reward is 0 or 1, its chance being difficulty + (1 - 2 difficulty) v(q) + what the prompt adds.

Truth: Shapley, Banzhaf and leave-one-out values of every episode's own game, the coefficients of the reward on quality, the exact gradient.

The dial ``r2`` sets how much of the reward's variance within a prompt the observed qualities explain together, in the best linear
prediction and under the starting policies. ``r2_by`` quality turns the noise in the observed quality (errors in variables: coefficients
shrink; 0 means that the observed quality is noise alone), ``r2_by`` reward turns the noise of the reward (coefficients stay, and
lose precision). Either replaces the noise of that name in the spec.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from reproductions.core import Floats, Ints, ParameterError
from reproductions.worlds.base import Policy
from reproductions.worlds.one_turn import OneTurn
from reproductions.worlds.one_turn_exact import Case, Exact


@dataclass(frozen=True, kw_only=True)
class Team(OneTurn):
    """``reward_noise`` is a standard deviation. The rest: the module's docstring and ``OneTurn``."""

    name: ClassVar[str] = "team"

    outcome: Literal["graded", "success"] = "graded"
    difficulty: float = 0.2
    reward_noise: float = 0.1
    r2: float | None = None
    r2_by: Literal["quality", "reward"] = "quality"

    def __post_init__(self) -> None:
        self._check_dials()
        super().__post_init__()
        if self.pays_success:
            self.check_chances()
        if self.r2 is not None:
            self.observation  # noqa: B018 - a dial that cannot be set is refused here

    def kinds(self) -> tuple[Case, ...]:
        everyone = (1,) * self.agents
        if self.pays_success:
            return (Case(1.0, self.difficulty, 1.0 - 2.0 * self.difficulty, 0.0, everyone),)
        return (Case(1.0, 0.0, 1.0, self._noise_of_reward, everyone),)

    def draw_kinds(self, rng: np.random.Generator, uniform_p: Floats, rollouts: int) -> Ints:
        return np.zeros((len(uniform_p), rollouts), dtype=np.int64)

    @property
    def spread_of_prompts(self) -> float:
        return self.difficulty

    @property
    def pays_success(self) -> bool:
        return self.outcome == "success"

    @cached_property
    def observation(self) -> tuple[float, float]:
        if self.r2 is None or self.r2_by == "reward":
            return 1.0, self.quality_noise
        if self.r2 == 0:
            return 0.0, max(self.quality_noise, 1.0)
        return 1.0, self._noise_for(self.r2)

    def r_squared(self, policy: Policy | None = None) -> float:
        """The share of the reward's variance within a prompt that the observed qualities explain, in the population."""
        gain, deviation = self.observation
        variance = self._variance(policy)
        return self._explained(deviation, self._moments(policy)) / variance if gain and variance else 0.0

    @cached_property
    def _of_the_game(self) -> Exact:
        """The game without noise, which sets the noise."""
        scale = 1.0 - 2.0 * self.difficulty if self.pays_success else 1.0
        return Exact(self.rules, self.table_nxa, self.masked, (Case(1.0, 0.0, scale, 0.0, (1,) * self.agents),))

    def _moments(self, policy: Policy | None = None) -> tuple[Floats, Floats]:
        """``[n]``: covariance of each agent's true quality with the reward, and its variance, within a prompt."""
        game, policy = self._of_the_game, policy or self.start()
        variance_xn = game.variance_xn(policy)
        return (variance_xn * game.worth_xn(policy)).mean(axis=0), variance_xn.mean(axis=0)

    def _explained(self, deviation: float, moments: tuple[Floats, Floats]) -> float:
        """The variance of the best linear prediction of the reward from qualities observed with this noise.

        The inverse of their covariance, a diagonal plus a constant, by the formula of Sherman and Morrison.
        """
        shared_n, variance_n = moments
        alike, apart = deviation**2 * self.agent_correlation, deviation**2 * (1.0 - self.agent_correlation)
        own_n = variance_n + apart
        varied = own_n > 0
        weight_n = shared_n[varied] / own_n[varied]
        without = float(shared_n[varied] @ weight_n)
        if not varied.all() or not alike:
            # An agent whose observed quality is nothing but the noise of all gives that noise away.
            return without
        return without - float(weight_n.sum()) ** 2 / (1.0 / alike + float((1.0 / own_n).sum()))

    def _variance_of_game(self, policy: Policy | None = None) -> float:
        game, policy = self._of_the_game, policy or self.start()
        rows = zip(game.mean_quality_xn(policy), game.variance_xn(policy), strict=True)
        scale = game.cases[0].scale
        return float(np.mean([scale**2 * self.rules.variance(mean_n, variance_n) for mean_n, variance_n in rows]))

    def _variance(self, policy: Policy | None = None) -> float:
        """Of the reward within a prompt."""
        if not self.pays_success:
            return self._variance_of_game(policy) + self._noise_of_reward**2
        chance_x = self.difficulty + self._of_the_game.value_x(policy or self.start())
        between_prompts = self.difficulty**2 / 3.0 * (1.0 - 1.0 / self.pool**2 if self.pool else 1.0)
        return float((chance_x * (1.0 - chance_x)).mean() - between_prompts)

    @cached_property
    def _noise_of_reward(self) -> float:
        if self.r2 is None or self.r2_by == "quality":
            return self.reward_noise
        explained, of_game = self._explained(self.quality_noise, self._moments()), self._variance_of_game()
        self._check_reach(explained / of_game if of_game else 0.0)
        return float(np.sqrt(max(explained / self.r2 - of_game, 0.0)))

    def _noise_for(self, r2: float) -> float:
        """The deviation of the quality's noise with which the observed qualities explain ``r2``, by bisection."""
        variance, moments = self._variance(), self._moments()
        reach = self._explained(0.0, moments) / variance if variance else 0.0
        self._check_reach(reach)
        if r2 >= reach:
            return 0.0
        low, high = 0.0, 1.0
        while (least := self._explained(high, moments) / variance) > r2:
            if high > 1e9:
                raise ParameterError(
                    f"{self.name}: noise that all agents share cancels between them: r2 stays above {least:.4f}",
                    "lower agent_correlation",
                )
            high *= 2.0
        while high - low > 1e-15 * high:
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            low, high = (middle, high) if self._explained(middle, moments) / variance > r2 else (low, middle)
        return high

    def _check_reach(self, reach: float) -> None:
        if self.r2 is not None and self.r2 > reach * (1.0 + 1e-9):
            raise ParameterError(
                f"{self.name}: no {self.r2_by} noise makes r2 {self.r2}: {reach:.4f} is what is reached without it",
                "lower r2, lower the other noise, or take a game nearer to additive",
            )

    def _check_dials(self) -> None:
        if self.difficulty < 0 or self.reward_noise < 0:
            raise ParameterError(f"{self.name}: difficulty and reward_noise are 0 or more")
        if self.pays_success and self.difficulty > 0.5:
            raise ParameterError(f"{self.name}: difficulty is {self.difficulty}", "up to 0.5 where rewards are 0 and 1")
        if self.r2 is not None and not 0 <= self.r2 <= 1:
            raise ParameterError(f"{self.name}: r2 is {self.r2}", "a share of variance, 0 to 1")
        if self.r2_by == "reward" and self.r2 is not None:
            if self.pays_success:
                raise ParameterError(f"{self.name}: rewards of 0 and 1 have no noise to turn", "r2_by='quality'")
            if self.r2 == 0:
                raise ParameterError(
                    f"{self.name}: r2 0 would need endless noise of the reward", "r2_by='quality', or r2 above 0"
                )

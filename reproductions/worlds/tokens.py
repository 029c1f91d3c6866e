"""Outputs of very different length: whose tokens does the loss hear?

Isolates the token side of the loss. It is a team (``team``) whose agents write outputs of their own lengths, 100 tokens against 500 by
default. ``stretch`` makes good outputs longer (or shorter, if negative) than bad ones. An output's choice falls at one of its tokens,
so that the gradient of its log-probability, and its log-ratio, are those of the choice, and the loss counts both with the weight
of that token, whatever the length.

Truth: the gradient of the expected reward is the mean over rollouts of score times advantage, so that every token of a rollout should
weigh 1 / rollouts, in long outputs as in short ones. An aggregation is right as far as its weights are proportional to that.

    length_pknt      tokens of each output, log-normal around the agent's mean with ``length_spread``
    kl_pknt          log-ratio to the starting policies: that of the choice, plus ``token_kl`` nats a token with the spread that a
                     Gaussian log-ratio of this mean has
    log_ratio_pknt   against a learner whose logits have moved by ``moved`` (deviation) since the episode; ``drift_p`` is the same for
                     the prompt's episode before

For exploration under a clip: ``best_starts`` gives an agent a good action that it hardly ever takes, a strong_weak game little weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from reproductions.core import AnyArray, Floats, Ints, ParameterError
from reproductions.worlds.base import Episodes, Policy
from reproductions.worlds.checks import per_agent
from reproductions.worlds.on_request import Filler, check_fields, filled, for_nothing, stream
from reproductions.worlds.output_length import draw_lengths
from reproductions.worlds.team import Team


@dataclass(frozen=True, kw_only=True)
class Tokens(Team):
    """``lengths`` is one number per agent, or one for all, and so is ``best_starts`` (None: ``best_start``). The rest: ``Team``."""

    name: ClassVar[str] = "tokens"

    lengths: tuple[float, ...] = (100.0, 500.0)
    length_spread: float = 0.3
    stretch: float = 0.0
    token_kl: float = 0.001
    moved: float = 0.1
    best_starts: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if per_agent(self.lengths, self.agents).min() < 1.0 or self.stretch <= -1.0:
            raise ParameterError(
                f"tokens: lengths are {self.lengths}, stretch {self.stretch}", "at least 1 token, stretch above -1"
            )
        if min(self.length_spread, self.token_kl, self.moved) < 0.0:
            raise ParameterError("tokens: length_spread, token_kl and moved are 0 or more")
        if self.best_starts is not None:
            chance_n = per_agent(self.best_starts, self.agents)
            if chance_n.min() <= 0.0 or chance_n.max() >= 1.0:
                raise ParameterError(f"tokens: best_starts are {self.best_starts}", "between 0 and 1")
        super().__post_init__()

    @property
    def supplies(self) -> frozenset[str]:
        return super().supplies | FILL.keys() | {"length_pknt"}

    def start(self) -> Policy:
        if self.best_starts is None:
            return super().start()
        chance_n11 = per_agent(self.best_starts, self.agents)[:, None, None]
        best_nxa = self.table_nxa == self.table_nxa.max(axis=-1, keepdims=True)
        return Policy(np.where(best_nxa, np.log(chance_n11 / (1.0 - chance_n11) * (self.actions - 1)), 0.0))

    def play(
        self,
        rng: np.random.Generator,
        prompts: int,
        rollouts: int,
        *,
        fields: frozenset[str] = frozenset(),
        policy: Policy | None = None,
    ) -> Episodes:
        check_fields(self.name, self.supplies, fields)
        own = FILL.keys() | {"length_pknt"}
        played = super().play(rng, prompts, rollouts, fields=fields - own, policy=policy)
        key = int(rng.integers(2**62))
        batch = played.batch.replace(length_pknt=self._lengths(stream(key, "length_pknt"), played))
        weight = batch.acted_pknt / (prompts * rollouts)
        truth = replace(played.truth, token_weight_pknt=weight)
        return filled(self, FILL, replace(played, batch=batch, truth=truth), fields, key)

    def _lengths(self, rng: np.random.Generator, played: Episodes) -> Ints:
        quality_pknt: Floats = played.hidden["setting"].quality_pknt
        mean = per_agent(self.lengths, self.agents)[:, None] * (1.0 + self.stretch * quality_pknt)
        return draw_lengths(rng, mean, self.length_spread, mean.shape)


def log_probability(policy: Policy, played: Episodes) -> Floats:
    """``[p, k, n, t]``: of the choices made."""
    agent = np.arange(played.context_pknt.shape[2])[:, None]
    return np.asarray(np.log(policy.probability_nxa[agent, played.context_pknt, played.action_pknt]))


def _kl(world: Tokens, rng: np.random.Generator, played: Episodes) -> AnyArray:
    choice = log_probability(played.policy, played) - log_probability(world.start(), played)
    # A Gaussian log-ratio of mean m has variance 2 m: the reference over the policy averages to 1 under the policy.
    mean = world.token_kl * played.batch.need("length_pknt")
    return np.asarray(choice + mean + np.sqrt(2.0 * mean) * rng.standard_normal(mean.shape))


def _log_ratio(world: Tokens, rng: np.random.Generator, played: Episodes) -> AnyArray:
    logits = played.policy.logits_nxa
    learner = Policy(logits + world.moved * rng.standard_normal(logits.shape))
    return log_probability(learner, played) - log_probability(played.policy, played)


def _drift(world: Tokens, rng: np.random.Generator, played: Episodes) -> AnyArray:
    return np.asarray(np.abs(_log_ratio(world, rng, played)).mean(axis=(1, 2, 3)))


FILL: Mapping[str, Filler[Tokens]] = for_nothing(
    {"kl_pknt": _kl, "log_ratio_pknt": _log_ratio, "drift_p": _drift},
)

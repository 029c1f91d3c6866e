"""Roles: agents that are called unequally often, in episodes of unlike reward. Whose statistics should divide an agent's advantage?

Isolates Dr.MAS's situation (2602.08847): an episode takes one of several routes, by chance and unseen by the agents. A route has a ``level`` of
reward, a ``noise``, and its own number of ``calls`` of each agent, so that the rewards of an agent's calls have another mean and spread
than those of the team. The team reward is the level, plus a game of the agents' mean quality over their calls, plus what the
prompt adds. An agent that a route does not call has its masked quality.

Every call also pays the agent a reward of its own, free: ``local_mean`` plus ``local_scale`` times true quality with noise. Unlike scales make
mixtures with the team reward unfair, a negative scale misleads. Penalties for misformed calls come on request.

Truth: the exact gradient and the credit of a call; the factor by which team statistics inflate the second moment of an agent's gradient,
(sigma_n^2 + (mu_n - mu)^2) / sigma^2 (its lemma 4.2), and that second moment itself with nothing left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from reproductions.core import Floats, Ints, ParameterError
from reproductions.worlds.base import Policy
from reproductions.worlds.checks import per_agent
from reproductions.worlds.one_turn import OneTurn
from reproductions.worlds.one_turn_exact import Case


@dataclass(frozen=True, slots=True, eq=False)
class Rewards:
    """Mean and variance of a prompt's team rewards: over rollouts ``[x]``, and over the calls of each agent ``[x, n]``."""

    mean_x: Floats
    variance_x: Floats
    mean_xn: Floats
    variance_xn: Floats


@dataclass(frozen=True, kw_only=True)
class Roles(OneTurn):
    """``routes`` are probabilities, ``calls`` the calls by route and agent: as a default the first route calls everybody but the last agent
    once, and every other route calls each agent as often as its place in the team. ``level`` and ``noise`` are by route."""

    name: ClassVar[str] = "roles"

    agents: int = 3
    routes: tuple[float, ...] = (0.7, 0.3)
    calls: tuple[tuple[int, ...], ...] | None = None
    level: tuple[float, ...] = (0.5, 0.0)
    noise: tuple[float, ...] = (0.1, 0.3)
    difficulty: float = 0.2

    def __post_init__(self) -> None:
        number = len(self.routes)
        for what in ("level", "noise", "calls"):
            given = getattr(self, what)
            if given is not None and len(given) != number:
                raise ParameterError(f"roles: {what} has {len(given)} entries for {number} routes", "give one a route")
        if min(self.routes) < 0 or abs(sum(self.routes) - 1.0) > 1e-9 or min(self.noise) < 0 or self.difficulty < 0:
            raise ParameterError("roles: routes are probabilities that add up to 1; noise and difficulty are 0 or more")
        if any(len(calls) != self.agents or min(calls) < 0 for calls in self.calls_of_routes):
            raise ParameterError(
                "roles: calls are a number for each agent in each route", "as ((1, 1, 0), (1, 2, 3)) for two routes"
            )
        calls_cn = np.array(self.calls_of_routes)
        if not calls_cn.any(axis=1).all() or not calls_cn.any(axis=0).all():
            raise ParameterError("roles: a route that calls nobody, or an agent that is never called")
        super().__post_init__()

    @cached_property
    def calls_of_routes(self) -> tuple[tuple[int, ...], ...]:
        """``calls``, or what stands for it."""
        if self.calls is not None:
            return self.calls
        first = (*(1 for _ in range(self.agents - 1)), 0)
        return (first, *(tuple(range(1, self.agents + 1)) for _ in self.routes[1:]))

    @cached_property
    def own_reward(self) -> tuple[Floats, Floats]:
        """As a default unlike for neighbours: means 0, 5, -1 and scales 1, 10, 0.1 in turn."""
        turn_n = np.arange(self.agents) % 3
        mean_n = (
            np.array([0.0, 5.0, -1.0])[turn_n] if self.local_mean is None else per_agent(self.local_mean, self.agents)
        )
        scale_n = (
            np.array([1.0, 10.0, 0.1])[turn_n] if self.local_scale is None else per_agent(self.local_scale, self.agents)
        )
        return mean_n, scale_n

    def kinds(self) -> tuple[Case, ...]:
        rows = zip(self.routes, self.level, self.noise, self.calls_of_routes, strict=True)
        return tuple(Case(chance, level, 1.0, noise, calls) for chance, level, noise, calls in rows)

    def draw_kinds(self, rng: np.random.Generator, uniform_p: Floats, rollouts: int) -> Ints:
        cumulative = np.cumsum(self.routes)[:-1]
        return np.searchsorted(cumulative, rng.random((len(uniform_p), rollouts)), side="right")

    @property
    def spread_of_prompts(self) -> float:
        return self.difficulty

    @property
    def given(self) -> frozenset[str]:
        return frozenset({"local_reward_pknt"})

    def rewards(self, policy: Policy | None = None) -> Rewards:
        """Exact; what the prompt adds is left out, as it is the same for all its rollouts."""
        policy = policy or self.start()
        mean_xn, variance_xn = self.exact.mean_quality_xn(policy), self.exact.variance_xn(policy)
        moments = [
            [_moments(self, case, mean_n, variance_n) for mean_n, variance_n in zip(mean_xn, variance_xn, strict=True)]
            for case in self.exact.cases
        ]
        mean_cx, variance_cx = np.moveaxis(np.array(moments), -1, 0)
        share_c = np.array(self.routes)
        mean_x = share_c @ mean_cx
        variance_x = share_c @ (variance_cx + (mean_cx - mean_x) ** 2)
        weight_cn = share_c[:, None] * np.array(self.calls_of_routes)
        weight_cn = weight_cn / weight_cn.sum(axis=0)
        mean_xn = mean_cx.T @ weight_cn
        around_cxn = variance_cx[..., None] + (mean_cx[..., None] - mean_xn) ** 2
        return Rewards(mean_x, variance_x, mean_xn, np.einsum("cn,cxn->xn", weight_cn, around_cxn))

    def inflation_xn(self, policy: Policy | None = None) -> Floats:
        """Dr.MAS's factor: what team statistics do to the second moment of an agent's gradient, against its own statistics."""
        of = self.rewards(policy)
        return np.asarray((of.variance_xn + (of.mean_xn - of.mean_x[:, None]) ** 2) / of.variance_x[:, None])

    def second_moment_xn(
        self, policy: Policy | None = None, *, statistics: Literal["team", "agent"] = "agent"
    ) -> Floats:
        """E |score|^2 ((R - mu) / sigma)^2 over the calls of an agent, exact.

        The ratio of the two kinds of statistics is the factor where the score's size does not depend on the reward, as under policies that
        take all actions alike; elsewhere the lemma has a residual term.
        """
        policy, of = policy or self.start(), self.rewards(policy)
        if statistics == "team":
            centre_xn = np.repeat(of.mean_x[:, None], self.agents, axis=1)
            variance_xn = np.repeat(of.variance_x[:, None], self.agents, axis=1)
        else:
            centre_xn, variance_xn = of.mean_xn, of.variance_xn
        moment_xn = np.zeros(centre_xn.shape)
        for x, n in np.ndindex(moment_xn.shape):
            moment_xn[x, n] = self._second_moment(policy, x, n, float(centre_xn[x, n])) / variance_xn[x, n]
        return moment_xn

    def _second_moment(self, policy: Policy, x: int, n: int, centre: float) -> float:
        """E |score|^2 (R - centre)^2 over the calls of agent n in context x."""
        chance_a, quality_a = policy.probability_nxa[n, x], self.table_nxa[n, x]
        size_a = (1.0 - chance_a) ** 2 + (chance_a**2).sum() - chance_a**2
        mean_n, variance_n = self.exact.mean_quality_xn(policy)[x], self.exact.variance_xn(policy)[x]
        total = counted = 0.0
        for case in self.exact.cases:
            calls = case.calls[n]
            counted += case.probability * calls
            if not calls:
                continue
            for chance, size, quality in zip(chance_a, size_a, quality_a, strict=True):
                # With one call's quality known, the agent's mean over its calls has another mean and a smaller variance.
                known_mean, known_variance = mean_n.copy(), variance_n.copy()
                known_mean[n] += (quality - mean_n[n]) / calls
                known_variance[n] *= (calls - 1) / calls
                mean, variance = _moments(self, case, known_mean, known_variance)
                total += case.probability * calls * chance * size * (variance + (mean - centre) ** 2)
        return total / counted


def _moments(world: Roles, case: Case, mean_n: Floats, variance_n: Floats) -> tuple[float, float]:
    """Mean and variance of the reward in a case, from those of the quality of a call."""
    calls_n = np.array(case.calls)
    of_mean_n = np.where(calls_n > 0, variance_n / np.maximum(calls_n, 1), 0.0)
    in_case_n = world.exact.in_case(case, mean_n)
    variance = case.scale**2 * world.rules.variance(in_case_n, of_mean_n) + case.noise**2
    return case.offset + case.scale * float(world.rules.value(in_case_n)), variance

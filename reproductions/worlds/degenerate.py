"""Degenerate: rewards of 0 and 1, and prompts on which everybody is right, or wrong, whatever they do.

Isolates what a group says when its rewards are all equal: dynamic sampling (DAPO) throws such prompts away, normalisation turns them
into zeros, trackers (SPO) and batch-wide statistics do neither. A share ``solved`` of the prompts always pays 1, a share ``hopeless``
always 0. On the others the chance of success is (1 - stratum_effect) v(q) + stratum_effect times the rollout's stratum, from 0 to 1 in
equal steps.

A stratum is a property of the rollout's structure, as its number of searches. With ``stratum_by`` chance it is luck that tells of the
reward and nothing of the actions, which is what stratified groups are for; with ``action`` it is the first agent's action itself, and
comparing within strata removes what that agent should learn.

Truth: the exact gradient, of which only the mixed prompts have a part; every episode's Shapley values, 0 on the others; the share of
groups that are all equal, those included that are so by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from reproductions.core import Floats, Ints, ParameterError
from reproductions.worlds.base import Cost, Episodes, Policy
from reproductions.worlds.on_request import Filler
from reproductions.worlds.one_turn import OneTurn
from reproductions.worlds.one_turn_draws import setting_of
from reproductions.worlds.one_turn_exact import Case

SOLVED, HOPELESS, MIXED = range(3)


@dataclass(frozen=True, kw_only=True)
class Degenerate(OneTurn):
    """See the module's docstring and ``OneTurn``."""

    name: ClassVar[str] = "degenerate"

    solved: float = 0.3
    hopeless: float = 0.3
    strata: int = 3
    stratum_effect: float = 0.3
    stratum_by: Literal["chance", "action"] = "chance"

    def __post_init__(self) -> None:
        if min(self.solved, self.hopeless) < 0 or self.solved + self.hopeless > 1:
            raise ParameterError(
                f"degenerate: shares {self.solved} and {self.hopeless}", "two shares, at most 1 together"
            )
        if self.strata < 1 or not 0 <= self.stratum_effect <= 1:
            raise ParameterError(
                f"degenerate: {self.strata} strata with effect {self.stratum_effect}", "at least one, and 0 to 1"
            )
        if self.pool:
            self._check_pool()
        super().__post_init__()
        self.check_chances()

    def kinds(self) -> tuple[Case, ...]:
        """Kind of prompt by stratum, in this order."""
        share = {SOLVED: self.solved, HOPELESS: self.hopeless, MIXED: 1.0 - self.solved - self.hopeless}
        offset = {SOLVED: np.ones(self._levels), HOPELESS: np.zeros(self._levels), MIXED: self._effect * self._steps}
        scale = {SOLVED: 0.0, HOPELESS: 0.0, MIXED: 1.0 - self._effect}
        return tuple(
            Case(share[kind] / self._levels, float(offset[kind][level]), scale[kind], 0.0, (1,) * self.agents)
            for kind in (SOLVED, HOPELESS, MIXED)
            for level in range(self._levels)
        )

    def draw_kinds(self, rng: np.random.Generator, uniform_p: Floats, rollouts: int) -> Ints:
        kind_p = np.searchsorted([self.solved, self.solved + self.hopeless], uniform_p, side="right")
        level_pk = rng.integers(self._levels, size=(len(uniform_p), rollouts))
        return np.asarray(kind_p[:, None] * self._levels + level_pk)

    @property
    def pays_success(self) -> bool:
        return True

    @property
    def fillers(self) -> Mapping[str, Filler[Any]]:
        return {**super().fillers, "stratum_pk": _stratum}

    @property
    def given(self) -> frozenset[str]:
        return frozenset({"stratum_pk"})

    @property
    def levels(self) -> int:
        """The number of strata that chance draws."""
        return self._levels

    def equal_groups(self, rollouts: int, policy: Policy | None = None) -> float:
        """The share of prompts whose rewards are all equal, exact: the degenerate ones, and mixed ones by luck."""
        mixed = self.exact.cases[MIXED * self._levels :]
        mean_xn = self.exact.mean_quality_xn(policy or self.start())
        chance_x = np.mean([case.offset + case.scale * self.rules.value(mean_xn) for case in mixed], axis=0)
        by_luck = float((chance_x**rollouts + (1.0 - chance_x) ** rollouts).mean())
        degenerate = self.solved + self.hopeless
        return degenerate + (1.0 - degenerate) * by_luck

    @property
    def _levels(self) -> int:
        return self.strata if self.stratum_by == "chance" else 1

    @property
    def _effect(self) -> float:
        return self.stratum_effect if self._levels > 1 else 0.0

    @property
    def _steps(self) -> Floats:
        return np.linspace(0.0, 1.0, self._levels)

    def _check_pool(self) -> None:
        for share in (self.solved, self.hopeless):
            if abs(share * self.pool - round(share * self.pool)) > 1e-9:
                raise ParameterError(
                    f"degenerate: {share} of a pool of {self.pool} is no whole number", "choose another pool"
                )
        if self.classes > 1:
            raise ParameterError("degenerate: a pool has one class of prompts", "leave classes at 1, or pool at 0")


def _stratum(world: Degenerate, rng: np.random.Generator, episodes: Episodes) -> tuple[Ints, Cost]:
    if world.stratum_by == "action":
        return episodes.action_pknt[:, :, 0, 0], Cost()
    return setting_of(episodes).case_pk % world.levels, Cost()

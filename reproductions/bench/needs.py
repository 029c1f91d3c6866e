"""Which fields a method needs in a world, found by asking it, and what a prompt with these fields costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reproductions.bench.fitted import FITTED, PROMPTS
from reproductions.bench.token_loss import LOSSES
from reproductions.core import BatchError, Method, MissingField
from reproductions.worlds.base import Cost, Episodes, World

# Fields that are read when they are there and mean nothing alone: asked for together with their companion.
_COMPANIONS = {"value_pknt": "final_value_pkn"}
_PROBE_PROMPTS = 8
_PROBE_SEED = 20260412


@dataclass(frozen=True, slots=True)
class Need:
    """Fields to ask a world for and what a probe with them cost; or what the world ``lacks``.

    That is the name of a field, or else what the method asks to be done with one, as with rewards outside 0..1.
    """

    fields: frozenset[str] = frozenset()
    probe_cost: Cost = field(default_factory=Cost)
    lacks: str | None = None

    def price(self, call_price: float) -> float:
        """The cost of one prompt in team rollouts. Exact where all prompts cost the same, else the mean of a few."""
        return self.probe_cost.in_episodes(call_price) / _PROBE_PROMPTS


class Probe:
    """Plays a few prompts of a world to see what methods read and what it costs; one for all seeds, from a stream of its own."""

    def __init__(self, world: World, rollouts: int) -> None:
        self.world = world
        self._rollouts = rollouts
        self._played: dict[frozenset[str], Episodes] = {}
        self._fitted: dict[str, dict[str, Any]] = {}
        self._needs: dict[tuple[str, str, str], Need] = {}

    def free_price(self, call_price: float) -> float:
        """The cost of one prompt without any field that is paid for."""
        return Need(probe_cost=self._play(frozenset()).cost).price(call_price)

    def need(self, method: Method, preset: str, parameters: Mapping[str, Any]) -> Need:
        """What a method with this preset reads here: its required fields, and whatever else it then says it misses."""
        key = (method.name, preset, repr(sorted(parameters.items())))
        if key not in self._needs:
            self._needs[key] = self._found(method, preset, parameters)
        return self._needs[key]

    def fitted(self, method: Method, fields: frozenset[str]) -> dict[str, Any]:
        """Parameters that are trained beforehand on episodes of their own; empty for most methods."""
        if method.name not in self._fitted:
            train = FITTED.get(method.name)
            rng = np.random.default_rng([_PROBE_SEED, 1])
            batch = self.world.play(rng, PROMPTS, self._rollouts, fields=fields).batch if train else None
            self._fitted[method.name] = train(batch) if train and batch else {}
        return self._fitted[method.name]

    def _found(self, method: Method, preset: str, parameters: Mapping[str, Any]) -> Need:
        supplied = self.world.supplies
        fields = set(method.requires)
        if method.name in LOSSES and self._play(frozenset()).truth.token_weight_pknt is not None:
            fields |= {"length_pknt"} & supplied
        while True:
            missing = sorted(fields - supplied)
            if missing:
                return Need(lacks=missing[0])
            fields |= {second for first, second in _COMPANIONS.items() if first in fields and second in supplied}
            asked = frozenset(fields)
            try:
                method.run(self._play(asked).batch, preset, **parameters)
            except MissingField as error:
                if error.field in fields:
                    raise
                fields.add(error.field)
            except BatchError as error:
                return Need(lacks=error.hint or str(error))
            else:
                return Need(asked, self._play(asked).cost)

    def _play(self, fields: frozenset[str]) -> Episodes:
        if fields not in self._played:
            rng = np.random.default_rng(_PROBE_SEED)
            self._played[fields] = self.world.play(rng, _PROBE_PROMPTS, self._rollouts, fields=fields)
        return self._played[fields]

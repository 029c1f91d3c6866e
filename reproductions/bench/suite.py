"""What a benchmark consists of: situations (a world's spec and how it is measured), methods, seeds; and the cells these make.

A cell is one (method, preset, situation, seed). Its key is a hash of everything that decides its result, so that a finished cell
need not run again, and runs again when anything of it changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from typing import Any

from reproductions import registry
from reproductions.bench.code import code_hash
from reproductions.core import ParameterError
from reproductions.training import Training
from reproductions.worlds.base import World, spec_of


@dataclass(frozen=True, slots=True)
class Sizes:
    """How credit is measured: ``batches`` independent batches of ``prompts`` times ``rollouts`` episodes.

    ``call_price`` is what a call of a coach or judge costs in team rollouts, for comparison at equal cost (an assumption).
    """

    prompts: int = 32
    rollouts: int = 8
    batches: int = 4
    call_price: float = 0.1


@dataclass(frozen=True)
class Situation:
    """A named world spec (``values`` over the world's defaults) with the way in which it is measured."""

    name: str
    world: str
    values: Mapping[str, Any] = field(default_factory=dict)
    task: Sizes | Training = field(default_factory=Sizes)

    def build(self) -> World:
        """The world. Raises ParameterError for an unknown name or a spec that the world refuses."""
        world: World = world_type(self.world)(**self.values)
        return world

    @cached_property
    def supplies(self) -> frozenset[str]:
        """The batch fields that the world can fill."""
        return frozenset(self.build().supplies)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """All values of the spec, defaults included, as JSON gives them back."""
        plain: dict[str, Any] = json.loads(json.dumps(spec_of(self.build())))
        return plain


@dataclass(frozen=True)
class Entry:
    """A method with a preset, and parameters that differ from it."""

    method: str
    preset: str = "paper"
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One thing to run."""

    suite: str
    entry: Entry
    situation: Situation
    seed: int

    @cached_property
    def code(self) -> str:
        """The hash of the code that computes it: the method, the world, and what measures."""
        world = world_type(self.situation.world).__module__
        return code_hash(registry.module_of(self.entry.method).__name__, world, "reproductions.bench.measure")

    @cached_property
    def key(self) -> str:
        """Sixteen hex digits over everything that decides the result. The name of the suite does not."""
        inputs = {
            "method": asdict(self.entry),
            "parameters": registry.get(self.entry.method).parameters(self.entry.preset),
            "spec": self.situation.spec,
            "task": {type(self.situation.task).__name__: asdict(self.situation.task)},
            "seed": self.seed,
            "code": self.code,
        }
        text = json.dumps(inputs, sort_keys=True, ensure_ascii=False, default=repr)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Suite:
    """Situations times entries times seeds, and the question that it is there for, in both languages."""

    name: str
    question: str
    situations: tuple[Situation, ...]
    entries: tuple[Entry, ...]
    seeds: tuple[int, ...]
    question_zh: str = ""

    def __post_init__(self) -> None:
        names = [situation.name for situation in self.situations]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ParameterError(
                f"suite {self.name}: two situations are called {twice[0]!r}", "rows are told apart by it"
            )

    def cells(self) -> list[Cell]:
        """All cells; those of one situation and seed follow each other, since they share the episodes they play.

        A method that reads a field which the world cannot supply has one cell there, of the first seed, that says so. Raises
        ParameterError for a world that is not known or refuses its spec.
        """
        supplied = {situation.name: situation.supplies for situation in self.situations}
        return [
            Cell(self.name, entry, situation, seed)
            for seed in self.seeds
            for situation in self.situations
            for entry in self.entries
            if seed == self.seeds[0] or set(registry.get(entry.method).requires) <= supplied[situation.name]
        ]

    def narrowed(self, methods: Sequence[str] = (), situations: Sequence[str] = (), seeds: int | None = None) -> Suite:
        """The suite with these methods (all their presets in it), situations or worlds, and the first seeds only.

        Raises ParameterError for a name that the suite does not have, with near ones.
        """
        known = {name for situation in self.situations for name in (situation.name, situation.world)}
        _all_known(methods, {entry.method for entry in self.entries}, f"suite {self.name}: method")
        _all_known(situations, known, f"suite {self.name}: world")
        if seeds is not None and seeds < 1:
            raise ParameterError(f"{seeds} seeds are none", "give a whole number from 1")
        return replace(
            self,
            entries=tuple(entry for entry in self.entries if not methods or entry.method in methods),
            situations=tuple(
                item for item in self.situations if not situations or {item.name, item.world} & set(situations)
            ),
            seeds=self.seeds if seeds is None else tuple(range(seeds)),
        )


def world_type(name: str) -> Any:
    """The class of a world. Raises ParameterError with near names."""
    known = import_module("reproductions.worlds").WORLDS
    _all_known([name], known, "world")
    return known[name]


def _all_known(names: Sequence[str], known: Any, what: str) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name, list(known), n=3)
            hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(sorted(known))}"
            raise ParameterError(f"{what} {name!r} is not known", hint)

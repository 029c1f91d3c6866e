"""Batch fields that are filled, and paid for, when named. Every field has random numbers of its own, whatever else is asked."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeVar

import numpy as np

from reproductions.core import AnyArray, ParameterError
from reproductions.worlds.base import Cost, Episodes

World = TypeVar("World")
Observer = Callable[[World, np.random.Generator, Episodes], AnyArray]
Filler = Callable[[World, np.random.Generator, Episodes], tuple[AnyArray, Cost]]


def for_nothing(observers: Mapping[str, Observer[World]]) -> dict[str, Filler[World]]:
    """Fillers of what can be seen without paying for it."""

    def of(observer: Observer[World]) -> Filler[World]:
        return lambda world, rng, episodes: (observer(world, rng, episodes), Cost())

    return {name: of(observer) for name, observer in observers.items()}


def check_fields(name: str, supplies: Collection[str], fields: Collection[str]) -> None:
    """Raises ParameterError for a field that a world cannot fill, with the nearest that it can."""
    for field in sorted(set(fields) - set(supplies)):
        near = get_close_matches(field, supplies, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else "it fills " + ", ".join(sorted(supplies))
        raise ParameterError(f"world {name} cannot fill {field!r}", hint)


def stream(key: int, field: str) -> np.random.Generator:
    """The random numbers of one field of one play."""
    return np.random.default_rng([key, zlib.crc32(field.encode())])


def filled(
    world: World, fillers: Mapping[str, Filler[World]], episodes: Episodes, fields: Collection[str], key: int
) -> Episodes:
    """The episodes with those of the fields that there is a filler for, and with their cost."""
    more: dict[str, AnyArray] = {}
    cost = episodes.cost
    for name in sorted(set(fields) & fillers.keys()):
        more[name], spent = fillers[name](world, stream(key, name), episodes)
        cost = cost + spent
    return replace(episodes, batch=episodes.batch.replace(**more), cost=cost) if more else episodes

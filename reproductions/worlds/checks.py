"""Checks of specs that several worlds share."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from reproductions.core import Floats, ParameterError


def at_least(world: Any, **bounds: float) -> None:
    """Raises ParameterError where a field of a spec lies below its bound."""
    for name, bound in bounds.items():
        if getattr(world, name) < bound:
            raise ParameterError(f"{world.name}: {name} is {getattr(world, name)}", f"at least {bound}")


def well_formed(world: Any) -> None:
    """Raises ParameterError where a number of a spec is not finite, or a word is none of those that its field can be."""
    for name, words in _words(type(world)).items():  # type: ignore[arg-type]  # a class is hashable
        word = getattr(world, name)
        if word not in words:
            raise ParameterError(f"{world.name}: {name} is {word!r}", "one of " + ", ".join(words))
    for item in fields(world):
        value = getattr(world, item.name)
        numbers = [number for number in (value if isinstance(value, tuple) else (value,)) if isinstance(number, float)]
        if not np.isfinite(numbers).all():
            raise ParameterError(f"{world.name}: {item.name} is {value}", "give finite numbers")


@cache
def _words(world: type[Any]) -> dict[str, tuple[str, ...]]:
    """The fields of a spec that are one of a few words."""
    hints = get_type_hints(world)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def shares(world: Any, *names: str) -> None:
    """Raises ParameterError where a field of a spec is no number from 0 to 1."""
    for name in names:
        if not 0.0 <= getattr(world, name) <= 1.0:
            raise ParameterError(f"{world.name}: {name} is {getattr(world, name)}", "a share, 0 to 1")


def per_agent(values: tuple[float, ...], agents: int) -> Floats:
    """``[n]``: one number for all, or one each. Raises ParameterError."""
    if len(values) not in (1, agents):
        raise ParameterError(f"{len(values)} numbers for {agents} agents", "give one for all, or one each")
    return np.broadcast_to(np.asarray(values, dtype=np.float64), agents)

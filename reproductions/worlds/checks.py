"""Checks of specs that several worlds share."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.core import Floats, ParameterError


def at_least(world: Any, **bounds: float) -> None:
    """Raises ParameterError where a field of a spec lies below its bound."""
    for name, bound in bounds.items():
        if getattr(world, name) < bound:
            raise ParameterError(f"{world.name}: {name} is {getattr(world, name)}", f"at least {bound}")


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

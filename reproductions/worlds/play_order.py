"""What worlds in which agents act one after another share: the order of play, and who is silent."""

from __future__ import annotations

import numpy as np

from reproductions.core import AnyArray


def by_agent(array_qpk: AnyArray, agents: int) -> AnyArray:
    """``[q, p, k]`` -> ``[p, k, n, t]``, with time as the slowest axis in memory."""
    turns = len(array_qpk) // agents
    array_tnpk = array_qpk.reshape(turns, agents, *array_qpk.shape[1:])
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array_tnpk, 1, -1)), 0, -1)


def outside(members: int, agents: int) -> tuple[int, ...]:
    """The agents whose bits are not set in a coalition."""
    return tuple(agent for agent in range(agents) if not members >> agent & 1)

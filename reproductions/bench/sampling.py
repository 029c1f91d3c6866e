"""Independent batches cut out of one play: prompts are independent, so that any run of them is a batch of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from reproductions.bench.token_loss import token_weight
from reproductions.core import AnyArray, Batch, Credit, Floats, axes_of
from reproductions.worlds.base import Episodes, Truth


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """Episodes of one world, seed and set of fields, cut into batches of ``prompts`` or of as many as equal cost allows."""

    whole: Episodes
    batches: tuple[Episodes, ...]
    batches_at_equal_cost: tuple[Episodes, ...]


def cut(whole: Episodes, batches: int, prompts: int, prompts_at_equal_cost: int) -> Play:
    """Batches from a play of ``batches * max(prompts, prompts_at_equal_cost)`` prompts; ``whole`` keeps those of ``batches``."""
    block = max(prompts, prompts_at_equal_cost)
    starts = [batch * block for batch in range(batches)]
    equal = tuple(part(whole, slice(start, start + prompts)) for start in starts)
    if prompts_at_equal_cost == prompts:
        return Play(whole, equal, equal)
    at_cost = tuple(part(whole, slice(start, start + prompts_at_equal_cost)) for start in starts)
    used = np.concatenate([np.arange(start, start + prompts) for start in starts])
    return Play(whole if block == prompts else part(whole, used), equal, at_cost)


def part(episodes: Episodes, chosen: slice | AnyArray) -> Episodes:
    """The episodes of some prompts. Cost and the world's hidden state stay those of the whole play."""
    # Parts of a checked batch need no second check.
    batch = Batch(**{name: array[chosen] for name, array in episodes.batch.present_fields().items()})
    truth = {item.name: getattr(episodes.truth, item.name) for item in fields(Truth)}
    by_prompt = {name: array[chosen] for name, array in truth.items() if array is not None and axes_of(name)[0] == "p"}
    return replace(
        episodes,
        batch=batch,
        context_pknt=episodes.context_pknt[chosen],
        action_pknt=episodes.action_pknt[chosen],
        truth=Truth(**{**truth, **by_prompt}),
    )


def gradients(method: str, batches: Sequence[Episodes], assigned: Sequence[Credit]) -> Floats:
    """``[b, n, x * a]``: the policy-gradient estimate of every batch with a method's credit, and with its loss where that matters."""
    found = []
    for batch, credit in zip(batches, assigned, strict=True):
        weight = token_weight(method, batch)
        found.append(batch.gradient(credit.advantage_pknt if weight is None else credit.advantage_pknt * weight))
    return np.stack(found).reshape(len(found), found[0].shape[0], -1)

"""A cell's row: one JSON object with everything that is needed to read it alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from platform import python_version
from typing import Any

import numpy as np

from reproductions.bench.fitted import FITTED
from reproductions.bench.suite import Cell
from reproductions.bench.token_loss import LOSSES
from reproductions.core import Method, ReproductionError
from reproductions.registry import get
from reproductions.worlds.base import Cost, spec_hash

Row = dict[str, Any]
# What a method is told that bears on the truth, and that others do not ask for.
_GIVEN = {
    "quality_pkn": "told every output's quality with the world's error; free, but where a coach measures it",
    "local_reward_pknt": "told the agents' own rewards, which the world makes from true quality unless it misleads; free",
    "verifier_score_pknt": "told a verifier's scores, made from true quality; a call each is paid",
    "coach_score_pknt": "told a coach's scores, made from true quality; a call each is paid",
    "peer_share_pknm": "told the peers' shares, made from Shapley values with noise; a call each is paid",
    "tool_valid_pkn": "told how many tool calls were valid, drawn with true quality as chance; free",
    "correct_pknt": "told which answers are right; free",
}


def row_of(
    cell: Cell,
    metrics: Mapping[str, float] | None = None,
    cost: Cost | None = None,
    *,
    share: float = 1.0,
    seconds: float = 0.0,
    error: Exception | None = None,
    lacks: str | None = None,
    curve: Mapping[str, Sequence[float]] | None = None,
) -> Row:
    """The row of a cell that was measured, failed (``error``) or cannot run (``lacks`` names the field).

    ``share`` is the part of ``cost`` that belongs to it. Metrics that are not finite become None.
    """
    spent = cost or Cost()
    row: Row = {
        "suite": cell.suite,
        "method": cell.entry.method,
        "preset": cell.entry.preset,
        "parameters": dict(cell.entry.parameters),
        "world": cell.situation.name,
        "spec": {"world": cell.situation.world, **json.loads(json.dumps(dict(cell.situation.values)))},
        "spec_hash": spec_hash(cell.situation.spec),
        "seed": cell.seed,
        "metrics": {name: value if isfinite(value) else None for name, value in (metrics or {}).items()},
        "cost": {
            "episodes": spent.episodes * share,
            "replays": spent.replays * share,
            "coach_calls": spent.coach_calls * share,
            "seconds": seconds,
        },
        "error": None if error is None else _said(error),
        "lacks": lacks,
        "notes": notes_on(get(cell.entry.method)),
        "inputs_hash": cell.key,
        "code_hash": cell.code,
        "versions": {"python": python_version(), "numpy": np.__version__},
    }
    return row if curve is None else row | {"curve": {name: list(points) for name, points in curve.items()}}


def notes_on(method: Method) -> list[str]:
    """What a reader of a method's numbers should know of how they came about."""
    flags, said = method.traits.flags, []
    if method.traits.critic:
        said.append("the world's critic, its training not paid for")
    said += [note for name, note in _GIVEN.items() if name in method.requires]
    if method.name in FITTED:
        said.append("its network fitted at the starting policies, not paid for")
    if method.name in LOSSES:
        said.append(f"loss where tokens are weighed: {LOSSES[method.name]}")
    if "stateful" in flags:
        said.append("memory carried from batch to batch, empty before the first")
    if "tree_sampling" in flags and "node_pknt" not in method.requires:
        said.append("on independent rollouts, its own way of sampling is not paid for")
    if "value_labels" in flags:
        said.append("value labels read as credit")
    if "reward_model" in flags:
        said.append("push on a reward model's scores read as credit")
    if "trust_region" in flags:
        said.append("the advantage alone, not the bound on the step")
    if method.provisional:
        said.append("provisional formula")
    return said


def _said(error: Exception) -> str:
    text = str(error) if isinstance(error, ReproductionError) else f"{type(error).__name__}: {error}"
    return text.replace("\n", " ")

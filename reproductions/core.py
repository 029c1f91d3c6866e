"""What every method is written with: the batch it reads, the record that describes it, and grouped statistics.

A batch is flat: one row per call, with the ids of its prompt, rollout, agent and turn. Ragged turns, agents that act
several times, and groups of any size need no padding that way. Optional fields are None where a world does not provide
them; ``require`` raises a message that says which field is missing and who provides it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Strings = npt.NDArray[Any]

# What an optional field is, its shape, and where it can be had.
FIELDS: dict[str, tuple[str, str]] = {
    "local_reward_c": ("[call], a reward of the call's own", "worlds chain and roles"),
    "penalty_c": ("[call], subtracted from the row's reward", "world roles"),
    "coach_score_c": ("[call], a process score, 0 to 10", "world process"),
    "quality_rn": ("[rollout, agent], a quality indicator of the agent's work", "worlds team and process"),
    "state_c": ("[call], the state or text the call starts from", "world chain"),
    "value_c": ("[call], a critic's value before the call", "world chain"),
    "solo_reward_r": ("[rollout], the outcome of the solver alone", "world team with replay"),
    "masked_reward_rn": ("[rollout, agent], the outcome with that agent masked", "a world's replay"),
    "tool_reward_rn": ("[rollout, agent], the share of valid tool calls", "world process"),
    "parent_c": ("[call], the row of the call it continues, -1 for a root", "world chain with a tree"),
    "leaf_reward_c": ("[call], the terminal reward of a leaf, NaN inside the tree", "world chain with a tree"),
    "action_c": ("[call], the index of the action taken", "all worlds"),
    "policy_ca": ("[call, action], the policy's probabilities", "all worlds"),
    "q_ca": ("[call, action], a critic's value of each own action, the others' fixed", "world team"),
    "rating_rn": ("[rollout, agent, 2], the split each role states", "world process"),
    "stratum_r": ("[rollout], the stratum, as the number of search calls", "world degenerate"),
    "kl_c": ("[call], the KL estimate to the reference policy per token", "world tokens"),
    "done_c": ("[call], whether the episode ended with this call", "world chain"),
}


class BatchError(ValueError):
    """A batch that cannot be used: wrong shape, NaN, or a field that a method needs and that is not there."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rollouts of several agents, a row per call. Integer ids may be any; they only have to be equal or not.

    ``reward_r`` is indexed by ``rollout_c``; ``prompt_r`` says which prompt a rollout belongs to. ``length_c`` is the
    number of tokens of a call. ``active_c`` False masks a call: it gets 0 and enters no statistic.
    """

    prompt_r: Ints
    reward_r: Floats
    rollout_c: Ints
    agent_c: Ints
    turn_c: Ints
    length_c: Ints
    active_c: npt.NDArray[np.bool_]
    local_reward_c: Floats | None = None
    penalty_c: Floats | None = None
    coach_score_c: Floats | None = None
    quality_rn: Floats | None = None
    state_c: Strings | None = None
    value_c: Floats | None = None
    solo_reward_r: Floats | None = None
    masked_reward_rn: Floats | None = None
    tool_reward_rn: Floats | None = None
    parent_c: Ints | None = None
    leaf_reward_c: Floats | None = None
    action_c: Ints | None = None
    policy_ca: Floats | None = None
    q_ca: Floats | None = None
    rating_rn: Floats | None = None
    stratum_r: Ints | None = None
    kl_c: Floats | None = None
    done_c: npt.NDArray[np.bool_] | None = None

    @classmethod
    def make(
        cls,
        reward_r: Any,
        prompt_r: Any = None,
        rollout_c: Any = None,
        agent_c: Any = None,
        turn_c: Any = None,
        length_c: Any = None,
        active_c: Any = None,
        **optional: Any,
    ) -> Batch:
        """A checked batch of float64. Without ``rollout_c`` every rollout is one call of agent 0.

        Raises BatchError for shapes that do not fit and for rewards that are not finite.
        """
        reward = np.atleast_1d(np.asarray(reward_r, dtype=np.float64))
        prompt = _ints(prompt_r, len(reward), 0)
        rollout = np.arange(len(reward)) if rollout_c is None else np.asarray(rollout_c, dtype=np.int64)
        count = len(rollout)
        batch = cls(
            prompt_r=prompt,
            reward_r=reward,
            rollout_c=rollout.astype(np.int64),
            agent_c=_ints(agent_c, count, 0),
            turn_c=_ints(turn_c, count, 0),
            length_c=_ints(length_c, count, 1),
            active_c=np.ones(count, bool) if active_c is None else np.asarray(active_c, dtype=bool),
            **{name: _optional(name, value) for name, value in optional.items() if value is not None},
        )
        batch.check()
        return batch

    def check(self) -> None:
        """Raise BatchError for anything that would make a statistic silently wrong."""
        if len(self.prompt_r) != len(self.reward_r):
            raise BatchError(f"prompt_r has {len(self.prompt_r)} rollouts, reward_r {len(self.reward_r)}")
        bad = np.flatnonzero(~np.isfinite(self.reward_r))
        if len(bad):
            where = ", ".join(f"prompt {self.prompt_r[r]} rollout {r}" for r in bad[:3])
            raise BatchError(f"the reward is not a finite number at {where}; drop these rollouts or score them first")
        if len(self.rollout_c) and (self.rollout_c.min() < 0 or self.rollout_c.max() >= len(self.reward_r)):
            raise BatchError(f"rollout_c names rollouts outside 0..{len(self.reward_r) - 1}")
        sizes = {"r": len(self.reward_r), "c": len(self.rollout_c)}
        for item in fields(self):
            value = getattr(self, item.name)
            axes = item.name.rpartition("_")[2]
            if value is not None and axes and axes[0] in sizes and len(value) != sizes[axes[0]]:
                raise BatchError(f"{item.name} has length {len(value)}, not {sizes[axes[0]]}")
            if value is not None and value.dtype.kind == "f" and item.name != "leaf_reward_c" and not np.isfinite(value).all():
                raise BatchError(f"{item.name} holds values that are not finite numbers")

    @property
    def prompt_c(self) -> Ints:
        return self.prompt_r[self.rollout_c]

    @property
    def reward_c(self) -> Floats:
        """The team reward of the rollout that each call belongs to."""
        return self.reward_r[self.rollout_c]

    @property
    def agents(self) -> int:
        """The number of agents: one more than the highest agent id."""
        widest = self.quality_rn if self.quality_rn is not None else self.masked_reward_rn
        return max(int(self.agent_c.max()) + 1 if len(self.agent_c) else 0, widest.shape[1] if widest is not None else 0)

    def require(self, name: str, method: str) -> Any:
        """An optional field. Raises BatchError that says what it is, its shape and where it can be had."""
        value = getattr(self, name)
        if value is None:
            what, where = FIELDS[name]
            raise BatchError(f"{method} needs {name} {what}; it is provided by: {where}")
        return value


def _ints(value: Any, count: int, default: int) -> Ints:
    return np.full(count, default, np.int64) if value is None else np.atleast_1d(np.asarray(value)).astype(np.int64)


def _optional(name: str, value: Any) -> Any:
    if name not in FIELDS:
        raise BatchError(f"a batch has no field {name}; it can have {', '.join(FIELDS)}")
    if name in ("parent_c", "action_c", "stratum_r"):
        return np.asarray(value, dtype=np.int64)
    if name == "state_c":
        return np.asarray(value)
    return np.asarray(value, dtype=bool if name == "done_c" else np.float64)


Kind = Literal["advantage", "loss", "label"]
Evidence = Literal["paper", "code", "secondary", "classical", "proposal"]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: inputs and outputs as named columns, ready to be printed. ``source`` says whose numbers they are."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """A method as tables, tests and the benchmark see it.

    ``assign(batch, **parameters)`` returns ``advantage_c`` (float64, 0 for masked calls) for kind ``advantage``.
    ``presets`` name whole sets of parameters (``paper``, ``authors_code``); the first is the default. ``claims`` are
    properties that the tests check on random batches.
    """

    name: str
    title: str
    assign: Callable[..., Any]
    paper: str
    formula: str
    evidence: Evidence
    requires: tuple[str, ...] = ()
    traits: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[str, ...] = ()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"paper": {}})
    kind: Kind = "advantage"
    provisional: bool = False
    example: Callable[[], Example] | None = None

    def run(self, batch: Batch, preset: str | None = None, **parameters: Any) -> Any:
        """``assign`` with a preset's parameters, overridden by those given."""
        chosen = dict(self.presets[preset]) if preset else dict(next(iter(self.presets.values()), {}))
        return self.assign(batch, **{**chosen, **parameters})


# ---------------------------------------------------------------- grouped statistics

SingletonRule = Literal["zero", "raw"]
SpreadRule = Literal["zero", "raw_centred"]


def group_ids(*keys: npt.ArrayLike) -> Ints:
    """One integer per row, equal where all keys are equal, counted from 0 without gaps."""
    columns = [np.unique(np.asarray(key), return_inverse=True)[1].reshape(-1) for key in keys]
    if not columns:
        raise BatchError("rows cannot be grouped without a key")
    combined = columns[0].astype(np.int64)
    for column in columns[1:]:
        combined = combined * (int(column.max(initial=0)) + 1) + column
    return np.unique(combined, return_inverse=True)[1].reshape(-1).astype(np.int64) if len(columns) > 1 else combined


def group_mean(values: Floats, groups: Ints, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """``(mean of each group, number of members)``, weighted where weights are given."""
    count = int(groups.max(initial=-1)) + 1
    weight = np.bincount(groups, weights, minlength=count).astype(np.float64)
    total = np.bincount(groups, values if weights is None else values * weights, minlength=count)
    return np.divide(total, weight, out=np.zeros(count), where=weight > 0), weight


def normalise(
    values: Floats,
    groups: Ints,
    *,
    ddof: int = 1,
    eps: float = 1e-6,
    mean_only: bool = False,
    eps_inside: bool = False,
    singleton: SingletonRule = "zero",
    active: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Values minus their group's mean, over its standard deviation plus ``eps``.

    ``ddof`` 1 is the sample deviation, 0 the population's. ``eps_inside`` puts eps under the root. A group whose
    members are all equal gives 0. A group of one gives 0, or its raw value (``singleton="raw"``, as verl does it: mean 0
    and deviation 1). Inactive rows get 0 and enter no statistic.
    """
    values = np.asarray(values, dtype=np.float64)
    if active is not None and not active.all():
        result = np.zeros(len(values))
        rows = np.flatnonzero(active)
        dense = np.unique(groups[rows], return_inverse=True)[1].reshape(-1).astype(np.int64)
        result[rows] = normalise(
            values[rows], dense, ddof=ddof, eps=eps, mean_only=mean_only, eps_inside=eps_inside, singleton=singleton
        )
        return result
    mean, size = group_mean(values, groups)
    centred = values - mean[groups]
    alone = size == 1
    if mean_only:
        result = centred
    else:
        squares = np.bincount(groups, centred * centred, minlength=len(size))
        variance = np.divide(squares, size - ddof, out=np.zeros(len(size)), where=size > ddof)
        spread = np.sqrt(variance + eps) if eps_inside else np.sqrt(variance) + eps
        # Members that are all equal differ from their mean by rounding alone, and a tiny spread would blow that up.
        flat = variance <= (64 * np.finfo(np.float64).eps * np.maximum(np.abs(mean), 1e-300)) ** 2
        scale = np.divide(1.0, spread, out=np.zeros(len(size)), where=~flat & (spread > 0))
        result = centred * scale[groups]
    if singleton == "raw" and alone.any():
        lone = alone[groups]
        result = np.where(lone, values if mean_only else values / (1.0 + eps), result)
    return result


def leave_one_out(values: Floats, groups: Ints) -> Floats:
    """Values minus the mean of the *other* members of their group; 0 for a group of one."""
    mean, size = group_mean(np.asarray(values, dtype=np.float64), groups)
    factor = np.divide(size, size - 1, out=np.zeros(len(size)), where=size > 1)
    return (values - mean[groups]) * factor[groups]


def whiten(
    values: Floats,
    weights: Floats | None = None,
    *,
    ddof: int = 0,
    eps: float = 1e-8,
    floor: bool = False,
    eps_inside: bool = False,
    active: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Values over the whole batch with mean 0 and spread 1; ``weights`` (as token counts) weigh the statistics.

    ``floor`` clamps the variance at eps instead of adding eps; ``eps_inside`` adds eps to the variance.
    """
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    if active is not None:
        weight = weight * active
    total = weight.sum()
    if total <= ddof:
        return np.zeros(len(values))
    mean = (values * weight).sum() / total
    variance = (weight * (values - mean) ** 2).sum() / (total - ddof)
    if floor:
        spread = np.sqrt(max(variance, eps))
    else:
        spread = np.sqrt(variance + eps) if eps_inside else np.sqrt(variance) + eps
    result: Floats = np.where(weight > 0, (values - mean) / spread, 0.0) if spread > 0 else np.zeros(len(values))
    return result


def masked(advantage_c: Floats, batch: Batch) -> Floats:
    """0 where a call is masked."""
    return advantage_c if batch.active_c.all() else np.where(batch.active_c, advantage_c, 0.0)


def columns_table(columns: Mapping[str, Sequence[Any]]) -> list[list[str]]:
    """Named columns as rows of text, numbers to six places."""
    def show(value: Any) -> str:
        return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)

    length = max((len(column) for column in columns.values()), default=0)
    return [[show(column[row]) if row < len(column) else "" for column in columns.values()] for row in range(length)]

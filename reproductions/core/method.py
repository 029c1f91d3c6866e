"""A method as tests, tables, the benchmark and readers see it: one frozen record beside its function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args

import numpy as np

from reproductions.core.batch import Batch, field_info
from reproductions.core.errors import ParameterError
from reproductions.core.fields import Bools, Floats

Granularity = Literal["rollout", "agent", "step", "action", "token", "node"]
Flag = Literal[
    "multi_agent",
    "process_reward",
    "tree_sampling",
    "group_free",
    "counterfactual",
    "value_decomposition",
    "regression",
    "trust_region",
    "stateful",
    "loss_side",
    "value_labels",
    "reward_model",
]
Evidence = Literal["paper", "abstract", "code", "run", "secondary", "textbook", "own"]
Claim = Literal[
    "zero_sum_over_rollouts",
    "zero_sum_over_actions",
    "zero_sum_in_batch",
    "unit_spread",
    "shift_invariant",
    "scale_invariant",
    "scale_equivariant",
    "zero_when_equal",
    "same_for_the_whole_team",
    "agent_equivariant",
    "efficient",
]


@dataclass(frozen=True, slots=True, eq=False)
class Credit:
    """What a method assigns: ``advantage_pknt``, float64, one number per action, 0 where nobody acted.

    ``kept_pknt`` marks the actions that stay in the loss (None: all that were acted; dynamic sampling drops some).
    ``diagnostics`` holds whatever explains the numbers (a fit's R^2, values, baselines). ``memory`` is what a stateful method
    wants back with the next batch.
    """

    advantage_pknt: Floats
    kept_pknt: Bools | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    memory: Any = None


@dataclass(frozen=True, slots=True)
class Traits:
    """Columns of comparison tables. The vocabulary is described in ``reproductions.methods``."""

    granularity: Granularity
    group: str
    critic: bool = False
    extra_rollouts: str = "none"
    extra_llm_calls: str = "none"
    flags: frozenset[Flag] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A worked example: a batch, how to run it, and the source's own numbers where there are any."""

    batch: Batch
    preset: str = "paper"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """``assign(batch, **parameters) -> Credit`` and everything a reader should know about it.

    The defaults of ``assign`` are the paper's setting, the preset ``paper``. ``presets`` holds the other named settings, each the
    parameters that differ (``authors_code`` where it parts from the paper). ``formula`` is LaTeX of what is computed, ``paper`` an
    arXiv id or a citation. ``requires`` are the batch fields always read, ``optional`` those read when there or when a preset asks;
    ``signal`` those that carry the reward, to which shift and scale claims refer. ``provisional`` is the reason why the formula is
    not certain, empty if it is.
    """

    name: str
    title: str
    assign: Callable[..., Credit]
    paper: str
    formula: str
    evidence: tuple[Evidence, ...]
    requires: tuple[str, ...]
    traits: Traits
    example: Callable[[], Example]
    optional: tuple[str, ...] = ()
    signal: tuple[str, ...] = ("reward_pk",)
    claims: frozenset[Claim] = frozenset()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    provisional: str = ""

    def __post_init__(self) -> None:
        for name in (*self.requires, *self.optional, *self.signal):
            field_info(name)
        for words, vocabulary in ((self.claims, Claim), (self.traits.flags, Flag), (self.evidence, Evidence)):
            for word in words:
                _known(word, get_args(vocabulary), f"{self.name}: word")
        if "paper" in self.presets:
            raise ParameterError(f"{self.name}: the preset paper is the defaults of assign", "move its values there")
        for preset, values in self.presets.items():
            for parameter in values:
                _known(parameter, self.parameters(), f"{self.name}: preset {preset}: parameter")

    def parameters(self, preset: str = "paper") -> dict[str, Any]:
        """All parameters of ``assign`` with their values in a preset."""
        defaults = dict(_defaults(self.assign))
        if preset == "paper":
            return defaults
        _known(preset, ("paper", *self.presets), f"{self.name}: preset")
        return {**defaults, **self.presets[preset]}

    def run(self, batch: Batch, preset: str = "paper", **parameters: Any) -> Credit:
        """Assign credit with a preset, single parameters overridden. Raises MissingField and ParameterError."""
        chosen = self.parameters(preset)
        for name in parameters:
            _known(name, chosen, f"{self.name}: parameter")
        for name in self.requires:
            batch.need(name)
        credit = self.assign(batch, **{**chosen, **parameters})
        if credit.advantage_pknt.shape != batch.shape or not np.isfinite(credit.advantage_pknt).all():
            raise AssertionError(
                f"{self.name} returned advantages of a wrong shape or not finite: a fault of the method"
            )
        return credit


@cache
def _defaults(assign: Callable[..., Credit]) -> Mapping[str, Any]:
    """Kept, since looking at a signature takes as long as a small batch."""
    signature = list(inspect.signature(assign).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in signature}


def _known(word: str, vocabulary: Any, what: str) -> None:
    if word not in vocabulary:
        from difflib import get_close_matches

        near = get_close_matches(word, list(vocabulary), n=2)
        raise ParameterError(
            f"{what} {word!r} is not known", f"did you mean {' or '.join(near)}?" if near else ", ".join(vocabulary)
        )

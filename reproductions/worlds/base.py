"""What every world offers: softmax policies with exact gradients, episodes with their hidden truth, and counted cost.

A world is a frozen dataclass whose fields are its spec. ``play`` draws episodes; the batch inside is all that a method may see.
Everything a world draws follows from the spec and the generator it is given. Fields that cost something (replays, coach calls)
are supplied only when asked for, and the cost comes back with the episodes.

Axis ``x`` is a policy context: what an agent can tell apart when it chooses (a class of prompts, a state of the chain).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from reproductions.core import Batch, Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class Cost:
    """What was spent: fresh episodes, episodes run again for a counterfactual, calls of a coach or judge model.

    Episodes and replays are in units of one whole team rollout, so that a tree whose branches share a beginning, or a replay of
    the last agent alone, counts for what it samples.
    """

    episodes: float = 0.0
    replays: float = 0.0
    coach_calls: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.episodes + other.episodes, self.replays + other.replays, self.coach_calls + other.coach_calls)

    def in_episodes(self, call_price: float = 0.1) -> float:
        """One number to compare methods at: a replay costs an episode, a call ``call_price`` of one (an assumption)."""
        return self.episodes + self.replays + call_price * self.coach_calls


@dataclass(frozen=True, eq=False)
class Policy:
    """A softmax for every agent and context: ``logits_nxa``, -inf for actions that are not open there."""

    logits_nxa: Floats

    @cached_property
    def probability_nxa(self) -> Floats:
        weight = np.exp(self.logits_nxa - self.logits_nxa.max(axis=-1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=-1, keepdims=True))

    def at(self, context_pknt: Ints) -> Floats:
        """Action probabilities ``[p, k, n, t, a]`` in the contexts that the agents met."""
        agent = np.arange(context_pknt.shape[2])[:, None]
        return np.asarray(self.probability_nxa[agent, context_pknt])

    def draw(self, rng: np.random.Generator, agent: int, context: Ints) -> Ints:
        """One action of an agent for every entry of an array of contexts, by inversion of one uniform draw each."""
        cumulative = np.cumsum(self.probability_nxa[agent], axis=-1)
        cumulative[:, -1] = 1.0
        uniform = rng.random(context.shape)
        if len(cumulative) == 1:
            return np.asarray(np.searchsorted(cumulative[0, :-1], uniform, side="right"))
        return np.asarray((uniform[..., None] >= cumulative[context]).sum(axis=-1))

    def score_sum(self, context_pknt: Ints, action_pknt: Ints, weight_pknt: Floats, acted_pknt: Bools) -> Floats:
        """``[n, x, a]``: the sum over actions of weight times the gradient of log pi, e_a - pi(. | x)."""
        agents, contexts, actions = self.logits_nxa.shape
        weight = np.where(acted_pknt, weight_pknt, 0.0)
        agent = np.arange(agents)[:, None]
        cell = (agent * contexts + context_pknt) * actions + action_pknt
        taken = np.bincount(cell.ravel(), weight.ravel(), agents * contexts * actions).reshape(self.logits_nxa.shape)
        return np.asarray(taken - taken.sum(axis=-1, keepdims=True) * self.probability_nxa)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What the world knows about its episodes and a method never sees. A part that has no meaning in a world is None.

    ``advantage_pknt`` is E[R | context, own action] - E[R | context] under the policies that played: the credit whose product
    with the score is the exact gradient in expectation, with the least noise. ``shapley_pkn`` and the two beside it are of the episode's
    own game, v(S) = reward when the agents outside S are masked. ``beta_n`` are the coefficients of the reward on quality.
    ``token_weight_pknt`` is the weight that each token of an action should have in the loss. ``gradient_nxa`` is that of the expected reward.
    """

    advantage_pknt: Floats | None = None
    shapley_pkn: Floats | None = None
    banzhaf_pkn: Floats | None = None
    leave_one_out_pkn: Floats | None = None
    beta_n: Floats | None = None
    lazy_n: Bools | None = None
    token_weight_pknt: Floats | None = None
    gradient_nxa: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """What ``play`` returns. ``hidden`` is the world's own, for replays: its difficulty and noise draws."""

    batch: Batch
    context_pknt: Ints
    action_pknt: Ints
    policy: Policy
    truth: Truth
    cost: Cost
    hidden: Mapping[str, Any] = field(default_factory=dict)

    def gradient(self, advantage_pknt: Floats) -> Floats:
        """The policy-gradient estimate ``[n, x, a]`` of one batch: the mean over rollouts of score times advantage."""
        total = self.policy.score_sum(self.context_pknt, self.action_pknt, advantage_pknt, self.batch.acted_pknt)
        return np.asarray(total / max(1, int(self.batch.present_pk.sum())))


class World(Protocol):
    """What benchmark, claims and training use. ``name`` is the option's word, ``supplies`` the batch fields it can fill."""

    name: ClassVar[str]

    @property
    def supplies(self) -> frozenset[str]: ...

    def start(self) -> Policy:
        """The policies with which episodes are played unless others are given."""
        ...

    def play(
        self,
        rng: np.random.Generator,
        prompts: int,
        rollouts: int,
        *,
        fields: frozenset[str] = frozenset(),
        policy: Policy | None = None,
    ) -> Episodes:
        """Fresh episodes. Fields beyond the free ones are filled, and paid for, when named. Raises ParameterError."""
        ...

    def replay(
        self,
        rng: np.random.Generator,
        episodes: Episodes,
        agent: int,
        *,
        turn: int = 0,
        action: int | None = None,
    ) -> tuple[Floats, Cost]:
        """``reward_pk`` with an agent masked (``action=None``) or one action replaced, later actions drawn anew."""
        ...

    def coalitions(self, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
        """``value_pks`` of every coalition, the agents outside it masked. Raises ParameterError where masking means nothing."""
        ...

    def value(self, policy: Policy) -> float:
        """The expected team reward under a policy, exact."""
        ...

    def gradient(self, policy: Policy) -> Floats:
        """Its gradient ``[n, x, a]`` in the logits, exact."""
        ...

    def best_value(self) -> float:
        """The expected team reward of the best joint policy, exact: what regret is measured against."""
        ...


def spec_of(world: Any) -> dict[str, Any]:
    """A world as plain values: its name and fields, for rows and hashes."""
    return {"world": world.name, **asdict(world)}


def spec_hash(spec: Mapping[str, Any]) -> str:
    """Twelve hex digits that change with any value of a spec."""
    text = json.dumps(spec, sort_keys=True, ensure_ascii=False, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:12]

"""Judges of the work: a coach, a verifier, peers, tests, a reward model. What are their scores worth as credit, and at what price?

Isolates the quality of process signals. Agents answer in order for some turns (``discussion``); an answer is right with the merit of
the chosen action, lifted by right answers seen before. The reward is the weighted share of right answers, at the last turn or at all.
What the judges see differs:

    coach       merit of every action, 0 to 10, with noise; ``coach_bias`` points more for the worst action, which looks good
    verifier    whether the answer is right, 0 to 1, with noise
    quality     ``cheap``: mean merit of the agent's actions under much noise, or ``coach``: the mean of its scores, each paid for
    peers       every agent's shares of what was paid, with noise and ``vanity`` for its own part
    tests       agent 0's last answer is a code, agent 1's a test: given tests let wrong codes slip, written ones catch them if valid
    model       a reward model's score, ``model_slope`` times the reward and noise

Truth: the worth of an action's merit over the whole discussion, gradient, coefficients and coalitions in closed form. A masked agent gives
no answer; after it all agents answer anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from reproductions.core import Batch, Floats, Ints, ParameterError
from reproductions.worlds import process_fields
from reproductions.worlds.base import Cost, Episodes, Policy, Truth
from reproductions.worlds.checks import at_least, per_agent, shares
from reproductions.worlds.discussion import Discussion, Talk, talk
from reproductions.worlds.on_request import check_fields, filled
from reproductions.worlds.play_order import by_agent, outside
from reproductions.worlds.process_fields import again


@dataclass(frozen=True)
class Process:
    """The spec. Tuples give one number per agent, or one for all.

    Merits lie evenly between ``low`` and ``high``, in an order that differs by agent and class of prompt (``table_seed``).
    ``best_start`` is the probability of the best action at the start (None: all alike). ``weights`` are made to add up to 1.
    ``counts`` says which answers are paid. Judges: the module's docstring. ``slip`` is the chance that a wrong code passes a given
    test, ``catch`` that a valid written test fails a wrong code; an invalid one fails every right code.
    """

    name: ClassVar[str] = "process"

    agents: int = 2
    turns: int = 2
    actions: int = 4
    classes: int = 1
    weights: tuple[float, ...] = (1.0,)
    counts: Literal["last", "every"] = "last"
    influence: float = 0.2
    low: float = 0.2
    high: float = 0.8
    best_start: float | None = None
    quality_source: Literal["cheap", "coach"] = "cheap"
    cheap_noise: float = 0.3
    coach_bias: float = 0.0
    coach_noise: float = 1.0
    verifier_noise: float = 0.1
    tool_calls: int = 4
    peer_noise: float = 0.1
    vanity: float = 0.2
    given_tests: int = 4
    slip: float = 0.3
    catch: float = 0.7
    model_slope: float = 1.0
    model_noise: float = 0.5
    critic_bias: float = 0.0
    critic_noise: float = 0.0
    lengths: tuple[float, ...] = (100.0,)
    table_seed: int = 0

    def __post_init__(self) -> None:
        at_least(self, agents=1, turns=1, actions=2, classes=1, influence=0.0, tool_calls=0, given_tests=1)
        shares(self, "slip", "catch", "vanity")
        if not self.influence / 2 <= self.low < self.high <= 1.0 - self.influence / 2:
            raise ParameterError(
                f"process: merits from {self.low} to {self.high} with influence {self.influence} are no chances",
                "low is at least half the influence, high at most one less that",
            )
        if self.best_start is not None and not 0.0 < self.best_start < 1.0:
            raise ParameterError(f"process: best_start is {self.best_start}", "between 0 and 1")
        if self.counts not in ("last", "every") or self.quality_source not in ("cheap", "coach"):
            raise ParameterError("process: counts last or every answer; quality is cheap or from the coach")
        weight_n = per_agent(self.weights, self.agents)
        if weight_n.min() < 0.0 or weight_n.sum() <= 0.0:
            raise ParameterError(f"process: weights are {self.weights}", "0 or more, not all 0")

    @cached_property
    def merit_nxa(self) -> Floats:
        """The chance that an answer is right, before what it has seen."""
        evenly_a = np.linspace(self.low, self.high, self.actions)
        every = np.broadcast_to(evenly_a, (self.agents, self.classes, self.actions))
        return np.random.default_rng(self.table_seed).permuted(every, axis=2)

    @cached_property
    def discussion(self) -> Discussion:
        """Who answers when, what is paid, and how answers influence later ones."""
        weight_n = per_agent(self.weights, self.agents)
        paid_t = np.full(self.turns, 1.0 / self.turns)
        if self.counts == "last":
            paid_t = (np.arange(self.turns) == self.turns - 1) * 1.0
        return Discussion(self.agents, self.influence, np.outer(paid_t, weight_n / weight_n.sum()).ravel())

    @property
    def supplies(self) -> frozenset[str]:
        return process_fields.supplied(self)

    def start(self) -> Policy:
        """All actions alike, or the best with probability ``best_start``."""
        logits = np.zeros(self.merit_nxa.shape)
        if self.best_start is not None:
            logits[self.merit_nxa == self.high] = np.log(self.best_start * (self.actions - 1) / (1.0 - self.best_start))
        return Policy(logits)

    def play(
        self,
        rng: np.random.Generator,
        prompts: int,
        rollouts: int,
        *,
        fields: frozenset[str] = frozenset(),
        policy: Policy | None = None,
    ) -> Episodes:
        """Fresh episodes. Quality made of the coach's scores is paid for, and filled when it or the scores are asked for."""
        check_fields(self.name, self.supplies, fields)
        policy = self.start() if policy is None else policy
        class_p = rng.integers(self.classes, size=prompts)
        said = talk(
            rng, self.discussion, policy, self.merit_nxa, np.broadcast_to(class_p[:, None], (prompts, rollouts))
        )
        key = int(rng.integers(2**62))
        action = by_agent(said.action_qpk, self.agents)
        context = np.broadcast_to(class_p[:, None, None, None], action.shape)
        batch = Batch.of(
            acted_pknt=by_agent(said.answered_qpk, self.agents),
            reward_pk=said.reward_pk(self.discussion),
            correct_pknt=by_agent(said.correct_qpk, self.agents),
            action_pknt=action,
            policy_pknta=policy.at(context),
            prompt_id_p=class_p,
        )
        hidden = {"talk": said, "class_p": class_p, "key": key}
        cost = Cost(episodes=float(prompts * rollouts))
        played = Episodes(batch, context, action, policy, self._truth(policy, said, context), cost, hidden)
        with_quality = self.quality_source == "cheap" or fields & {"quality_pkn", "coach_score_pknt"}
        return filled(self, process_fields.FILL, played, fields | {"quality_pkn"} if with_quality else fields, key)

    def replay(
        self, rng: np.random.Generator, episodes: Episodes, agent: int, *, turn: int = 0, action: int | None = None
    ) -> tuple[Floats, Cost]:
        """``reward_pk`` with an agent silent from a turn on, or its action there replaced; answers before it are kept.

        The cost is the share of the episode's answers that are given anew.
        """
        if not (0 <= agent < self.agents and 0 <= turn < self.turns and 0 <= (action or 0) < self.actions):
            raise ParameterError(
                f"no agent {agent}, turn {turn} and action {action} in this discussion",
                f"{self.agents} agents, {self.turns} turns, {self.actions} actions, counted from 0",
            )
        first = turn * self.agents + agent
        return again(self, rng, episodes, first=first, silent=(agent,) if action is None else (), forced=action)

    def coalitions(self, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
        """``value_pks``: fresh discussions without the agents outside a coalition; everybody together is the episode itself."""
        value_pks = np.zeros((*episodes.batch.shape[:2], 1 << self.agents))
        value_pks[..., -1] = episodes.batch.need("reward_pk")
        cost = Cost()
        for members in range(1, (1 << self.agents) - 1):
            value_pks[..., members], spent = again(self, rng, episodes, silent=outside(members, self.agents))
            cost += spent
        return value_pks, cost

    def expected_game(self, policy: Policy) -> Floats:
        """``[2 ** n]``: the exact expected reward when only the agents whose bits are set answer."""
        quality_xn = self._quality_xn(policy)
        silent = [outside(members, self.agents) for members in range(1 << self.agents)]
        return np.array([self.discussion.expected_reward(quality_xn, out).mean() for out in silent])

    def value(self, policy: Policy) -> float:
        """The expected team reward under a policy, exact."""
        return float(self.discussion.expected_reward(self._quality_xn(policy)).mean())

    def gradient(self, policy: Policy) -> Floats:
        """Its gradient ``[n, x, a]`` in the logits, exact."""
        worth_n = self.discussion.worth_q.reshape(self.turns, self.agents).sum(axis=0)
        return np.asarray(worth_n[:, None, None] * policy.probability_nxa * self._above_nxa(policy) / self.classes)

    def best_value(self) -> float:
        """The expected reward when everybody does the best: right answers never harm."""
        return float(self.discussion.expected_reward(np.full(self.agents, self.high)))

    def _quality_xn(self, policy: Policy) -> Floats:
        return np.asarray(np.einsum("nxa,nxa->xn", policy.probability_nxa, self.merit_nxa))

    def _above_nxa(self, policy: Policy) -> Floats:
        return np.asarray(self.merit_nxa - self._quality_xn(policy).T[..., None])

    def _truth(self, policy: Policy, said: Talk, context: Ints) -> Truth:
        worth_nt = self.discussion.worth_q.reshape(self.turns, self.agents).T
        action = by_agent(said.action_qpk, self.agents)
        above = self._above_nxa(policy)[np.arange(self.agents)[:, None], context, action]
        # Without influence a masked agent takes away what its answers were paid, and nothing else.
        paid_qpk = self.discussion.pay_q[:, None, None] * said.correct_qpk
        paid_pkn = by_agent(paid_qpk, self.agents).sum(axis=3) if self.influence == 0.0 else None
        return Truth(
            advantage_pknt=worth_nt * above,
            shapley_pkn=paid_pkn,
            banzhaf_pkn=paid_pkn,
            leave_one_out_pkn=paid_pkn,
            beta_n=worth_nt.sum(axis=1),
            lazy_n=worth_nt.sum(axis=1) == 0.0,
            gradient_nxa=self.gradient(policy),
        )

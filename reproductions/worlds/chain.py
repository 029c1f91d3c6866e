"""Many turns, agents in order, a deterministic graph: which action, long before the reward, earned it?

Isolates delayed credit. The team walks from stage to stage; the reward of 1 comes after the last one, or never, from a dead end.
Agents move one after another and see the stage alone, so that states recur, inside an episode and between the rollouts of a
prompt, and episodes differ in length. Options add what papers claim to handle, or to be broken by:

    bait          an early small reward that leads into an alley, away from the later large one (greedy sampling)
    progress      a part of the reward that is paid on the way (dense against delayed)
    misleading    the agents' own rewards pay for falling into dead ends instead of going forward (fixed mixing)
    critic_*      a critic with a fixed error of each state and a fresh one of each evaluation (GAE's lambda)
    node_pknt     as a field: the rollouts of a prompt are the paths of a tree; ``sampling="greedy"`` is AT-GRPO's walk

Truth: V, Q and the advantage of every action, gradient, value and optimum by dynamic programming. A prompt is its first stage.
A masked agent passes: the team stays where it is while time goes on. An agent's quality is the share of its actions that went
forward, seen with noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from reproductions.core import Floats, Ints, ParameterError
from reproductions.worlds import chain_fields, chain_graph
from reproductions.worlds.base import Cost, Episodes, Policy, Truth
from reproductions.worlds.chain_replays import again
from reproductions.worlds.chain_walk import Walk, branch_owners, greedy_walk, walk
from reproductions.worlds.checks import at_least, per_agent, shares
from reproductions.worlds.dynamic_programming import Graph, advantages, evaluate, gradient, optimum
from reproductions.worlds.on_request import check_fields
from reproductions.worlds.play_order import by_agent, outside


@dataclass(frozen=True)
class Chain:
    """The spec. Tuples give one number per agent, or one for all.

    ``skill`` is the probability of going forward at the start of training, ``starts`` the number of first stages. ``local`` is
    the size of the agents' own rewards, ``lengths`` the tokens of an action. ``branching`` and ``continuations`` shape trees and
    counterfactual continuations, ``alpha`` weighs the team's reward in the greedy choice.
    """

    name: ClassVar[str] = "chain"

    agents: int = 2
    turns: int = 6
    actions: int = 4
    depth: int = 4
    starts: int = 1
    skill: tuple[float, ...] = (0.5,)
    bait: float = 0.0
    alley: int = 2
    progress: float = 0.0
    discount: float = 1.0
    local: float = 0.2
    misleading: float = 0.0
    local_noise: float = 0.0
    quality_noise: float = 0.2
    critic_bias: float = 0.0
    critic_noise: float = 0.0
    lengths: tuple[float, ...] = (100.0,)
    sampling: Literal["independent", "greedy"] = "independent"
    alpha: float = 1.0
    branching: int = 2
    continuations: int = 8
    table_seed: int = 0

    def __post_init__(self) -> None:
        _check(self)

    @cached_property
    def effect_nxa(self) -> Ints:
        """What each action does at each stage."""
        return chain_graph.effects(self.agents, self.depth, self.actions, self.starts, self.bait > 0, self.table_seed)

    @cached_property
    def graph(self) -> Graph:
        """Where actions lead and what they pay."""
        return chain_graph.build(
            self.effect_nxa,
            alley=self.alley,
            turns=self.turns,
            bait=self.bait,
            progress=self.progress,
            discount=self.discount,
        )

    @cached_property
    def own_nxa(self) -> Floats:
        """The agents' own rewards, without noise."""
        return chain_graph.own_reward(self.effect_nxa, self.graph.end + 1, self.local, self.misleading)

    @property
    def start_x(self) -> Floats:
        """The distribution of first stages."""
        return np.asarray((np.arange(self.graph.end + 1) < self.starts) / self.starts)

    @property
    def supplies(self) -> frozenset[str]:
        return chain_fields.supplied(self)

    def start(self) -> Policy:
        """Forward with probability ``skill`` at every stage, all other actions alike."""
        skill_n = per_agent(self.skill, self.agents)
        odds_n = skill_n * (self.actions - 1) / (1.0 - skill_n)
        logits = np.zeros((self.agents, self.graph.end + 1, self.actions))
        logits[:, : self.depth] = (self.effect_nxa == chain_graph.FORWARD) * np.log(odds_n)[:, None, None]
        return Policy(logits)

    def forward(self) -> Policy:
        """The best policy: always forward."""
        logits = np.zeros((self.agents, self.graph.end + 1, self.actions))
        logits[:, : self.depth] = np.where(self.effect_nxa == chain_graph.FORWARD, 0.0, -np.inf)
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
        """Fresh episodes. ``node_pknt`` makes the rollouts of a prompt paths of a tree; ``hidden["sampled_actions"]`` counts outputs."""
        check_fields(self.name, self.supplies, fields)
        policy = self.start() if policy is None else policy
        first_p = rng.integers(self.starts, size=prompts)
        noise_qpk = self.local_noise * rng.standard_normal((self.graph.positions, prompts, rollouts))
        hidden: dict[str, Any] = {"own_noise_qpk": noise_qpk}
        if self.sampling == "greedy":
            walked, hidden["chosen_qp"] = greedy_walk(
                rng, self.graph, policy, first_p, self.own_nxa, noise_qpk, self.alpha
            )
        else:
            tree = "node_pknt" in fields
            hidden["owner_qk"] = branch_owners(self.graph.positions, rollouts, self.branching) if tree else None
            start_pk = np.broadcast_to(first_p[:, None], (prompts, rollouts))
            walked = walk(rng, self.graph, policy, start_pk, owner_qk=hidden["owner_qk"])
        hidden |= {"walk": walked, "first_p": first_p}
        return chain_fields.episodes(self, rng, policy, hidden, fields)

    def replay(
        self,
        rng: np.random.Generator,
        episodes: Episodes,
        agent: int,
        *,
        turn: int = 0,
        action: int | None = None,
    ) -> tuple[Floats, Cost]:
        """``reward_pk`` with an agent passing from a turn on, or with its action there replaced; what came before is kept.

        Episodes that were over by then keep their reward and cost nothing. A replay's cost is the actions drawn anew, in units
        of the mean episode.
        """
        self._check_replay(agent, turn, action)
        silent = (agent,) if action is None else ()
        return again(self.graph, rng, episodes, turn * self.agents + agent, silent=silent, action=action)

    def coalitions(self, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
        """``value_pks``: episodes from the same first stages in which the agents outside a coalition pass.

        Everybody together is the episode itself; nobody earns nothing. Neither costs anything.
        """
        self._check_replay(0, 0, None)
        value_pks = np.zeros((*episodes.batch.shape[:2], 1 << self.agents))
        value_pks[..., -1] = episodes.batch.need("reward_pk")
        cost = Cost()
        for members in range(1, (1 << self.agents) - 1):
            value_pks[..., members], spent = again(self.graph, rng, episodes, 0, silent=outside(members, self.agents))
            cost += spent
        return value_pks, cost

    def expected_game(self, policy: Policy) -> Floats:
        """``[2 ** n]``: the exact expected reward when only the agents whose bits are set act."""
        silent = [outside(members, self.agents) for members in range(1 << self.agents)]
        return np.array([self.start_x @ evaluate(self.graph, policy.probability_nxa, out)[0][0] for out in silent])

    def value(self, policy: Policy) -> float:
        """The expected team reward under a policy, exact."""
        return float(self.start_x @ evaluate(self.graph, policy.probability_nxa)[0][0])

    def gradient(self, policy: Policy) -> Floats:
        """Its gradient ``[n, x, a]`` in the logits, exact."""
        above_qxa = advantages(self.graph, policy.probability_nxa)
        return gradient(self.graph, policy.probability_nxa, self.start_x, above_qxa)

    def best_value(self) -> float:
        """The expected reward of going forward; a spec in which anything else is better is refused."""
        return float(self.start_x @ optimum(self.graph)[0])

    def truth(self, policy: Policy, walked: Walk) -> Truth:
        """The exact advantage of every action of a walk, in money of the start, and the exact gradient."""
        above_qxa = advantages(self.graph, policy.probability_nxa)
        position = np.arange(self.graph.positions)[:, None, None]
        taken_qpk = above_qxa[position, walked.state_qpk, walked.action_qpk]
        advantage = by_agent(np.where(walked.acted_qpk, taken_qpk, 0.0), self.agents)
        exact = gradient(self.graph, policy.probability_nxa, self.start_x, above_qxa)
        weight = by_agent(walked.acted_qpk / walked.last_pk.size, self.agents)
        return Truth(advantage, token_weight_pknt=weight, gradient_nxa=exact)

    def _check_replay(self, agent: int, turn: int, action: int | None) -> None:
        if self.sampling == "greedy":
            raise ParameterError(
                "the candidates of a greedy walk are no episodes that could be played again", "sampling='independent'"
            )
        if not (0 <= agent < self.agents and 0 <= turn < self.turns and 0 <= (action or 0) < self.actions):
            raise ParameterError(
                f"no agent {agent}, turn {turn} and action {action} in this chain",
                f"{self.agents} agents, {self.turns} turns, {self.actions} actions, counted from 0",
            )


def _check(world: Chain) -> None:
    """Raises ParameterError for a spec without meaning, or in which going forward is not the best policy."""
    at_least(world, agents=1, turns=1, actions=2, depth=1, starts=1, alley=0, branching=2, continuations=1)
    shares(world, "progress", "discount", "misleading")
    if world.starts > world.depth or not all(0.0 < skill < 1.0 for skill in world.skill):
        raise ParameterError("chain: no such start", "starts is at most depth, skill lies between 0 and 1")
    if world.agents * world.turns < world.depth:
        raise ParameterError("chain: the goal cannot be reached in time", "agents times turns is at least depth")
    if world.bait < 0.0 or (world.bait > 0.0 and world.actions < 4):
        raise ParameterError(
            f"chain: bait {world.bait} with {world.actions} actions", "a bait is positive and a fourth action"
        )
    for numbers in (world.skill, world.lengths):
        per_agent(numbers, world.agents)
    if world.sampling not in ("independent", "greedy"):
        raise ParameterError(f"chain: no sampling {world.sampling!r}", "independent or greedy")
    if world.value(world.forward()) < world.best_value() - 1e-9:
        raise ParameterError(
            "chain: going forward is not the best policy, so the best value is not known",
            "raise turns or discount, lower bait, progress or depth",
        )

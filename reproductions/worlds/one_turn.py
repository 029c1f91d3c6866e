"""What the worlds of one decision per agent share: prompts, actions, qualities, reward, replays; each adds its kinds of episode.

Every agent chooses an action without seeing the others. The action's true quality is in a table, the team reward is a game of the
true qualities (``games``), plus what the prompt and the kind of episode add, plus noise. Quality as the batch has it is observed with an error.

A replay runs an episode again. With ``replays`` kept, the others say what they said (they decode with the same random numbers), reward
noise is new, and the cost is the share of the team that takes part: a replay without one of four agents is 0.75 of a rollout, a replaced
action a whole one. With ``anew`` the agents behind the masked or replaced one choose again and only they are counted.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from reproductions.core import AnyArray, Batch, Floats, Ints, ParameterError
from reproductions.worlds import one_turn_draws as draws
from reproductions.worlds import one_turn_fields
from reproductions.worlds.base import Cost, Episodes, Policy, Truth
from reproductions.worlds.checks import at_least, per_agent, shares, well_formed
from reproductions.worlds.games import Game, GameName, game_of
from reproductions.worlds.on_request import Filler, check_fields, filled
from reproductions.worlds.one_turn_draws import Setting
from reproductions.worlds.one_turn_exact import Case, Exact

FREE = frozenset({"reward_pk", "quality_pkn", "action_pknt", "policy_pknta", "prompt_id_p"})
MOST_AGENTS = 12


@dataclass(frozen=True, kw_only=True)
class OneTurn(abc.ABC):
    """The spec that these worlds share.

    ``classes`` are the kinds of prompt that agents can tell apart, each with its own best actions. Qualities are evenly spaced from 0 to
    1, or drawn with ``table_seed``. ``masked`` is the quality of a silent agent. ``best_start`` is the probability of an agent's best action at
    the start (None: all alike). With a ``pool`` prompts come from so many fixed ones and have their numbers as names, else all are new.
    Observed quality has noise of deviation ``quality_noise``, its correlation between the agents of a rollout is
    ``agent_correlation``, and ``difficulty_leak`` times what the prompt adds to the reward is in it. The rest is about fields on request.
    """

    name: ClassVar[str]

    agents: int = 2
    actions: int = 3
    classes: int = 1
    game: GameName = "additive"
    weights: tuple[float, ...] | None = None
    weak: float = 0.2
    synergy: float = 0.5
    table_seed: int | None = None
    masked: float = 0.0
    best_start: float | None = None
    pool: int = 0
    quality_noise: float = 0.1
    agent_correlation: float = 0.0
    difficulty_leak: float = 0.0
    replays: Literal["kept", "anew"] = "kept"
    branching: int = 2
    continuations: int = 8
    critic_bias: float = 0.0
    critic_noise: float = 0.0
    local_mean: tuple[float, ...] | None = None
    local_scale: tuple[float, ...] | None = None
    local_noise: float = 0.1
    penalty: float = 0.1
    penalty_rate: float = 0.1
    verifier_noise: float = 0.1
    tool_calls: int = 4
    peer_noise: float = 0.1
    tokens: int = 100

    def __post_init__(self) -> None:
        well_formed(self)
        at_least(
            self, agents=1, actions=2, classes=1, branching=1, continuations=1, pool=0, tool_calls=0, tokens=1,
            quality_noise=0, critic_noise=0, local_noise=0, verifier_noise=0, peer_noise=0, penalty=0,
        )  # fmt: skip
        shares(self, "agent_correlation", "penalty_rate")
        if self.agents > MOST_AGENTS:
            raise ParameterError(f"{self.name}: agents is {self.agents}", f"at most {MOST_AGENTS}")
        if self.best_start is not None and not 0 < self.best_start < 1:
            raise ParameterError(f"{self.name}: best_start is {self.best_start}", "between 0 and 1")
        if self.pool % self.classes:
            raise ParameterError(f"{self.name}: a pool of {self.pool} for {self.classes} classes", "give a multiple")
        # What cannot be built is refused here.
        self.exact, self.own_reward  # noqa: B018

    @abc.abstractmethod
    def kinds(self) -> tuple[Case, ...]:
        """The kinds of episode with their probabilities."""

    @abc.abstractmethod
    def draw_kinds(self, rng: np.random.Generator, uniform_p: Floats, rollouts: int) -> Ints:
        """``[p, k]``, indices of ``kinds``; ``uniform_p`` is the prompt's own number between 0 and 1."""

    @property
    def spread_of_prompts(self) -> float:
        """Prompts add between minus and plus this to the reward, all alike likely."""
        return 0.0

    @property
    def pays_success(self) -> bool:
        """Whether rewards are 0 and 1, drawn with the reward's mean as probability."""
        return False

    @property
    def observation(self) -> tuple[float, float]:
        """``(gain, deviation)`` of the observed quality: gain times the true one, plus noise."""
        return 1.0, self.quality_noise

    @cached_property
    def own_reward(self) -> tuple[Floats, Floats]:
        """``(mean, scale)`` of each agent's own reward of a call."""
        return per_agent(self.local_mean or (0.0,), self.agents), per_agent(self.local_scale or (1.0,), self.agents)

    @property
    def fillers(self) -> Mapping[str, Filler[Any]]:
        """What is filled on request, by field."""
        several = one_turn_fields.ONE_CALL_ONLY if self.turns > 1 else frozenset()
        return {name: fill for name, fill in one_turn_fields.FILL.items() if name not in several}

    @property
    def given(self) -> frozenset[str]:
        """Of these fields, those that are filled always."""
        return frozenset()

    @property
    def supplies(self) -> frozenset[str]:
        return FREE | self.fillers.keys()

    @cached_property
    def exact(self) -> Exact:
        """The closed forms."""
        return Exact(self.rules, self.table_nxa, self.masked, self.kinds())

    @cached_property
    def rules(self) -> Game:
        """The game of the qualities."""
        return game_of(self.game, self.agents, weights=self.weights, weak=self.weak, synergy=self.synergy)

    @cached_property
    def table_nxa(self) -> Floats:
        """The true quality of every action."""
        shape = (self.agents, self.classes, self.actions)
        if self.table_seed is not None:
            return np.random.default_rng(self.table_seed).random(shape)
        agent, context, action = np.indices(shape)
        return np.asarray((agent + context + action) % self.actions / (self.actions - 1.0))

    def start(self) -> Policy:
        logits_nxa = np.zeros((self.agents, self.classes, self.actions))
        if self.best_start is not None:
            best_nx1 = self.table_nxa.argmax(axis=-1)[..., None]
            odds = self.best_start / (1.0 - self.best_start) * (self.actions - 1)
            np.put_along_axis(logits_nxa, best_nx1, np.log(odds), axis=-1)
        return Policy(logits_nxa)

    def value(self, policy: Policy) -> float:
        return float(self.exact.value_x(policy).mean())

    def gradient(self, policy: Policy) -> Floats:
        return self.exact.gradient(policy)

    def best_value(self) -> float:
        return self.exact.best_value()

    def play(
        self,
        rng: np.random.Generator,
        prompts: int,
        rollouts: int,
        *,
        fields: frozenset[str] = frozenset(),
        policy: Policy | None = None,
    ) -> Episodes:
        check_fields(self.name, self.supplies, fields)
        policy = policy or self.start()
        first_nk = draws.first_of_nodes(self, rollouts) if "node_pknt" in fields else None
        setting, action_ntpk = draws.setting_and_actions(self, rng, prompts, rollouts, policy, first_nk)
        free: dict[str, AnyArray] = {
            "reward_pk": self.reward(rng, setting, setting.quality_pkn),
            "quality_pkn": draws.observed_quality(self, rng, setting, first_nk),
            "action_pknt": draws.as_pknt(action_ntpk),
            "policy_pknta": draws.policy_at(policy, setting.class_p, action_ntpk),
            "prompt_id_p": setting.prompt_id_p,
        }
        if self.turns > 1:
            free["acted_pknt"] = setting.called_pknt(self.turns)
        sampled = prompts * rollouts if first_nk is None else prompts * draws.nodes(first_nk) / self.agents
        episodes = Episodes(
            batch=Batch.of(**free),
            context_pknt=np.broadcast_to(setting.class_p[:, None, None, None], draws.as_pknt(action_ntpk).shape),
            action_pknt=draws.as_pknt(action_ntpk),
            policy=policy,
            truth=self._truth(setting, action_ntpk, policy),
            cost=Cost(episodes=sampled),
            hidden={"setting": setting},
        )
        return filled(self, self.fillers, episodes, fields | self.given, int(rng.integers(2**62)))

    def replay(
        self, rng: np.random.Generator, episodes: Episodes, agent: int, *, turn: int = 0, action: int | None = None
    ) -> tuple[Floats, Cost]:
        """See the module docstring for what the others do and what it costs."""
        setting = draws.setting_of(episodes)
        if not (0 <= agent < self.agents and 0 <= turn < self.turns and (action is None or 0 <= action < self.actions)):
            raise ParameterError(f"no agent {agent}, turn {turn} or action {action} in world {self.name}")
        calls_pkn = setting.calls_pkn
        quality_pkn = setting.quality_pkn
        counted_n = np.arange(self.agents) != agent if action is None else np.full(self.agents, True)
        if self.replays == "anew":
            counted_n = np.arange(self.agents) > agent
            again = draws.quality_again(self, rng, episodes)
            quality_pkn = np.where(counted_n, again, quality_pkn)
        instead_pk = np.full(calls_pkn.shape[:2], self.masked)
        if action is not None:
            gained_pk = (
                self.table_nxa[agent, setting.class_p, action][:, None] - setting.quality_pknt[:, :, agent, turn]
            )
            called_pk = calls_pkn[:, :, agent] > turn
            share_pk = np.where(called_pk, gained_pk, 0.0) / np.maximum(calls_pkn[:, :, agent], 1)
            instead_pk = setting.quality_pkn[:, :, agent] + share_pk
        quality_pkn = np.where(np.arange(self.agents) == agent, instead_pk[..., None], quality_pkn)
        # Nothing is run again for an agent that was not there.
        share_pk = (calls_pkn @ counted_n) / np.maximum(calls_pkn.sum(axis=2), 1) * (calls_pkn[:, :, agent] > 0)
        return self.reward(rng, setting, quality_pkn), Cost(replays=float(share_pk.sum()))

    def coalitions(self, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
        """Everybody's value is the reward that was observed; every other coalition is a replay with all outside it masked."""
        setting = draws.setting_of(episodes)
        calls_pkn, everyone = setting.calls_pkn, (1 << self.agents) - 1
        value_spk = np.empty((everyone + 1, *calls_pkn.shape[:2]))
        value_spk[everyone] = episodes.batch.need("reward_pk")
        share_pkn = calls_pkn / np.maximum(calls_pkn.sum(axis=2, keepdims=True), 1)
        share_n, spent = share_pkn.sum(axis=(0, 1)), 0.0
        for s in range(everyone):
            inside_n = (s >> np.arange(self.agents) & 1).astype(bool)
            value_spk[s] = self.reward(rng, setting, np.where(inside_n, setting.quality_pkn, self.masked))
            spent += float(share_n @ inside_n)
        return np.moveaxis(value_spk, 0, -1), Cost(replays=spent)

    def mean_reward(self, setting: Setting, quality_pkn: Floats) -> Floats:
        """``[p, k]``: the reward without its noise."""
        return np.asarray(setting.offset_pk + setting.scale_pk * self.rules.value(quality_pkn))

    def reward(self, rng: np.random.Generator, setting: Setting, quality_pkn: Floats) -> Floats:
        """``[p, k]``: with fresh noise."""
        mean_pk = self.mean_reward(setting, quality_pkn)
        if self.pays_success:
            return (rng.random(mean_pk.shape) < mean_pk).astype(np.float64)
        return mean_pk + setting.noise_pk * rng.standard_normal(mean_pk.shape)

    def check_chances(self) -> None:
        """Raises ParameterError where rewards of 0 and 1 would have a chance outside 0 and 1."""
        low, high = self.rules.extremes(self.table_nxa.min(axis=(1, 2)), self.table_nxa.max(axis=(1, 2)))
        at_rest = float(self.rules.value(np.full(self.agents, self.masked)))
        if min(low, at_rest) < 0 or max(high, at_rest) > 1:
            raise ParameterError(
                f"{self.name}: rewards of 0 and 1 need a game within 0 and 1", "leave weights and masked as they are"
            )

    @property
    def turns(self) -> int:
        """The most calls of an agent in an episode."""
        return max(max(case.calls) for case in self.exact.cases)

    def _truth(self, setting: Setting, action_ntpk: Ints, policy: Policy) -> Truth:
        exact = self.exact
        values = (self.rules.shapley, self.rules.banzhaf, self.rules.leave_one_out)
        shapley_pkn, banzhaf_pkn, left_out_pkn = (
            setting.scale_pk[..., None] * credit_pkn
            for credit_pkn in draws.of_games(self, setting, action_ntpk, values)
        )
        advantage_pknt = draws.as_pknt(draws.look_up(exact.advantage_nxa(policy), setting.class_p, action_ntpk))
        return Truth(
            advantage_pknt=np.where(setting.called_pknt(self.turns), advantage_pknt, 0.0),
            shapley_pkn=shapley_pkn,
            banzhaf_pkn=banzhaf_pkn,
            leave_one_out_pkn=left_out_pkn,
            beta_n=exact.beta_n(policy),
            lazy_n=self.rules.lazy_n,
            gradient_nxa=exact.gradient(policy),
        )

"""What the worlds of one decision per agent share: prompts, actions, qualities, reward, replays; each adds its kinds of episode.

Every agent chooses an action without seeing the others. The action's true quality is in a table, the team reward is a game of the
true qualities (``games``), plus what the prompt and the kind of episode add, plus noise. Quality as the batch has it is observed with an error.

A replay runs an episode again. With ``replays`` kept, the others say what they said (they decode with the same random numbers), reward
noise is new, and the cost is the share of the team that takes part: a replay without one of four agents is 0.75 of a rollout, a replaced
action a whole one. With ``anew`` the agents behind the masked or replaced one choose again and only they are counted.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from reproductions.core import Batch, Floats, Ints, ParameterError
from reproductions.worlds import one_turn_fields
from reproductions.worlds.base import Cost, Episodes, Policy, Truth
from reproductions.worlds.games import Game, GameName, game_of
from reproductions.worlds.one_turn_exact import Case, Exact

FREE = frozenset({"reward_pk", "quality_pkn", "action_pknt", "policy_pknta", "prompt_id_p"})


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What is drawn before and behind the actions: the prompts, the kinds of episode, the true qualities."""

    prompt_id_p: Ints
    class_p: Ints
    shift_p: Floats
    case_pk: Ints
    offset_pk: Floats
    scale_pk: Floats
    noise_pk: Floats
    calls_pkn: Ints
    quality_pknt: Floats
    quality_pkn: Floats


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
        for what, value, low, high in (
            ("agents", self.agents, 1, 12),
            ("actions", self.actions, 2, 1000),
            ("classes", self.classes, 1, 1000),
            ("agent_correlation", self.agent_correlation, 0, 1),
            ("penalty_rate", self.penalty_rate, 0, 1),
            ("branching", self.branching, 1, 1000),
            ("continuations", self.continuations, 1, 1000),
        ):
            if not low <= value <= high:
                raise ParameterError(f"{self.name}: {what} is {value}", f"{low} to {high}")
        for what in ("quality_noise", "critic_noise", "local_noise", "verifier_noise", "peer_noise", "penalty"):
            if getattr(self, what) < 0:
                raise ParameterError(f"{self.name}: {what} is {getattr(self, what)}", "0 or more")
        for what in ("local_mean", "local_scale"):
            given = getattr(self, what)
            if given is not None and len(given) != self.agents:
                raise ParameterError(f"{self.name}: {what} has {len(given)} numbers", "give one for each agent")
        if self.best_start is not None and not 0 < self.best_start < 1:
            raise ParameterError(f"{self.name}: best_start is {self.best_start}", "between 0 and 1")
        if self.pool % self.classes:
            raise ParameterError(f"{self.name}: a pool of {self.pool} for {self.classes} classes", "give a multiple")
        self.exact  # noqa: B018 - what cannot be built is refused here

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

    @property
    def supplies(self) -> frozenset[str]:
        return FREE | one_turn_fields.FILL.keys()

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
        unknown = sorted(fields - self.supplies)
        if unknown:
            raise ParameterError(
                f"world {self.name} cannot fill {', '.join(unknown)}", f"it can fill {', '.join(sorted(self.supplies))}"
            )
        policy = policy or self.start()
        first_nk = self.tree(rollouts) if "node_pknt" in fields else None
        setting, action_ntpk = self._choose(rng, prompts, rollouts, policy, first_nk)
        free = {
            "reward_pk": self.reward(rng, setting, setting.quality_pkn),
            "quality_pkn": self._observed(rng, setting, first_nk),
            "action_pknt": as_pknt(action_ntpk),
            "policy_pknta": policy_at(policy, setting.class_p, action_ntpk.shape),
            "prompt_id_p": setting.prompt_id_p,
        }
        if self._turns > 1:
            free["acted_pknt"] = np.arange(self._turns) < setting.calls_pkn[..., None]
        sampled = prompts * rollouts if first_nk is None else prompts * _nodes(first_nk) / self.agents
        episodes = Episodes(
            batch=Batch.of(**free),
            context_pknt=np.broadcast_to(setting.class_p[:, None, None, None], as_pknt(action_ntpk).shape),
            action_pknt=as_pknt(action_ntpk),
            policy=policy,
            truth=self._truth(setting, action_ntpk, policy),
            cost=Cost(episodes=sampled),
            hidden={"setting": setting},
        )
        key = int(rng.integers(2**62))
        return one_turn_fields.filled(self, episodes, fields - FREE, key) if fields - FREE else episodes

    def replay(
        self, rng: np.random.Generator, episodes: Episodes, agent: int, *, turn: int = 0, action: int | None = None
    ) -> tuple[Floats, Cost]:
        """See the module docstring for what the others do and what it costs."""
        setting: Setting = episodes.hidden["setting"]
        if not (
            0 <= agent < self.agents and 0 <= turn < self._turns and (action is None or 0 <= action < self.actions)
        ):
            raise ParameterError(f"no agent {agent}, turn {turn} or action {action} in world {self.name}")
        calls_pkn = setting.calls_pkn
        quality_pkn = setting.quality_pkn
        counted_n = np.arange(self.agents) != agent if action is None else np.full(self.agents, True)
        if self.replays == "anew":
            counted_n = np.arange(self.agents) > agent
            again = self.choose_again(rng, episodes)
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
        share = float((calls_pkn @ counted_n / np.maximum(calls_pkn.sum(axis=2), 1)).sum())
        return self.reward(rng, setting, quality_pkn), Cost(replays=share)

    def coalitions(self, rng: np.random.Generator, episodes: Episodes) -> tuple[Floats, Cost]:
        """Everybody's value is the reward that was observed; every other coalition is a replay with all outside it masked."""
        setting: Setting = episodes.hidden["setting"]
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

    def tree(self, rollouts: int) -> Ints:
        """``[n, k]``: the first rollout that shares each one's node. ``branching`` outputs under every node, the last agent's leaves
        as many as rollouts."""
        index_k = np.arange(rollouts)
        rows = []
        for agent in range(self.agents):
            nodes = rollouts if agent == self.agents - 1 else min(rollouts, self.branching ** (agent + 1))
            node_k = index_k * nodes // rollouts
            rows.append(np.searchsorted(node_k, node_k))
        return np.array(rows)

    @property
    def _turns(self) -> int:
        return max(max(case.calls) for case in self.exact.cases)

    def _prompts(self, rng: np.random.Generator, prompts: int) -> tuple[Ints, Floats]:
        """Names, and three uniform numbers each that make their class, what they add, and whatever else a world wants."""
        if not self.pool:
            return rng.integers(2**62, size=prompts), rng.random((prompts, 3))
        rounds = -(-prompts // self.pool)
        name_p = np.concatenate([rng.permutation(self.pool) for _ in range(rounds)] or [np.zeros(0, np.int64)])[
            :prompts
        ]
        # An even design instead of draws, so that expectations over the pool are those over all prompts.
        order = np.random.default_rng(self.pool)
        of_pool = np.stack([order.permutation(self.pool) for _ in range(3)], axis=1)
        return name_p, (of_pool[name_p] + 0.5) / self.pool

    def _choose(
        self, rng: np.random.Generator, prompts: int, rollouts: int, policy: Policy, first_nk: Ints | None
    ) -> tuple[Setting, Ints]:
        name_p, uniform_pf = self._prompts(rng, prompts)
        class_p = (uniform_pf[:, 0] * self.classes).astype(np.int64)
        shift_p = self.spread_of_prompts * (2.0 * uniform_pf[:, 1] - 1.0)
        case_pk = self.draw_kinds(rng, uniform_pf[:, 2], rollouts)
        offset_pk, scale_pk, noise_pk = (
            _of_case(np.array([getattr(case, what) for case in self.exact.cases]), case_pk)
            for what in ("offset", "scale", "noise")
        )
        calls_pkn = _of_case(np.array([case.calls for case in self.exact.cases]), case_pk)
        action_ntpk = self._draw_actions(rng, class_p, rollouts, policy)
        if first_nk is not None:
            action_ntpk = np.stack([action_ntpk[n][..., first_nk[n]] for n in range(self.agents)])
        quality_pknt = as_pknt(look_up(self.table_nxa, class_p, action_ntpk))
        setting = Setting(
            name_p, class_p, shift_p, case_pk, offset_pk + shift_p[:, None], scale_pk, noise_pk, calls_pkn,
            quality_pknt, self._mean_quality(quality_pknt, calls_pkn),
        )  # fmt: skip
        return setting, action_ntpk

    def _draw_actions(self, rng: np.random.Generator, class_p: Ints, rollouts: int, policy: Policy) -> Ints:
        context_pk = np.broadcast_to(class_p[:, None], (len(class_p), rollouts))
        turns = range(self._turns)
        return np.array([[policy.draw(rng, agent, context_pk) for _ in turns] for agent in range(self.agents)])

    def choose_again(self, rng: np.random.Generator, episodes: Episodes) -> Floats:
        """``[p, k, n]``: mean qualities of a second draw of every call."""
        setting: Setting = episodes.hidden["setting"]
        action_ntpk = self._draw_actions(rng, setting.class_p, setting.calls_pkn.shape[1], episodes.policy)
        return self._mean_quality(as_pknt(look_up(self.table_nxa, setting.class_p, action_ntpk)), setting.calls_pkn)

    def _mean_quality(self, quality_pknt: Floats, calls_pkn: Ints) -> Floats:
        if self._turns == 1 and calls_pkn.all():
            return quality_pknt[..., 0]
        called_pknt = np.arange(quality_pknt.shape[-1]) < calls_pkn[..., None]
        total_pkn = np.where(called_pknt, quality_pknt, 0.0).sum(axis=-1)
        return np.where(calls_pkn > 0, total_pkn / np.maximum(calls_pkn, 1), self.masked)

    def _observed(self, rng: np.random.Generator, setting: Setting, first_nk: Ints | None) -> Floats:
        gain, deviation = self.observation
        prompts, rollouts, agents = setting.quality_pkn.shape
        noise_npk = rng.standard_normal((agents, prompts, rollouts))
        if self.agent_correlation > 0:
            noise_npk *= np.sqrt(1.0 - self.agent_correlation)
            noise_npk += np.sqrt(self.agent_correlation) * rng.standard_normal((prompts, rollouts))
        if first_nk is not None:
            noise_npk = np.stack([noise_npk[n][:, first_nk[n]] for n in range(agents)])
        noise_npk *= deviation
        if self.difficulty_leak:
            noise_npk += self.difficulty_leak * setting.shift_p[:, None]
        return gain * setting.quality_pkn + np.moveaxis(noise_npk, 0, 2)

    def _truth(self, setting: Setting, action_ntpk: Ints, policy: Policy) -> Truth:
        exact, quality_pkn, masked = self.exact, setting.quality_pkn, self.masked
        scale_pk1 = setting.scale_pk[..., None]
        called_pknt = np.arange(self._turns) < setting.calls_pkn[..., None]
        advantage_pknt = as_pknt(look_up(exact.advantage_nxa(policy), setting.class_p, action_ntpk))
        return Truth(
            advantage_pknt=np.where(called_pknt, advantage_pknt, 0.0),
            shapley_pkn=scale_pk1 * self.rules.shapley(quality_pkn, masked),
            banzhaf_pkn=scale_pk1 * self.rules.banzhaf(quality_pkn, masked),
            leave_one_out_pkn=scale_pk1 * self.rules.leave_one_out(quality_pkn, masked),
            beta_n=exact.beta_n(policy),
            lazy_n=self.rules.lazy_n,
            gradient_nxa=exact.gradient(policy),
        )


def as_pknt(array_ntpk: Ints | Floats) -> Ints | Floats:
    """The axes in the batch's order; memory stays agent by agent."""
    return np.moveaxis(array_ntpk, (0, 1), (2, 3))


def look_up(table_nxa: Floats, class_p: Ints, action_ntpk: Ints) -> Floats:
    """``[n, t, p, k]``: the entry of every action."""
    if table_nxa.shape[1] == 1:
        return np.stack([table_na[0][action_tpk] for table_na, action_tpk in zip(table_nxa, action_ntpk, strict=True)])
    cell_ntpk = class_p[:, None] * table_nxa.shape[2] + action_ntpk
    return np.stack([table_xa.ravel()[cell_tpk] for table_xa, cell_tpk in zip(table_nxa, cell_ntpk, strict=True)])


def policy_at(policy: Policy, class_p: Ints, shape_ntpk: tuple[int, ...]) -> Floats:
    """``[p, k, n, t, a]`` without a copy for every rollout."""
    agents, turns, prompts, rollouts = shape_ntpk
    of_prompt_pna = np.moveaxis(policy.probability_nxa[:, class_p], 0, 1)
    wide = (prompts, rollouts, agents, turns, of_prompt_pna.shape[-1])
    return np.broadcast_to(of_prompt_pna[:, None, :, None], wide)


def _of_case(value_c: Floats | Ints, case_pk: Ints) -> Floats | Ints:
    if len(value_c) == 1:
        return np.broadcast_to(value_c[0], (*case_pk.shape, *value_c.shape[1:]))
    return value_c[case_pk]


def _nodes(first_nk: Ints) -> int:
    """The number of different nodes."""
    return sum(len(np.unique(first_k)) for first_k in first_nk)

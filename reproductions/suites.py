"""Named suites: which situations, methods, seeds. A situation says in its comment what it is there to show.

``credit_v1`` covers all worlds and all methods; ``training_v1`` trains the agents with them; ``full`` is both with more seeds and
all presets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from reproductions.bench.suite import Entry, Situation, Sizes, Suite
from reproductions.core import ParameterError
from reproductions.registry import methods
from reproductions.training import Training

SEEDS, FULL_SEEDS = 20, 200
# A critic that is never wrong would flatter every method that asks it.
_CRITIC = {"critic_noise": 0.1}
_SIZES = Sizes()
# Trackers of prompts need prompts that come again.
_POOL = 20


def _team(name: str, **values: Any) -> Situation:
    noise = {} if values.get("r2_by") == "reward" or "outcome" in values else {"reward_noise": 0.3}
    return Situation(f"team_{name}", "team", {**_CRITIC, **noise, **values}, _SIZES)


def _chain(name: str, **values: Any) -> Situation:
    return Situation(f"chain_{name}", "chain", {**_CRITIC, **values}, _SIZES)


SITUATIONS = (
    # Who earned it? Four alike; a strong one beside a weak one; one who does nothing.
    _team("additive", agents=4),
    _team("strong_weak", game="strong_weak"),
    _team("lazy", agents=3, game="lazy"),
    # Quality explains little of the reward: it is measured badly, or something else decides.
    _team("r2_15_quality", game="strong_weak", r2=0.15, r2_by="quality"),
    _team("r2_15_reward", game="strong_weak", r2=0.15, r2_by="reward"),
    # Nobody's part alone: all are needed, one is enough, pairs help each other.
    _team("bottleneck", agents=3, game="bottleneck"),
    _team("redundant", agents=3, game="redundant"),
    _team("synergy", agents=3, game="synergy"),
    # Confounded quality: shared errors, and the prompt's difficulty in it.
    _team("confounded", agents=3, agent_correlation=0.7, difficulty_leak=0.5),
    _team("ten", agents=10),
    # Rewards of 0 and 1 on prompts that come again.
    _team("success", agents=3, outcome="success", pool=_POOL),
    # Unequal calls and scales.
    Situation("roles", "roles", {**_CRITIC}, _SIZES),
    Situation("roles_misled", "roles", {**_CRITIC, "local_scale": (1.0, -10.0, 0.1)}, _SIZES),
    # Long before the reward: dense or late, baited, misled by the agents' own rewards, unlike skills.
    _chain("delayed", starts=4),
    _chain("dense", starts=4, progress=0.5),
    _chain("baited", bait=0.3, starts=4),
    _chain("misled", misleading=1.0, starts=4, skill=(0.7, 0.4)),
    # Whose tokens does the loss hear?
    Situation("tokens", "tokens", {**_CRITIC}, _SIZES),
    Situation("tokens_stretched", "tokens", {**_CRITIC, "lengths": (50.0, 1000.0), "stretch": 1.0}, _SIZES),
    # Judges: cheap quality, a coach's quality, a coach who likes what looks good.
    Situation("process_cheap", "process", {}, _SIZES),
    Situation("process_coach", "process", {"quality_source": "coach"}, _SIZES),
    Situation("process_biased", "process", {"quality_source": "coach", "coach_bias": 6.0}, _SIZES),
    # Groups that are all right or all wrong; strata of luck, and strata that are the action.
    Situation("degenerate", "degenerate", {**_CRITIC, "pool": _POOL}, _SIZES),
    Situation("degenerate_strata", "degenerate", {**_CRITIC, "pool": _POOL, "stratum_by": "action"}, _SIZES),
)
# Presets that are another method rather than another constant.
PRESETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "adaptive_mix": ("fixed",),
        "c3": ("value_assisted",),
        "cad_grpo": ("gcv", "errors_in_variables", "gated"),
        "difference_rewards": ("aristocrat",),
        "dr_mas": ("vanilla", "mean_only"),
        "gae": ("td", "monte_carlo"),
        "ma_spo": ("team_only",),
        "reinforce": ("batch_baseline",),
        "treerl": ("authors_code",),
    }
)
# Small batches, large steps and much noise: what a poor estimate costs shows before everybody has learnt everything.
_TRAINING = Training(budget=2048.0, prompts=4, rollouts=4, rate=0.1)
_NOISY = {**_CRITIC, "reward_noise": 0.5}
TRAINED = (
    Situation("train_team", "team", {**_NOISY, "agents": 6, "actions": 5, "game": "synergy"}, _TRAINING),
    Situation("train_bottleneck", "team", {**_NOISY, "agents": 4, "game": "bottleneck"}, _TRAINING),
    Situation("train_success", "team", {**_CRITIC, "agents": 4, "outcome": "success", "pool": _POOL}, _TRAINING),
    Situation("train_roles", "roles", {**_CRITIC, "actions": 5, "noise": (0.3, 0.9)}, _TRAINING),
    Situation("train_chain", "chain", {**_CRITIC, "depth": 5, "turns": 8, "skill": (0.4,)}, _TRAINING),
    Situation("train_misled", "chain", {**_CRITIC, "skill": (0.4,), "local": 0.4, "misleading": 1.0}, _TRAINING),
)


def credit_v1() -> Suite:
    """Every method once, a few presets, all situations, 20 seeds: under three minutes on two cores."""
    question = "In which situations does a credit method give each agent the right signal, and what does it cost?"
    chinese = "在哪些情形下，信用分配方法给每个智能体的信号是对的？代价是多少？"
    return Suite("credit_v1", question, SITUATIONS, _entries(PRESETS), tuple(range(SEEDS)), chinese)


def training_v1() -> Suite:
    """The agents of team, roles and chain trained with every method, at equal total cost."""
    question = "Which credit lets the agents learn, and how much of the budget does it take?"
    chinese = "哪种信用能让智能体学会？要用掉多少预算？"
    return Suite("training_v1", question, TRAINED, _entries({}), tuple(range(SEEDS)), chinese)


def full() -> Suite:
    """Credit and training with all presets and 200 seeds: hours."""
    every = {name: tuple(method.presets) for name, method in methods().items()}
    question = "What credit_v1 and training_v1 ask, with intervals a third as wide and every preset."
    chinese = "credit_v1 与 training_v1 的问题，区间窄到三分之一，并包含全部预设。"
    return Suite("full", question, SITUATIONS + TRAINED, _entries(every), tuple(range(FULL_SEEDS)), chinese)


SUITES: Mapping[str, Callable[[], Suite]] = MappingProxyType(
    {"credit_v1": credit_v1, "training_v1": training_v1, "full": full}
)


def get(name: str) -> Suite:
    """A suite by its name. Raises ParameterError with near names."""
    if name not in SUITES:
        near = get_close_matches(name, SUITES, n=3)
        raise ParameterError(f"there is no suite {name!r}", f"did you mean {near[0]}?" if near else ", ".join(SUITES))
    return SUITES[name]()


def _entries(presets: Mapping[str, tuple[str, ...]]) -> tuple[Entry, ...]:
    return tuple(Entry(name, preset) for name in methods() for preset in ("paper", *presets.get(name, ())))

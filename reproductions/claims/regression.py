"""Claims about CAD-GRPO's regression: recovery of contributions, closeness to Shapley, the explanatory power it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from reproductions import metrics
from reproductions.claims.claim import Check, Claim, Measured, Metrics
from reproductions.claims.measuring import PROMPTS, ROLLOUTS, agreement, credit, crossing_of, gradient_cosine, rng_of
from reproductions.core import Floats
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.games import GameName
from reproductions.worlds.team import Team

R2_GRID = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8)
Dial = Literal["quality", "reward"]


def _strong_weak(seed: int) -> Measured:
    world = Team(agents=2, game="strong_weak", r2=0.6, r2_by="reward")
    episodes = world.play(rng_of(seed), PROMPTS, ROLLOUTS)
    found = {}
    for method in ("cad_grpo", "dr_mas", "grpo"):
        advantage = credit(episodes, method)
        found[f"pearson_{method}"] = agreement(episodes, advantage)
        found[f"cosine_{method}"] = gradient_cosine(episodes, advantage)
    found["pearson_gain"] = found["pearson_cad_grpo"] - found["pearson_dr_mas"]
    found["cosine_gain"] = found["cosine_cad_grpo"] - found["cosine_dr_mas"]
    return Measured(found, episodes.cost)


STRONG_WEAK = Claim(
    slug="strong-weak-recovery",
    statement="With a strong and a weak agent, CAD-GRPO recovers the agents' contributions better than Dr.MAS.",
    statement_zh="强弱配对时，CAD-GRPO 对各智能体贡献的还原优于 Dr.MAS。",
    source="weekly notes of 2026-04-19, section 1.4",
    setting="team, 2 agents, game strong_weak (the weak agent counts a fifth), quality explains 0.6 of the reward; 32 prompts x 8 rollouts.",
    methods=("cad_grpo", "dr_mas", "grpo"),
    checks=(
        Check("pearson_gain", "correlation with the true advantage is higher", "与真实优势的相关更高", above=0.0),
        Check("cosine_gain", "the gradient estimate lies closer to the exact one", "梯度估计更接近精确梯度", above=0.0),
    ),
    measure=_strong_weak,
)


def _shapley(games: Sequence[GameName], r2: float | None) -> Callable[[int], Measured]:
    def measure(seed: int) -> Measured:
        found, spent = {}, Cost()
        for game in games:
            world = Team(agents=4, game=game, r2=r2, r2_by="reward")
            episodes = world.play(rng_of(seed), PROMPTS, ROLLOUTS)
            found[f"pearson_{game}"] = _with_shapley(episodes, credit(episodes, "cad_grpo"))
            found[f"pearson_{game}_dr_mas"] = _with_shapley(episodes, credit(episodes, "dr_mas"))
            found["extra_cost"] = episodes.cost.in_episodes() / episodes.cost.episodes - 1.0
            spent = spent + episodes.cost
        return Measured(found, spent)

    return measure


def _with_shapley(episodes: Episodes, advantage_pknt: Metrics | np.ndarray) -> float:
    shapley, acted = episodes.truth.shapley_pkn, episodes.batch.acted_pknt
    assert shapley is not None
    wide = metrics.above_prompt_mean(episodes.batch.spread(shapley, "pkn"), acted)
    return metrics.pearson(metrics.above_prompt_mean(np.asarray(advantage_pknt), acted)[acted], wide[acted])


def _close(games: Sequence[GameName]) -> tuple[Check, ...]:
    return (
        *(
            Check(
                f"pearson_{g}",
                f"r with Shapley at least 0.9 in game {g}",
                f"博弈 {g} 中与 Shapley 的相关不低于 0.9",
                above=0.9,
            )
            for g in games
        ),
        Check("extra_cost", "no extra rollouts", "不需要额外轨迹", below=1e-9),
    )


_SHAPLEY_SETTING = "team, 4 agents, {}; 32 prompts x 8 rollouts. Shapley values of each episode's own game, both sides less the prompt's mean."
SHAPLEY_LINEAR = Claim(
    slug="close-to-shapley-additive",
    statement="Where contributions add up, CAD-GRPO comes close to exact Shapley values (r of 0.9 or more) at no extra rollouts.",
    statement_zh="贡献可加时，CAD-GRPO 无需额外轨迹即可逼近精确 Shapley 值（r ≥ 0.9）。",
    source="weekly notes of 2026-04-12, section 1.2",
    setting=_SHAPLEY_SETTING.format("quality explains 0.6 of the reward"),
    methods=("cad_grpo", "dr_mas"),
    checks=_close(("additive", "strong_weak", "lazy")),
    measure=_shapley(("additive", "strong_weak", "lazy"), 0.6),
)
SHAPLEY_JOINT = Claim(
    slug="close-to-shapley-interacting",
    statement="Where agents interact (all needed, one enough, good in pairs), CAD-GRPO comes as close to Shapley values (r of 0.9 or more).",
    statement_zh="智能体相互作用（缺一不可、一个就够、成对增益）时，CAD-GRPO 同样逼近 Shapley 值（r ≥ 0.9）。",
    source="weekly notes of 2026-04-12, section 1.2, beyond the linear assumption it names",
    setting=_SHAPLEY_SETTING.format("noise of 0.1 in quality and reward (no linear fit reaches an R^2 of 0.6 here)"),
    methods=("cad_grpo", "dr_mas"),
    checks=_close(("bottleneck", "redundant", "synergy")),
    measure=_shapley(("bottleneck", "redundant", "synergy"), None),
)


def _r2_curve(dial: Dial) -> Callable[[int], Measured]:
    def measure(seed: int) -> Measured:
        found, spent = {}, Cost()
        for at, r2 in enumerate(R2_GRID):
            world = Team(agents=3, game="strong_weak", r2=r2, r2_by=dial)
            episodes = world.play(rng_of(seed, at), PROMPTS, ROLLOUTS)
            cad, dr_mas = credit(episodes, "cad_grpo"), credit(episodes, "dr_mas")
            found[f"pearson@{r2:g}"] = agreement(episodes, cad) - agreement(episodes, dr_mas)
            found[f"cosine@{r2:g}"] = gradient_cosine(episodes, cad) - gradient_cosine(episodes, dr_mas)
            spent = spent + episodes.cost
        return Measured(found, spent)

    return measure


def r2_columns(metric: str) -> tuple[str, ...]:
    """The metrics that a crossing claim has for each R^2 of the grid."""
    return tuple(f"{metric}@{r2:g}" for r2 in R2_GRID)


def r2_crossing(difference: Floats) -> float:
    """The statistic of the crossing claims: where the mean difference over seeds changes sign for good."""
    return crossing_of(R2_GRID, difference.tolist())


def _crossing(dial: Dial, cause: str, cause_zh: str) -> Claim:
    return Claim(
        slug=f"r2-threshold-{dial}",
        statement=f"CAD-GRPO is worse than Dr.MAS where quality explains less than 0.3 of the reward because {cause}, and better above.",
        statement_zh=f"当质量指标因{cause_zh}而解释力不足 0.3 时，CAD-GRPO 不如 Dr.MAS，高于 0.3 时更好。",
        source="weekly notes of 2026-04-19, section 1.4 (R^2 < 0.3)",
        setting=(
            f"team, 3 agents, game strong_weak, R^2 from {R2_GRID[0]} to {R2_GRID[-1]} by the dial {dial!r}; 32 prompts x 8 rollouts. The estimate is "
            f"the crossing of the mean difference; {R2_GRID[0]} stands for a difference that is positive on the whole grid, inf for one that never is."
        ),
        methods=("cad_grpo", "dr_mas"),
    checks=tuple(
            Check(f"crossing_{metric}", f"the difference in {words} changes sign between 0.25 and 0.35", f"{words_zh}之差在 0.25 与 0.35 之间变号",
                  above=0.25, below=0.35, statistic=r2_crossing, columns=r2_columns(metric))
            for metric, words, words_zh in (("pearson", "correlation with the truth", "与真值的相关"), ("cosine", "gradient cosine", "梯度余弦"))
        ),
        measure=_r2_curve(dial),
    )  # fmt: skip


R2_QUALITY = _crossing("quality", "quality is measured with noise", "测量噪声")
R2_REWARD = _crossing("reward", "other things decide the reward", "奖励另有决定因素")


CLAIMS = (STRONG_WEAK, SHAPLEY_LINEAR, SHAPLEY_JOINT, R2_QUALITY, R2_REWARD)

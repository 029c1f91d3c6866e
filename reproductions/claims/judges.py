"""Claims about judges of the work: a coach's scores as quality."""

from __future__ import annotations

from reproductions.claims.claim import Check, Claim, Measured
from reproductions.claims.measuring import PROMPTS, ROLLOUTS, agreement, gradient_cosine, rng_of
from reproductions.registry import get
from reproductions.worlds.base import Cost
from reproductions.worlds.process import Process


def _coach(seed: int) -> Measured:
    found, spent = {}, Cost()
    for source in ("cheap", "coach"):
        world = Process(quality_source=source)
        episodes = world.play(rng_of(seed), PROMPTS, ROLLOUTS, fields=frozenset({"quality_pkn"}))
        given = get("cad_grpo").run(episodes.batch)
        found[f"r2_{source}"] = float(given.diagnostics["r2"])
        found[f"pearson_{source}"] = agreement(episodes, given.advantage_pknt)
        found[f"cosine_{source}"] = gradient_cosine(episodes, given.advantage_pknt)
        found[f"calls_per_episode_{source}"] = episodes.cost.coach_calls / episodes.cost.episodes
        spent = spent + episodes.cost
    for name in ("r2", "pearson", "cosine"):
        found[f"{name}_gain"] = found[f"{name}_coach"] - found[f"{name}_cheap"]
    return Measured(found, spent)


COACH = Claim(
    slug="coach-scores-as-quality",
    statement="A coach's scores as quality raise the R^2 of CAD-GRPO's fit and make its credit better than cheap verifiable indicators do.",
    statement_zh="用 coach 打分作为质量指标，会提高 CAD-GRPO 拟合的 R²，信用也优于廉价可验证指标。",
    source="weekly notes of 2026-04-19, section 1.3",
    setting="process, coach and cheap indicator as the world's defaults have them; 32 prompts x 8 rollouts; a call for every action of an agent.",
    methods=("cad_grpo",),
    checks=(
        Check("r2_gain", "R^2 is higher", "R² 更高", above=0.0),
        Check("pearson_gain", "correlation with the true advantage is higher", "与真实优势的相关更高", above=0.0),
        Check("cosine_gain", "the gradient estimate lies closer to the exact one", "梯度估计更接近精确梯度", above=0.0),
    ),
    measure=_coach,
)
CLAIMS = (COACH,)

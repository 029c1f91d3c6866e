"""What the judges of a discussion say, and what asking them costs; and discussions gone through again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from reproductions.core import AnyArray, Bools, Floats
from reproductions.worlds.base import Cost, Episodes
from reproductions.worlds.checks import per_agent
from reproductions.worlds.discussion import Talk, talk
from reproductions.worlds.on_request import Filler, Observer, for_nothing, stream
from reproductions.worlds.output_length import draw_lengths
from reproductions.worlds.play_order import by_agent

if TYPE_CHECKING:
    from reproductions.worlds.process import Process

FREE = frozenset("acted_pknt reward_pk correct_pknt quality_pkn action_pknt policy_pknta prompt_id_p".split())
TESTS = frozenset({"passes_given_pkg", "passes_written_pkj"})
# A coach's highest score.
FULL_MARKS = 10.0
# Spread of the logarithm of an answer's tokens.
LENGTH_SPREAD = 0.3


def supplied(world: Process) -> frozenset[str]:
    """All fields that the world can fill; tests need an agent that writes them."""
    return FREE | (frozenset(FILL) if world.agents > 1 else frozenset(FILL) - TESTS)


def again(
    world: Process,
    rng: np.random.Generator,
    played: Episodes,
    *,
    first: int = 0,
    silent: Collection[int] = (),
    forced: int | None = None,
) -> tuple[Floats, Cost]:
    """``reward_pk`` of the discussions from a position on once more; a forced action is no new choice but a new answer."""
    before: Talk = played.hidden["talk"]
    class_pk = np.broadcast_to(played.hidden["class_p"][:, None], before.action_qpk.shape[1:])
    said = talk(
        rng, world.discussion, played.policy, world.merit_nxa, class_pk,
        before=before, first=first, silent=silent, forced=forced,
    )  # fmt: skip
    answers = int(said.answered_qpk[first:].sum())
    return said.reward_pk(world.discussion), Cost(replays=answers / world.discussion.positions)


def coach_scores(world: Process, played: Episodes) -> Floats:
    """``[p, k, n, t]``: 0 to 10. The same scores whether they are asked for as such or as quality."""
    rng = stream(played.hidden["key"], "coach_score_pknt")
    merit = _merit(world, played)
    worst = played.action_pknt == world.merit_nxa.argmin(axis=2)[_agent(world), played.context_pknt]
    seen = FULL_MARKS * merit + world.coach_bias * worst + world.coach_noise * rng.standard_normal(merit.shape)
    return np.asarray(np.clip(seen, 0.0, FULL_MARKS))


def coach_score(world: Process, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """A call for every answer, paid once if quality is made of the same scores."""
    paid = 0 if world.quality_source == "coach" else _answers(played)
    return coach_scores(world, played), Cost(coach_calls=paid)


def quality(world: Process, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """The mean of the coach's scores over ten, or cheap signs of merit."""
    if world.quality_source == "coach":
        return coach_scores(world, played).mean(axis=3) / FULL_MARKS, Cost(coach_calls=_answers(played))
    merit_pkn = _merit(world, played).mean(axis=3)
    return merit_pkn + world.cheap_noise * rng.standard_normal(merit_pkn.shape), Cost()


def verifier_score(world: Process, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """Whether the answer is right, seen with noise; a call for every answer."""
    right = _correct(world, played)
    noise = world.verifier_noise * rng.standard_normal(right.shape)
    return np.clip(right + noise, 0.0, 1.0), Cost(coach_calls=_answers(played))


def peer_share(world: Process, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """Each agent's division of the credit, a call each: what everybody's answers were paid, noise, more for itself; it adds up to 1."""
    pay_nt = world.discussion.pay_q.reshape(world.turns, world.agents).T
    paid_pkm = (pay_nt * _correct(world, played)).sum(axis=3)
    prompts, rollouts, agents = paid_pkm.shape
    noise = world.peer_noise * rng.standard_normal((prompts, rollouts, agents, agents))
    seen = np.maximum(paid_pkm[:, :, None] + noise, 0.0)
    total = seen.sum(axis=3, keepdims=True)
    share = np.divide(seen, total, out=np.full_like(seen, 1.0 / agents), where=total > 0.0)
    vain = (1.0 - world.vanity) * share + world.vanity * np.eye(agents)
    return vain, Cost(coach_calls=prompts * rollouts * agents)


def masked_reward(world: Process, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """Each agent silent in turn."""
    found = [world.replay(rng, played, agent) for agent in range(world.agents)]
    return np.stack([reward_pk for reward_pk, _ in found], axis=-1), sum((cost for _, cost in found), Cost())


def solo_reward(world: Process, rng: np.random.Generator, played: Episodes) -> tuple[AnyArray, Cost]:
    """All but the last agent silent."""
    return again(world, rng, played, silent=range(world.agents - 1))


def code_and_test(played: Episodes) -> tuple[Bools, Bools]:
    """``(right_pk, valid_pk)``: agent 0's last answer is the code, agent 1's the test."""
    correct = played.batch.need("correct_pknt")[..., -1]
    return correct[:, :, 0], correct[:, :, 1]


def passes_given(world: Process, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """A right code passes every given test, a wrong one slips through each by chance."""
    right_pk = code_and_test(played)[0]
    slips_pkg = rng.random((*right_pk.shape, world.given_tests)) < world.slip
    return np.asarray(right_pk[:, :, None] | slips_pkg)


def passes_written(world: Process, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """A valid test passes right codes and catches wrong ones by chance; an invalid one fails right codes, and wrong ones half the time."""
    right_pk, valid_pk = code_and_test(played)
    right_pkj, valid_pkj = right_pk[:, :, None], valid_pk[:, None, :]
    chance_pkj = np.where(valid_pkj, np.where(right_pkj, 1.0, 1.0 - world.catch), np.where(right_pkj, 0.0, 0.5))
    return np.asarray(rng.random(chance_pkj.shape) < chance_pkj)


def tool_valid(world: Process, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """Each tool call of an agent is valid with the mean merit of its actions as chance."""
    merit_pkn = _merit(world, played).mean(axis=3)
    return np.asarray(rng.binomial(world.tool_calls, merit_pkn) / max(1, world.tool_calls))


def model_score(world: Process, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """A reward model in training: it follows the reward from afar."""
    reward_pk = played.batch.need("reward_pk")
    return world.model_slope * reward_pk + world.model_noise * rng.standard_normal(reward_pk.shape)


def value(world: Process, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """E[R | what was answered before], with the critic's fixed and fresh errors."""
    discussion = world.discussion
    quality_xn = np.einsum("nxa,nxa->xn", played.policy.probability_nxa, world.merit_nxa)
    quality_pkn = np.broadcast_to(quality_xn[played.hidden["class_p"]][:, None], (*played.batch.shape[:3],))
    correct_qpk = played.hidden["talk"].correct_qpk
    exact_qpk, latest, earned_pk = np.empty(correct_qpk.shape), np.zeros(quality_pkn.shape), 0.0
    for q in range(discussion.positions):
        exact_qpk[q] = earned_pk + discussion.expected_reward(quality_pkn, first=q, latest=latest)
        earned_pk = earned_pk + discussion.pay_q[q] * correct_qpk[q]
        latest[..., q % world.agents] = correct_qpk[q]
    exact = by_agent(exact_qpk, world.agents)
    fixed_nx = np.random.default_rng([world.table_seed, 1]).standard_normal((world.agents, world.classes))
    bias = world.critic_bias * fixed_nx[_agent(world), played.context_pknt]
    return np.asarray(exact + bias + world.critic_noise * rng.standard_normal(exact.shape))


def length(world: Process, rng: np.random.Generator, played: Episodes) -> AnyArray:
    """Tokens of every answer, log-normal around the agent's mean."""
    return draw_lengths(rng, per_agent(world.lengths, world.agents)[:, None], LENGTH_SPREAD, played.batch.shape)


def _agent(world: Process) -> AnyArray:
    return np.arange(world.agents)[:, None]


def _merit(world: Process, played: Episodes) -> Floats:
    return world.merit_nxa[_agent(world), played.context_pknt, played.action_pknt]


def _correct(world: Process, played: Episodes) -> Floats:
    return played.batch.need("correct_pknt").astype(np.float64)


def _answers(played: Episodes) -> int:
    return int(played.batch.acted_pknt.sum())


OBSERVED: Mapping[str, Observer[Process]] = {
    "passes_given_pkg": passes_given,
    "passes_written_pkj": passes_written,
    "tool_valid_pkn": tool_valid,
    "model_score_pk": model_score,
    "value_pknt": value,
    "length_pknt": length,
}
FILL: Mapping[str, Filler[Process]] = {
    **for_nothing(OBSERVED),
    "quality_pkn": quality,
    "coach_score_pknt": coach_score,
    "verifier_score_pknt": verifier_score,
    "peer_share_pknm": peer_share,
    "masked_reward_pkn": masked_reward,
    "solo_reward_pk": solo_reward,
}

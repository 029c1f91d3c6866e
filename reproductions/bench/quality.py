"""The metrics of one cell: credit of all batches against what the world knows, gradient estimates batch by batch.

=======================  ======  =====================================================================================================
metric                   better  what it is
=======================  ======  =====================================================================================================
pearson spearman kendall higher  credit against E[R | context, action] - E[R | context], both less their mean per prompt and agent
pearson_by_agent         higher  the mean over agents of Pearson's coefficient among their own actions: scale between agents is free
sign                     higher  share of actions pushed in the right direction (credit as it is; 0 counts half)
shapley banzhaf          higher  Pearson's coefficient with the values of each episode's own game, less their mean per prompt and agent
leave_one_out            higher
lazy                     lower   part of all credit, by size, that goes to agents who contribute nothing
leakage                  lower   part of an agent's credit that the others' actions explain beyond its own (mean over agents)
beta_error               lower   relative error of the coefficients, of methods that estimate some
cosine                   higher  one batch's gradient estimate against the exact gradient, all agents together (mean over batches)
cosine_by_agent          higher  the same for each agent alone, then the mean over agents
relative_bias            lower   part of the expected estimate's squared length that is off the exact direction (1 less cosine squared)
relative_variance        lower   total variance of one batch's estimate over the squared length of the expected one
snr                      higher  expected estimate along the exact gradient over the root of the total variance of one batch
cosine_equal_cost        higher  cosine and snr with as many prompts as the cost of ``prompts`` without paid fields buys
snr_equal_cost           higher
silent                   lower   share of prompts whose actions all get credit 0
token_weight_error       lower   spread of log(weight / right weight) over actions' tokens, of methods with a loss of their own
relative_cost            lower   cost of a prompt over that without paid fields
prompts_equal_cost               the number of prompts behind ``cosine_equal_cost``
regret                   lower   training: mean distance from the best value over the cost spent, relative to the start
regret_by_episodes       lower   the same as if replays and calls were free
final_value gain         higher  training: the value at the end, and its part of the way from the start to the best
=======================  ======  =====================================================================================================

A metric without an answer in a cell (no lazy agent, credit that is 0 everywhere) is NaN there, null in its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from reproductions import metrics
from reproductions.bench.sampling import Play, gradients
from reproductions.bench.token_loss import token_weight
from reproductions.core import AnyArray, Batch, Credit, Floats
from reproductions.metrics import UNDEFINED
from reproductions.worlds.base import Episodes, Truth, World

_GAMES = ("shapley", "banzhaf", "leave_one_out")


@dataclass(frozen=True, eq=False)
class Known:
    """What is true of a play, in the form in which credits are compared with it; made once for all methods."""

    episodes: Episodes
    exact_nd: Floats

    @classmethod
    def of(cls, world: World, whole: Episodes) -> Known:
        """With the exact gradient at the policies that played."""
        exact = world.gradient(whole.policy)
        return cls(whole, exact.reshape(len(exact), -1))

    def is_of(self, other: Episodes) -> bool:
        """Whether another play of the same situation has these actions and this truth, so that all of this holds for it too."""
        mine, theirs = _seen(self.episodes), _seen(other)
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    @property
    def batch(self) -> Batch:
        return self.episodes.batch

    @cached_property
    def others(self) -> metrics.OthersActions:
        """Everybody's actions, as regressors."""
        return metrics.OthersActions.of(self.episodes.context_pknt, self.episodes.action_pknt, self.batch.acted_pknt)

    @cached_property
    def advantage_pknt(self) -> Floats | None:
        """The true advantage less its mean per prompt and agent."""
        truth = self.episodes.truth.advantage_pknt
        return None if truth is None else self.above(truth)

    @cached_property
    def advantage_ranked(self) -> metrics.Ranked:
        """The order of these among the actions."""
        assert self.advantage_pknt is not None
        return metrics.Ranked.of(self.advantage_pknt[self.batch.acted_pknt])

    @cached_property
    def games_pknt(self) -> Mapping[str, Floats]:
        """The games' values that the world knows, less their mean per prompt and agent."""
        known = {name: getattr(self.episodes.truth, f"{name}_pkn") for name in _GAMES}
        return {name: self.above(self.batch.spread(v, "pkn")) for name, v in known.items() if v is not None}

    def above(self, credit_pknt: Floats) -> Floats:
        """Less the mean per prompt and agent."""
        return metrics.above_prompt_mean(credit_pknt, self.batch.acted_pknt)


def _seen(episodes: Episodes) -> dict[str, AnyArray]:
    truth = {item.name: getattr(episodes.truth, item.name) for item in fields(Truth)}
    acted = {"context": episodes.context_pknt, "action": episodes.action_pknt, "acted": episodes.batch.acted_pknt}
    return acted | {name: array for name, array in truth.items() if array is not None}


def quality(
    method: str, known: Known, play: Play, assigned: Sequence[Credit], at_equal_cost: Sequence[Credit]
) -> dict[str, float]:
    """All metrics of a method's credits, one for each batch of ``play`` and each of its batches at equal cost."""
    credit = np.concatenate([credit.advantage_pknt for credit in assigned])
    along = direction(known, gradients(method, play.batches, assigned))
    at_cost = along
    if at_equal_cost is not assigned:
        at_cost = direction(known, gradients(method, play.batches_at_equal_cost, at_equal_cost))
    return {
        **agreement(known, credit),
        **fairness(known, credit),
        "beta_error": _beta_error(known, assigned),
        **along,
        "cosine_equal_cost": at_cost["cosine"],
        "snr_equal_cost": at_cost["snr"],
        "token_weight_error": _token_weight_error(method, play.batches),
        "silent": float(np.mean(~credit.any(axis=(1, 2, 3)))),
    }


def agreement(known: Known, credit_pknt: Floats) -> dict[str, float]:
    """With the true advantage and with the values of the episodes' games."""
    acted, above = known.batch.acted_pknt, known.above(credit_pknt)
    given = above[acted]
    found = {name: metrics.pearson(given, game[acted]) for name, game in known.games_pknt.items()}
    if known.advantage_pknt is None or known.episodes.truth.advantage_pknt is None:
        return found
    right, ranked = known.advantage_pknt[acted], metrics.Ranked.of(given)
    return found | {
        "pearson": metrics.pearson(given, right),
        "spearman": metrics.spearman_of(ranked, known.advantage_ranked),
        "kendall": metrics.kendall_of(ranked, known.advantage_ranked),
        "pearson_by_agent": _by_agent(known, above, known.advantage_pknt),
        "sign": metrics.sign_agreement(credit_pknt[acted], known.episodes.truth.advantage_pknt[acted]),
    }


def fairness(known: Known, credit_pknt: Floats) -> dict[str, float]:
    """What the lazy get, and what the others' actions bring in."""
    lazy_n, acted = known.episodes.truth.lazy_n, known.batch.acted_pknt
    lazy = UNDEFINED if lazy_n is None else metrics.lazy_share(credit_pknt, acted, lazy_n)
    return {"lazy": lazy, "leakage": known.others.leakage(credit_pknt)}


def direction(known: Known, estimate_bnd: Floats) -> dict[str, float]:
    """Of gradient estimates, independent of their scale."""
    estimate_bd, exact_d = estimate_bnd.reshape(len(estimate_bnd), -1), known.exact_nd.ravel()
    return {
        "cosine": metrics.mean_cosine(estimate_bd, exact_d),
        "cosine_by_agent": metrics.cosine_by_agent(estimate_bnd, known.exact_nd),
        "relative_bias": metrics.relative_bias(estimate_bd, exact_d),
        "relative_variance": metrics.relative_variance(estimate_bd),
        "snr": metrics.signal_to_noise(estimate_bd, exact_d),
    }


def _by_agent(known: Known, given_pknt: Floats, right_pknt: Floats) -> float:
    acted = known.batch.acted_pknt
    found = []
    for agent in range(acted.shape[2]):
        mask = acted[:, :, agent]
        right = right_pknt[:, :, agent][mask]
        if right.any():
            # An agent without credit has learnt nothing about its actions.
            found.append(np.nan_to_num(metrics.pearson(given_pknt[:, :, agent][mask], right), nan=0.0))
    return float(np.mean(found)) if found and given_pknt.any() else UNDEFINED


def _beta_error(known: Known, assigned: Sequence[Credit]) -> float:
    beta_n = known.episodes.truth.beta_n
    if beta_n is None or any("beta_n" not in credit.diagnostics for credit in assigned):
        return UNDEFINED
    return float(np.mean([metrics.beta_error(credit.diagnostics["beta_n"], beta_n) for credit in assigned]))


def _token_weight_error(method: str, batches: Sequence[Episodes]) -> float:
    found = []
    for batch in batches:
        weight, right = token_weight(method, batch), batch.truth.token_weight_pknt
        if weight is not None and right is not None:
            found.append(metrics.token_weight_error(weight, right, batch.batch.acted_pknt))
    return float(np.mean(found)) if found else UNDEFINED

r"""CURE: code is paid for passing given tests, a test for telling right code from wrong.

As printed
    CURE (2506.03136). The body's equations were not read; what follows is the authors' code.

As computed
    The authors' code (Gen-Verse/CURE at 69fe174), agent 0 writes code, agent 1 tests. A code's reward is its share of the given tests passed. C are the
    codes that pass all of them, W the others. A written test that all of C pass earns the share of W that it fails; any other test loses the
    share of W that it passes (1 in place of either where W is empty). Without C the task's tests earn nothing. Both are divided by their
    population deviation around the mean, per task and role; a task without spread is dropped. The result is the advantage.

Differs
    ``post_stage`` replaces the shares of W by "all of W" and "any of W". ``efficient`` is the authors' regularisation of length for long
    chains of thought: of the advantage only the sign stays; a good response gets the median length of the good ones (kept within
    1000 and 8000) minus its own, a bad one the lowest number of the task (0 at most), or all get their signs where the good ones
    are equally long. Positive numbers are scaled to sum to the negative ones, and all are divided by their deviation. A task whose
    responses all earn 1 is then kept.

Evidence
    Abstract read; code read and run; the details of ``efficient`` are those of a public copy of the code.

Traps
    - The given tests are ground truth: the method needs no right *code*, but it does need right tests.
    - One wrong code that slips through the given tests makes every test that catches it earn a negative reward.

Run
    python -m reproductions run cure --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import AxisGroups, Batch, Bools, Credit, Example, Floats, Method, Traits, normalise

# Tokens: the bounds of the median length of good responses.
MEDIAN_WITHIN = (1000.0, 8000.0)


def code_reward(passes_given_pkg: Bools) -> Floats:
    """``[p, k]``: the share of the given tests that each code passes; 0 where none are given."""
    return np.asarray(passes_given_pkg.sum(axis=2) / max(passes_given_pkg.shape[2], 1))


def written_test_reward(correct_pk: Bools, wrong_pk: Bools, passes_written_pkj: Bools, post_stage: bool) -> Floats:
    """``[p, j]``: what each written test earns from right and wrong codes; 0 without a right code."""
    right_p1 = correct_pk.sum(axis=1)[:, None]
    wrong_p1 = wrong_pk.sum(axis=1)[:, None]
    passed_by_right_pj = (correct_pk[:, :, None] & passes_written_pkj).sum(axis=1)
    passed_by_wrong_pj = (wrong_pk[:, :, None] & passes_written_pkj).sum(axis=1)
    passed_pj = passed_by_wrong_pj / np.maximum(wrong_p1, 1)
    gain_pj, loss_pj = 1.0 - passed_pj, passed_pj
    if post_stage:
        gain_pj, loss_pj = (passed_by_wrong_pj == 0) * 1.0, (passed_by_wrong_pj > 0) * 1.0
    loss_pj = np.where(wrong_p1 > 0, loss_pj, 1.0)
    earned_pj = np.where(passed_by_right_pj == right_p1, gain_pj, -loss_pj)
    return np.where(right_p1 > 0, earned_pj, 0.0)


def length_regularised(advantage_pk: Floats, length_pk: Floats, responses: AxisGroups) -> Floats:
    """``[p, k]``: the module docstring's ``efficient``, from the signs of advantages; 0 where nothing can be balanced."""
    good_pk, bad_pk = responses.mask & (advantage_pk > 0), responses.mask & (advantage_pk < 0)
    if not good_pk.any():
        return np.zeros(advantage_pk.shape)
    # A task without good responses gets some median: nothing in it is compared with that.
    counted_pk = np.where(good_pk, length_pk, np.where(good_pk.any(axis=1, keepdims=True), np.nan, 0.0))
    median_p1 = np.nanmedian(counted_pk, axis=1, keepdims=True)
    shorter_pk = np.where(good_pk, np.clip(median_p1, *MEDIAN_WITHIN) - length_pk, 0.0)
    lowest_p1 = shorter_pk.min(axis=1, keepdims=True, where=responses.mask, initial=np.inf)
    shaped_pk = np.where(bad_pk, lowest_p1, shorter_pk)
    alike_p1 = ((length_pk == median_p1) | ~good_pk).all(axis=1, keepdims=True)
    shaped_pk = np.where(alike_p1, good_pk * 1.0 - bad_pk, shaped_pk)
    gained_p1 = responses.total(np.maximum(shaped_pk, 0.0))
    lost_p1 = -responses.total(np.minimum(shaped_pk, 0.0))
    factor_p1 = np.divide(lost_p1, gained_p1, out=np.zeros(lost_p1.shape), where=gained_p1 > 0)
    balanced_pk = np.where(shaped_pk > 0, factor_p1, 1.0) * shaped_pk
    return np.where(factor_p1 > 0, normalise(balanced_pk, responses, ddof=0), 0.0)


def role_advantage(reward_pk: Floats, mask_pk: Bools, length_pk: Floats | None) -> Floats:
    """``[p, k]``: population z-scores per task, regularised where lengths are given."""
    responses = AxisGroups(mask_pk, (1,))
    advantage_pk = normalise(reward_pk, responses, ddof=0)
    if length_pk is None:
        return advantage_pk
    perfect_p1 = ((reward_pk == 1.0) | ~mask_pk).all(axis=1, keepdims=True)
    return length_regularised(np.where(perfect_p1, mask_pk * 1.0, advantage_pk), length_pk, responses)


def assign(batch: Batch, *, post_stage: bool = False, efficient: bool = False) -> Credit:
    """Advantages of coder and tester; other agents get 0 and are dropped, like tasks without spread."""
    acted_pkn = batch.mask("pkn")
    given, written = batch.need("passes_given_pkg"), batch.need("passes_written_pkj")
    length_pkn = batch.group("pknt", same="pkn").total(batch.need("length_pknt"))[..., 0] if efficient else None
    coded_pk = acted_pkn[:, :, 0] if batch.shape[2] else np.zeros(batch.shape[:2], dtype=bool)
    correct_pk = coded_pk & given.all(axis=2)
    earned = [code_reward(given), written_test_reward(correct_pk, coded_pk & ~correct_pk, written, post_stage)]
    reward_pkn, advantage_pkn = np.zeros(acted_pkn.shape), np.zeros(acted_pkn.shape)
    for role, reward_pk in enumerate(earned[: batch.shape[2]]):
        mask_pk = acted_pkn[:, :, role]
        reward_pkn[:, :, role] = np.where(mask_pk, reward_pk, 0.0)
        length_pk = None if length_pkn is None else length_pkn[:, :, role]
        advantage_pkn[:, :, role] = role_advantage(reward_pk, mask_pk, length_pk)
    kept_p1n = (advantage_pkn != 0).any(axis=1, keepdims=True)
    kept_pknt = batch.acted_pknt & kept_p1n[..., None]
    return Credit(batch.spread(advantage_pkn, "pkn"), kept_pknt, diagnostics={"role_reward_pkn": reward_pkn})


def example() -> Example:
    """One task: four codes, three given tests, three written tests (the fourth tester rollout failed)."""
    given = [[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0]]
    written = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    acted = np.ones((1, 4, 2, 1), dtype=bool)
    acted[0, 3, 1] = False
    length_kn = np.array([[2000, 100], [3000, 100], [2500, 100], [2500, 100]])
    batch = Batch.of(
        acted_pknt=acted,
        passes_given_pkg=[given],
        passes_written_pkj=[written],
        length_pknt=length_kn[None, :, :, None],
    )
    return Example(batch, source="Gen-Verse/CURE 69fe174: codes 0.962250, 0.962250, -0.577350, -1.347151")


METHOD = Method(
    name="cure",
    title="CURE: coder and tester reward each other",
    assign=assign,
    paper="2506.03136",
    formula=(
        r"r_i = \mathrm{mean}_g B_{i,g}, \quad "
        r"u_j = \mathrm{mean}_{i \in W} (1 - B_{i,j}) \text{ if all of } C \text{ pass, else } -\mathrm{mean}_{i \in W} B_{i,j}, \quad "
        r"A = \frac{x - \mathrm{mean}\, x}{\mathrm{std}\, x}"
    ),
    evidence=("abstract", "code", "run"),
    requires=("passes_given_pkg", "passes_written_pkj"),
    optional=("length_pknt",),
    signal=("passes_given_pkg", "passes_written_pkj"),
    traits=Traits(
        granularity="agent",
        group="same task and role",
        extra_rollouts="none; every test runs on every code",
        flags=frozenset({"multi_agent"}),
    ),
    presets={"post_stage": {"post_stage": True}, "efficient": {"efficient": True}},
    example=example,
)

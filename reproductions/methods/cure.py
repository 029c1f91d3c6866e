r"""CURE: code is paid for passing given tests, a test for telling right code from wrong.

As printed
    CURE (2506.03136). The body's equations were not read; what follows is the authors' code.

As computed
    The authors' code (Gen-Verse/CURE at 69fe174), agent 0 writes code, agent 1 tests. A code's reward is its share of the given tests passed. C are the
    codes that pass all of them, W the others. A written test that all of C pass earns the share of W that it fails; any other test loses the
    share of W that it passes (1 in place of either where W is empty). Without C the task's tests earn nothing. Both are divided by their
    population deviation around the mean, per task and role; a task without spread is dropped. The result is the advantage.

Differs
    ``post_stage`` replaces the shares of W by "all of W" and "any of W". The optional regularisation of length is left out: the facts
    available do not settle over which codes its median is taken.

Evidence
    Abstract read; code read and run.

Traps
    - The given tests are ground truth: the method needs no right *code*, but it does need right tests.
    - One wrong code that slips through the given tests turns every good test's reward negative.

Run
    python -m reproductions run cure --example
"""

from __future__ import annotations

import numpy as np

from reproductions.core import AxisGroups, Batch, Bools, Credit, Example, Floats, Method, Traits, normalise


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


def assign(batch: Batch, *, post_stage: bool = False) -> Credit:
    """Advantages of coder and tester; other agents get 0 and are dropped, like tasks without spread."""
    acted_pkn = batch.mask("pkn")
    given, written = batch.need("passes_given_pkg"), batch.need("passes_written_pkj")
    coded_pk = acted_pkn[:, :, 0] if batch.shape[2] else np.zeros(batch.shape[:2], dtype=bool)
    correct_pk = coded_pk & given.all(axis=2)
    earned = [code_reward(given), written_test_reward(correct_pk, coded_pk & ~correct_pk, written, post_stage)]
    reward_pkn, advantage_pkn = np.zeros(acted_pkn.shape), np.zeros(acted_pkn.shape)
    for role, reward_pk in enumerate(earned[: batch.shape[2]]):
        reward_pkn[:, :, role] = np.where(acted_pkn[:, :, role], reward_pk, 0.0)
        advantage_pkn[:, :, role] = normalise(reward_pk, AxisGroups(acted_pkn[:, :, role], (1,)), ddof=0)
    kept_p1n = (advantage_pkn != 0).any(axis=1, keepdims=True)
    kept_pknt = batch.acted_pknt & kept_p1n[..., None]
    return Credit(batch.spread(advantage_pkn, "pkn"), kept_pknt, diagnostics={"role_reward_pkn": reward_pkn})


def example() -> Example:
    """One task: four codes, three given tests, three written tests (the fourth tester rollout failed)."""
    given = [[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0]]
    written = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    acted = np.ones((1, 4, 2, 1), dtype=bool)
    acted[0, 3, 1] = False
    batch = Batch.of(acted_pknt=acted, passes_given_pkg=[given], passes_written_pkj=[written])
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
    signal=("passes_given_pkg", "passes_written_pkj"),
    traits=Traits(
        granularity="agent",
        group="same task and role",
        extra_rollouts="none; every test runs on every code",
        flags=frozenset({"multi_agent"}),
    ),
    presets={"post_stage": {"post_stage": True}},
    example=example,
)

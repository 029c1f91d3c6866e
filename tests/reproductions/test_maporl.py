"""MAPoRL: values of the authors' code (chanwoo-park-official/MAPoRL at c204c2c)."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch
from reproductions.methods import maporl

ALPHA = (1.0, 2.0, 4.0, 8.0)


@pytest.mark.parametrize(
    ("preset", "rewards"),
    [
        ("paper", [[0.374820, 0.806475], [0.746154, 0.9], [0.9, 0.9]]),
        ("individual", [[0.6, 0.866667], [0.8, 0.9], [0.9, 0.9]]),
    ],
)
def test_rewards_of_a_discussion(preset: str, rewards: list[list[float]]) -> None:
    found = maporl.METHOD.run(maporl.example().batch, preset).diagnostics["cell_reward_pknt"]
    np.testing.assert_allclose(found[0, 0].T, rewards, atol=1e-6)


@pytest.mark.parametrize(
    ("correct_nt", "paid_nt"),
    [
        # Persuaded by a partner who was right.
        ([[0, 1, 1], [1, 1, 1]], [[0, 1, 0], [0, 0, 0]]),
        # Always right, the partner comes round at the last turn: the code makes the persuader pay.
        ([[1, 1, 1], [0, 0, 1]], [[0, -8, 0], [0, 0, 1]]),
        # Wrong throughout, the partner falls for it: the code rewards that.
        ([[0, 0, 0], [1, 1, 0]], [[0, 8, 0], [0, 0, -1]]),
        # Two others who disagree: no branch fires for the third.
        ([[0, 1, 1], [1, 1, 1], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    ],
)
def test_incentives(correct_nt: list[list[int]], paid_nt: list[list[float]]) -> None:
    correct = np.array(correct_nt, dtype=bool)[None, None]
    paid = maporl.incentive(correct, np.ones(correct.shape, dtype=bool), ALPHA, -1.0)[0, 0]
    if len(correct_nt) == 3:
        # The other two agents' own changes are not what this case is about.
        paid[1:] = 0
    np.testing.assert_array_equal(paid, paid_nt)


def test_nothing_is_paid_at_the_first_turn() -> None:
    rng = np.random.default_rng(0)
    correct = rng.integers(0, 2, (4, 5, 3, 4)).astype(bool)
    paid = maporl.incentive(correct, np.ones(correct.shape, dtype=bool), ALPHA, -1.0)
    assert paid.any() and not paid[..., 0].any()


def test_the_described_sign_pays_who_persuades_the_others_of_the_right_answer() -> None:
    correct = np.array([[1, 1, 1], [0, 0, 1]], dtype=bool)[None, None]
    batch = maporl.example().batch.replace(correct_pknt=correct)
    bare = maporl.METHOD.run(batch).diagnostics["cell_reward_pknt"]
    for preset, paid in (("incentives", -1.0), ("described", 1.0)):
        added = maporl.METHOD.run(batch, preset).diagnostics["cell_reward_pknt"] - bare
        np.testing.assert_allclose(added[0, 0], [[0.0, paid, 0.0], [0.0, 0.0, 1.0]], atol=1e-12)


def test_cells_are_compared_with_the_same_agent_and_turn_of_other_questions() -> None:
    # Rewards less values and the KL penalty are 1 and 3 for the only agent and turn.
    batch = Batch.of(
        verifier_score_pknt=[[[[1.0]]], [[[2.0]]]], value_pknt=[[[[0.0]]], [[[-2.0]]]], kl_pknt=[[[[0.0]]], [[[500.0]]]]
    )
    advantage = maporl.METHOD.run(batch, eps=0.0).advantage_pknt
    np.testing.assert_allclose(advantage.ravel(), [-1, 1], atol=1e-12)
    heavy = maporl.METHOD.run(batch, eps=0.0, kl_weight=0.006).diagnostics["cell_reward_pknt"]
    np.testing.assert_allclose(heavy.ravel(), [1, 2], atol=1e-12)

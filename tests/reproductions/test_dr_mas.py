"""Dr.MAS against the authors' code on nine calls of a solver and a verifier, and against the paper's own formula."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import Batch, from_rows
from reproductions.methods import dr_mas, grpo

ROLLOUT = [0, 0, 1, 1, 1, 1, 2, 2, 3]
AGENT = ["solver", "verifier"] * 4 + ["solver"]
REWARD = [1.0, 1, 0, 0, 0, 0, 1, 1, 0]
SOLVER, VERIFIER = [0, 2, 4, 6, 8], [1, 3, 5, 7]


def advantage_of_rows(preset: str, penalty: list[float] | None = None) -> np.ndarray:
    columns = {} if penalty is None else {"penalty_pknt": penalty}
    batch, at = from_rows([0] * 9, ROLLOUT, AGENT, reward_pk=REWARD, **columns)
    return dr_mas.METHOD.run(batch, preset).advantage_pknt[at]


@pytest.mark.parametrize(
    ("preset", "solver", "verifier"),
    [
        (
            "authors_code",
            [1.095443, -0.730295, -0.730295, 1.095443, -0.730295],
            [0.866024, -0.866024, -0.866024, 0.866024],
        ),
        ("paper", [1.224745, -0.816497, -0.816497, 1.224745, -0.816497], [1, -1, -1, 1]),
        ("mean_only", [0.6, -0.4, -0.4, 0.6, -0.4], [0.5, -0.5, -0.5, 0.5]),
        ("vanilla", [0.866024, -0.866024, -0.866024, 0.866024, -0.866024], [0.866024, -0.866024, -0.866024, 0.866024]),
    ],
)
def test_nine_calls(preset: str, solver: list[float], verifier: list[float]) -> None:
    advantage = advantage_of_rows(preset)
    np.testing.assert_allclose(advantage[SOLVER], solver, atol=1e-6)
    np.testing.assert_allclose(advantage[VERIFIER], verifier, atol=1e-6)


def test_a_penalty_for_one_call_parts_the_calls_of_a_rollout() -> None:
    advantage = advantage_of_rows("authors_code", penalty=[0, 0, 0, 0, 0.1, 0, 0, 0, 0])
    np.testing.assert_allclose(advantage[SOLVER], [1.092604, -0.669661, -0.845887, 1.092604, -0.669661], atol=1e-6)
    np.testing.assert_allclose(advantage_of_rows("paper", penalty=[0.5] * 9), advantage_of_rows("paper"))


def test_an_agent_called_once_keeps_its_raw_reward_in_the_code_and_gets_nothing_in_the_paper() -> None:
    batch, at = from_rows([0, 0, 0], [0, 1, 0], ["a", "a", "b"], reward_pk=[1.0, 0.0, 1.0])
    assert dr_mas.METHOD.run(batch).advantage_pknt[at][2] == 0
    np.testing.assert_allclose(
        dr_mas.METHOD.run(batch, "authors_code").advantage_pknt[at][2], 1 / (1 + 1e-6), atol=1e-12
    )


def test_with_one_call_per_agent_and_rollout_it_is_grpo() -> None:
    batch = Batch.of(reward_pk=np.random.default_rng(0).normal(size=(4, 6)), acted_pknt=np.ones((4, 6, 3, 1), bool))
    np.testing.assert_allclose(
        dr_mas.METHOD.run(batch).advantage_pknt, grpo.METHOD.run(batch, "population").advantage_pknt, atol=1e-12
    )


def test_the_inflation_factor_of_team_statistics() -> None:
    # Agent 0 acts in every rollout; agent 1 once in a rollout with reward 1 and three times in the one with reward 0.
    acted = np.zeros((1, 4, 2, 3), bool)
    acted[0, :, 0, 0] = True
    acted[0, 0, 1, 0] = True
    acted[0, 3, 1, :] = True
    factor = dr_mas.METHOD.run(Batch.of(reward_pk=[[1, 1, 1, 0]], acted_pknt=acted)).diagnostics["inflation_pn"]
    np.testing.assert_allclose(factor, [[1.0, (0.1875 + 0.25) / 0.1875]], atol=1e-12)

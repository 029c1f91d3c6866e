"""DAPO's four parts against verl, trl and the paper's own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproductions.core import Batch
from reproductions.methods import dapo, grpo


def with_lengths(reward_pk: Any, length_pk: Any) -> Batch:
    return Batch.of(reward_pk=reward_pk, length_pknt=np.asarray(length_pk)[:, :, None, None])


def test_soft_overlong_punishment_with_the_papers_lengths(single_agent: Any) -> None:
    case = single_agent("dapo_overlong_paper_defaults")
    assert_allclose(dapo.overlong_penalty(np.array(case["inputs"]["lengths"])), case["expected"], atol=1e-12)


def test_verl_has_the_same_ramp_up_to_the_cap_and_no_floor_beyond(single_agent: Any) -> None:
    case = single_agent("dapo_overlong_verl")
    length = np.array(case["inputs"]["lengths"])
    for bounded in (True, False):
        penalty = dapo.overlong_penalty(length, 20, 4, bounded=bounded)
        assert_allclose(case["inputs"]["base_reward"] + penalty, case["expected"], atol=1e-6)
    assert dapo.overlong_penalty(np.array([24.0]), 20, 4).tolist() == [-1.0]
    assert dapo.overlong_penalty(np.array([24.0]), 20, 4, bounded=False).tolist() == [-2.0]


def test_dynamic_sampling_drops_prompts_that_are_all_right_or_all_wrong(single_agent: Any) -> None:
    case = single_agent("dapo_dynamic_sampling")
    batch = with_lengths(case["inputs"]["group_acc"], np.ones((4, 4), int))
    credit = dapo.METHOD.run(batch)
    assert credit.kept_pknt is not None
    assert (
        credit.kept_pknt.all(axis=(1, 2, 3)).tolist()
        == credit.kept_pknt.any(axis=(1, 2, 3)).tolist()
        == case["expected"]
    )
    assert_allclose(credit.advantage_pknt, grpo.METHOD.run(batch).advantage_pknt)


def test_a_prompt_is_kept_by_its_answers_and_not_by_their_length() -> None:
    credit = dapo.METHOD.run(with_lengths([[1, 1], [1, -1]], [[10, 20], [10, 20]]), longest=20, ramp=4)
    assert credit.kept_pknt is not None
    assert credit.kept_pknt[:, 0, 0, 0].tolist() == [False, True]
    assert_allclose(credit.advantage_pknt[0], 0.0)


def test_the_penalty_is_part_of_the_reward_that_is_normalised() -> None:
    credit = dapo.METHOD.run(with_lengths([[1, 1, -1]], [[10, 18, 10]]), longest=20, ramp=4)
    shaped = np.array([1.0, 0.5, -1.0])
    assert_allclose(credit.advantage_pknt.ravel(), (shaped - shaped.mean()) / shaped.std(ddof=1), atol=1e-12)


def test_a_lone_rollout_is_kept_by_the_recipe_only() -> None:
    batch = with_lengths([[0.7]], [[1]])
    assert dapo.METHOD.run(batch).advantage_pknt.tolist() == [[[[0.0]]]]
    recipe = dapo.METHOD.run(batch, "authors_code")
    assert recipe.kept_pknt is not None and recipe.kept_pknt.all()
    assert_allclose(recipe.advantage_pknt, 0.7 / (1 + 1e-6), atol=1e-12)


def test_the_length_of_a_team_is_that_of_all_its_actions() -> None:
    batch = Batch.of(reward_pk=[[1.0, 0.0]], length_pknt=[[[[6, 6], [6, 0]], [[1, 1], [1, 1]]]])
    assert_allclose(dapo.METHOD.run(batch, longest=20, ramp=4).diagnostics["penalty_pk"], [[-0.5, 0.0]])


@pytest.mark.parametrize(("clip_high", "name"), [(0.2, "dapo"), (0.28, "dapo_eps_high0.28")])
def test_the_loss_counts_every_token_once_as_trl(single_agent: Any, clip_high: float, name: str) -> None:
    case = single_agent("trl_grpo_loss_types")
    given = {key: np.array(value) for key, value in case["inputs"].items()}
    advantage = np.repeat(given["advantages"][:, None], 4, axis=1)
    loss = dapo.loss(given["logps"], given["old_logps"], advantage, given["completion_mask"], clip_high=clip_high)
    assert_allclose(loss, case["expected"][name], atol=1e-6)

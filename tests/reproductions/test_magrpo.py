"""MAGRPO: values of the re-implementation in C3's repository (EIT-EAST-Lab/C3 at 628185b)."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.methods import dr_grpo, magrpo


@pytest.mark.parametrize(("preset", "size"), [("paper", 0.5), ("normalised", 1.0), ("rloo", 0.571429)])
def test_eight_rollouts_of_one_question(preset: str, size: float) -> None:
    batch = magrpo.example().batch
    sign = np.where(batch.need("reward_pk") > 0, 1.0, -1.0)
    advantage = magrpo.METHOD.run(batch, preset).advantage_pknt
    np.testing.assert_allclose(advantage, batch.spread(size * sign, "pk"), atol=1e-5)


def test_is_dr_grpo_for_a_team() -> None:
    batch = magrpo.example().batch
    np.testing.assert_array_equal(magrpo.METHOD.run(batch).advantage_pknt, dr_grpo.METHOD.run(batch).advantage_pknt)

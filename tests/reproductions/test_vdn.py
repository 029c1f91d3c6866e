"""VDN against its authors' group's code."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.core import Batch
from reproductions.methods import vdn


def test_the_total_is_that_of_pymarl(single_agent: Any) -> None:
    case = single_agent("vdn_mixer")
    utility_btn = np.array(case["inputs"]["agent_qs"])
    batch = Batch.of(utility_pknt=np.swapaxes(utility_btn, 1, 2)[None])
    credit = vdn.METHOD.run(batch, "uncentred")
    expected_btn = np.array(case["expected"])
    np.testing.assert_allclose(credit.diagnostics["total_pkt"][0], expected_btn[..., 0], atol=case["tolerance"])
    np.testing.assert_array_equal(credit.advantage_pknt, batch.need("utility_pknt"))


def test_an_absent_agent_adds_nothing() -> None:
    batch = Batch.of(utility_pknt=[[[[2.0], [5.0]]]], acted_pknt=[[[[1], [0]]]])
    assert vdn.METHOD.run(batch).diagnostics["total_pkt"].tolist() == [[[2.0]]]


def test_centred_over_the_rollouts_that_have_the_agent_at_this_turn() -> None:
    batch = Batch.of(utility_pknt=[[[[2.0]], [[5.0]], [[9.0]]]], acted_pknt=[[[[1]], [[1]], [[0]]]])
    np.testing.assert_array_equal(vdn.METHOD.run(batch).advantage_pknt.ravel(), [-1.5, 1.5, 0])

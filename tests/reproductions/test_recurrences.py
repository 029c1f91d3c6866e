"""Backward sums against the loop they stand for, masked positions skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.core import backward_sum, following


def test_discounted_returns(single_agent: Callable[[str], dict[str, Any]]) -> None:
    case = single_agent("returns_to_go")
    result = backward_sum(np.array(case["inputs"]["rewards"]), case["parameters"]["gamma"])
    np.testing.assert_allclose(result, case["expected"], atol=case["tolerance"])


@given(seed=st.integers(0, 9999), varying=st.booleans(), time_major=st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_is_the_loop(seed: int, varying: bool, time_major: bool) -> None:
    rng = np.random.default_rng(seed)
    array = rng.normal(size=(2, 300, 5)) if not time_major else np.moveaxis(rng.normal(size=(5, 2, 300)), 0, -1)
    mask = rng.random(array.shape) < 0.7
    decay = rng.random(array.shape) if varying else 0.9
    result, after = backward_sum(array, decay, mask), following(array, mask, final=7.0)
    each = np.broadcast_to(decay, array.shape)
    for row in [(0, 0), (1, 299)]:
        running, value_after = 0.0, 7.0
        for t in reversed(range(5)):
            if mask[(*row, t)]:
                running = array[(*row, t)] + each[(*row, t)] * running
                assert result[(*row, t)] == pytest.approx(running, abs=1e-12)
                assert after[(*row, t)] == value_after
                value_after = array[(*row, t)]
            else:
                assert result[(*row, t)] == 0
    np.testing.assert_allclose(backward_sum(array, decay), backward_sum(np.ascontiguousarray(array), decay), atol=1e-12)


def test_a_final_value_per_row() -> None:
    assert following(np.array([[1.0, 2.0], [3.0, 4.0]]), final=np.array([8.0, 9.0])).tolist() == [
        [2.0, 8.0],
        [4.0, 9.0],
    ]
    assert backward_sum(np.zeros((2, 0)), 0.9).shape == (2, 0)

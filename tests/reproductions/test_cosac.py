"""COSAC (provisional): the secondary formula with exact expectations, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import ParameterError
from reproductions.methods import cosac


def test_fit() -> None:
    diagnostics = cosac.METHOD.run(cosac.example().batch).diagnostics
    np.testing.assert_allclose(diagnostics["intercept"], 0.5, atol=1e-9)
    np.testing.assert_allclose(diagnostics["weight_na"], [[-0.212032, 0.212032], [-0.261783, 0.261783]], atol=1e-6)


def test_advantages() -> None:
    advantage = cosac.METHOD.run(cosac.example().batch).advantage_pknt[0, :, :, 0]
    np.testing.assert_allclose(advantage[[0, 2], 0], [-0.290567, 0.290567], atol=1e-6)
    # The second agent's actions 0 and 1, after 0 and after 1.
    np.testing.assert_allclose(advantage[[0, 1], 1], [-0.209427, 0.314140], atol=1e-6)
    np.testing.assert_allclose(advantage[[2, 3], 1], [-0.366497, 0.157070], atol=1e-6)


def test_without_a_penalty_there_is_no_single_fit() -> None:
    with pytest.raises(ParameterError, match="lam"):
        cosac.METHOD.run(cosac.example().batch, lam=0.0)

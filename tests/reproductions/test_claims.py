"""Claims: rules that can fail, verdicts by hand, rows that say everything, measurements that repeat."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reproductions.claims import Check, Claim, Measured, claims, get
from reproductions.claims.measuring import crossing_of
from reproductions.claims.running import decision, key_of, measure_seed, run_claims
from reproductions.core import ParameterError
from reproductions.metrics.interval import Interval, bootstrap_interval, mean_interval
from reproductions.registry import methods
from reproductions.worlds.base import Cost


def claim(*checks: Check, seeds: int = 4) -> Claim:
    return Claim("x", "s", "句", "notes", "setting", (), checks, lambda seed: Measured({}, Cost()), seeds)


ABOVE = Check("gain", "g", "增", above=0.0)
BAND = Check("ratio", "r", "比", above=1.8, below=2.2)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.1, 0.3, "supported"),
        (-0.1, 0.3, "undecided"),
        (-0.3, -0.1, "refuted"),
        (-math.inf, math.inf, "undecided"),
        (math.nan, math.nan, "undecided"),
    ],
)
def test_one_bound(low: float, high: float, outcome: str) -> None:
    assert ABOVE.outcome(Interval((low + high) / 2, low, high, 9)) == outcome


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.9, 2.1, "supported"),
        (1.7, 1.9, "undecided"),
        (1.0, 1.7, "refuted"),
        (2.3, 2.5, "refuted"),
        (1.0, 3.0, "undecided"),
    ],
)
def test_two_bounds(low: float, high: float, outcome: str) -> None:
    assert BAND.outcome(Interval((low + high) / 2, low, high, 9)) == outcome


def test_a_check_without_a_bound_is_refused() -> None:
    with pytest.raises(ParameterError, match="could not fail"):
        Check("gain", "g", "增")


def test_a_claim_needs_all_checks_and_falls_with_one() -> None:
    both = claim(ABOVE, BAND)
    good = [{"gain": 1.0 + i / 100, "ratio": 2.0 + i / 100} for i in range(4)]
    assert both.decide(good, Cost()).verdict == "supported"
    assert both.decide([{**row, "ratio": row["ratio"] + 1.0} for row in good], Cost()).verdict == "refuted"
    assert (
        both.decide([{**row, "ratio": row["ratio"] + i / 4} for i, row in enumerate(good)], Cost()).verdict
        == "undecided"
    )
    assert both.decide(good[:3], Cost()).verdict == "undecided", "seeds are missing"


def test_the_t_interval_of_a_worked_sample() -> None:
    # Mean 2, deviation 1, t(0.975, 2) = 4.302653: half width 4.302653 / sqrt(3).
    found = mean_interval([1.0, 2.0, 3.0])
    assert (found.value, found.n) == (2.0, 3)
    assert found.high - 2.0 == pytest.approx(2.484138, abs=1e-6)
    assert mean_interval([5.0]).high == math.inf


def test_the_bootstrap_of_a_mean_covers_like_the_normal_interval() -> None:
    values = np.random.default_rng(1).normal(3.0, 2.0, (400, 1))
    found = bootstrap_interval(values, lambda mean: float(mean[0]))
    assert found.value == pytest.approx(values.mean())
    half = 1.959964 * np.std(values, ddof=1) / 20.0
    assert found.high - found.value == pytest.approx(half, rel=0.1)
    assert found.value - found.low == pytest.approx(half, rel=0.1)


def test_the_bootstrap_of_a_statistic_that_may_be_infinite() -> None:
    # Seeds agree on columns 1 and 2 but not on column 3: half of the resamples end without a crossing.
    values = np.array([[-1.0, 1.0, 1.0], [-1.0, 1.0, -1.02]])
    found = bootstrap_interval(values, lambda mean: crossing_of([1.0, 2.0, 3.0], mean.tolist()))
    assert found.low == pytest.approx(1.5) and found.high == math.inf


@pytest.mark.parametrize(
    ("difference", "at"),
    [
        ([-1.0, -0.5, 0.5, 1.0], 2.5),
        ([-1.0, 1.0, -1.0, 3.0], 3.25),
        ([0.1, 0.2, 0.3, 0.4], 1.0),
        ([1.0, 1.0, 1.0, -0.1], math.inf),
    ],
)
def test_where_a_difference_turns_positive_for_good(difference: list[float], at: float) -> None:
    assert crossing_of([1.0, 2.0, 3.0, 4.0], difference) == pytest.approx(at)


@pytest.mark.parametrize("slug", list(claims()))
def test_a_claim_says_everything_in_both_languages_and_measures_what_it_checks(slug: str) -> None:
    found = get(slug)
    assert found.slug == slug and found.source and found.setting and found.seeds >= 20
    assert any("\u4e00" <= char <= "\u9fff" for char in found.statement_zh)
    assert not any("\u4e00" <= char <= "\u9fff" for char in found.statement)
    assert set(found.methods) <= set(methods()) and found.methods
    row = measure_seed(slug, 7)
    assert row["error"] is None
    wanted = {check.metric for check in found.checks if check.statistic is None}
    assert wanted <= {name for name, value in row["metrics"].items() if value is not None}
    assert row["cost"]["episodes"] > 0
    again = measure_seed(slug, 7)
    assert again["metrics"] == row["metrics"] and again["inputs_hash"] == row["inputs_hash"]
    assert measure_seed(slug, 8)["metrics"] != row["metrics"] or slug == "counterfactual-cost", (
        "a seed changes what is drawn"
    )


def test_finished_seeds_are_skipped_and_failed_ones_do_not_count() -> None:
    rows = []
    assert run_claims(["counterfactual-cost"], seeds=3, jobs=1, on_row=rows.append) == (3, 0)
    done = {row["inputs_hash"] for row in rows}
    assert run_claims(["counterfactual-cost"], seeds=4, done=done, jobs=1, on_row=rows.append) == (1, 3)
    assert decision("counterfactual-cost", rows).seeds == 4
    failed = {**rows[0], "error": "ValueError: x", "metrics": {}}
    assert decision("counterfactual-cost", [*rows[1:], failed]).seeds == 3
    assert key_of(get("counterfactual-cost"), 0) in done


def test_an_unknown_claim_names_near_ones() -> None:
    with pytest.raises(ParameterError) as caught:
        get("r2-threshold")
    assert "r2-threshold-quality" in caught.value.hint

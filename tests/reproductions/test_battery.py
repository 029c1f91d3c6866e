"""What holds for every method, and what each claims of itself. Methods choose their checks by their records, not by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_batches import batches, changed_where_masked, make_batch, only, permuted

from reproductions.core import (
    Batch,
    BatchError,
    Claim,
    Credit,
    Example,
    Method,
    MissingField,
    Traits,
    axes_of,
)
from reproductions.registry import methods

SETTINGS = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
METHODS = list(methods().values())
RUNS = [(method, preset) for method in METHODS for preset in ("paper", *method.presets)]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
every_run = pytest.mark.parametrize(("method", "preset"), RUNS, ids=[f"{m.name}-{preset}" for m, preset in RUNS])
CLAIMS = [(method, claim) for method in METHODS for claim in sorted(method.claims)]


def equal(left: np.ndarray, right: np.ndarray) -> None:
    np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-7)


@every_run
@given(batch=batches())
@SETTINGS
def test_numbers_for_those_who_acted_and_nothing_written_to_the_batch(
    method: Method, preset: str, batch: Batch
) -> None:
    before = {name: array.copy() for name, array in batch.present_fields().items()}
    credit = method.run(batch, preset)
    assert credit.advantage_pknt.dtype == np.float64 and credit.advantage_pknt.shape == batch.shape
    assert np.all(credit.advantage_pknt[~batch.acted_pknt] == 0)
    assert credit.kept_pknt is None or not np.any(credit.kept_pknt & ~batch.acted_pknt)
    for name, array in batch.present_fields().items():
        np.testing.assert_array_equal(array, before[name])


@every_run
@given(batch=batches(), seed=st.integers(0, 999))
@SETTINGS
def test_what_is_masked_matters_to_nobody(method: Method, preset: str, batch: Batch, seed: int) -> None:
    changed = changed_where_masked(batch, np.random.default_rng(seed))
    equal(method.run(changed, preset).advantage_pknt, method.run(batch, preset).advantage_pknt)


@every_run
@given(batch=batches(), seed=st.integers(0, 999))
@SETTINGS
def test_the_order_of_prompts_and_rollouts_does_not_matter(
    method: Method, preset: str, batch: Batch, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    p, k = rng.permutation(batch.shape[0]), rng.permutation(batch.shape[1])
    equal(
        method.run(permuted(batch, p=p, k=k), preset).advantage_pknt, method.run(batch, preset).advantage_pknt[p][:, k]
    )


@every_method
@given(batch=batches())
@SETTINGS
def test_reads_the_fields_it_declares_and_no_others(method: Method, batch: Batch) -> None:
    declared = tuple(dict.fromkeys((*method.requires, *method.optional)))
    equal(method.run(only(batch, declared)).advantage_pknt, method.run(batch).advantage_pknt)
    method.run(only(batch, method.requires))


@every_method
def test_says_which_field_is_missing(method: Method) -> None:
    batch = make_batch(np.random.default_rng(0), np.ones((2, 3, 2, 2), bool))
    for name in method.requires:
        with pytest.raises(MissingField, match=name) as caught:
            method.run(batch.replace(**{name: None}))
        assert caught.value.field == name and "provided by" in str(caught.value)


@every_run
@pytest.mark.parametrize("shape", [(0, 4, 2, 2), (2, 0, 2, 2), (1, 1, 1, 1), (3, 1, 2, 1), (2, 4, 1, 3)])
@pytest.mark.parametrize("acted", [True, False])
def test_empty_single_and_lonely(method: Method, preset: str, shape: tuple[int, ...], acted: bool) -> None:
    batch = make_batch(np.random.default_rng(1), np.full(shape, acted))
    advantage = method.run(batch, preset).advantage_pknt
    assert advantage.shape == shape and np.isfinite(advantage).all()


@every_method
@given(batch=batches(full=True), wrong=st.sampled_from([np.nan, np.inf]), seed=st.integers(0, 999))
@SETTINGS
def test_a_number_that_is_none_is_refused_by_name(method: Method, batch: Batch, wrong: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for name in method.signal:
        array = batch.need(name)
        if array.dtype.kind != "f":
            continue
        at = tuple(int(rng.integers(0, size)) for size in array.shape)
        broken = array.copy()
        broken[at] = wrong
        with pytest.raises(BatchError, match=rf"{name} is (nan|inf) at prompt {at[0]}, rollout {at[1]}"):
            batch.replace(**{name: broken})


@every_run
@given(batch=batches())
@SETTINGS
def test_float32_in_float64_out(method: Method, preset: str, batch: Batch) -> None:
    fields = batch.present_fields()
    single = {name: array.astype(np.float32) for name, array in fields.items() if array.dtype == np.float64}
    double = {name: array.astype(np.float64) for name, array in single.items()}
    advantage = method.run(batch.replace(**single), preset).advantage_pknt
    assert advantage.dtype == np.float64
    equal(advantage, method.run(batch.replace(**double), preset).advantage_pknt)


# ---------------------------------------------------------------- claims


def signal_changed(batch: Batch, method: Method, change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Batch:
    """``change(signal, one random number per prompt)`` applied to the fields that carry the reward."""
    per_prompt = np.random.default_rng(7).uniform(-2.0, 2.0, batch.shape[0])
    changed = {}
    for name in method.signal:
        array = batch.need(name)
        changed[name] = change(array, per_prompt.reshape(-1, *[1] * (len(axes_of(name)) - 1)))
    return batch.replace(**changed)


def zero_sum_over_rollouts(method: Method, batch: Batch) -> None:
    advantage = method.run(batch).advantage_pknt
    # One number per rollout: the mean over its actions.
    actions = np.maximum(batch.acted_pknt.sum(axis=(2, 3)), 1)
    equal((advantage.sum(axis=(2, 3)) / actions).sum(axis=1), np.zeros(batch.shape[0]))


def zero_sum_over_actions(method: Method, batch: Batch) -> None:
    equal(method.run(batch).advantage_pknt.sum(axis=(1, 3)), np.zeros((batch.shape[0], batch.shape[2])))


def zero_sum_in_batch(method: Method, batch: Batch) -> None:
    equal(method.run(batch).advantage_pknt.sum(), np.zeros(()))


def unit_spread(method: Method, batch: Batch) -> None:
    advantage = method.run(batch).advantage_pknt
    squares = (advantage**2).sum(axis=(1, 3)) / np.maximum(batch.acted_pknt.sum(axis=(1, 3)), 1)
    equal(np.where(np.abs(squares) < 1e-7, 1.0, squares), np.ones_like(squares))


def shift_invariant(method: Method, batch: Batch) -> None:
    shifted = signal_changed(batch, method, lambda array, constant: array + constant)
    equal(method.run(shifted).advantage_pknt, method.run(batch).advantage_pknt)


def scale_invariant(method: Method, batch: Batch) -> None:
    scaled = signal_changed(batch, method, lambda array, _: array * 3.5)
    equal(method.run(scaled).advantage_pknt, method.run(batch).advantage_pknt)


def scale_equivariant(method: Method, batch: Batch) -> None:
    scaled = signal_changed(batch, method, lambda array, _: array * 3.5)
    equal(method.run(scaled).advantage_pknt, 3.5 * method.run(batch).advantage_pknt)


def zero_when_equal(method: Method, batch: Batch) -> None:
    flat = signal_changed(batch, method, lambda array, constant: np.broadcast_to(constant + 0.1, array.shape))
    equal(method.run(flat).advantage_pknt, np.zeros(batch.shape))


def same_for_the_whole_team(method: Method, batch: Batch) -> None:
    advantage = method.run(batch).advantage_pknt
    of_rollout = advantage.sum(axis=(2, 3)) / np.maximum(batch.acted_pknt.sum(axis=(2, 3)), 1)
    equal(advantage, batch.spread(of_rollout, "pk"))


def agent_equivariant(method: Method, batch: Batch) -> None:
    order = np.roll(np.arange(batch.shape[2]), 1)
    equal(method.run(permuted(batch, n=order)).advantage_pknt, method.run(batch).advantage_pknt[:, :, order])


def efficient(method: Method, batch: Batch) -> None:
    reward = batch.need("reward_pk")
    total = method.run(batch).advantage_pknt.sum(axis=(2, 3))
    equal(total, reward - reward.mean(axis=1, keepdims=True))


CHECKS: dict[str, Callable[[Method, Batch], None]] = {
    check.__name__: check
    for check in (
        zero_sum_over_rollouts,
        zero_sum_over_actions,
        zero_sum_in_batch,
        unit_spread,
        shift_invariant,
        scale_invariant,
        scale_equivariant,
        zero_when_equal,
        same_for_the_whole_team,
        agent_equivariant,
        efficient,
    )
}


@pytest.mark.parametrize(("method", "claim"), CLAIMS, ids=[f"{m.name}-{claim}" for m, claim in CLAIMS])
@given(data=st.data())
@SETTINGS
def test_claim(method: Method, claim: str, data: st.DataObject) -> None:
    batch = data.draw(batches(turns=1, full=True) if claim == "efficient" else batches())
    CHECKS[claim](method, batch)


def test_every_claim_of_the_vocabulary_has_a_check() -> None:
    assert set(CHECKS) == set(get_args(Claim))


@pytest.mark.parametrize("claim", sorted(CHECKS))
def test_every_check_can_fail(claim: str) -> None:
    """A method that breaks every claim: it adds up who acted where, and bends the reward."""

    def assign(batch: Batch) -> Credit:
        agent, turn = np.arange(batch.shape[2])[:, None], np.arange(batch.shape[3])
        return Credit(
            batch.spread(np.exp(batch.need("reward_pk")), "pk") + np.where(batch.acted_pknt, agent + 2.0 * turn, 0)
        )

    traits = Traits(granularity="rollout", group="none")
    unruly = Method("unruly", "", assign, "", "", ("own",), ("reward_pk",), traits, lambda: Example(Batch.of()))
    turns = 1 if claim == "efficient" else 2
    batch = make_batch(np.random.default_rng(3), np.ones((2, 4, 3, turns), bool))
    with pytest.raises(AssertionError):
        CHECKS[claim](unruly, batch)

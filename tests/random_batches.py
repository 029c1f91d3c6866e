"""Random batches with every field, for tests over all methods; and the ways in which such tests change a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from reproductions.core import BATCH_AXES, FIELDS, Batch, axes_of

SIZES = {"a": 3, "c": 2, "f": 4, "g": 3}


@st.composite
def batches(draw: st.DrawFn, full: bool = False, turns: int = 3, rewards: str | None = None) -> Batch:
    """A batch with all fields. ``full`` leaves nobody out; ``rewards`` is ``binary`` or ``real``, else either."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = tuple(draw(st.integers(1, top)) for top in (3, 5, 3, turns))
    acted = np.ones(shape, bool) if full or draw(st.booleans()) else rng.random(shape) < 0.6
    kind = rewards or draw(st.sampled_from(["binary", "real"]))
    return make_batch(rng, acted, kind)


def make_batch(rng: np.random.Generator, acted: np.ndarray, rewards: str = "real") -> Batch:
    """All fields over a given mask, with values in the range that each field promises."""
    sizes = {**dict(zip(BATCH_AXES, acted.shape, strict=True)), **SIZES}
    sizes |= {"m": sizes["n"], "j": sizes["k"]}
    fields = {name: _values(name, rng, [sizes[axis] for axis in axes_of(name)], rewards) for name in FIELDS}
    fields["policy_pknta"] = fields["policy_pknta"] / fields["policy_pknta"].sum(axis=-1, keepdims=True)
    fields["peer_share_pknm"] = fields["peer_share_pknm"] / fields["peer_share_pknm"].sum(axis=-1, keepdims=True)
    fields["prompt_id_p"] = np.arange(acted.shape[0])
    fields["node_pknt"] = _paths(rng, acted)
    return Batch.of(acted_pknt=acted, **fields)


def _values(name: str, rng: np.random.Generator, shape: list[int], rewards: str) -> np.ndarray:
    if name == "state_pknt":
        return rng.choice(np.array(["kitchen", "hall", "garden"], dtype=object), shape)
    kind = FIELDS[name].kind
    if kind == "bool" or (rewards == "binary" and "reward" in name):
        return rng.integers(0, 2, shape)
    if kind in ("int", "any"):
        return rng.integers(1, 60, shape) if name == "length_pknt" else rng.integers(0, 3, shape)
    if name == "coach_score_pknt":
        return rng.uniform(0, 10, shape)
    if name in ("value_pknt", "utility_pknt", "team_state_pktf", "state_vector_pkntf", "model_score_pk", "kl_pknt"):
        return rng.normal(size=shape)
    return rng.uniform(0.05, 0.95, shape)


def _paths(rng: np.random.Generator, acted: np.ndarray) -> np.ndarray:
    """Node ids of random trees: at each position of a path one of two children of the node before it."""
    ids: dict[tuple[Any, ...], int] = {}
    node = np.zeros(acted.shape, dtype=np.int64)
    for p, k in np.ndindex(acted.shape[:2]):
        path: tuple[Any, ...] = (p,)
        for t, n in np.ndindex(acted.shape[3], acted.shape[2]):
            if acted[p, k, n, t]:
                path = (*path, (t, n, int(rng.integers(0, 2))))
                node[p, k, n, t] = ids.setdefault(path, len(ids))
    return node


def permuted(batch: Batch, **order: np.ndarray) -> Batch:
    """The batch with prompts (``p=``), rollouts (``k=``) or agents (``n=``) in another order."""
    order |= {second: order[first] for first, second in (("n", "m"), ("k", "j")) if first in order}
    fields = batch.present_fields()
    return Batch.of(**{name: _permuted(array, axes_of(name), order) for name, array in fields.items()})


def _permuted(array: np.ndarray, axes: str, order: dict[str, np.ndarray]) -> np.ndarray:
    for position, axis in enumerate(axes):
        if axis in order:
            array = np.take(array, order[axis], axis=position)
    return array


def changed_where_masked(batch: Batch, rng: np.random.Generator) -> Batch:
    """The batch with other numbers (some of them not finite) where nobody acted."""
    changed = {}
    for name, array in batch.present_fields().items():
        axes = axes_of(name)
        if array.dtype.kind == "f" and set("pk") <= set(axes) <= set(BATCH_AXES):
            noise = rng.choice([np.nan, np.inf, -7.5, 1e6], array.shape)
            changed[name] = np.where(batch.mask(axes), array, noise)
    return batch.replace(**changed)


def only(batch: Batch, names: tuple[str, ...]) -> Batch:
    """The batch with these fields and no others."""
    return Batch.of(acted_pknt=batch.acted_pknt, **{name: batch.need(name) for name in names})
